#include "shrink.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attempt.h"
#include "json.h"
#include "proc.h"
#include "rec.h"
#include "rewrite.h"
#include "strmap.h"
#include "vocab.h"
#include "xalloc.h"
#include "banned.h"

#define AGAIN 3			/* tries of what may be flaky */
#define SAMPLES_ON 16		/* that a process may have died in */

/* The edits that are tried, of numbers 0 to n - 1.  Each may be made again. */
static const struct { const char *word; int n; } edits[] = {
	{ "lay", 5 }, { "fewer", 2 }, { "one", 4 }, { "half", 4 },
	{ "rest", 4 }, { "flat", 6 }, { "less", 4 }, { "shorter", 4 },
	{ "later", 4 }, { "dense", 4 }, { "packed", 4 }, { "without", 4 },
	{ "ones", 5 }, { "rounded", 5 },
};
#define NEDITS (sizeof(edits) / sizeof(edits[0]))
#define NUMBERS 6

struct search {
	struct shrink *s;
	struct attempts a;
	struct err *e;
	struct strmap ids;		/* of the stream's cases */
	cJSON *what, *verdict, *death;	/* of the case; NULL: not there */
	cJSON *made;			/* edits so far */
	struct symptom want;		/* how it fails */
	struct attempt now;
	struct buf record, judged;	/* of the smallest that fails */
	int refused[NEDITS][NUMBERS];	/* 1 + how many were made then */
	double until;
};

static void keep(cJSON **to, const char *line, size_t len)
{
	cJSON_Delete(*to);
	*to = json_parse(line, len, NULL);
}

static int read_case(void *ctx, const struct scan *s, const char *line,
		     size_t len, struct err *e)
{
	struct search *f = ctx;
	bool mine = slice_is(s->id, f->s->id);
	char *id;

	(void)e;
	if (slice_is(s->kind, "case")) {
		id = slice_dup(s->id);
		strmap_add(&f->ids, id);
		free(id);
	}
	if (mine && slice_is(s->kind, "case"))
		keep(&f->what, line, len);
	else if (mine && slice_is(s->kind, "death"))
		keep(&f->death, line, len);
	else if (mine && slice_is(s->kind, "verdict"))
		keep(&f->verdict, line, len);
	return REWRITE_KEEP;
}

static int unknown(struct search *f, const char *path)
{
	const char **names = xcalloc(f->ids.n + 1, sizeof(*names)), *near;
	size_t i;

	for (i = 0; i < f->ids.n; i++)
		names[i] = f->ids.key[i];
	near = vocab_nearest(f->s->id, names);
	free(names);
	return err_set(f->e, EX_BADUSE, "%s: there is no case '%.200s'%s%s%s",
		       path, f->s->id, near ? ", the nearest is '" : "",
		       near ? near : "", near ? "'" : "");
}

static bool bad(const struct symptom *s)
{
	return *s->outcome && strcmp(s->outcome, "pass") != 0;
}

static int try_one(struct search *f, bool on_cpu, struct symptom *s)
{
	struct attempt how = f->now;

	how.edits = f->made;
	how.on_cpu = on_cpu;
	return attempts_try(&f->a, f->what, &how, s, f->e);
}

static void hold(struct search *f)
{
	buf_reset(&f->record);
	buf_addstr(&f->record, f->a.record.p);
	buf_reset(&f->judged);
	buf_addstr(&f->judged, f->a.verdict.p);
}

/* Nothing is judged of a sample that isn't there. */
static bool is_absent(const struct symptom *s)
{
	return bad(s) && !*s->check && !s->death;
}

/*
 * Does it fail in one sample, from this one on?  1 with f->want set, 0, or -1
 * with f->e set.
 */
static int fails_alone(struct search *f, long long from, int samples)
{
	int i, k;

	for (i = 0; i < samples; i++)
		for (k = 0; k < (samples > 1 ? 1 : AGAIN); k++) {
			f->now.sample = from + i;
			if (try_one(f, false, &f->want) < 0)
				return -1;
			if (!bad(&f->want) || is_absent(&f->want))
				continue;
			hold(f);
			return 1;
		}
	return 0;
}

/* Find the sample that fails when it is alone. */
static int find_sample(struct search *f)
{
	struct symptom seen;
	long long from = f->s->sample;
	int found;

	if (f->verdict) {
		symptom_of(&seen, f->verdict, f->death);
	} else {
		f->now.sample = -1;
		if (try_one(f, false, &seen) < 0)
			return -1;
	}
	if (!bad(&seen))
		return err_set(f->e, EX_BADUSE, "case '%s' passes: there is "
			       "nothing to reproduce", f->s->id);
	if (from < 0)
		from = seen.sample < 0 ? 0 : seen.sample;
	found = fails_alone(f, from, f->s->sample < 0 && seen.death ?
			    SAMPLES_ON : 1);
	if (found)
		return found < 0 ? -1 : 0;
	if (f->s->sample >= 0 && is_absent(&f->want))
		return err_set(f->e, EX_BADUSE, "case '%s' has no sample %lld",
			       f->s->id, from);
	return err_set(f->e, EX_NEGATIVE, "case '%s' was '%s', but sample %lld "
		       "alone is not", f->s->id, seen.outcome, from);
}

/*
 * Does it still fail in the same way?  A process must not die on the CPU: what
 * the smaller input then shows is another thing.
 */
static int still(struct search *f)
{
	struct symptom s;

	if (f->want.death) {
		if (try_one(f, true, &s) < 0)
			return -1;
		if (bad(&s))
			return 0;
	}
	if (try_one(f, false, &s) < 0)
		return -1;
	return symptom_same(&s, &f->want);
}

/* Make an edit: 1 if it fails all the same, 0 and unmade if not, or -1. */
static int make(struct search *f, size_t i, int number)
{
	int n = cJSON_GetArraySize(f->made), rc;
	char text[32];

	if (f->refused[i][number] == n + 1)
		return 0;
	snprintf(text, sizeof(text), "%s %d", edits[i].word, number);
	cJSON_AddItemToArray(f->made, cJSON_CreateString(text));
	rc = still(f);
	if (rc > 0) {
		hold(f);
	} else {
		cJSON_DeleteItemFromArray(f->made, n);
		f->refused[i][number] = n + 1;
	}
	return rc;
}

static bool over(const struct search *f)
{
	return f->a.n >= f->s->attempts || proc_now() >= f->until;
}

/* One edit after the other, as long as any of them can be made. */
static int search(struct search *f)
{
	int made, k, rc;
	size_t i;

	do {
		made = 0;
		for (i = 0; i < NEDITS; i++)
			for (k = 0; k < edits[i].n && !over(f); k += !rc) {
				rc = make(f, i, k);
				if (rc < 0)
					return -1;
				made += rc;
			}
	} while (made && !over(f));
	return 0;
}

int shrink_case(struct shrink *s, const char *path, struct buf *out,
		struct err *e)
{
	struct search f = { .s = s, .e = e, .made = cJSON_CreateArray(),
			    .record = BUF_INIT, .judged = BUF_INIT };
	size_t broken = 0;
	int rc;

	attempts_init(&f.a);
	strmap_init(&f.ids);
	rc = rewrite_look(path, read_case, &f, &broken, e);
	if (rc == 0 && !f.what)
		rc = unknown(&f, path);
	if (rc == 0) {
		f.until = proc_now() + s->seconds;
		rc = attempts_start(&f.a, s->argv, e);
		if (rc == 0)
			rc = find_sample(&f);
		if (rc == 0)
			rc = search(&f);
		s->tried = f.a.n;
		s->edits = cJSON_GetArraySize(f.made);
		attempts_stop(&f.a);
	}
	if (rc == 0)
		buf_addf(out, "%s\n%s\n", f.record.p, f.judged.p);
	buf_release(&f.record);
	buf_release(&f.judged);
	cJSON_Delete(f.what);
	cJSON_Delete(f.verdict);
	cJSON_Delete(f.death);
	cJSON_Delete(f.made);
	strmap_release(&f.ids);
	return rc;
}
