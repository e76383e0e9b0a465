/*
 * shrink: a failing case made as small as it can be and still fail in the same
 * way, as cts-compare judges it.  docs/repro.md says how.
 */
#ifndef CTS_SHRINK_H
#define CTS_SHRINK_H

#include "buf.h"
#include "err.h"

struct shrink {
	/* Set by the owner. */
	const char *id;
	char *const *argv;	/* reads cases, writes verdicts */
	long long sample;	/* the one to show; -1: the first that fails */
	int attempts;		/* at most */
	double seconds;		/* at most, before the last attempt begins */

	/* What came of it. */
	int tried, edits;
};

/*
 * Find the case in the stream at path (a case record is enough) and append two
 * records to out: the case with its sample and edits, and the verdict on that.
 * 0, or -1 with e set: EX_BADUSE where there is no such case or it passes,
 * EX_NEGATIVE where it doesn't fail again.
 */
int shrink_case(struct shrink *s, const char *path, struct buf *out,
		struct err *e);

#endif
