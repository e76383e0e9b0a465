/* rerun: what of a run is to run again. */
#ifndef CTS_RERUN_H
#define CTS_RERUN_H

#include <stdbool.h>
#include <stddef.h>
#include "buf.h"
#include "err.h"
#include "run_read.h"

/*
 * Append the ids of all cases that do not pass, a line each and sorted, or
 * their case records as they stand in the runs.  0, or -1 with e set.
 */
int rerun_failed(char *const *runs, size_t n, bool records,
		 const struct run_read *how, struct buf *out, struct err *e);

/*
 * Append those case records of the stream cases for which the stream done has
 * no verdict.  A last line that was cut is passed over.  0, or -1 with e set.
 */
int rerun_remaining(const char *cases, const char *done,
		    const struct run_read *how, struct buf *out,
		    struct err *e);

#endif
