/*
 * report: a finished summary as text of several kinds.  All take everything
 * that came from outside as hostile, and give the same bytes for the same
 * records, times apart.
 */
#ifndef CTS_REPORT_H
#define CTS_REPORT_H

#include <stdbool.h>
#include "baseline.h"
#include "buf.h"
#include "doc.h"
#include "summary.h"
#include "waiver.h"

struct report {
	const struct summary *s;
	const struct baseline *base;	/* or NULL */
	const struct waivers *waivers;	/* or NULL */
	bool skips;			/* list the accounts by level and op */
};

void report_json(const struct report *r, struct buf *out);  /* summary.json */
void report_doc(const struct report *r, struct doc *d);	    /* for people */
void report_markdown(const struct report *r, struct buf *out);
void report_html(const struct report *r, struct buf *out);
void report_junit(const struct report *r, struct buf *out);
/* For a terminal; at most `top` failures are listed, 0: all. */
void report_scorecard(const struct report *r, struct buf *out, bool colour,
		      size_t top);

#endif
