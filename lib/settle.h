/*
 * settle: what a second run, each case alone in a fresh process, says of the
 * failures of a first.  It changes no outcome: a failure that is gone when the
 * case is alone depends on what ran before it, and is still a failure.
 */
#ifndef CTS_SETTLE_H
#define CTS_SETTLE_H

#include <stddef.h>
#include "buf.h"
#include "err.h"

struct settle {
	size_t confirmed;	/* as bad, or bad otherwise */
	size_t order_dependent;	/* pass when alone */
};

/*
 * To each verdict of the stream at path that is not pass, and that the stream
 * at again has a verdict for, add "again": the outcome there, and where that is
 * pass "order_dependent": true.  0, or -1 with e set; path is as it was then.
 */
int settle_stream(const char *path, const char *again, struct settle *n,
		  struct err *e);

/*
 * Class each failure of the stream at first by the n streams of further runs,
 * each case alone: append a triage record for each to out, and to ledger a rule
 * for each one that reproducibly takes its process along.  0, or -1 with e set.
 *
 *	reproducible	fails every time
 *	flaky		fails some times; "rate" says how often
 *	order-dependent	never fails alone
 *	environment	never fails alone, and the first time the machine may
 *			have been at fault: out of time, out of memory, killed
 */
int settle_triage(const char *first, char *const *again, size_t n,
		  const char *review, struct buf *out, struct buf *ledger,
		  struct err *e);

#endif
