/* baseline: what changed since an earlier run. */
#ifndef CTS_BASELINE_H
#define CTS_BASELINE_H

#include <stddef.h>
#include "jw.h"
#include "summary.h"

struct change {
	const char *id;			/* borrowed from a summary */
	const char *was, *is;		/* outcomes; NULL: no case there */
};

struct changes { struct change *v; size_t n, cap; };

struct baseline {
	char *run;		/* its name, or NULL */
	struct changes regressions;	/* passed, and doesn't now */
	struct changes fixes;		/* did not pass, and does now */
	struct changes added;		/* does not pass, and was no case */
	struct changes gone;		/* was a case, and isn't now */
	size_t still;			/* neither passed nor passes */
};

/* Both finished, and kept while b is used.  All lists in the order of ids. */
void baseline_compare(struct baseline *b, const struct summary *now,
		      const struct summary *then);
void baseline_release(struct baseline *b);
void baseline_write(const struct baseline *b, struct jw *w);

#endif
