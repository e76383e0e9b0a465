#define _GNU_SOURCE	/* qsort_r */
#include "cluster.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

void clusters_init(struct clusters *c)
{
	memset(c, 0, sizeof(*c));
	strmap_init(&c->keys);
}

void clusters_release(struct clusters *c)
{
	for (size_t i = 0; i < c->keys.n; i++) {
		free(c->v[i].op);
		free(c->v[i].check);
		free(c->v[i].first);
		counts_release(&c->v[i].dtypes);
		counts_release(&c->v[i].variants);
	}
	strmap_release(&c->keys);
	free(c->v);
	free(c->sorted);
	clusters_init(c);
}

static size_t find(struct clusters *c, const char *op, const char *check)
{
	char *key = xasprintf("%s\n%s", op, check);
	size_t had = c->keys.n, i = strmap_add(&c->keys, key);

	free(key);
	if (c->keys.n > had) {
		c->v = xgrow(c->v, &c->cap, c->keys.n, sizeof(*c->v));
		c->v[i] = (struct cluster) {
			.op = xstrdup(op), .check = xstrdup(check),
		};
		counts_init(&c->v[i].dtypes);
		counts_init(&c->v[i].variants);
	}
	return i;
}

struct cluster *clusters_add(struct clusters *c, const char *op,
			     const char *check, const char *dtype,
			     const char *variant, const char *id)
{
	size_t i = find(c, op, check);
	struct cluster *k = &c->v[i];
	int rank;

	k->cases++;
	counts_add(&k->dtypes, dtype, 1);
	counts_add(&k->variants, variant, 1);
	rank = 2 * !strcmp(variant, "plain") + !strcmp(dtype, "float32");
	if (!k->first || rank > k->rank ||
	    (rank == k->rank && strcmp(id, k->first) < 0)) {
		free(k->first);
		k->first = xstrdup(id);
		k->rank = rank;
	}
	return k;
}

static int by_size(const void *pa, const void *pb, void *clusters)
{
	const struct clusters *c = clusters;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	if (c->v[a].cases != c->v[b].cases)
		return c->v[a].cases < c->v[b].cases ? 1 : -1;
	return strcmp(c->keys.key[a], c->keys.key[b]);
}

void clusters_sort(struct clusters *c)
{
	free(c->sorted);
	c->sorted = xcalloc(c->keys.n + 1, sizeof(*c->sorted));
	for (size_t i = 0; i < c->keys.n; i++) {
		c->sorted[i] = i;
		counts_sort(&c->v[i].dtypes);
		counts_sort(&c->v[i].variants);
	}
	if (c->keys.n)
		qsort_r(c->sorted, c->keys.n, sizeof(*c->sorted), by_size, c);
}

const struct cluster *clusters_at(const struct clusters *c, size_t i)
{
	return i < c->keys.n ? &c->v[c->sorted[i]] : NULL;
}
