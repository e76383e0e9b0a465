/*
 * judge: from observations to a verdict.  It holds what is known of a case
 * until the case's end or death, and writes its verdict record.
 */
#ifndef CTS_JUDGE_H
#define CTS_JUDGE_H

#include <stdbool.h>
#include "budget.h"
#include "buf.h"
#include "check.h"
#include "err.h"
#include "legal.h"
#include "manifest.h"
#include "num.h"
#include "obs.h"
#include "vocab.h"

struct judge {
	struct checks *checks;
	struct budgets *budgets;
	struct legal *legal;
	bool strict;		/* the usable tier is not good enough */
};

/*
 * Read the tables: those below root/coverage, but budgets from the path
 * budgets where that is not NULL.  m is borrowed, and may be NULL.
 */
int judge_init(struct judge *j, const char *root, const char *budgets,
	       const struct manifest *m, struct err *e);
void judge_release(struct judge *j);

struct jcase;

struct jcase *jcase_new(const char *id, const char *run);	/* new */
void jcase_free(struct jcase *c);

/* What a case record (or a start) says; only what is known is kept. */
void jcase_about(struct jcase *c, const cJSON *rec);
/* A start: whatever was observed before is void. */
void jcase_start(struct jcase *c, const char *run);
/* Has anything been seen of its run? */
bool jcase_begun(const struct jcase *c);

void judge_obs(const struct judge *j, struct jcase *c, const struct obs *o);
void judge_oracle_failure(struct jcase *c);

/* Append the verdict record, without LF, to out. */
enum outcome judge_end(const struct judge *j, struct jcase *c,
		       const cJSON *end, struct buf *out);
enum outcome judge_death(const struct judge *j, struct jcase *c,
			 const cJSON *death, struct buf *out);

/* judge_value.c: the value check of one pair of tensors. */
struct scale {
	bool known;		/* the inputs' magnitudes are */
	double a1, a2;		/* the two largest */
	double asum;		/* sum of magnitudes of the largest, or -1 */
	int64_t numel, dims, dim, weight;
	int64_t out;		/* elements of the output */
};
void scale_of(const struct obs *o, struct scale *s);

/* From the strongest to the weakest. */
enum value_oracle { VO_HP, VO_NP, VO_REF, VO_LEGAL, VO_META };

struct value_fig {
	struct num_fig num;
	struct budget budget;
	enum value_oracle oracle;
	bool bad, usable;
	const struct tensor *dev, *by;	/* what was compared; borrowed */
};

/* What else is known of a value than the reference's; each may be NULL. */
struct others {
	const struct tensor *hp;	/* in float64 or complex128 */
	const struct tensor *np;	/* by the op's reference in NumPy */
};

/* dev and ref are of the same dtype and shape and have bytes. */
void value_judge(const struct judge *j, const struct budget_key *key,
		 const struct scale *s, const struct tensor *dev,
		 const struct tensor *ref, struct others others,
		 struct value_fig *f);

#define VALUE_TEXT 64

/*
 * The worst element as text, "" where there is none, and what it should be:
 * whole numbers as they are, floats as hex-floats.  The tensors are there yet.
 */
void value_show(const struct value_fig *f, char got[VALUE_TEXT],
		char want[VALUE_TEXT]);

#endif
