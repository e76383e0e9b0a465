/* The report for a terminal: what a person needs first, on one screen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "text.h"

#define WHY_WIDTH 100

struct card {
	const struct report *r;
	struct buf *out;
	bool colour;
};

static void paint(struct card *k, const char *code, const char *text)
{
	if (k->colour)
		buf_addf(k->out, "\033[%sm%s\033[m", code, text);
	else
		buf_addstr(k->out, text);
}

static const char *code_for(bool good)
{
	return good ? "1;32" : "1;31";
}

/* " sep name" for each fact that is known. */
static void fact(struct card *k, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_addf(k->out, ", %s", name);
	text_plain(k->out, value);
}

static void title(struct card *k)
{
	const struct summary *s = k->r->s;
	char levels[32] = "";

	if (s->level_hi && s->level_lo == s->level_hi)
		snprintf(levels, sizeof(levels), "%d", s->level_hi);
	else if (s->level_hi)
		snprintf(levels, sizeof(levels), "%d-%d", s->level_lo,
			 s->level_hi);
	text_plain(k->out, s->device ? s->device : "unnamed device");
	fact(k, "", s->hardware);
	fact(k, "torch ", s->torch);
	fact(k, "level ", levels);
	fact(k, "seed ", s->seed);
	fact(k, "run ", s->run);
	buf_addch(k->out, '\n');
	if (s->note) {
		text_plain(k->out, s->note);
		buf_addch(k->out, '\n');
	}
	buf_addch(k->out, '\n');
}

/* The outcomes that occur become the columns. */
static void columns(struct card *k, const char *first)
{
	buf_addf(k->out, "%-14s%9s", first, "cases");
	for (int o = 0; o < OUT_N; o++)
		if (k->r->s->total.out[o] || o == OUT_PASS)
			buf_addf(k->out, " %*s", (int)strlen(outcome_name(o)) >
				 6 ? (int)strlen(outcome_name(o)) : 6,
				 outcome_name(o));
	buf_addch(k->out, '\n');
}

static void line(struct card *k, const char *name, const struct tally *t)
{
	struct buf b = BUF_INIT;
	char cell[32];

	text_plain(&b, name);
	buf_addf(k->out, "%-14s%9zu", b.p, t->cases);
	for (int o = 0; o < OUT_N; o++) {
		int width = (int)strlen(outcome_name(o));

		if (!k->r->s->total.out[o] && o != OUT_PASS)
			continue;
		snprintf(cell, sizeof(cell), " %*zu", width > 6 ? width : 6,
			 t->out[o]);
		if (o != OUT_PASS && t->out[o])
			paint(k, code_for(false), cell);
		else
			buf_addstr(k->out, cell);
	}
	buf_addch(k->out, '\n');
	buf_release(&b);
}

static void table(struct card *k, const struct tallies *t, const char *first)
{
	const struct tally *v;
	const char *name;

	columns(k, first);
	for (size_t i = 0; (v = tallies_at(t, i, &name)); i++)
		if (v->cases)
			line(k, name, v);
}

static void add_list(struct buf *out, const struct counts *c, size_t max)
{
	const char *name;

	for (size_t i = 0; i < c->names.n && i < max; i++) {
		counts_at(c, i, &name);
		buf_addstr(out, i ? " " : "");
		text_plain(out, name);
	}
	if (c->names.n > max)
		buf_addf(out, " and %zu more", c->names.n - max);
}

static void failure(struct card *k, const struct cluster *c)
{
	const struct sum_case *first = summary_case(k->r->s, c->first);
	struct buf b = BUF_INIT;
	char *why = text_cut(summary_why(first), WHY_WIDTH);

	buf_addstr(&b, "  ");
	text_plain(&b, c->op);
	buf_addstr(&b, ": ");
	text_plain(&b, c->check);
	buf_addch(k->out, '\n');
	paint(k, "1", b.p);
	buf_addf(k->out, ", %zu %s (", c->cases,
		 c->cases == 1 ? "case" : "cases");
	add_list(k->out, &c->dtypes, 8);
	buf_addstr(k->out, c->waived ? "), waived in part\n" : ")\n");
	if (*why) {
		buf_addstr(k->out, "    ");
		text_plain(k->out, why);
		buf_addch(k->out, '\n');
	}
	if (first->fail->args) {
		buf_addstr(k->out, "    ");
		text_plain(k->out, first->fail->args);
		buf_addch(k->out, '\n');
	}
	buf_reset(&b);
	summary_make_cmd(k->r->s, first, &b);
	buf_addstr(k->out, "    ");
	text_plain(k->out, b.p);
	buf_addch(k->out, '\n');
	buf_release(&b);
	free(why);
}

static void failures(struct card *k, size_t top)
{
	const struct clusters *all = &k->r->s->failures;
	const struct cluster *c;

	if (!all->keys.n)
		return;
	buf_addf(k->out, "\n%zu %s broken:\n", all->keys.n,
		 all->keys.n == 1 ? "thing is" : "things are");
	for (size_t i = 0; (c = clusters_at(all, i)); i++) {
		if (top && i == top) {
			buf_addf(k->out, "\n  and %zu more, all in the "
				 "Markdown and HTML reports\n",
				 all->keys.n - top);
			break;
		}
		failure(k, c);
	}
}

static void accounts(struct card *k)
{
	const struct counts *c = &k->r->s->accounts;
	const char *name;

	if (!c->names.n)
		return;
	buf_addstr(k->out, "\nnot run: ");
	text_count(k->out, counts_total(c));
	for (size_t i = 0; i < c->names.n; i++) {
		size_t n = counts_at(c, i, &name);

		buf_addstr(k->out, i ? ", " : " (");
		text_plain(k->out, name);
		buf_addch(k->out, ' ');
		text_count(k->out, n);
	}
	buf_addstr(k->out, ")\n");
}

static void skips(struct card *k)
{
	const struct summary *s = k->r->s;

	if (!k->r->skips || !s->account_keys.n)
		return;
	buf_addstr(k->out, "\n  reason                     level   cases  "
		   "op\n");
	for (size_t i = 0; i < s->account_keys.n; i++) {
		const struct account_row *a = &s->account[s->account_sorted[i]];
		struct buf b = BUF_INIT;

		text_plain(&b, a->reason);
		buf_addf(k->out, "  %-26s %5d %7zu  ", b.p, a->level, a->n);
		text_plain(k->out, a->op);
		buf_addch(k->out, '\n');
		buf_release(&b);
	}
}

static void probes(struct card *k)
{
	const struct summary *s = k->r->s;

	if (!s->probe_keys.n)
		return;
	buf_addstr(k->out, "\nprobes\n");
	for (size_t i = 0; i < s->probe_keys.n; i++) {
		const struct probe_row *p = &s->probes[s->probes_sorted[i]];
		struct buf b = BUF_INIT;

		buf_addf(&b, "  %-11s %-26s %-12s %s", p->probe, p->name,
			 p->status, p->note);
		text_plain(k->out, b.p);
		buf_addch(k->out, '\n');
		buf_release(&b);
	}
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Things that are no failure, a line each. */
static void asides(struct card *k)
{
	const struct summary *s = k->r->s;
	const struct baseline *b = k->r->base;

	if (s->advice.keys.n)
		buf_addf(k->out, "advice: %zu finding%s, none a failure\n",
			 s->advice.keys.n, plural(s->advice.keys.n));
	if (s->oracle_keys.n)
		buf_addf(k->out, "no expected result for %zu sample%s\n",
			 s->oracle_keys.n, plural(s->oracle_keys.n));
	if (s->default_ops.names.n)
		buf_addf(k->out, "default budget for %zu op%s\n",
			 s->default_ops.names.n,
			 plural(s->default_ops.names.n));
	if (s->override_ops.names.n)
		buf_addf(k->out, "the manifest overrides the budget of %zu "
			 "op%s\n", s->override_ops.names.n,
			 plural(s->override_ops.names.n));
	if (s->waived)
		buf_addf(k->out, "waived: %zu of the cases that do not pass\n",
			 s->waived);
	if (b)
		buf_addf(k->out, "against the baseline: %zu regressions, %zu "
			 "fixes, %zu still bad, %zu new and bad, %zu no longer "
			 "run\n", b->regressions.n, b->fixes.n, b->still,
			 b->added.n, b->gone.n);
	if (s->unjudged)
		buf_addf(k->out, "%zu case%s ran without a verdict: "
			 "cts-compare gives it\n", s->unjudged,
			 plural(s->unjudged));
	if (s->corpus_note)
		buf_addf(k->out, "corpus: %s\n", s->corpus_note);
	if (s->t_wall_s > 0)
		buf_addf(k->out, "%.1f s, of which imports %.1f s; peak memory "
			 "%.0f MB\n", s->t_wall_s, s->t_import_s,
			 s->peak_pss_mb);
}

static void changes(struct card *k, const struct changes *c, const char *what)
{
	for (size_t i = 0; i < c->n && i < 20; i++) {
		buf_addf(k->out, "  %s: ", what);
		text_plain(k->out, c->v[i].id);
		buf_addf(k->out, " (was %s, is %s)\n", c->v[i].was,
			 c->v[i].is);
	}
	if (c->n > 20)
		buf_addf(k->out, "  and %zu more\n", c->n - 20);
}

void report_scorecard(const struct report *r, struct buf *out, bool colour,
		      size_t top)
{
	struct card k = { r, out, colour };
	struct buf b = BUF_INIT;

	title(&k);
	if (r->s->total.cases) {
		table(&k, &r->s->by_suite, "suite");
		buf_addch(out, '\n');
		table(&k, &r->s->by_level, "level");
		line(&k, "all", &r->s->total);
	}
	failures(&k, top);
	accounts(&k);
	skips(&k);
	probes(&k);
	buf_addch(out, '\n');
	asides(&k);
	if (r->base) {
		changes(&k, &r->base->regressions, "regression");
		changes(&k, &r->base->fixes, "fixed");
	}
	summary_verdict(r->s, &b);
	paint(&k, code_for(summary_conformant(r->s)), b.p);
	buf_addch(out, '\n');
	buf_release(&b);
}
