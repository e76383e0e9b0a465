/*
 * runcase: a case record run from its start to its end, as records.
 */
#ifndef CTS_RUNCASE_H
#define CTS_RUNCASE_H

#include "case.h"
#include "hostargs.h"
#include "lab.h"
#include "replay.h"
#include "script.h"

struct runcase {
	struct lab *lab;
	int out;		/* fd for records */
	const char *blobs;	/* folder */
	struct hostargs hostargs;
	PyObject *samples;	/* opinfo.samples */
	PyObject *called;	/* opinfo.called: callable to name */
	PyObject *numpy;	/* opinfo.by_numpy */
	struct replay replay;
	const char *no_corpus;	/* why there is none; or NULL */
	bool greeted;		/* the worker's run record is out */
	PyObject *health;	/* health.check, NULL: not known yet */
	bool oom;		/* the device had no memory left in this case */
	bool no_health;		/* it fails on a fresh device, too */
	PyObject *kept;		/* a case's samples that come again, or NULL */
	char kept_id[CASE_ID_MAX];
	const struct script *script;	/* write this instead; or NULL */
	double t_import_s;
};

/* Where samples and what the reference made of them are kept. */
struct runcase_corpus {
	struct corpus *corpus;	/* borrowed; NULL: nowhere */
	bool golden;		/* another machine's, to be relied on */
	bool all;		/* the higher-precision results, too */
	const char *note;	/* borrowed: why there is none; or NULL */
};

/*
 * Import the operator database.  0, or -1 with e set (EX_ENVIRON).  kept is
 * copied and may be NULL.
 */
int runcase_init(struct runcase *r, struct lab *lab, int out,
		 const char *blobs, const struct runcase_corpus *kept,
		 struct err *e);

/*
 * Load what PyTorch loads only when it is first asked for a derivative in
 * forward mode, which takes longer than hundreds of cases: before workers are
 * forked, it is done once.  0, or -1 with e set (EX_ENVIRON).
 */
int runcase_load_jvp(struct err *e);

void runcase_release(struct runcase *r);

/*
 * Write start, the observations and end.  0, or -1 with e set: EX_BADINPUT
 * where the case names what doesn't exist (nothing is written then), EX_ENVIRON
 * where a record can't be written or the device can't be reached.
 */
int runcase(struct runcase *r, const struct case_rec *c, struct err *e);

/*
 * Write r->script for the case's one sample, and run nothing but what its
 * generator does.  0, or -1 with e set as above, EX_NEGATIVE where an argument
 * can't be written down.
 */
int runcase_script(struct runcase *r, const struct case_rec *c,
		   struct err *e);

#endif
