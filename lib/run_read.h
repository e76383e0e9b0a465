/* run_read: whole runs into a summary. */
#ifndef CTS_RUN_READ_H
#define CTS_RUN_READ_H

#include <stdbool.h>
#include <stddef.h>
#include "buf.h"
#include "err.h"
#include "rec.h"
#include "summary.h"

struct run_read {
	bool partial;		/* what is no record is warned of and skipped */
	void (*warn)(const struct err *e);
	/* Records copied out while they pass by, NULL: not wanted. */
	struct buf *oracle_failures, *probe_failures;
};

/*
 * Read the runs (folders, streams, references; n == 0: stdin) into s, which
 * the caller finishes.  0, or -1 with e set: then everything before the fault
 * is in s, and s->input_error says what it was, unless a run is not there.
 */
int run_read(struct summary *s, char *const *runs, size_t n,
	     const struct run_read *how, struct err *e);

/*
 * The streams of the runs: n strings, new, and each of them too; NULL with e
 * set where one has none.
 */
char **run_streams(char *const *runs, size_t n, struct err *e);
void run_streams_free(char **streams, size_t n);

#endif
