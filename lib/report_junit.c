/*
 * JUnit XML as the common readers take it: a testsuite for each suite, a
 * testcase for each case.  `fail` is a failure, any other bad outcome an
 * error.  With the skips, what did not run is listed too, as skipped.
 */
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "text.h"

static void attr(struct buf *out, const char *name, const char *text)
{
	buf_addf(out, " %s=\"", name);
	for (const char *p = text; *p; ) {
		size_t n = strcspn(p, "\n\t");
		struct buf part = BUF_INIT;

		/* A reader would make either a blank. */
		buf_add(&part, p, n);
		text_xml(out, part.p);
		buf_release(&part);
		p += n;
		if (*p)
			buf_addf(out, "&#%d;", *p++);
	}
	buf_addch(out, '"');
}

/* Everything that there is to say about a bad case, as text. */
static void write_body(const struct summary *s, const struct sum_case *c,
		       struct buf *out)
{
	const struct failure *f = c->fail;
	struct buf b = BUF_INIT;

	if (f && f->figure)
		buf_addf(&b, "%s\n", f->figure);
	if (f && f->args)
		buf_addf(&b, "sample %lld: %s\n", f->sample, f->args);
	if (f && f->order_dependent)
		buf_addstr(&b, "order dependent: passes in a fresh process\n");
	if (c->waiver)
		buf_addf(&b, "waived until %s: %s %s\n", c->waiver->expires,
			 c->waiver->reason, c->waiver->url);
	summary_make_cmd(s, c, &b);
	buf_addch(&b, '\n');
	if (f && f->stack)
		buf_addf(&b, "%s\n", f->stack);
	if (f && f->stderr_tail)
		buf_addf(&b, "%s\n", f->stderr_tail);
	text_xml(out, b.p);
	buf_release(&b);
}

static void write_case(const struct summary *s, const struct sum_case *c,
		       struct buf *out)
{
	const char *tag = c->outcome == OUT_FAIL ? "failure" : "error";
	struct buf class = BUF_INIT;

	buf_addf(&class, "%s.%s", summary_suite(s, c), summary_op(s, c));
	buf_addstr(out, "    <testcase");
	attr(out, "classname", class.p);
	attr(out, "name", summary_id(s, c));
	buf_addf(out, " time=\"%.6f\"", c->t_s);
	if (c->outcome == OUT_PASS) {
		buf_addstr(out, "/>\n");
	} else {
		buf_addf(out, ">\n      <%s", tag);
		attr(out, "type", outcome_name(c->outcome));
		attr(out, "message", summary_why(c));
		buf_addch(out, '>');
		write_body(s, c, out);
		buf_addf(out, "</%s>\n    </testcase>\n", tag);
	}
	buf_release(&class);
}

/* Counts of a tally as JUnit has them. */
static void count_attrs(struct buf *out, const struct tally *t, size_t skipped)
{
	buf_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		 "skipped=\"%zu\"", t->cases + skipped, t->out[OUT_FAIL],
		 tally_bad(t) - t->out[OUT_FAIL], skipped);
}

static void write_suite(const struct summary *s, size_t suite,
			const char *name, const size_t *order, struct buf *out)
{
	buf_addstr(out, "  <testsuite");
	attr(out, "name", name);
	count_attrs(out, &s->by_suite.v[suite], 0);
	buf_addstr(out, ">\n");
	if (s->note) {
		buf_addstr(out, "    <properties><property name=\"note\"");
		attr(out, "value", s->note);
		buf_addstr(out, "/></properties>\n");
	}
	for (size_t i = 0; i < s->ids.n; i++) {
		const struct sum_case *c = &s->cases[order[i]];

		if (!c->dropped && c->suite == suite)
			write_case(s, c, out);
	}
	buf_addstr(out, "  </testsuite>\n");
}

/* One line for each reason, level and op: they can be tens of thousands. */
static void write_skips(const struct summary *s, struct buf *out)
{
	static const struct tally none;
	struct buf b = BUF_INIT;

	buf_addstr(out, "  <testsuite name=\"not run\"");
	count_attrs(out, &none, s->account_keys.n);
	buf_addstr(out, ">\n");
	for (size_t i = 0; i < s->account_keys.n; i++) {
		const struct account_row *a = &s->account[s->account_sorted[i]];

		buf_reset(&b);
		buf_addf(&b, "%s at level %d (%zu)", a->op, a->level, a->n);
		buf_addstr(out, "    <testcase");
		attr(out, "classname", a->reason);
		attr(out, "name", b.p);
		buf_addstr(out, "><skipped");
		attr(out, "message", a->reason);
		buf_addstr(out, "/></testcase>\n");
	}
	buf_addstr(out, "  </testsuite>\n");
	buf_release(&b);
}

/* Cases that a selection promised and that no record names. */
static void write_unnamed(const struct summary *s, struct buf *out)
{
	buf_addf(out, "  <testsuite name=\"never named\" tests=\"1\" "
		 "failures=\"0\" errors=\"1\" skipped=\"0\">\n"
		 "    <testcase classname=\"run\" name=\"complete\">"
		 "<error type=\"missing\" message=\"%zu cases were promised "
		 "and never named\"/></testcase>\n  </testsuite>\n",
		 s->unnamed);
}

void report_junit(const struct report *r, struct buf *out)
{
	const struct summary *s = r->s;
	size_t *order = strmap_sorted(&s->ids);
	const struct tally *t;
	const char *name;

	buf_addstr(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<testsuites");
	attr(out, "name", s->device ? s->device : "");
	count_attrs(out, &s->total, r->skips ? s->account_keys.n : 0);
	buf_addstr(out, ">\n");
	for (size_t i = 0; (t = tallies_at(&s->by_suite, i, &name)); i++)
		if (t->cases)
			write_suite(s, s->by_suite.sorted[i], name, order,
				    out);
	if (s->unnamed)
		write_unnamed(s, out);
	if (r->skips)
		write_skips(s, out);
	buf_addstr(out, "</testsuites>\n");
	free(order);
}
