/* What a summary comes to, once all records are in. */
#include "summary.h"

#include <stdio.h>
#include <stdlib.h>

#include "text.h"
#include "xalloc.h"

/* Settling */

/* "3 verdicts (pass, fail)" */
static char *duplicate_why(const struct sum_case *c)
{
	struct buf b = BUF_INIT;
	const char *sep = "";

	if (c->accounted)
		buf_addstr(&b, "accounted for as not run, and ");
	buf_addf(&b, "%u verdicts (", c->verdicts);
	for (int o = 0; o < OUT_N; o++) {
		if (!(c->outcomes & 1u << o))
			continue;
		buf_addf(&b, "%s%s", sep, outcome_name(o));
		sep = ", ";
	}
	buf_addch(&b, ')');
	return buf_detach(&b);
}

static char *missing_why(const struct sum_case *c)
{
	return xstrdup(c->ended ? "ran, and was not judged" :
		       c->begun ? "began, and has no result" : "never began");
}

static void settle_outcome(struct sum_case *c)
{
	struct failure *f;

	if (c->verdicts == 1 && !c->accounted) {
		c->outcome = OUT_PASS;
		while (!(c->outcomes & 1u << c->outcome))
			c->outcome++;
		return;
	}
	f = summary_failure(c);
	free(f->why);
	free(f->check);
	f->check = NULL;
	if (c->verdicts) {
		c->outcome = OUT_DUPLICATE;
		f->why = duplicate_why(c);
	} else {
		c->outcome = OUT_MISSING;
		f->why = missing_why(c);
	}
}

/* What a cluster is called: the check, or the way that the case ended. */
static char *broken(const struct sum_case *c)
{
	if (c->outcome == OUT_FAIL && c->fail->check)
		return xstrdup(c->fail->check);
	if (c->outcome == OUT_CRASH && c->fail->signal)
		return xasprintf("crash %s", c->fail->signal);
	return xstrdup(outcome_name(c->outcome));
}

static void settle_failure(struct summary *s, struct sum_case *c,
			   struct waivers *w)
{
	struct waiver *hit = NULL;
	struct cluster *k;
	char *check = broken(c);

	k = clusters_add(&s->failures, summary_op(s, c), check,
			 summary_dtype(s, c), summary_variant(s, c),
			 summary_id(s, c));
	free(check);
	if (w)
		hit = waivers_find(w, s->device ? s->device : "",
				   summary_id(s, c));
	if (hit) {
		hit->used++;
		c->waiver = hit;
		k->waived++;
		s->waived++;
	}
}

static void settle(struct summary *s, struct sum_case *c, struct waivers *w)
{
	char level[8] = "unknown";
	struct waiver *hit;
	size_t at;

	c->accounted = strmap_find(&s->account_ids, summary_id(s, c)) !=
		       STRMAP_NONE;
	c->dropped = c->accounted && !c->verdicts;
	if (c->dropped)
		return;
	summary_names(s, c);
	settle_outcome(c);
	tally_add(&s->total, c->outcome);
	tally_add(&s->by_suite.v[c->suite], c->outcome);
	tally_add(&s->by_op.v[c->op], c->outcome);
	tally_add(&s->by_dtype.v[c->dtype], c->outcome);
	if (c->level)
		snprintf(level, sizeof(level), "%d", c->level);
	at = tallies_name(&s->by_level, level);
	tally_add(&s->by_level.v[at], c->outcome);
	s->unjudged += c->ended && !c->verdicts;
	if (c->outcome != OUT_PASS) {
		settle_failure(s, c, w);
		return;
	}
	s->usable += c->usable;
	s->strict += !c->usable;
	if (w) {
		hit = waivers_find(w, s->device ? s->device : "",
				   summary_id(s, c));
		if (hit)
			hit->passing++;
	}
}

void summary_finish(struct summary *s, struct waivers *w)
{
	size_t promised = counts_total(&s->promised);

	for (size_t i = 0; i < s->ids.n; i++)
		settle(s, &s->cases[i], w);
	if (promised > s->ids.n) {
		s->unnamed = promised - s->ids.n;
		s->total.cases += s->unnamed;
		s->total.out[OUT_MISSING] += s->unnamed;
	}
	tallies_sort(&s->by_level);
	tallies_sort(&s->by_suite);
	tallies_sort(&s->by_op);
	tallies_sort(&s->by_dtype);
	counts_sort(&s->accounts);
	counts_sort(&s->budgets);
	counts_sort(&s->default_ops);
	counts_sort(&s->override_ops);
	clusters_sort(&s->failures);
	clusters_sort(&s->advice);
	s->account_sorted = strmap_sorted(&s->account_keys);
	s->oracle_sorted = strmap_sorted(&s->oracle_keys);
	s->probes_sorted = strmap_sorted(&s->probe_keys);
}

bool summary_complete(const struct summary *s)
{
	return s->total.cases && !s->partial && !s->input_error &&
	       !s->total.out[OUT_MISSING] && !s->total.out[OUT_DUPLICATE];
}

bool summary_conformant(const struct summary *s)
{
	return summary_complete(s) && !tally_bad(&s->total);
}

void summary_verdict(const struct summary *s, struct buf *out)
{
	size_t bad = tally_bad(&s->total);

	if (!s->total.cases) {
		buf_addstr(out, "nothing ran: no case, no verdict");
		return;
	}
	if (summary_conformant(s)) {
		buf_addstr(out, "conformant: ");
		text_count(out, s->total.cases);
		buf_addstr(out, s->total.cases == 1 ? " case passes" :
			   " cases, and all pass");
		return;
	}
	buf_addstr(out, "not conformant: ");
	text_count(out, bad);
	buf_addstr(out, " of ");
	text_count(out, s->total.cases);
	buf_addstr(out, s->total.cases == 1 ? " case" : " cases");
	buf_addstr(out, bad == 1 ? " does not pass" : " do not pass");
	if (!summary_complete(s))
		buf_addstr(out, s->partial ? " (a partial run)" :
			   " (the run is not complete)");
}

const struct sum_case *summary_case(const struct summary *s, const char *id)
{
	size_t i = strmap_find(&s->ids, id);

	return i == STRMAP_NONE || s->cases[i].dropped ? NULL : &s->cases[i];
}

const char *summary_why(const struct sum_case *c)
{
	if (!c->fail)
		return "";
	if (c->fail->why)
		return c->fail->why;
	return c->fail->signal ? c->fail->signal : "";
}

/* Commands */

void summary_make_cmd(const struct summary *s, const struct sum_case *c,
		      struct buf *out)
{
	if (s->own_manifest) {
		buf_addstr(out, "make run MANIFEST=");
		text_shell(out, s->own_manifest);
	} else {
		buf_addstr(out, "make run DEVICE=");
		text_shell(out, s->device ? s->device : "cpu");
	}
	buf_addstr(out, " CASE=");
	text_shell(out, summary_id(s, c));
	if (s->seed) {
		buf_addstr(out, " SEED=");
		text_shell(out, s->seed);
	}
	/* Which file it was is not in the stream. */
	if (s->reference && !strncmp(s->reference, "golden: ", 8))
		buf_addstr(out, " GOLDEN=file");
}

void summary_repro_cmd(const struct summary *s, const struct sum_case *c,
		       struct buf *out)
{
	buf_addstr(out, "make repro CASE=");
	text_shell(out, summary_id(s, c));
	if (s->from) {
		buf_addstr(out, " FROM=");
		text_shell(out, s->from);
		return;
	}
	buf_addstr(out, " DEVICE=");
	text_shell(out, s->device ? s->device : "cpu");
	if (s->seed) {
		buf_addstr(out, " SEED=");
		text_shell(out, s->seed);
	}
}

/* A case that kills its worker needs somebody who watches. */
void summary_pipe_cmd(const struct summary *s, const struct sum_case *c,
		      struct buf *out)
{
	bool dies = c->outcome == OUT_CRASH || c->outcome == OUT_TIMEOUT ||
		    c->outcome == OUT_HANG || c->outcome == OUT_OOM;

	buf_addstr(out, "bin/cts-enum --device ");
	text_shell(out, s->device ? s->device : "cpu");
	if (s->seed) {
		buf_addstr(out, " --seed ");
		text_shell(out, s->seed);
	}
	buf_addstr(out, " --case ");
	text_shell(out, summary_id(s, c));
	buf_addf(out, " | %sbin/cts-exec | bin/cts-compare",
		 dies ? "bin/cts-isolate -- " : "");
}
