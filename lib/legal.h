/*
 * legal: is a result one of the right ones, where many are right?  The ops for
 * which that is asked stand in coverage/legal.jsonl.
 */
#ifndef CTS_LEGAL_H
#define CTS_LEGAL_H

#include <stdbool.h>
#include "err.h"
#include "obs.h"

enum legal_answer {
	LEGAL_NONE,	/* the op is not in the table: its result is unique */
	LEGAL_YES,
	LEGAL_NO,
	LEGAL_UNKNOWN,	/* the inputs' bytes, say, were not recorded */
};

struct legal;

struct legal *legal_read(const char *path, struct err *e);	/* new */
void legal_free(struct legal *l);

/*
 * Are the values of this op's results, with these arguments, random or never
 * written?
 */
bool legal_is_random(const struct legal *l, const char *op, const char *args);

/*
 * Is o->dev a right answer, though it differs from o->ref?  The two have the
 * same structure, dtypes and shapes.  wrong[i] says that output i is beyond
 * its budget; the others are right.  On LEGAL_NO and LEGAL_UNKNOWN *why is
 * set to a constant text.
 */
enum legal_answer legal_check(const struct legal *l, const struct obs *o,
			      const bool *wrong, const char **why);

/*
 * Do the vectors along the last size hold the same values in any order, to
 * the root of the rounding?
 */
bool legal_multiset(const struct tensor *a, const struct tensor *b);

/* legal_mat.c: the factorisations.  dev and in as they were recorded. */
enum legal_answer legal_matrix(const char *kind, const struct obs *o,
			       const char **why);
bool legal_is_matrix(const char *kind);

#endif
