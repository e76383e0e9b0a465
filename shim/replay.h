/*
 * replay: a case's samples and what the reference made of them, taken from a
 * corpus where they were recorded, recorded there where not.
 *
 * Some can't be recorded: an argument that is an object with a life of its
 * own, a callable of one sample, a case of suites/.  Those are "live": made
 * each time.
 */
#ifndef CTS_REPLAY_H
#define CTS_REPLAY_H

#include "case.h"
#include "corpus.h"
#include "freeze.h"
#include "observe.h"

enum replay_state {
	REPLAY_OFF,		/* nothing is kept of this case */
	REPLAY_RECORDS, REPLAY_PLAYS, REPLAY_LIVE
};

/* A side that is kept, by the number of the call. */
struct kept {
	uint32_t run;
	bool random;		/* the reference's: that call drew numbers */
	bool taken;		/* side is somebody else's by now */
	const char *p;		/* its bytes, all of which made sense */
	size_t n;
	struct side side;
};

/* Those of an entry. */
struct keeps { struct kept *v; size_t n, cap; };

/* Sides beside the reference's, computed for some calls of a case alone. */
struct aside {
	bool looked;		/* for what was recorded */
	struct buf in;		/* that */
	struct keeps had;	/* the sides in it */
	struct buf out;		/* what is to be recorded */
	uint32_t nout;
};
enum { ASIDE_HP, ASIDE_NP, ASIDES };

struct replay {
	struct corpus *corpus;	/* borrowed; NULL: there is none */
	bool golden;		/* recorded elsewhere, and to be relied on */
	bool all;		/* record the other sides of all, too */
	const struct lab *lab;
	struct freeze_types types;
	PyObject *function;	/* opinfo.function */
	PyObject *overload;	/* boxed.find */
	struct recall recall;
	/* Of the case under way: */
	enum replay_state state;
	const struct case_rec *c;
	uint32_t run;		/* the call that recall is asked about */
	bool made;		/* there is something new to record */
	struct buf in;		/* what was recorded */
	struct keeps ref;
	struct buf samples, refs;	/* what is to be */
	uint32_t nrefs;
	struct aside aside[ASIDES];
};

/* corpus is borrowed and may be NULL.  0, or -1 with e set. */
int replay_init(struct replay *p, const struct lab *lab,
		struct corpus *corpus, bool golden, bool all, struct err *e);
void replay_release(struct replay *p);

/*
 * Begin a case (borrowed until replay_end()) of that mode.  1 with its samples
 * in *ret, a
 * new list; 0 where they have to be made; -1 with e set where they have to come
 * from a golden corpus, which doesn't have them.
 */
int replay_begin(struct replay *p, const struct case_rec *c,
		 const char *mode, PyObject **ret, struct err *e);

/* Those that were made, which replay_end() then records. */
void replay_samples(struct replay *p, PyObject *list);

/* What is known of the run-th call; NULL: nothing is. */
const struct recall *replay_recall(struct replay *p, int run);

/* The run-th call as it was observed. */
void replay_keep(struct replay *p, int run, const struct observation *o);

/*
 * End the case; where all of it was observed, what is new is recorded.  0, or
 * -1 with e set where the corpus takes no more: the case isn't worse for it.
 */
int replay_end(struct replay *p, bool all, struct err *e);

#endif
