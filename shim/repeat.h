/*
 * repeat: a call made again and again on the device, to see whether it repeats.
 */
#ifndef CTS_REPEAT_H
#define CTS_REPEAT_H

#include "side.h"

struct repeat {
	const struct lab *lab;
	int calls;		/* in all, the first one included, at most */
	/* The same call, into s, which is empty.  0, or -1 with e set. */
	int (*call)(void *ctx, struct side *s, struct err *e);
	void *ctx;
};

/*
 * Call until one gives other bits than dev, what the first one came to, or
 * there were enough; *same: none did.  The call that is then judged is the odd
 * one, since a race that is rare is in that one: the new one, which takes dev's
 * place, unless the first was alone with its bits so far.  0, or -1 with e set.
 */
int repeat_calls(const struct repeat *r, struct side *dev, bool *same,
		 struct err *e);

#endif
