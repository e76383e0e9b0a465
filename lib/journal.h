/*
 * journal: which case is running, what it has said so far, and what to say
 * when it says no more.
 *
 * The records of a case are held back until its end, so that what goes on is
 * whole or, where the case has to run again through no fault of its own, is
 * not there at all.
 */
#ifndef CTS_JOURNAL_H
#define CTS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "buf.h"
#include "err.h"
#include "intake.h"
#include "worker.h"

#define JOURNAL_STARTS 32
#define JOURNAL_HELD (8u << 20)	/* bytes of one case that are held back */

/* The ids that one worker began last, in a ring. */
struct starts {
	char *id[JOURNAL_STARTS];
	size_t n;			/* begun in all */
};
void starts_clear(struct starts *s);

struct journal {
	int runlog;			/* fd, or -1 */
	struct buf begun;		/* lines that are to go to the runlog */
	struct buf held;
	bool spilled;			/* some of this case has gone out */
	long long sample;		/* last observed, -1: none */
};

/* 0, or -1 with e set where the file path (NULL: none) can't be opened. */
int journal_init(struct journal *j, const char *runlog, struct err *e);
void journal_release(struct journal *j);

/* Case id begins in the worker pid, whose starts are s. */
void journal_start(struct journal *j, struct starts *s, const char *id,
		   pid_t pid);
/*
 * Write down what began since the last call.  The file is kept at its last
 * JOURNAL_STARTS lines; several programs share it, hence a lock; it is for
 * people, so whatever fails is let go.
 */
void journal_log(struct journal *j);
void journal_hold(struct journal *j, const char *line, size_t len);
void journal_drop(struct journal *j);		/* forgets what is held */

/* How a case came to its death. */
struct death {
	const char *outcome;
	int signal;		/* 0: none */
	int code;		/* exit status, where there is no signal */
	double t_s;
};

/* Add the death record of case it to what is held. */
void journal_death(struct journal *j, const struct item *it,
		   const struct death *d, const struct worker *w,
		   const struct starts *s);

#endif
