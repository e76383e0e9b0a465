/*
 * crew: the workers that one cts-isolate has, at most one for batches and one
 * for a case that wants to be alone, with the zygote that they come from and
 * what it takes to be rid of them.
 */
#ifndef CTS_CREW_H
#define CTS_CREW_H

#include <stdbool.h>
#include "err.h"
#include "worker.h"
#include "zygote.h"

enum crew_slot { CREW_BATCH, CREW_SOLO, CREW_N };

struct member {
	struct worker w;
	size_t given;		/* cases so far */
	size_t begun, ended;	/* of these */
	const char *doom;	/* outcome that we kill it for, NULL: don't */
	double kill_at;		/* when the last signal went out */
	bool kill_hard;		/* it was SIGKILL */
	bool spent;		/* it said that it is fit for no more */
	double deaf_at;		/* when its stdout closed, 0: it is open */
	double idle_at;		/* when it had done all it was to do, 0: not */
};

struct crew {
	/* Set by the owner. */
	char *const *argv;
	const char *zygote_path;	/* NULL: a private one */
	bool fork;			/* from a zygote, where it will */
	double start_s;			/* patience with a zygote's start */

	struct zygote z;
	struct member m[CREW_N];
	size_t started;			/* workers in all */
};

void crew_init(struct crew *c);

/*
 * Have a worker in slot; fresh: not a forked one.  0, or -1 with e set.
 * Clears c->fork where the zygote refuses.
 */
int crew_start(struct crew *c, enum crew_slot slot, bool fresh, struct err *e);

/* End a member for outcome: with a stack, or (hard) at once. */
void crew_doom(struct member *m, const char *outcome, bool hard);

/*
 * Learn who has ended, and go on with the killing.  A member whose worker's
 * end is no longer WORKER_RUNS is the owner's to read out and crew_bury().
 */
void crew_check(struct crew *c);
void crew_bury(struct member *m);

/* Kill all, at once, and wait a moment for it. */
void crew_release(struct crew *c);

#endif
