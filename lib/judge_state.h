/*
 * judge_state: what is known of a case that is being judged.  For judge.c,
 * which rules on it, and judge_obs.c, which fills it.
 */
#ifndef CTS_JUDGE_STATE_H
#define CTS_JUDGE_STATE_H

#include "judge.h"

#define TEXT_MAX 160		/* bytes of a got, a want */

/* One check over the samples of a case. */
struct tally {
	size_t n, bad;
	long long sample;	/* the first bad one */
	char *got, *want;	/* there */
};

/* The value check's figures: maxima, and the worst element. */
struct figures {
	bool any, bad;
	double max_ulp, max_abs, max_rel, ref_ulp, worst, allowed;
	size_t at, out;
	long long sample;
	char got[VALUE_TEXT], want[VALUE_TEXT];
	struct budget budget;
};

/* What the run of a case has shown so far. */
struct seen {
	struct tally tally[CHECK_N];
	struct figures fig;
	size_t obs, judged, failed, unjudged;
	size_t errors, unsupported, ooms;
	size_t by_oracle[VO_META + 1];
	bool usable, dflt;
	long long first;
	char *args;
	char *op, *dtype, *device;
};

struct jcase {
	char *id, *run;
	char *device;		/* of the case record, or NULL */
	int level;		/* 0: not known */
	struct seen *seen;	/* NULL until it runs */
};

struct seen *jcase_seen(struct jcase *c);	/* made where not there */

/* Take a copy of s, unless the field is set or s says nothing. */
void jcase_keep(char **field, const char *s);

/* A text of others, made one line. */
void one_line(char *s);

#endif
