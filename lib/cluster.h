/*
 * cluster: findings put together by root cause.  An op and what broke in it
 * are one cluster, over however many dtypes, variants and suites.
 */
#ifndef CTS_CLUSTER_H
#define CTS_CLUSTER_H

#include <stddef.h>
#include "strmap.h"
#include "tally.h"

struct cluster {
	char *op, *check;
	struct counts dtypes, variants;
	size_t cases, waived;
	/* The case to look at: plain and float32 if any, the least id. */
	char *first;
	int rank;
};

struct clusters {
	struct strmap keys;
	struct cluster *v;
	size_t cap;
	size_t *sorted;		/* after clusters_sort() */
};

void clusters_init(struct clusters *c);
void clusters_release(struct clusters *c);
/* borrowed until the next clusters_add() */
struct cluster *clusters_add(struct clusters *c, const char *op,
			     const char *check, const char *dtype,
			     const char *variant, const char *id);
void clusters_sort(struct clusters *c);	/* most cases first, then by name */
/* The i-th, or NULL past the end. */
const struct cluster *clusters_at(const struct clusters *c, size_t i);

#endif
