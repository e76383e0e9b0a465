/*
 * rewrite: a stream made anew from its own records, there whole or not at all.
 */
#ifndef CTS_REWRITE_H
#define CTS_REWRITE_H

#include <stddef.h>
#include "err.h"
#include "scan.h"

/* What comes of a record: KEEP it, DROP it, or -1 with e set. */
enum { REWRITE_DROP, REWRITE_KEEP };
typedef int rewrite_fn(void *ctx, const struct scan *s, const char *line,
		       size_t len, struct err *e);

/*
 * Call fn for each record of the stream at path, plain or gzip, in order.  0,
 * or -1 with e set.  *broken: lines that were no records.
 */
int rewrite_look(const char *path, rewrite_fn *fn, void *ctx, size_t *broken,
		 struct err *e);

/*
 * The same, and replace the (plain) file by the records that fn keeps.  fn may
 * change the text that is written by putting another into *text (borrowed
 * until its next call; len bytes).
 */
struct rewrite_text { const char *p; size_t len; };
int rewrite_stream(const char *path, rewrite_fn *fn, void *ctx,
		   struct rewrite_text *text, struct err *e);

#endif
