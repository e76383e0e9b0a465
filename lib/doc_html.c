/* Documents as one HTML page: no script, nothing loaded, dark or light. */
#include "doc.h"
#include "text.h"

static const char style[] =
":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;"
"--line:#d1d9e0;--head:#f3f5f7;--good:#1a7f37;--bad:#c62828}\n"
"@media(prefers-color-scheme:dark){:root{--bg:#12161b;--fg:#dfe5ea;"
"--dim:#9aa5b1;--line:#343c45;--head:#1c2229;--good:#4cc26b;"
"--bad:#ff7b72}}\n"
"body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,"
"sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem}\n"
"h1{font-size:1.5rem}h2{font-size:1.15rem;margin:2rem 0 .5rem;"
"border-bottom:1px solid var(--line)}\n"
"table{border-collapse:collapse;margin:.5rem 0;font-size:.9rem}\n"
"th,td{border:1px solid var(--line);padding:.2rem .6rem;text-align:left;"
"vertical-align:top;overflow-wrap:anywhere}\n"
"th{background:var(--head)}\n"
"td.n,th.n{text-align:right;white-space:nowrap;"
"font-variant-numeric:tabular-nums}\n"
"code,pre{font:.86em/1.45 ui-monospace,monospace}\n"
"pre{background:var(--head);padding:.6rem;overflow-x:auto;"
"white-space:pre-wrap;overflow-wrap:anywhere}\n"
"details{margin:.4rem 0;padding-left:.2rem}summary{cursor:pointer}\n"
"p.good{color:var(--good);font-weight:600}"
"p.bad{color:var(--bad);font-weight:600}\n"
"p.note{border-left:4px solid var(--line);padding-left:.7rem;"
"color:var(--dim)}\n";

static void begin(struct doc *d, const char *title)
{
	buf_addstr(d->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		   "<meta charset=\"utf-8\"/>\n"
		   "<meta name=\"viewport\" content=\"width=device-width\"/>\n"
		   "<title>");
	text_xml(d->out, title);
	buf_addf(d->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>",
		 style);
	text_xml(d->out, title);
	buf_addstr(d->out, "</h1>\n");
}

static void end(struct doc *d)
{
	buf_addstr(d->out, "</body>\n</html>\n");
}

static void heading(struct doc *d, int level, const char *text)
{
	buf_addf(d->out, "<h%d>", level);
	text_xml(d->out, text);
	buf_addf(d->out, "</h%d>\n", level);
}

static void para(struct doc *d, enum doc_style s, const char *text)
{
	static const char *const open[] = {
		[DOC_PLAIN] = "<p>", [DOC_GOOD] = "<p class=\"good\">",
		[DOC_BAD] = "<p class=\"bad\">",
		[DOC_NOTE] = "<p class=\"note\">",
	};

	buf_addstr(d->out, open[s]);
	text_xml(d->out, text);
	buf_addstr(d->out, "</p>\n");
}

static void pre(struct doc *d, const char *text)
{
	buf_addstr(d->out, "<pre>");
	text_xml(d->out, text);
	buf_addstr(d->out, "</pre>\n");
}

static void table(struct doc *d, const char *const *cols, size_t n,
		  unsigned numbers)
{
	buf_addstr(d->out, "<table>\n<thead><tr>");
	for (size_t i = 0; i < n; i++) {
		buf_addstr(d->out, numbers & 1u << i ? "<th class=\"n\">" :
			   "<th>");
		text_xml(d->out, cols[i]);
		buf_addstr(d->out, "</th>");
	}
	buf_addstr(d->out, "</tr></thead>\n<tbody>\n");
}

static void row(struct doc *d)
{
	buf_addstr(d->out, "<tr>");
}

static void cell(struct doc *d, enum doc_cell kind, const char *text)
{
	if (kind == DOC_LINK && !text_is_url(text))
		kind = DOC_TEXT;
	buf_addstr(d->out, kind == DOC_NUMBER ? "<td class=\"n\">" : "<td>");
	if (kind == DOC_LINK) {
		buf_addstr(d->out, "<a href=\"");
		text_xml(d->out, text);
		buf_addstr(d->out, "\" rel=\"noreferrer\">");
	}
	buf_addstr(d->out, kind == DOC_CODE ? "<code>" : "");
	text_xml(d->out, text);
	buf_addstr(d->out, kind == DOC_CODE ? "</code>" : "");
	buf_addstr(d->out, kind == DOC_LINK ? "</a></td>" : "</td>");
}

static void row_end(struct doc *d)
{
	buf_addstr(d->out, "</tr>\n");
}

static void table_end(struct doc *d)
{
	buf_addstr(d->out, "</tbody>\n</table>\n");
}

static void fold(struct doc *d, const char *title)
{
	buf_addstr(d->out, "<details><summary>");
	text_xml(d->out, title);
	buf_addstr(d->out, "</summary>\n");
}

static void fold_end(struct doc *d)
{
	buf_addstr(d->out, "</details>\n");
}

const struct doc_ops doc_html = {
	begin, end, heading, para, pre, table, row, cell, row_end, table_end,
	fold, fold_end,
};
