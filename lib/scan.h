/*
 * scan: looks through a record without building a tree: is it one, and what
 * do the few keys say that decide where it goes?  For streams of which only
 * the frame matters; rec and json are the ones that know all.
 */
#ifndef CTS_SCAN_H
#define CTS_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct slice {
	const char *p;		/* borrowed from the line; NULL: key absent */
	size_t len;
};

struct scan {
	/* Strings at the top level, "" where written with an escape. */
	struct slice kind, id, run, outcome, device, hardware, torch;
	long long sample;	/* -1: absent or no plain number */
	bool order_dependent;	/* is there, and true */
};

/*
 * 0, or -1 where line[0..len) is not one JSON object in valid UTF-8 with "v"
 * 1, a kind, and strings for id and run, or is over REC_MAX with its newline.
 */
int scan_record(struct scan *s, const char *line, size_t len);

bool slice_is(struct slice s, const char *text);
char *slice_dup(struct slice s);	/* new */

#endif
