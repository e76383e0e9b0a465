/*
 * share: which outputs of a call have memory in common with its inputs and with
 * each other, as they say and as writes show.
 */
#ifndef CTS_SHARE_H
#define CTS_SHARE_H

#include "call.h"
#include "side.h"

/* Fill s->alias: with which input or earlier output a leaf has its storage. */
void share_note_aliases(struct side *s, const struct lab *lab,
			const struct call *c);

/* Is an output said to share memory? */
bool share_any(const struct side *s);

/*
 * Write to the inputs' memory and see which outputs change with it, and the
 * other way round, where that is not too much: whether they share it is then no
 * matter of what the device says of its storages.  On a device that makes a
 * view by reading its base anew, or copies on the first write, one of the two
 * may be right alone.  Fills s->follows and s->leads.
 */
void share_note(struct side *s, const struct lab *lab, const struct call *c);

#endif
