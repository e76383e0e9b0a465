/*
 * doc: a document of headings, paragraphs, tables and preformatted text, as
 * Markdown or as one self-contained HTML page.  Text given to it may hold
 * anything: it is escaped here and nowhere else.
 */
#ifndef CTS_DOC_H
#define CTS_DOC_H

#include <stddef.h>
#include "buf.h"

enum doc_style { DOC_PLAIN, DOC_GOOD, DOC_BAD, DOC_NOTE };
enum doc_cell { DOC_TEXT, DOC_CODE, DOC_NUMBER, DOC_LINK };

#define DOC_COLS 16

struct doc;
struct doc_ops {
	void (*begin)(struct doc *d, const char *title);
	void (*end)(struct doc *d);
	void (*heading)(struct doc *d, int level, const char *text);
	void (*para)(struct doc *d, enum doc_style style, const char *text);
	void (*pre)(struct doc *d, const char *text);
	void (*table)(struct doc *d, const char *const *cols, size_t n,
		      unsigned numbers);
	void (*row)(struct doc *d);
	void (*cell)(struct doc *d, enum doc_cell kind, const char *text);
	void (*row_end)(struct doc *d);
	void (*table_end)(struct doc *d);
	/* A part that a reader may skip. */
	void (*fold)(struct doc *d, const char *title);
	void (*fold_end)(struct doc *d);
};

extern const struct doc_ops doc_markdown, doc_html;

struct doc {
	const struct doc_ops *ops;
	struct buf *out;	/* borrowed */
	size_t cols, at;	/* of the table that is open */
};

void doc_begin(struct doc *d, const struct doc_ops *ops, struct buf *out,
	       const char *title);
void doc_end(struct doc *d);
void doc_heading(struct doc *d, int level, const char *text);
void doc_para(struct doc *d, enum doc_style style, const char *text);
void doc_paraf(struct doc *d, enum doc_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doc_pre(struct doc *d, const char *text);
/*
 * Columns are given as "Name" or, for one of numbers, "#Name"; the list ends
 * with NULL.  Rows begin and end by themselves as cells are added.
 */
void doc_table(struct doc *d, const char *const *cols);
void doc_cell(struct doc *d, enum doc_cell kind, const char *text);
void doc_cellf(struct doc *d, enum doc_cell kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doc_count(struct doc *d, size_t n);	/* a cell "6,121" */
void doc_table_end(struct doc *d);
void doc_fold(struct doc *d, const char *title);
void doc_fold_end(struct doc *d);

#endif
