/*
 * summary: what a run came to.  Records go in one by one, in any order and
 * from any number of shards; summary_finish() then settles every case and
 * sorts everything, so that the same records give the same summary.
 *
 * A case is any id that a case, start or verdict record names.  It needs
 * exactly one verdict: without one it is `missing`, with more `duplicate`.  An
 * id with an account and no verdict did not run and is no case.
 */
#ifndef CTS_SUMMARY_H
#define CTS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>

#include "buf.h"
#include "cluster.h"
#include "err.h"
#include "rec.h"
#include "strmap.h"
#include "tally.h"
#include "vocab.h"
#include "waiver.h"

/* What is kept of a case that does not pass; strings cut, NULL: not known. */
struct failure {
	char *check;		/* first broken contract check */
	char *why, *args;
	char *figure;		/* "max_ulp 8, at [0], ..." */
	char *signal;		/* or "exit 3" */
	char *stack, *stderr_tail;
	long long sample;	/* first failing one, -1: not known */
	bool order_dependent;
};

struct sum_case {
	size_t suite, op, dtype, variant;	/* numbers, STRMAP_NONE */
	int level;		/* 0: not known */
	unsigned verdicts;
	bool listed, begun, ended, accounted;
	bool dropped;		/* accounted for and never judged: no case */
	bool usable;		/* passed, within the wider budget */
	unsigned outcomes;	/* a bit for each outcome seen */
	enum outcome outcome;	/* after summary_finish() */
	double t_s;
	struct failure *fail;
	const struct waiver *waiver;	/* borrowed */
};

/* What one account record said, per reason, level and op. */
struct account_row { char *reason, *op; int level; size_t n; };
struct oracle_row { char *id, *reason, *detail; long long sample; };
struct probe_row { char *probe, *name, *status, *note; };

struct summary {
	/* Facts of the run, from its run records; NULL: not known. */
	char *device, *hardware, *torch, *python, *manifest, *run, *reference;
	char *corpus_note;	/* what was wrong with the corpus */
	const char *from;	/* the run, as make is to find it; or NULL */
	char *own_manifest;	/* path, where that is no template */
	char *seed;
	int level_lo, level_hi;		/* 0: not known */
	double t_import_s, t_wall_s, peak_pss_mb;
	/* Set by the caller. */
	char *note;			/* stated in every report */
	bool partial;			/* the run was cut, and says so */
	char *input_error;		/* why reading stopped, or NULL */
	cJSON *stages;			/* array, or NULL */

	struct strmap ids;		/* number the cases */
	struct sum_case *cases;
	size_t cases_cap;
	struct counts promised;		/* cases that a selection promised */
	size_t unnamed;			/* promised, and not even named */
	size_t unjudged;		/* ended, and without a verdict */

	struct tally total;
	struct tallies by_level, by_suite, by_op, by_dtype;
	struct strmap variants;
	size_t strict, usable;		/* passes by tier */
	size_t samples, undefined, live;
	size_t waived;

	struct counts accounts;		/* by reason */
	struct strmap account_ids, account_keys;
	struct account_row *account;	/* numbered by account_keys */
	size_t account_cap;
	size_t *account_sorted;

	struct clusters failures, advice;
	struct counts budgets;		/* cases by where the budget is from */
	struct counts default_ops;	/* ops judged by a default budget */
	struct counts override_ops;	/* ... and by one of the manifest's */

	struct strmap oracle_keys, probe_keys;
	struct oracle_row *oracle;	/* numbered by oracle_keys */
	struct probe_row *probes;	/* numbered by probe_keys */
	size_t oracle_cap, probes_cap;
	size_t *oracle_sorted, *probes_sorted;
};

void summary_init(struct summary *s);
void summary_release(struct summary *s);

/*
 * Take one record.  0, or -1 with e set where a field that must be there is
 * not, or where a case is listed twice.
 */
int summary_add(struct summary *s, const struct rec *r, struct err *e);

/*
 * Merge what the stages of the run measured: JSON objects, one a line.  Those
 * with a "stage" are listed; the others' "t_wall_s" are added up, the greatest
 * "peak_pss_mb" is kept, and the last "partial" sets `partial`.
 */
int summary_stages(struct summary *s, const char *path, struct err *e);

/* Settle and sort.  w may be NULL. */
void summary_finish(struct summary *s, struct waivers *w);

/* After summary_finish(): */
bool summary_complete(const struct summary *s);
bool summary_conformant(const struct summary *s);
void summary_verdict(const struct summary *s, struct buf *out);	/* one line */
const struct sum_case *summary_case(const struct summary *s, const char *id);
const char *summary_id(const struct summary *s, const struct sum_case *c);
const char *summary_suite(const struct summary *s, const struct sum_case *c);
const char *summary_op(const struct summary *s, const struct sum_case *c);
const char *summary_dtype(const struct summary *s, const struct sum_case *c);
const char *summary_variant(const struct summary *s,
			    const struct sum_case *c);
const char *summary_why(const struct sum_case *c);	/* never NULL */

/* How to see one case again: by make, and by the tools alone. */
void summary_make_cmd(const struct summary *s, const struct sum_case *c,
		      struct buf *out);
void summary_pipe_cmd(const struct summary *s, const struct sum_case *c,
		      struct buf *out);
/* And how to have a program that shows it. */
void summary_repro_cmd(const struct summary *s, const struct sum_case *c,
		       struct buf *out);

/* For its own parts: names where no record gave any; room for a failure. */
void summary_names(struct summary *s, struct sum_case *c);
struct failure *summary_failure(struct sum_case *c);

#endif
