/*
 * waiver: failures that somebody has looked at.  A waiver marks a case that
 * does not pass; it changes no count and no exit status.
 *
 * A file of JSON Lines, each {"device": glob, "match": glob over ids,
 * "url": http(s), "reason": text, "expires": "YYYY-MM-DD"}; all five are
 * needed, others are refused.  Blank lines are skipped.
 */
#ifndef CTS_WAIVER_H
#define CTS_WAIVER_H

#include <stdbool.h>
#include <stddef.h>
#include "err.h"

struct waiver {
	char *device, *match, *url, *reason, *expires;
	int line;		/* of its file */
	bool expired;		/* on the day that waivers_read() was given */
	size_t used;		/* cases that it marked */
	size_t passing;		/* cases that it matches and that pass */
};

struct waivers { struct waiver *v; size_t n, cap; };

/*
 * Read the file, with today as "YYYY-MM-DD".  0, or -1 with e set: what is
 * wrong, "FILE:LINE: ..." in front.
 */
int waivers_read(struct waivers *w, const char *path, const char *today,
		 struct err *e);
void waivers_release(struct waivers *w);

/* The first that applies, not expired, and matches; NULL if none. */
struct waiver *waivers_find(struct waivers *w, const char *device,
			    const char *id);

/* True for a real day as "YYYY-MM-DD". */
bool date_ok(const char *s);

#endif
