#include "doc.h"

#include <stdarg.h>

#include "text.h"

void doc_begin(struct doc *d, const struct doc_ops *ops, struct buf *out,
	       const char *title)
{
	*d = (struct doc) { .ops = ops, .out = out };
	ops->begin(d, title);
}

void doc_end(struct doc *d)
{
	d->ops->end(d);
}

void doc_heading(struct doc *d, int level, const char *text)
{
	d->ops->heading(d, level, text);
}

void doc_para(struct doc *d, enum doc_style style, const char *text)
{
	d->ops->para(d, style, text);
}

void doc_paraf(struct doc *d, enum doc_style style, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	doc_para(d, style, b.p);
	buf_release(&b);
}

void doc_pre(struct doc *d, const char *text)
{
	d->ops->pre(d, text);
}

void doc_table(struct doc *d, const char *const *cols)
{
	const char *name[DOC_COLS];
	unsigned numbers = 0;

	d->at = 0;
	for (d->cols = 0; cols[d->cols] && d->cols < DOC_COLS; d->cols++) {
		const char *c = cols[d->cols];

		if (*c == '#')
			numbers |= 1u << d->cols;
		name[d->cols] = c + (*c == '#');
	}
	d->ops->table(d, name, d->cols, numbers);
}

void doc_cell(struct doc *d, enum doc_cell kind, const char *text)
{
	if (d->at == 0)
		d->ops->row(d);
	d->ops->cell(d, kind, text);
	if (++d->at == d->cols) {
		d->ops->row_end(d);
		d->at = 0;
	}
}

void doc_cellf(struct doc *d, enum doc_cell kind, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	doc_cell(d, kind, b.p);
	buf_release(&b);
}

void doc_count(struct doc *d, size_t n)
{
	struct buf b = BUF_INIT;

	text_count(&b, n);
	doc_cell(d, DOC_NUMBER, b.p);
	buf_release(&b);
}

void doc_table_end(struct doc *d)
{
	d->ops->table_end(d);
}

void doc_fold(struct doc *d, const char *title)
{
	d->ops->fold(d, title);
}

void doc_fold_end(struct doc *d)
{
	d->ops->fold_end(d);
}
