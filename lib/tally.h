/* tally: how many cases came to what, by some name. */
#ifndef CTS_TALLY_H
#define CTS_TALLY_H

#include <stddef.h>
#include "jw.h"
#include "strmap.h"
#include "vocab.h"

struct tally {
	size_t cases;
	size_t out[OUT_N];
};

void tally_add(struct tally *t, enum outcome o);
size_t tally_bad(const struct tally *t);	/* cases that do not pass */
/* {"cases":n,"pass":n,...}: every outcome, in the order of the vocabulary */
void tally_write(const struct tally *t, struct jw *w);

/* Tallies by name; the map numbers them. */
struct tallies {
	struct strmap names;
	struct tally *v;
	size_t cap;
	size_t *sorted;		/* NULL before tallies_sort() */
};

void tallies_init(struct tallies *t);
void tallies_release(struct tallies *t);
size_t tallies_name(struct tallies *t, const char *name);
void tallies_sort(struct tallies *t);
/* The i-th in the order of names, or NULL past the end; *name is borrowed. */
const struct tally *tallies_at(const struct tallies *t, size_t i,
			       const char **name);

/* Plain counts by name. */
struct counts {
	struct strmap names;
	size_t *v, cap;
	size_t *sorted;
};

void counts_init(struct counts *c);
void counts_release(struct counts *c);
void counts_add(struct counts *c, const char *name, size_t n);
void counts_sort(struct counts *c);
size_t counts_of(const struct counts *c, const char *name);
size_t counts_total(const struct counts *c);
/* The i-th in the order of names; *name NULL past the end. */
size_t counts_at(const struct counts *c, size_t i, const char **name);
void counts_write(const struct counts *c, struct jw *w);

#endif
