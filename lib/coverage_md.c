/* The coverage of a device, for people. */
#include <string.h>

#include "coverage.h"
#include "doc.h"
#include "text.h"

static void state_table(const struct coverage *c, struct doc *d)
{
	static const char *const cols[] = {
		"State", "#Overloads", "What it means", NULL
	};

	doc_table(d, cols);
	for (int s = 0; s < COVER_N; s++) {
		doc_cell(d, DOC_CODE, cover_name(s));
		doc_count(d, c->by_state[s]);
		doc_cell(d, DOC_TEXT, cover_text(s));
	}
	doc_cell(d, DOC_TEXT, "all");
	doc_count(d, c->listed);
	doc_cell(d, DOC_TEXT, "");
	doc_table_end(d);
}

/* A table of states by what key() says of an overload. */
static void cross_table(const struct coverage *c, const char *title,
			const char *(*key)(const struct overload *o),
			struct doc *d)
{
	const char *cols[COVER_N + 3] = { title, "#All" };
	char names[COVER_N][16];
	struct counts keys, cells;
	const struct overload *o;
	struct buf b = BUF_INIT;
	const char *name;

	for (int s = 0; s < COVER_N; s++) {
		names[s][0] = '#';
		memcpy(names[s] + 1, cover_name(s), strlen(cover_name(s)) + 1);
		cols[s + 2] = names[s];
	}
	cols[COVER_N + 2] = NULL;
	counts_init(&keys);
	counts_init(&cells);
	for (size_t i = 0; (o = coverage_at(c, i, &name)); i++) {
		if (!o->listed)
			continue;
		buf_reset(&b);
		buf_addf(&b, "%s\n%d", key(o), (int)o->state);
		counts_add(&keys, key(o), 1);
		counts_add(&cells, b.p, 1);
	}
	counts_sort(&keys);
	doc_table(d, cols);
	for (size_t i = 0; i < keys.names.n; i++) {
		size_t n = counts_at(&keys, i, &name);

		doc_cell(d, DOC_CODE, name);
		doc_count(d, n);
		for (int s = 0; s < COVER_N; s++) {
			buf_reset(&b);
			buf_addf(&b, "%s\n%d", name, s);
			doc_count(d, counts_of(&cells, b.p));
		}
	}
	doc_table_end(d);
	buf_release(&b);
	counts_release(&keys);
	counts_release(&cells);
}

static const char *kernel_of(const struct overload *o)
{
	return o->kernel;
}

static const char *surface_of(const struct overload *o)
{
	return o->surface;
}

/* Where reached overloads ran: by one kind of path only, or by several. */
static const char *path_of(const struct overload *o)
{
	if (o->state != COVER_REACHED)
		return "not reached";
	if (o->pass[REACH_DEVICE])
		return "a kernel of the device";
	return o->pass[REACH_COMPOSITE] ? "other ops" : "the CPU's fallback";
}

static void list(const struct coverage *c, enum cover state,
		 const char *title, struct doc *d)
{
	static const char *const cols[] = {
		"Overload", "Kernel", "Surface", "Reason", NULL
	};
	const struct overload *o;
	const char *name;

	if (!c->by_state[state])
		return;
	doc_heading(d, 2, title);
	doc_table(d, cols);
	for (size_t i = 0; (o = coverage_at(c, i, &name)); i++) {
		if (!o->listed || o->state != state)
			continue;
		doc_cell(d, DOC_CODE, name);
		doc_cell(d, DOC_TEXT, o->kernel);
		doc_cell(d, DOC_TEXT, o->surface);
		doc_cell(d, DOC_TEXT, coverage_why(o));
	}
	doc_table_end(d);
}

void coverage_markdown(const struct coverage *c, struct buf *out)
{
	struct buf title = BUF_INIT, n = BUF_INIT;
	struct doc d;

	buf_addf(&title, "Coverage of the dispatcher by %s",
		 c->device ? c->device : "a device");
	doc_begin(&d, &doc_markdown, out, title.p);
	text_count(&n, c->by_state[COVER_REACHED]);
	buf_addstr(&n, " of ");
	text_count(&n, c->listed);
	buf_addstr(&n, " overloads are proven by a case that passes; ");
	text_count(&n, c->by_state[COVER_FAILING] +
		   c->by_state[COVER_UNREACHED]);
	buf_addstr(&n, " are neither proven nor explained.");
	doc_para(&d, coverage_good(c) ? DOC_GOOD : DOC_BAD, n.p);
	state_table(c, &d);
	doc_heading(&d, 2, "By kernel");
	cross_table(c, "Kernel", kernel_of, &d);
	doc_heading(&d, 2, "By surface");
	cross_table(c, "Surface", surface_of, &d);
	doc_heading(&d, 2, "Where it ran");
	cross_table(c, "Path", path_of, &d);
	list(c, COVER_FAILING, "Reached by failing cases only", &d);
	list(c, COVER_UNREACHED, "Unreached", &d);
	list(c, COVER_ACCOUNTED, "Accounted for", &d);
	list(c, COVER_EXCLUDED, "Excluded", &d);
	doc_end(&d);
	buf_release(&title);
	buf_release(&n);
}
