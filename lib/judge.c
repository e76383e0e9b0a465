#include "judge.h"
#include "buf.h"

#include <stdlib.h>
#include <string.h>
#include "case.h"
#include "json.h"
#include "judge_state.h"
#include "jw.h"
#include "rec.h"
#include "text.h"
#include "xalloc.h"
#include "banned.h"

int judge_init(struct judge *j, const char *root, const char *budgets,
	       const struct manifest *m, struct err *e)
{
	char *checks = xasprintf("%s/coverage/checks.jsonl", root);
	char *legal = xasprintf("%s/coverage/legal.jsonl", root);
	char *bud = budgets ? xstrdup(budgets) :
		xasprintf("%s/coverage/budgets.jsonl", root);
	const cJSON *over = m ? json_get(manifest_json(m),
					 "tolerance_overrides") : NULL;
	int rc = -1;

	memset(j, 0, sizeof(*j));
	j->checks = checks_read(checks, e);
	if (!j->checks || checks_manifest(j->checks, m, e) < 0)
		goto out;
	j->budgets = budgets_read(bud, e);
	if (!j->budgets || budgets_override(j->budgets, over, e) < 0)
		goto out;
	j->legal = legal_read(legal, e);
	if (j->legal)
		rc = 0;
out:
	free(checks);
	free(legal);
	free(bud);
	return rc;
}

void judge_release(struct judge *j)
{
	checks_free(j->checks);
	budgets_free(j->budgets);
	legal_free(j->legal);
	memset(j, 0, sizeof(*j));
}

struct jcase *jcase_new(const char *id, const char *run)
{
	struct jcase *c = xcalloc(1, sizeof(*c));

	c->id = xstrdup(id);
	c->run = xstrdup(run);
	return c;
}

static void seen_free(struct seen *s)
{
	int i;

	if (!s)
		return;
	for (i = 0; i < CHECK_N; i++) {
		free(s->tally[i].got);
		free(s->tally[i].want);
	}
	free(s->args);
	free(s->op);
	free(s->dtype);
	free(s->device);
	free(s);
}

void jcase_free(struct jcase *c)
{
	if (!c)
		return;
	seen_free(c->seen);
	free(c->id);
	free(c->run);
	free(c->device);
	free(c);
}

void jcase_keep(char **field, const char *s)
{
	if (*field || !s || !*s)
		return;
	*field = xstrdup(s);
}

void jcase_about(struct jcase *c, const cJSON *rec)
{
	long long level = rec_int_opt(rec, "level", 0);

	if (level >= 1 && level <= 8)
		c->level = (int)level;
	jcase_keep(&c->device, rec_str_opt(rec, "device", NULL));
}

struct seen *jcase_seen(struct jcase *c)
{
	if (!c->seen) {
		c->seen = xcalloc(1, sizeof(*c->seen));
		c->seen->first = -1;
	}
	return c->seen;
}

void jcase_start(struct jcase *c, const char *run)
{
	seen_free(c->seen);
	c->seen = NULL;
	free(c->run);
	c->run = xstrdup(run);
	free(c->device);
	c->device = NULL;
	jcase_seen(c);
}

bool jcase_begun(const struct jcase *c)
{
	return c->seen;
}

void one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ')
			*s = ' ';
}

void judge_oracle_failure(struct jcase *c)
{
	jcase_seen(c)->unjudged++;
}

/* What became of the case, and why in words. */
struct ruling {
	enum outcome outcome;
	char *why;
	const char *check;	/* that it is about, or NULL */
};

static const char *op_of(const struct jcase *c)
{
	return c->seen->op ? c->seen->op : "";
}

static void blame(const struct judge *j, const struct jcase *c,
		  struct ruling *r)
{
	const struct seen *s = c->seen;
	bool wrong = false;
	int i, first = -1;

	for (i = 0; i < CHECK_N; i++) {
		if (!s->tally[i].bad ||
		    !check_is_contract(j->checks, (enum check)i, op_of(c)))
			continue;
		if (i != CHECK_ERROR_UNEXPECTED)
			wrong = true;
		/* A wrong result is worse news than an error. */
		if (first < 0 || first == CHECK_ERROR_UNEXPECTED)
			first = i;
	}
	if (first < 0)
		return;
	if (wrong)
		r->outcome = OUT_FAIL;
	else if (s->errors)
		r->outcome = OUT_ERROR;
	else if (s->ooms)
		r->outcome = OUT_OOM;
	else
		r->outcome = OUT_UNSUPPORTED;
	r->check = check_name((enum check)first);
	r->why = xasprintf("%s in sample %lld: got %s, want %s",
			   check_name((enum check)first),
			   s->tally[first].sample, s->tally[first].got,
			   s->tally[first].want);
}

static void rule_end(const struct judge *j, const struct jcase *c,
		     const cJSON *end, struct ruling *r)
{
	const struct seen *s = c->seen;
	long long samples = rec_int_opt(end, "samples", -1);
	long long undefined = rec_int_opt(end, "undefined", 0);
	const cJSON *error = json_get(end, "error");

	r->outcome = OUT_PASS;
	if (!strcmp(rec_str_opt(end, "status", "ran"), "error")) {
		r->outcome = OUT_ERROR;
		r->why = xasprintf("the case could not be set up: %s: %s",
				   rec_str_opt(error, "type", "error"),
				   rec_str_opt(error, "message", ""));
		return;
	}
	blame(j, c, r);
	if (r->outcome != OUT_PASS)
		return;
	if (!s->judged) {
		r->outcome = OUT_ERROR;
		r->why = xasprintf("no sample was judged (%zu without a "
				   "reference, %lld undefined)", s->unjudged,
				   undefined);
	} else if (samples > (long long)(s->obs + s->unjudged)) {
		r->outcome = OUT_ERROR;
		r->why = xasprintf("%lld of %lld samples are missing from the "
				   "stream", samples -
				   (long long)(s->obs + s->unjudged), samples);
	}
}

static void rule_death(const cJSON *death, struct ruling *r)
{
	const char *name = rec_str_opt(death, "outcome", "crash");
	const char *sig = rec_str_opt(death, "signal", NULL);
	int64_t sample = rec_int_opt(death, "sample", -1);
	int o = outcome_find(name);
	struct buf b = BUF_INIT;

	r->outcome = o == OUT_TIMEOUT || o == OUT_HANG || o == OUT_OOM ?
		(enum outcome)o : OUT_CRASH;
	buf_addstr(&b, outcome_name(r->outcome));
	if (sample < 0)
		buf_addstr(&b, " in its first sample");
	else
		buf_addf(&b, " after sample %lld", (long long)sample);
	if (sig)
		buf_addf(&b, ": %s", sig);
	else if (json_get(death, "exit"))
		buf_addf(&b, ": exit status %lld",
			 (long long)rec_int_opt(death, "exit", -1));
	r->why = b.p;
}

static const char *oracle_of(const struct seen *s)
{
	static const char *const names[] = {
		"float64", "numpy", "cpu", "legal", "metadata",
	};
	int i, best = -1;

	/* The weakest that any output was judged by. */
	for (i = VO_HP; i <= VO_META; i++)
		if (s->by_oracle[i] && (best < 0 || i != VO_META))
			best = i;
	return best < 0 ? NULL : names[best];
}

static void write_budget(struct jw *w, const struct budget *b)
{
	char *text;

	if (b->override)
		text = xasprintf("override: %s", b->source);
	else if (b->mode == BM_EXACT)
		text = xasprintf("exact: %s", b->source);
	else
		text = xasprintf("%s: %g ulp strict, %g usable: %s", b->cls,
				 b->ulp[0], b->ulp[1], b->source);
	jw_kstr(w, "budget", text);
	free(text);
}

static void write_value(struct jw *w, const struct figures *f)
{
	if (!f->any)
		return;
	jw_khexf(w, "max_ulp", f->max_ulp);
	jw_khexf(w, "max_abs", f->max_abs);
	jw_khexf(w, "max_rel", f->max_rel);
	if (f->ref_ulp >= 0)
		jw_khexf(w, "ref_ulp", f->ref_ulp);
	jw_kint(w, "sample", f->sample);
	jw_kint(w, "out", (int64_t)f->out);
	jw_kint(w, "at", (int64_t)f->at);
	jw_kstr(w, "got", f->got);
	jw_kstr(w, "want", f->want);
	if (f->bad)
		jw_khexf(w, "allowed", f->allowed);
	write_budget(w, &f->budget);
}

static void write_checks(struct jw *w, const struct judge *j,
			 const struct jcase *c)
{
	const struct seen *s = c->seen;
	int i;

	jw_key(w, "checks");
	jw_obj(w);
	for (i = 0; i < CHECK_N; i++) {
		const struct tally *t = &s->tally[i];

		if (!t->n)
			continue;
		jw_key(w, check_name((enum check)i));
		jw_obj(w);
		jw_kbool(w, "ok", !t->bad);
		jw_kstr(w, "class", check_is_contract(j->checks, (enum check)i,
				op_of(c)) ? "contract" : "advice");
		jw_kint(w, "n", (int64_t)t->n);
		jw_kint(w, "bad", (int64_t)t->bad);
		if (i == CHECK_VALUE && s->fig.any) {
			write_value(w, &s->fig);
		} else if (t->bad) {
			jw_kint(w, "sample", t->sample);
			jw_kstr(w, "got", t->got);
			jw_kstr(w, "want", t->want);
		}
		jw_obj_end(w);
	}
	jw_obj_end(w);
}

static void write_about(struct jw *w, const struct jcase *c)
{
	char suite[CASE_ID_MAX], op[CASE_ID_MAX], dtype[CASE_ID_MAX];
	char variant[CASE_ID_MAX];
	const struct seen *s = c->seen;
	const char *device = s->device ? s->device : c->device;
	const char *oracle = oracle_of(s);

	if (!case_id_split(c->id, suite, op, dtype, variant)) {
		jw_kstr(w, "suite", suite);
		jw_kstr(w, "op", op);
		jw_kstr(w, "dtype", dtype);
		jw_kstr(w, "variant", variant);
	}
	if (c->level)
		jw_kint(w, "level", c->level);
	if (device)
		jw_kstr(w, "device", device);
	if (oracle)
		jw_kstr(w, "oracle", oracle);
}

static enum outcome finish(const struct judge *j, struct jcase *c,
			   struct ruling *r, struct buf *out)
{
	const struct seen *s = c->seen;
	struct jw w;
	char *why = r->why ? text_cut(r->why, 400) : NULL;

	if (why)
		one_line(why);
	jw_init(&w, out);
	jw_record(&w, "verdict", c->id, c->run);
	write_about(&w, c);
	jw_kstr(&w, "outcome", outcome_name(r->outcome));
	if (r->outcome == OUT_PASS)
		jw_kstr(&w, "tier", s->usable ? "usable" : "strict");
	jw_kint(&w, "samples", (int64_t)s->judged);
	jw_kint(&w, "failed", (int64_t)s->failed);
	if (s->unjudged)
		jw_kint(&w, "unjudged", (int64_t)s->unjudged);
	if (s->dflt)
		jw_kbool(&w, "default_budget", true);
	if (why)
		jw_kstr(&w, "why", why);
	if (r->check)
		jw_kstr(&w, "check", r->check);
	if (s->first >= 0) {
		jw_kint(&w, "first", s->first);
		jw_kstr(&w, "args", s->args);
	}
	write_checks(&w, j, c);
	jw_obj_end(&w);
	free(why);
	free(r->why);
	return r->outcome;
}

enum outcome judge_end(const struct judge *j, struct jcase *c,
		       const cJSON *end, struct buf *out)
{
	struct ruling r = { .why = NULL };

	jcase_seen(c);
	rule_end(j, c, end, &r);
	return finish(j, c, &r, out);
}

enum outcome judge_death(const struct judge *j, struct jcase *c,
			 const cJSON *death, struct buf *out)
{
	struct ruling r = { .why = NULL };

	jcase_seen(c);
	rule_death(death, &r);
	return finish(j, c, &r, out);
}
