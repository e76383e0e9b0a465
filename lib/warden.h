/*
 * warden: hands cases to workers, sends on what they say, and puts a death
 * record where one says no more.  What it decides is where a case runs, never
 * whether it does nor how it is judged.
 */
#ifndef CTS_WARDEN_H
#define CTS_WARDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "err.h"
#include "intake.h"

struct warden {
	/* Set by the owner; the rest may be 0. */
	char *const *argv;		/* the command, NULL-terminated */
	char *const *files;		/* input, NULL-terminated */
	int out;
	const char *zygote_path;	/* NULL: a private zygote */
	bool fork;			/* use one */
	bool solo;			/* each case in a process of its own */
	double limit_s;			/* of a case without its own; 0: none */
	double silence_s, start_s;
	uint64_t max_rss;		/* bytes, 0: no limit */
	size_t batch;			/* cases a worker, 0: no limit */
	const char *runlog;		/* path, or NULL */
	int echo;			/* fd for the workers' stderr, or -1 */
	void (*warn)(const char *msg);
	/* Where a case belongs: may set it->solo, and it->fresh. */
	void (*place)(void *ctx, struct item *it);
	/* The workers of it->device can't be forked: for the next run. */
	void (*no_fork)(void *ctx, const struct item *it);
	void *ctx;

	/* What came of it. */
	size_t cases, deaths, again, workers;
	uint64_t peak_rss;
};

/*
 * Run until the input ends and every case of it has a result.  0, or -1 with e
 * set; -1 with e->code -N for a signal N that asked it to stop.  No worker is
 * left in either case.
 */
int warden_run(struct warden *wd, struct err *e);

#endif
