/*
 * sidefile: one side of an observation as bytes, for a run that doesn't compute
 * it again.
 */
#ifndef CTS_SIDEFILE_H
#define CTS_SIDEFILE_H

#include "freeze.h"
#include "observe.h"
#include "wire.h"

/* Append s, at most max bytes in out: 0; -1 where that can't be exact. */
int sidefile_put(struct buf *out, const struct lab *lab,
		 const struct freeze_types *types, const struct side *s,
		 size_t max);

/*
 * Fill s, which holds nothing but an empty tree.  Its elements are borrowed
 * from in.  0; -1 where the bytes make no sense, and then s is empty.
 */
int sidefile_get(struct wire *in, const struct lab *lab,
		 const struct freeze_types *types, struct side *s);

#endif
