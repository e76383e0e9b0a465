#include "tally.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

void tally_add(struct tally *t, enum outcome o)
{
	t->cases++;
	t->out[o]++;
}

size_t tally_bad(const struct tally *t)
{
	return t->cases - t->out[OUT_PASS];
}

void tally_write(const struct tally *t, struct jw *w)
{
	jw_obj(w);
	jw_kint(w, "cases", (int64_t)t->cases);
	for (int o = 0; o < OUT_N; o++)
		jw_kint(w, outcome_name(o), (int64_t)t->out[o]);
	jw_obj_end(w);
}

void tallies_init(struct tallies *t)
{
	memset(t, 0, sizeof(*t));
	strmap_init(&t->names);
}

void tallies_release(struct tallies *t)
{
	strmap_release(&t->names);
	free(t->v);
	free(t->sorted);
	tallies_init(t);
}

size_t tallies_name(struct tallies *t, const char *name)
{
	size_t had = t->names.n, i = strmap_add(&t->names, name);

	if (t->names.n > had) {
		t->v = xgrow(t->v, &t->cap, t->names.n, sizeof(*t->v));
		memset(&t->v[i], 0, sizeof(*t->v));
	}
	return i;
}

void tallies_sort(struct tallies *t)
{
	free(t->sorted);
	t->sorted = strmap_sorted(&t->names);
}

const struct tally *tallies_at(const struct tallies *t, size_t i,
			       const char **name)
{
	if (i >= t->names.n)
		return NULL;
	*name = t->names.key[t->sorted[i]];
	return &t->v[t->sorted[i]];
}

void counts_init(struct counts *c)
{
	memset(c, 0, sizeof(*c));
	strmap_init(&c->names);
}

void counts_release(struct counts *c)
{
	strmap_release(&c->names);
	free(c->v);
	free(c->sorted);
	counts_init(c);
}

void counts_add(struct counts *c, const char *name, size_t n)
{
	size_t had = c->names.n, i = strmap_add(&c->names, name);

	if (c->names.n > had) {
		c->v = xgrow(c->v, &c->cap, c->names.n, sizeof(*c->v));
		c->v[i] = 0;
	}
	c->v[i] += n;
}

void counts_sort(struct counts *c)
{
	free(c->sorted);
	c->sorted = strmap_sorted(&c->names);
}

size_t counts_of(const struct counts *c, const char *name)
{
	size_t i = strmap_find(&c->names, name);

	return i == STRMAP_NONE ? 0 : c->v[i];
}

size_t counts_total(const struct counts *c)
{
	size_t sum = 0;

	for (size_t i = 0; i < c->names.n; i++)
		sum += c->v[i];
	return sum;
}

size_t counts_at(const struct counts *c, size_t i, const char **name)
{
	*name = NULL;
	if (i >= c->names.n)
		return 0;
	*name = c->names.key[c->sorted[i]];
	return c->v[c->sorted[i]];
}

void counts_write(const struct counts *c, struct jw *w)
{
	const char *name;

	jw_obj(w);
	for (size_t i = 0; i < c->names.n; i++) {
		size_t n = counts_at(c, i, &name);

		jw_kint(w, name, (int64_t)n);
	}
	jw_obj_end(w);
}
