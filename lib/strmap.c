#define _GNU_SOURCE	/* qsort_r */
#include "strmap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static uint64_t hash(const char *s)
{
	uint64_t h = 14695981039346656037u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h ^ h >> 29;
}

void strmap_init(struct strmap *m)
{
	memset(m, 0, sizeof(*m));
}

void strmap_release(struct strmap *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->key[i]);
	free(m->key);
	free(m->slot);
	strmap_init(m);
}

/* The slot that holds s, or the free one where it belongs. */
static size_t find_slot(const struct strmap *m, const char *s)
{
	size_t i = hash(s) & (m->nslots - 1);

	while (m->slot[i] && strcmp(m->key[m->slot[i] - 1], s))
		i = (i + 1) & (m->nslots - 1);
	return i;
}

static void rehash(struct strmap *m)
{
	m->nslots = m->nslots ? 2 * m->nslots : 64;
	free(m->slot);
	m->slot = xcalloc(m->nslots, sizeof(*m->slot));
	for (size_t i = 0; i < m->n; i++)
		m->slot[find_slot(m, m->key[i])] = i + 1;
}

size_t strmap_add(struct strmap *m, const char *s)
{
	size_t at;

	if (2 * (m->n + 1) > m->nslots)
		rehash(m);
	at = find_slot(m, s);
	if (m->slot[at])
		return m->slot[at] - 1;
	m->key = xgrow(m->key, &m->cap, m->n + 1, sizeof(*m->key));
	m->key[m->n] = xstrdup(s);
	m->slot[at] = ++m->n;
	return m->n - 1;
}

size_t strmap_find(const struct strmap *m, const char *s)
{
	size_t at;

	if (!m->nslots)
		return STRMAP_NONE;
	at = find_slot(m, s);
	return m->slot[at] ? m->slot[at] - 1 : STRMAP_NONE;
}

static int by_key(const void *a, const void *b, void *keys)
{
	char *const *key = keys;

	return strcmp(key[*(const size_t *)a], key[*(const size_t *)b]);
}

size_t *strmap_sorted(const struct strmap *m)
{
	size_t *v = xcalloc(m->n + 1, sizeof(*v));

	for (size_t i = 0; i < m->n; i++)
		v[i] = i;
	if (m->n)
		qsort_r(v, m->n, sizeof(*v), by_key, m->key);
	return v;
}
