/*
 * budget: how much error an op may make, from coverage/budgets.jsonl and the
 * manifest's tolerance_overrides.
 */
#ifndef CTS_BUDGET_H
#define CTS_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>
#include "dtype.h"
#include "err.h"

enum budget_mode {
	BM_EXACT,	/* equal to the reference */
	BM_ELEM,	/* each element by its own magnitude */
	BM_NORM,	/* by the largest magnitude of the result */
	BM_SUM,		/* by what is summed: n times the largest input */
	BM_DOT,		/* by n times the product of the largest inputs */
};

enum budget_grow { BG_NONE, BG_LOG, BG_SQRT, BG_LINEAR };

/* Where n, the number of terms, comes from. */
enum budget_len {
	BL_ONE,		/* 1 */
	BL_INOUT,	/* the largest input's elements an output element */
	BL_IN,		/* the largest input's elements */
	BL_DIMS,	/* the largest of the inputs' last two sizes */
	BL_DIM,		/* likewise of the first input */
	BL_WEIGHT,	/* the second input's elements an output channel */
};

struct budget {
	const char *cls;	/* "sum"; "override" */
	const char *source;
	enum budget_mode mode;
	enum budget_grow grow;
	enum budget_len len;
	double ulp[2], k[2];	/* strict, usable */
	double floor;		/* usable: magnitudes below count as this */
	bool dflt;		/* no entry for this op */
	/* The manifest's, which stand for all of the above: */
	bool override;
	double ov_ulp, rtol, atol;	/* -1: not given */
};

/* What a budget is looked up by; strings may be "" but not NULL. */
struct budget_key {
	const char *suite, *op, *variant, *args;
	const char *called;		/* the op that op stands for, or op */
	const struct dtype *dt;		/* of the output */
	const char *dtype;		/* of the case */
};

struct budgets;

/* Read the table; new.  NULL with e set. */
struct budgets *budgets_read(const char *path, struct err *e);
void budgets_free(struct budgets *b);

/*
 * Take the manifest's tolerance_overrides (an object, borrowed for as long as
 * b lives; may be NULL): "op:dtype" or "class:dtype" to {"rtol", "atol"} or
 * {"ulp"}.
 */
int budgets_override(struct budgets *b, const cJSON *overrides,
		     struct err *e);

/* Strings in out are borrowed from b, which remembers the last op. */
void budget_find(struct budgets *b, const struct budget_key *key,
		 struct budget *out);

/*
 * The names by which a table may know an op, nearest first: as it is, without
 * its variant, without the overload, the in-place mark, and the foreach
 * prefix.  Each is ended by NUL in names; how many.
 */
#define OPNAME_MAX 8
size_t opname_forms(const char *op, char names[OPNAME_MAX][256]);

#endif
