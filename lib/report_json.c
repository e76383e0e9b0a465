/* summary.json; docs/reports.md lists its keys. */
#include <stdlib.h>

#include "report.h"

static void kopt(struct jw *w, const char *key, const char *text)
{
	if (text)
		jw_kstr(w, key, text);
}

static void kcount(struct jw *w, const char *key, size_t n)
{
	jw_kint(w, key, (int64_t)n);
}

static void write_facts(const struct summary *s, struct jw *w)
{
	jw_kstr(w, "device", s->device ? s->device : "");
	kopt(w, "hardware", s->hardware);
	jw_kstr(w, "torch", s->torch ? s->torch : "");
	kopt(w, "python", s->python);
	kopt(w, "manifest", s->manifest);
	kopt(w, "reference", s->reference);
	kopt(w, "corpus_note", s->corpus_note);
	kopt(w, "run", s->run);
	kopt(w, "note", s->note);
	kopt(w, "input_error", s->input_error);
	jw_key(w, "level");
	jw_arr(w);
	jw_int(w, s->level_lo);
	jw_int(w, s->level_hi);
	jw_arr_end(w);
	if (s->seed)
		jw_kint(w, "seed", strtoll(s->seed, NULL, 10));
}

static void write_tallies(const struct tallies *t, struct jw *w,
			  const char *key)
{
	const struct tally *v;
	const char *name;

	jw_key(w, key);
	jw_obj(w);
	for (size_t i = 0; (v = tallies_at(t, i, &name)); i++) {
		if (!v->cases)
			continue;
		jw_key(w, name);
		tally_write(v, w);
	}
	jw_obj_end(w);
}

static void kcounts(struct jw *w, const char *key, const struct counts *c)
{
	jw_key(w, key);
	counts_write(c, w);
}

static void write_example(const struct summary *s, const struct cluster *k,
			  struct jw *w)
{
	const struct sum_case *c = summary_case(s, k->first);
	struct buf b = BUF_INIT;

	jw_kstr(w, "outcome", outcome_name(c->outcome));
	jw_kstr(w, "why", summary_why(c));
	if (c->fail) {
		kopt(w, "figure", c->fail->figure);
		kopt(w, "args", c->fail->args);
		kopt(w, "signal", c->fail->signal);
		kopt(w, "stack", c->fail->stack);
		if (c->fail->sample >= 0)
			jw_kint(w, "sample", c->fail->sample);
		if (c->fail->order_dependent)
			jw_kbool(w, "order_dependent", true);
	}
	if (c->waiver)
		jw_kstr(w, "waiver", c->waiver->url);
	summary_make_cmd(s, c, &b);
	jw_kstr(w, "make", b.p);
	buf_reset(&b);
	summary_pipe_cmd(s, c, &b);
	jw_kstr(w, "pipe", b.p);
	buf_release(&b);
}

static void write_clusters(const struct summary *s, const struct clusters *c,
			   struct jw *w, const char *key, bool failures)
{
	const struct cluster *k;

	jw_key(w, key);
	jw_arr(w);
	for (size_t i = 0; (k = clusters_at(c, i)); i++) {
		jw_obj(w);
		jw_kstr(w, "op", k->op);
		jw_kstr(w, "check", k->check);
		kcount(w, "cases", k->cases);
		if (failures)
			kcount(w, "waived", k->waived);
		kcounts(w, "dtypes", &k->dtypes);
		kcounts(w, "variants", &k->variants);
		jw_kstr(w, "first", k->first);
		if (failures)
			write_example(s, k, w);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

/* Each case that does not pass, so that a machine needs no other file. */
static void write_bad(const struct summary *s, struct jw *w)
{
	size_t *order = strmap_sorted(&s->ids);

	jw_key(w, "bad");
	jw_obj(w);
	for (size_t i = 0; i < s->ids.n; i++) {
		const struct sum_case *c = &s->cases[order[i]];

		if (!c->dropped && c->outcome != OUT_PASS)
			jw_kstr(w, summary_id(s, c),
				outcome_name(c->outcome));
	}
	jw_obj_end(w);
	free(order);
}

static void write_accounts(const struct summary *s, struct jw *w)
{
	jw_key(w, "skips");
	jw_arr(w);
	for (size_t i = 0; i < s->account_keys.n; i++) {
		const struct account_row *a = &s->account[s->account_sorted[i]];

		jw_obj(w);
		jw_kstr(w, "reason", a->reason);
		jw_kint(w, "level", a->level);
		jw_kstr(w, "op", a->op);
		kcount(w, "n", a->n);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

static void write_oracle(const struct summary *s, struct jw *w)
{
	jw_key(w, "oracle_failures");
	jw_arr(w);
	for (size_t i = 0; i < s->oracle_keys.n; i++) {
		const struct oracle_row *o = &s->oracle[s->oracle_sorted[i]];

		jw_obj(w);
		jw_kstr(w, "id", o->id);
		if (o->sample >= 0)
			jw_kint(w, "sample", o->sample);
		jw_kstr(w, "reason", o->reason);
		jw_kstr(w, "detail", o->detail);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

static void write_probes(const struct summary *s, struct jw *w)
{
	jw_key(w, "probes");
	jw_arr(w);
	for (size_t i = 0; i < s->probe_keys.n; i++) {
		const struct probe_row *p = &s->probes[s->probes_sorted[i]];

		jw_obj(w);
		jw_kstr(w, "probe", p->probe);
		jw_kstr(w, "name", p->name);
		jw_kstr(w, "status", p->status);
		jw_kstr(w, "note", p->note);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

static void write_waivers(const struct waivers *v, struct jw *w)
{
	jw_key(w, "waivers");
	jw_arr(w);
	for (size_t i = 0; i < v->n; i++) {
		jw_obj(w);
		jw_kstr(w, "match", v->v[i].match);
		jw_kstr(w, "url", v->v[i].url);
		jw_kstr(w, "reason", v->v[i].reason);
		jw_kstr(w, "expires", v->v[i].expires);
		jw_kbool(w, "expired", v->v[i].expired);
		kcount(w, "waived", v->v[i].used);
		kcount(w, "passing", v->v[i].passing);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

static void write_stages(const struct summary *s, struct jw *w)
{
	char *text = s->stages ? cJSON_PrintUnformatted(s->stages) : NULL;
	struct buf b = BUF_INIT;

	if (text) {
		buf_addstr(&b, text);
		jw_key(w, "stages");
		jw_raw(w, b.p, b.len);
	}
	cJSON_free(text);
	buf_release(&b);
}

void report_json(const struct report *r, struct buf *out)
{
	const struct summary *s = r->s;
	struct jw w;

	jw_init(&w, out);
	jw_obj(&w);
	jw_kint(&w, "v", 1);
	jw_kbool(&w, "complete", summary_complete(s));
	jw_kbool(&w, "conformant", summary_conformant(s));
	jw_kbool(&w, "partial", s->partial);
	write_facts(s, &w);
	jw_key(&w, "counts");
	tally_write(&s->total, &w);
	kcount(&w, "waived", s->waived);
	jw_key(&w, "tiers");
	jw_obj(&w);
	kcount(&w, "strict", s->strict);
	kcount(&w, "usable", s->usable);
	jw_obj_end(&w);
	kcount(&w, "samples", s->samples);
	kcount(&w, "undefined_samples", s->undefined);
	kcount(&w, "live_samples", s->live);
	kcounts(&w, "accounts", &s->accounts);
	write_tallies(&s->by_level, &w, "by_level");
	write_tallies(&s->by_suite, &w, "by_suite");
	write_tallies(&s->by_dtype, &w, "by_dtype");
	write_tallies(&s->by_op, &w, "by_op");
	write_clusters(s, &s->failures, &w, "failures", true);
	write_bad(s, &w);
	write_clusters(s, &s->advice, &w, "advice", false);
	kcounts(&w, "budgets", &s->budgets);
	kcounts(&w, "default_budgets", &s->default_ops);
	kcounts(&w, "overrides", &s->override_ops);
	write_oracle(s, &w);
	write_probes(s, &w);
	if (r->skips)
		write_accounts(s, &w);
	if (r->waivers)
		write_waivers(r->waivers, &w);
	if (r->base) {
		jw_key(&w, "baseline");
		baseline_write(r->base, &w);
	}
	write_stages(s, &w);
	jw_knum(&w, "t_wall_s", s->t_wall_s);
	jw_knum(&w, "t_import_s", s->t_import_s);
	jw_knum(&w, "peak_pss_mb", s->peak_pss_mb);
	jw_obj_end(&w);
	buf_addch(out, '\n');
}
