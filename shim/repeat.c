#include "repeat.h"

#include <string.h>
#include "proc.h"

/* No call is made again when so much time went into that. */
#define PATIENCE_S 0.05

/* Once more, with nothing changed; *same: with the bits of dev. */
static int once_more(const struct repeat *r, const struct side *dev,
		     struct side *again, bool *same, struct err *e)
{
	memset(again, 0, sizeof(*again));
	buf_init(&again->tree);
	if (r->call(r->ctx, again, e))
		return -1;
	*same = dev->raised ? again->raised : side_same(r->lab, dev, again);
	return 0;
}

int repeat_calls(const struct repeat *r, struct side *dev, bool *same,
		 struct err *e)
{
	double until = proc_now() + PATIENCE_S;
	struct side again, third;
	bool odd;
	int i, rc;

	*same = true;
	for (i = 1;; i++) {
		rc = once_more(r, dev, &again, same, e);
		if (rc || !*same || i + 1 >= r->calls || proc_now() > until)
			break;
		side_release(&again, r->lab);
	}
	odd = i > 1;
	if (!rc && !*same && !odd) {
		rc = once_more(r, dev, &third, &odd, e);
		side_release(&third, r->lab);
	}
	if (!rc && !*same && odd) {
		third = *dev;
		*dev = again;
		again = third;
	}
	side_release(&again, r->lab);
	return rc;
}
