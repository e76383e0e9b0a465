/* Documents as Markdown with the tables that most of its readers know. */
#include <string.h>

#include "doc.h"
#include "text.h"

/* Text that shows as it is: what Markdown or HTML would act on is escaped. */
static void add_text(struct buf *out, const char *s)
{
	struct buf plain = BUF_INIT;

	text_plain(&plain, s);
	for (const char *p = plain.p; *p; p++) {
		if (*p == '<')
			buf_addstr(out, "&lt;");
		else if (*p == '>')
			buf_addstr(out, "&gt;");
		else if (*p == '&')
			buf_addstr(out, "&amp;");
		else if (strchr("\\`*_[]|~$", *p))
			buf_addf(out, "\\%c", *p);
		else
			buf_addch(out, *p);
	}
	buf_release(&plain);
}

/* A code span, or text where it would not stay one inside a table. */
static void add_code(struct buf *out, const char *s)
{
	struct buf plain = BUF_INIT;

	text_plain(&plain, s);
	if (!*s || strpbrk(plain.p, "`|\\"))
		add_text(out, s);
	else
		buf_addf(out, "`%s`", plain.p);
	buf_release(&plain);
}

static void begin(struct doc *d, const char *title)
{
	buf_addstr(d->out, "# ");
	add_text(d->out, title);
	buf_addstr(d->out, "\n\n");
}

static void end(struct doc *d)
{
	/* No blank line at the end. */
	while (d->out->len > 1 && d->out->p[d->out->len - 1] == '\n' &&
	       d->out->p[d->out->len - 2] == '\n')
		d->out->p[--d->out->len] = '\0';
}

static void heading(struct doc *d, int level, const char *text)
{
	for (int i = 0; i < level; i++)
		buf_addch(d->out, '#');
	buf_addch(d->out, ' ');
	add_text(d->out, text);
	buf_addstr(d->out, "\n\n");
}

static void para(struct doc *d, enum doc_style style, const char *text)
{
	const char *mark = style == DOC_GOOD || style == DOC_BAD ? "**" : "";

	if (style == DOC_NOTE)
		buf_addstr(d->out, "> ");
	buf_addstr(d->out, mark);
	add_text(d->out, text);
	buf_addf(d->out, "%s\n\n", mark);
}

/* Indented, so that no fence in the text can end it. */
static void pre(struct doc *d, const char *text)
{
	struct buf line = BUF_INIT;

	while (*text) {
		size_t n = strcspn(text, "\n");

		buf_reset(&line);
		buf_add(&line, text, n);
		buf_addstr(d->out, "    ");
		text_plain(d->out, line.p);
		buf_addch(d->out, '\n');
		text += n + (text[n] == '\n');
	}
	buf_addch(d->out, '\n');
	buf_release(&line);
}

static void table(struct doc *d, const char *const *cols, size_t n,
		  unsigned numbers)
{
	for (size_t i = 0; i < n; i++) {
		buf_addstr(d->out, i ? " | " : "| ");
		add_text(d->out, cols[i]);
	}
	buf_addstr(d->out, " |\n");
	for (size_t i = 0; i < n; i++)
		buf_addstr(d->out, numbers & 1u << i ? "|--:" : "|---");
	buf_addstr(d->out, "|\n");
}

static void row(struct doc *d)
{
	buf_addch(d->out, '|');
}

static void cell(struct doc *d, enum doc_cell kind, const char *text)
{
	buf_addch(d->out, ' ');
	if (kind == DOC_CODE)
		add_code(d->out, text);
	else if (kind == DOC_LINK && text_is_url(text) &&
		 !strpbrk(text, "()|`"))
		buf_addf(d->out, "<%s>", text);
	else
		add_text(d->out, text);
	buf_addstr(d->out, " |");
}

static void line_end(struct doc *d)
{
	buf_addch(d->out, '\n');
}

static void fold(struct doc *d, const char *title)
{
	heading(d, 3, title);
}

static void fold_end(struct doc *d)
{
	(void)d;
}

const struct doc_ops doc_markdown = {
	begin, end, heading, para, pre, table, row, cell, line_end, line_end,
	fold, fold_end,
};
