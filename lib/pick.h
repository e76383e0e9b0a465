/*
 * pick: cases by the words that describe them, as "family=matmul" asks: the
 * tags of a hand-written case, its name, the kind of its dtype.
 */
#ifndef CTS_PICK_H
#define CTS_PICK_H

#include <stddef.h>
#include <stdint.h>
#include "err.h"
#include "inventory.h"

struct pick {
	int key;		/* an enum item_tag, or one of pick.c's own */
	const char *text;	/* "family=mat*", borrowed */
	const char *glob;	/* what follows the '=' */
};
struct picks { struct pick *v; size_t n, cap; };

/* Add one: 0, or -1 with e set where it is not KEY=GLOB with a known key. */
int picks_add(struct picks *p, const char *text, struct err *e);
void picks_release(struct picks *p);

/*
 * 0, or -1 with e set (EX_BADUSE) where no case has such a key at all, or where
 * a glob matches none of its values, with the nearest one.
 */
int picks_check(const struct picks *p, const struct inventory *inv,
		struct err *e);

/* Whether an item is meant, as far as its name and tags say. */
bool picks_item(const struct picks *p, const struct item *it);
/* The dtypes that are meant, as bits by their index. */
uint64_t picks_dtypes(const struct picks *p);
/* Whether the tier was chosen. */
bool picks_tier(const struct picks *p);

/*
 * A case of these tiers belongs to level 8, whatever its suite says, unless
 * its tier is asked for.
 */
bool item_is_heavy(const struct item *it);

#endif
