/*
 * jsonpos: where the keys of a JSON text stand.  cJSON knows neither lines nor
 * that a key came twice; this scans the text once for both, and is strict about
 * the grammar, so that a fault is reported with its line.
 */
#ifndef CTS_JSONPOS_H
#define CTS_JSONPOS_H

#include <stdbool.h>
#include <stddef.h>
#include "err.h"

/* Limits, so that a hostile text costs little. */
#define JSONPOS_DEPTH 16
#define JSONPOS_KEY 512
#define JSONPOS_KEYS 20000

struct jsonpos_key {
	char *path;		/* "capabilities.rng", "skip_ops[3]" */
	int line;		/* from 1 */
	int first;		/* line of an earlier key of that path, or 0 */
};

struct jsonpos {
	struct jsonpos_key *v;	/* sorted by path, then line */
	size_t n, cap;
};
#define JSONPOS_INIT { .v = NULL }

/*
 * Index text[0..n).  0, or -1 with e set (EX_BADINPUT), its message beginning
 * "LINE: ", where the text is not one JSON value and white space.
 */
int jsonpos_scan(struct jsonpos *p, const char *text, size_t n, struct err *e);

/* For positions that come from elsewhere: add each key, then sort once. */
void jsonpos_add(struct jsonpos *p, const char *path, int line);
void jsonpos_sort(struct jsonpos *p);

/* The line of path, or of its nearest known parent; 0 where there is none. */
int jsonpos_line(const struct jsonpos *p, const char *path);

void jsonpos_release(struct jsonpos *p);

#endif
