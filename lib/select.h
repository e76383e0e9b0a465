/*
 * select: what runs and what doesn't, of all that there is to run.  Every case
 * of the inventory ends up in the plan, with the reason why it does not run
 * where it doesn't, or in one of the counts of those that were not asked for.
 */
#ifndef CTS_SELECT_H
#define CTS_SELECT_H

#include <stdint.h>
#include "err.h"
#include "inventory.h"
#include "manifest.h"
#include "pick.h"
#include "pyre.h"
#include "rec.h"

/* What the command line asks for. */
struct selection {
	int lo, hi;		/* levels */
	struct pyre op;
	bool has_op;
	char **suites;
	size_t nsuites;
	struct picks picks;
	char **cases;		/* exactly these ids, at whatever level */
	size_t ncases;
	const char *start_at, *start_after;	/* ids, or NULL */
	size_t limit;		/* 0: none */
	int shard, nshards;	/* 1 of 1: all */
	/* What a case and a tensor may need; 0: any; by: the manifest's key. */
	double max_mb, tensor_mb;
	const char *max_by, *tensor_by;
	bool each;		/* plan what is of other levels case by case */
};

/*
 * Narrow it to the manifest's resource_limits and to the memory that it says
 * there is ("auto": this machine's), where those are lower.
 */
void select_limits(struct selection *s, const struct manifest *m);

struct planned {
	const struct item *item;
	const char *variant;
	uint8_t dtype;		/* index of dtype_at() */
	uint8_t level;
	uint8_t asked;		/* the level that it counts for: see pick.h */
	const char *level_reason, *capability, *oracle;
	const char *reason;	/* why it does not run; NULL: it runs */
	const char *claim;	/* "supported_dtypes", "capabilities", … */
	const char *detail;	/* why, where a ledger says it; or NULL */
};

#define LEVELS 8		/* from 1 */

/* An item's cases of one level that nobody asked for. */
struct elsewhere {
	const struct item *item;
	int level;
	size_t n;
};

struct plan {
	struct planned *v;	/* by level, then as in the inventory */
	size_t n, cap;
	/* What is of other levels, unless each was wanted: by item, level. */
	struct elsewhere *other;
	size_t nother, other_cap;
	size_t others;		/* cases in all */
	size_t cases;		/* those that run */
	size_t deselected;	/* by --op, --suite, --case, -k */
	size_t cut;		/* by --limit, --start-at, --start-after */
	size_t sharded;
};

struct tables;			/* the ledgers in coverage/ that decide */
struct tables *tables_load(struct err *e);	/* new */
void tables_free(struct tables *t);

/*
 * 0, or -1 with e set (EX_BADUSE) where the selection names what there is not,
 * with the nearest known name.
 */
int select_plan(struct plan *p, const struct selection *s,
		const struct inventory *inv, struct tables *t,
		const struct manifest *m, struct err *e);
void plan_release(struct plan *p);

/* "suite/op/dtype/variant" of a planned case. */
int planned_id(const struct planned *x, char out[], struct err *e);

#endif
