/*
 * inputs: what a call did to its inputs: version counters, geometry, values.
 */
#ifndef CTS_INPUTS_H
#define CTS_INPUTS_H

#include "call.h"
#include "side.h"

/* The inputs' version counters, into s->moved, before the call. */
void inputs_mark(struct side *s, const struct lab *lab, const struct call *c);

/* Make s->moved the steps that they went since. */
void inputs_count(struct side *s, const struct lab *lab, const struct call *c);

/* Which inputs the call gave other sizes or strides, as transpose_() does. */
void inputs_note_turned(struct side *s, const struct lab *lab,
			const struct call *c);

/*
 * A tensor without storage is compared in its logical order, which a call that
 * turns it changes without a write: there the reference's bytes decide, and
 * what they don't say of dev's goes.
 */
void inputs_forgive_turned(struct side *dev, const struct side *ref);

/* Order s->change by input and place: storages come in no order that lasts. */
void inputs_sort_changes(struct side *s);

/* Which inputs the call wrote to and did not return, into s->written. */
void inputs_note_written(struct side *s, const struct lab *lab,
			 const struct call *c);

/*
 * What was written to an input is a result too, returned or not: running
 * statistics, a buffer.  model says which inputs; they become leaves of s.  0;
 * -1 where one can't be read (api->error()).
 */
int inputs_add_written(struct side *s, const struct lab *lab,
		       const struct call *c, const struct side *model);

#endif
