/*
 * coverage: the dispatcher's overloads, and what of them a run has proven.
 *
 * The surface comes from an inventory ("aten" records), the evidence from
 * runs (which overloads each sample of a case reached, and whether the case
 * passed), the rest from a ledger of reviewed exclusions.
 */
#ifndef CTS_COVERAGE_H
#define CTS_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "rec.h"
#include "strmap.h"
#include "tally.h"

/* How a sample reached an overload. */
enum reach { REACH_DEVICE, REACH_COMPOSITE, REACH_FALLBACK, REACH_N };
const char *reach_name(enum reach r);

/* What is known of an overload, the first that applies. */
enum cover {
	COVER_REACHED,		/* by a case that passes */
	COVER_FAILING,		/* only by cases that do not pass */
	COVER_EXCLUDED,		/* the ledger says why */
	COVER_ACCOUNTED,	/* an account record says why */
	COVER_NO_KERNEL,	/* the device has nothing that could run */
	COVER_UNREACHED,	/* nobody knows why */
	COVER_N
};
const char *cover_name(enum cover c);
const char *cover_text(enum cover c);	/* one sentence */
bool cover_good(enum cover c);		/* all but failing and unreached */

struct exclusion {
	char *match, *reason, *reviewed, *device;	/* device: or NULL */
	int line;
	size_t hits;		/* overloads that it excludes */
	size_t needless;	/* ... and that a passing case reached */
};

struct overload {
	bool listed;		/* in the inventory */
	char *kernel, *surface;	/* NULL where not listed */
	size_t pass[REACH_N];	/* cases that pass and reached it so */
	size_t fail;		/* cases that don't */
	char *first;		/* the least id of a passing case, or NULL */
	char *account;		/* reason of an account record, or NULL */
	const struct exclusion *excluded;
	enum cover state;	/* after coverage_settle() */
};

struct cover_case {
	uint32_t *hit;		/* overload * REACH_N + reach */
	size_t n, cap;
	unsigned verdicts;
	bool passed;
};

struct coverage {
	struct strmap names;	/* number the overloads */
	struct overload *v;
	size_t cap;
	size_t listed;		/* in the inventory */
	struct strmap ids;	/* number the cases */
	struct cover_case *cases;
	size_t cases_cap;
	struct exclusion *excl;
	size_t nexcl, excl_cap;
	char *device;
	size_t *sorted;		/* overloads, after coverage_settle() */
	size_t by_state[COVER_N];	/* of those listed */
};

void coverage_init(struct coverage *c);
void coverage_release(struct coverage *c);

/*
 * Take one record: aten (part of the inventory), evidence, obs, verdict,
 * account; others are nothing to it.  0, or -1 with e set.
 */
int coverage_add(struct coverage *c, const struct rec *r, struct err *e);

/* Read the ledger of exclusions; 0, or -1 with e set. */
int coverage_exclusions(struct coverage *c, const char *path, struct err *e);

/* Bring it all together.  device (or NULL) narrows the exclusions. */
void coverage_settle(struct coverage *c, const char *device);

/* After coverage_settle().  The i-th by name; NULL past the end. */
const struct overload *coverage_at(const struct coverage *c, size_t i,
				   const char **name);
const char *coverage_why(const struct overload *o);	/* "" if no reason */
bool coverage_good(const struct coverage *c);

/* Records and text of it. */
void coverage_evidence(const struct overload *o, const char *name,
		       struct buf *out);
void coverage_record(const struct overload *o, const char *name,
		     struct buf *out);
/* An account record, for what did not run; false where it did. */
bool coverage_account(const struct overload *o, const char *name,
		      struct buf *out);
void coverage_markdown(const struct coverage *c, struct buf *out);

#endif
