/* The report for people, as a document. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "text.h"

static void fact(struct doc *d, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	doc_cell(d, DOC_TEXT, name);
	doc_cell(d, DOC_TEXT, value);
}

static void factf(struct doc *d, const char *name, const char *fmt, double x)
{
	char value[64];

	if (x <= 0)
		return;
	snprintf(value, sizeof(value), fmt, x);
	fact(d, name, value);
}

static void count_fact(struct doc *d, const char *name, size_t n)
{
	struct buf b = BUF_INIT;

	if (n) {
		text_count(&b, n);
		fact(d, name, b.p);
	}
	buf_release(&b);
}

static void facts(const struct summary *s, struct doc *d)
{
	static const char *const cols[] = { "What", "Value", NULL };
	char levels[32] = "";

	if (s->level_hi)
		snprintf(levels, sizeof(levels), "%d to %d", s->level_lo,
			 s->level_hi);
	doc_table(d, cols);
	fact(d, "device", s->device);
	fact(d, "hardware", s->hardware);
	fact(d, "PyTorch", s->torch);
	fact(d, "Python", s->python);
	fact(d, "levels", levels);
	fact(d, "seed", s->seed);
	fact(d, "manifest", s->manifest);
	fact(d, "reference by", s->reference);
	fact(d, "run", s->run);
	count_fact(d, "samples judged", s->samples);
	count_fact(d, "passes within the wider budget only", s->usable);
	count_fact(d, "samples left out as undefined", s->undefined);
	count_fact(d, "samples that could not be recorded", s->live);
	factf(d, "wall time", "%.1f s", s->t_wall_s);
	factf(d, "of it imports (the longest)", "%.1f s", s->t_import_s);
	factf(d, "peak memory", "%.0f MB", s->peak_pss_mb);
	doc_table_end(d);
}

static void head(const struct report *r, struct doc *d)
{
	const struct summary *s = r->s;
	struct buf b = BUF_INIT;

	summary_verdict(s, &b);
	doc_para(d, summary_conformant(s) ? DOC_GOOD : DOC_BAD, b.p);
	if (s->note)
		doc_para(d, DOC_NOTE, s->note);
	if (s->partial)
		doc_para(d, DOC_NOTE, "Partial: the run was stopped before "
			 "its end.");
	if (s->input_error)
		doc_paraf(d, DOC_NOTE, "Reading stopped here: %s",
			  s->input_error);
	if (s->unjudged)
		doc_paraf(d, DOC_NOTE, "Ran and have no verdict: %zu. "
			  "cts-compare gives it.", s->unjudged);
	if (s->unnamed)
		doc_paraf(d, DOC_NOTE, "%zu cases were promised by the "
			  "selection and no record names them.", s->unnamed);
	buf_release(&b);
	facts(s, d);
}

static void outcomes(const struct summary *s, struct doc *d)
{
	static const char *const cols[] = { "Outcome", "#Cases", NULL };

	doc_heading(d, 2, "Outcomes");
	doc_table(d, cols);
	for (int o = 0; o < OUT_N; o++) {
		if (!s->total.out[o] && o != OUT_PASS)
			continue;
		doc_cell(d, DOC_TEXT, outcome_name(o));
		doc_count(d, s->total.out[o]);
	}
	doc_cell(d, DOC_TEXT, "all");
	doc_count(d, s->total.cases);
	doc_table_end(d);
	if (s->waived)
		doc_paraf(d, DOC_PLAIN, "%zu of those that do not pass are "
			  "waived, and count all the same.", s->waived);
}

/* Failures */

/* "float32 (3), int8": a count where it is not one. */
static void list_counts(struct buf *out, const struct counts *c)
{
	const char *name;

	for (size_t i = 0; i < c->names.n; i++) {
		size_t n = counts_at(c, i, &name);

		buf_addf(out, "%s%s", i ? ", " : "", name);
		if (n > 1)
			buf_addf(out, " (%zu)", n);
	}
}

static void cluster_table(const struct summary *s, struct doc *d)
{
	static const char *const cols[] = {
		"Op", "Broken", "#Cases", "Dtypes", "Why", NULL
	};
	const struct cluster *k;
	struct buf b = BUF_INIT;

	doc_table(d, cols);
	for (size_t i = 0; (k = clusters_at(&s->failures, i)); i++) {
		buf_reset(&b);
		list_counts(&b, &k->dtypes);
		doc_cell(d, DOC_CODE, k->op);
		doc_cell(d, DOC_TEXT, k->check);
		doc_count(d, k->cases);
		doc_cell(d, DOC_TEXT, b.p);
		doc_cell(d, DOC_TEXT, summary_why(summary_case(s, k->first)));
	}
	doc_table_end(d);
	buf_release(&b);
}

static void failure_text(const struct sum_case *c, struct doc *d)
{
	const struct failure *f = c->fail;

	if (f->figure)
		doc_paraf(d, DOC_PLAIN, "Measured: %s", f->figure);
	if (f->args && f->sample >= 0)
		doc_paraf(d, DOC_PLAIN, "First failing sample, number %lld: "
			  "%s", f->sample, f->args);
	else if (f->args)
		doc_paraf(d, DOC_PLAIN, "First failing sample: %s", f->args);
	if (f->signal)
		doc_paraf(d, DOC_PLAIN, "Ended by: %s", f->signal);
	if (f->order_dependent)
		doc_para(d, DOC_PLAIN, "Order dependent: it passes alone in a "
			 "fresh process.");
	if (c->waiver)
		doc_paraf(d, DOC_NOTE, "Waived until %s: %s (%s)",
			  c->waiver->expires, c->waiver->reason,
			  c->waiver->url);
	if (f->stack)
		doc_pre(d, f->stack);
	if (f->stderr_tail)
		doc_pre(d, f->stderr_tail);
}

static void cluster_detail(const struct summary *s, const struct cluster *k,
			   struct doc *d)
{
	const struct sum_case *c = summary_case(s, k->first);
	struct buf b = BUF_INIT;

	buf_addf(&b, "%s: %s, ", k->op, k->check);
	text_count(&b, k->cases);
	buf_addstr(&b, k->cases == 1 ? " case" : " cases");
	doc_fold(d, b.p);
	doc_para(d, DOC_PLAIN, summary_why(c));
	failure_text(c, d);
	buf_reset(&b);
	buf_addstr(&b, "Dtypes: ");
	list_counts(&b, &k->dtypes);
	buf_addstr(&b, ". Variants: ");
	list_counts(&b, &k->variants);
	buf_addch(&b, '.');
	doc_para(d, DOC_PLAIN, b.p);
	buf_reset(&b);
	summary_make_cmd(s, c, &b);
	buf_addch(&b, '\n');
	summary_pipe_cmd(s, c, &b);
	buf_addch(&b, '\n');
	summary_repro_cmd(s, c, &b);
	doc_pre(d, b.p);
	doc_fold_end(d);
	buf_release(&b);
}

static void failures(const struct summary *s, struct doc *d)
{
	const struct cluster *k;

	if (!s->failures.keys.n)
		return;
	doc_heading(d, 2, "What is broken");
	doc_para(d, DOC_PLAIN, "An op and what broke in it are one entry, over "
		 "all dtypes and variants; below each, its first case and how "
		 "to see it again, lastly as a program by itself.");
	cluster_table(s, d);
	for (size_t i = 0; (k = clusters_at(&s->failures, i)); i++)
		cluster_detail(s, k, d);
}

/* Against a baseline */

static void changes(const struct changes *c, const char *title,
		    struct doc *d)
{
	static const char *const cols[] = { "Case", "Was", "Is", NULL };

	if (!c->n)
		return;
	doc_heading(d, 3, title);
	doc_table(d, cols);
	for (size_t i = 0; i < c->n; i++) {
		doc_cell(d, DOC_CODE, c->v[i].id);
		doc_cell(d, DOC_TEXT, c->v[i].was ? c->v[i].was : "not run");
		doc_cell(d, DOC_TEXT, c->v[i].is ? c->v[i].is : "not run");
	}
	doc_table_end(d);
}

static void baseline(const struct baseline *b, struct doc *d)
{
	if (!b)
		return;
	doc_heading(d, 2, "Against the baseline");
	doc_paraf(d, b->regressions.n ? DOC_BAD : DOC_PLAIN,
		  "%zu regressions, %zu fixes, %zu still bad, %zu new and bad, "
		  "%zu no longer run.", b->regressions.n, b->fixes.n,
		  b->still, b->added.n, b->gone.n);
	changes(&b->regressions, "Regressions", d);
	changes(&b->fixes, "Known failures that now pass", d);
	changes(&b->added, "New cases that do not pass", d);
	changes(&b->gone, "No longer run", d);
}

/* Tables of counts */

static void tally_cells(const struct tally *t, const bool *used,
			struct doc *d)
{
	doc_count(d, t->cases);
	for (int o = 0; o < OUT_N; o++)
		if (used[o])
			doc_count(d, t->out[o]);
}

static void tallies(const struct summary *s, const struct tallies *t,
		    const char *title, const char *first, bool only_bad,
		    struct doc *d)
{
	const char *cols[OUT_N + 3] = { first, "#Cases" };
	char names[OUT_N][32];
	bool used[OUT_N];
	const struct tally *v;
	const char *name;
	size_t n = 2;

	for (int o = 0; o < OUT_N; o++) {
		used[o] = s->total.out[o] || o == OUT_PASS;
		snprintf(names[o], sizeof(names[o]), "#%s", outcome_name(o));
		if (used[o])
			cols[n++] = names[o];
	}
	cols[n] = NULL;
	doc_heading(d, 2, title);
	doc_table(d, cols);
	for (size_t i = 0; (v = tallies_at(t, i, &name)); i++) {
		if (!v->cases || (only_bad && !tally_bad(v)))
			continue;
		doc_cell(d, DOC_CODE, name);
		tally_cells(v, used, d);
	}
	doc_table_end(d);
}

/* What did not run */

static const char *reason_text(const char *reason)
{
	const struct account_reason *a = account_reason_find(reason);

	return a ? a->text : "";
}

static void skip_rows(const struct summary *s, struct doc *d)
{
	static const char *const cols[] = {
		"Reason", "#Level", "Op", "#Cases", NULL
	};

	doc_fold(d, "By reason, level and op");
	doc_table(d, cols);
	for (size_t i = 0; i < s->account_keys.n; i++) {
		const struct account_row *a = &s->account[s->account_sorted[i]];

		doc_cell(d, DOC_TEXT, a->reason);
		doc_count(d, (size_t)(a->level > 0 ? a->level : 0));
		doc_cell(d, DOC_CODE, a->op);
		doc_count(d, a->n);
	}
	doc_table_end(d);
	doc_fold_end(d);
}

static void accounts(const struct report *r, struct doc *d)
{
	static const char *const cols[] = {
		"Reason", "#Cases", "What it means", NULL
	};
	const struct counts *c = &r->s->accounts;
	const char *name;

	if (!c->names.n)
		return;
	doc_heading(d, 2, "What did not run, and why");
	doc_table(d, cols);
	for (size_t i = 0; i < c->names.n; i++) {
		size_t n = counts_at(c, i, &name);

		doc_cell(d, DOC_TEXT, name);
		doc_count(d, n);
		doc_cell(d, DOC_TEXT, reason_text(name));
	}
	doc_table_end(d);
	if (r->skips)
		skip_rows(r->s, d);
}

/* What is no failure */

static void advice(const struct summary *s, struct doc *d)
{
	static const char *const cols[] = {
		"Op", "Measured", "#Cases", "Dtypes", "First case", NULL
	};
	const struct cluster *k;
	struct buf b = BUF_INIT;

	if (!s->advice.keys.n)
		return;
	doc_heading(d, 2, "Advice");
	doc_para(d, DOC_PLAIN, "Measured and different from the CPU, and "
		 "promised by nobody: none of this is a failure.");
	doc_fold(d, "Findings by op");
	doc_table(d, cols);
	for (size_t i = 0; (k = clusters_at(&s->advice, i)); i++) {
		buf_reset(&b);
		list_counts(&b, &k->dtypes);
		doc_cell(d, DOC_CODE, k->op);
		doc_cell(d, DOC_TEXT, k->check);
		doc_count(d, k->cases);
		doc_cell(d, DOC_TEXT, b.p);
		doc_cell(d, DOC_CODE, k->first);
	}
	doc_table_end(d);
	doc_fold_end(d);
	buf_release(&b);
}

static void count_table(const struct counts *c, const char *first,
			const char *second, struct doc *d)
{
	const char *const cols[] = { first, second, NULL };
	const char *name;

	doc_table(d, cols);
	for (size_t i = 0; i < c->names.n; i++) {
		size_t n = counts_at(c, i, &name);

		doc_cell(d, DOC_CODE, name);
		doc_count(d, n);
	}
	doc_table_end(d);
}

static void budget_ops(const struct counts *c, const char *title,
		       struct doc *d)
{
	if (!c->names.n)
		return;
	doc_fold(d, title);
	count_table(c, "Op", "#Cases", d);
	doc_fold_end(d);
}

static void budgets(const struct summary *s, struct doc *d)
{
	if (!s->budgets.names.n)
		return;
	doc_heading(d, 2, "Budgets");
	doc_para(d, DOC_PLAIN, "How far values may be off, by where the limit "
		 "comes from: the reviewed ledger, an override in the "
		 "manifest, or the conservative default for an op that the "
		 "ledger does not list.");
	count_table(&s->budgets, "Source", "#Cases", d);
	budget_ops(&s->override_ops, "Ops judged by the manifest's override",
		   d);
	budget_ops(&s->default_ops, "Ops judged by the default budget", d);
}

static void oracle(const struct summary *s, struct doc *d)
{
	static const char *const cols[] = {
		"Case", "#Sample", "Reason", "Detail", NULL
	};

	if (!s->oracle_keys.n)
		return;
	doc_heading(d, 2, "No expected result");
	doc_paraf(d, DOC_PLAIN, "%zu samples for which the reference gave "
		  "nothing to compare with: neither a pass nor a failure of "
		  "the device.", s->oracle_keys.n);
	doc_fold(d, "Oracle failures");
	doc_table(d, cols);
	for (size_t i = 0; i < s->oracle_keys.n; i++) {
		const struct oracle_row *o = &s->oracle[s->oracle_sorted[i]];

		doc_cell(d, DOC_CODE, o->id);
		doc_cellf(d, DOC_NUMBER, "%lld", o->sample);
		doc_cell(d, DOC_TEXT, o->reason);
		doc_cell(d, DOC_TEXT, o->detail);
	}
	doc_table_end(d);
	doc_fold_end(d);
}

static void probes(const struct summary *s, struct doc *d)
{
	static const char *const cols[] = {
		"Kind", "Probe", "Status", "Note", NULL
	};

	if (!s->probe_keys.n)
		return;
	doc_heading(d, 2, "Probes");
	doc_table(d, cols);
	for (size_t i = 0; i < s->probe_keys.n; i++) {
		const struct probe_row *p = &s->probes[s->probes_sorted[i]];

		doc_cell(d, DOC_TEXT, p->probe);
		doc_cell(d, DOC_TEXT, p->name);
		doc_cell(d, DOC_TEXT, p->status);
		doc_cell(d, DOC_TEXT, p->note);
	}
	doc_table_end(d);
}

static void waivers(const struct waivers *w, struct doc *d)
{
	static const char *const cols[] = {
		"Match", "Expires", "#Waived", "#Pass", "Reason", "See", NULL
	};

	if (!w || !w->n)
		return;
	doc_heading(d, 2, "Waivers");
	doc_para(d, DOC_PLAIN, "A waiver marks a failure and changes no count. "
		 "Cases under Pass no longer need theirs.");
	doc_table(d, cols);
	for (size_t i = 0; i < w->n; i++) {
		const struct waiver *v = &w->v[i];

		doc_cell(d, DOC_CODE, v->match);
		doc_cellf(d, DOC_TEXT, "%s%s", v->expires,
			  v->expired ? " (expired)" : "");
		doc_count(d, v->used);
		doc_count(d, v->passing);
		doc_cell(d, DOC_TEXT, v->reason);
		doc_cell(d, DOC_LINK, v->url);
	}
	doc_table_end(d);
}

/* A number of a stage's object, or "" where it has none. */
static void stage_cell(const cJSON *o, const char *key, const char *fmt,
		       struct doc *d)
{
	const cJSON *n = json_get(o, key);
	char text[64] = "";

	if (cJSON_IsNumber(n))
		snprintf(text, sizeof(text), fmt, n->valuedouble);
	doc_cell(d, DOC_NUMBER, text);
}

static void stages(const struct summary *s, struct doc *d)
{
	static const char *const cols[] = {
		"Stage", "#Seconds", "#Memory, MB", NULL
	};
	const cJSON *o;

	if (!cJSON_GetArraySize(s->stages))
		return;
	doc_heading(d, 2, "Where the time went");
	doc_table(d, cols);
	cJSON_ArrayForEach(o, s->stages) {
		doc_cell(d, DOC_TEXT, rec_str_opt(o, "stage", ""));
		stage_cell(o, "t_s", "%.2f", d);
		stage_cell(o, "peak_pss_mb", "%.0f", d);
	}
	doc_table_end(d);
}

void report_doc(const struct report *r, struct doc *d)
{
	const struct summary *s = r->s;

	head(r, d);
	outcomes(s, d);
	baseline(r->base, d);
	failures(s, d);
	tallies(s, &s->by_suite, "By suite", "Suite", false, d);
	tallies(s, &s->by_level, "By level", "Level", false, d);
	tallies(s, &s->by_dtype, "By dtype", "Dtype", false, d);
	if (tally_bad(&s->total))
		tallies(s, &s->by_op, "Ops that do not pass", "Op", true, d);
	accounts(r, d);
	advice(s, d);
	budgets(s, d);
	oracle(s, d);
	probes(s, d);
	waivers(r->waivers, d);
	stages(s, d);
}

static void render(const struct report *r, const struct doc_ops *ops,
		   struct buf *out)
{
	struct buf title = BUF_INIT;
	struct doc d;

	buf_addf(&title, "PyTorch conformance of %s",
		 r->s->device ? r->s->device : "an unnamed device");
	doc_begin(&d, ops, out, title.p);
	report_doc(r, &d);
	doc_end(&d);
	buf_release(&title);
}

void report_markdown(const struct report *r, struct buf *out)
{
	render(r, &doc_markdown, out);
}

void report_html(const struct report *r, struct buf *out)
{
	render(r, &doc_html, out);
}
