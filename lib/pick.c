#include "pick.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "dtype.h"
#include "vocab.h"
#include "xalloc.h"

/* Keys that every case has, beside the tags. */
enum { KEY_CASE = ITEM_NTAGS, KEY_GROUP, NKEYS };

static const char *const keys[] = {
	[TAG_FAMILY] = "family", [TAG_CATEGORY] = "category",
	[TAG_TIER] = "tier", [TAG_COST] = "cost", [TAG_ROLE] = "role",
	[TAG_RUNNER] = "runner", [KEY_CASE] = "case",
	[KEY_GROUP] = "dtype-group", [NKEYS] = NULL,
};

/* What kind of dtype it is, for people. */
static const char *group_of(const struct dtype *t)
{
	static const char *const names[] = {
		[DT_BOOL] = "bool", [DT_UINT] = "integer",
		[DT_INT] = "integer", [DT_FLOAT] = "float",
		[DT_COMPLEX] = "complex", [DT_BITS] = "bits",
		[DT_QUANT] = "quantized",
	};

	if (t->cls == DT_FLOAT && t->size < 4)
		return t->size == 2 ? "half" : "float8";
	return names[t->cls];
}

int picks_add(struct picks *p, const char *text, struct err *e)
{
	size_t n = strcspn(text, "=");
	char *key = xstrndup(text, n);
	const char *near = NULL;
	int k;

	for (k = 0; keys[k] && strcmp(keys[k], key); k++)
		;
	if (!keys[k])
		near = vocab_nearest(key, keys);
	free(key);
	if (!text[n] || !n || !text[n + 1])
		return err_set(e, EX_BADUSE, "'%s' is not of the form "
			       "KEY=GLOB", text);
	if (!keys[k] && near)
		return err_set(e, EX_BADUSE, "unknown key in '%s', did you "
			       "mean '%s'?", text, near);
	if (!keys[k])
		return err_set(e, EX_BADUSE, "unknown key in '%s', expected "
			       "family, category, case, tier, cost, role, "
			       "runner or dtype-group", text);
	p->v = xgrow(p->v, &p->cap, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = (struct pick){ k, text, text + n + 1 };
	return 0;
}

void picks_release(struct picks *p)
{
	free(p->v);
	memset(p, 0, sizeof(*p));
}

static const char *value_of(const struct item *it, int key)
{
	return key == KEY_CASE ? it->op : it->tags[key];
}

/* The glob against each value in turn; the nearest one where none is right. */
struct look {
	const char *glob, *near;
	const char **values;
	size_t n;
	bool any, hit;
};

static void look_at(struct look *l, const char *value)
{
	if (!value)
		return;
	l->any = true;
	l->hit = l->hit || !fnmatch(l->glob, value, 0);
	l->values[l->n++] = value;
}

static void look_all(struct look *l, int key, const struct inventory *inv)
{
	size_t i;

	if (key == KEY_GROUP)
		for (i = 0; dtype_at(i); i++)
			look_at(l, group_of(dtype_at(i)));
	else
		for (i = 0; i < inv->n; i++)
			look_at(l, value_of(&inv->v[i], key));
	if (!l->hit)
		l->near = vocab_nearest(l->glob, l->values);
}

int picks_check(const struct picks *p, const struct inventory *inv,
		struct err *e)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		struct look l = { .glob = p->v[i].glob };

		l.values = xcalloc(inv->n + 65, sizeof(*l.values));
		look_all(&l, p->v[i].key, inv);
		free(l.values);
		if (l.hit)
			continue;
		if (!l.any)
			return err_set(e, EX_BADUSE, "'%s': no case has a %s",
				       p->v[i].text, keys[p->v[i].key]);
		return err_set(e, EX_BADUSE, l.near ? "'%s' matches nothing, "
			       "did you mean '%s'?" : "'%s' matches nothing",
			       p->v[i].text, l.near);
	}
	return 0;
}

bool picks_item(const struct picks *p, const struct item *it)
{
	const char *s;
	size_t i;

	for (i = 0; i < p->n; i++) {
		if (p->v[i].key == KEY_GROUP)
			continue;
		s = value_of(it, p->v[i].key);
		if (!s || fnmatch(p->v[i].glob, s, 0))
			return false;
	}
	return true;
}

uint64_t picks_dtypes(const struct picks *p)
{
	uint64_t bits = ~UINT64_C(0);
	size_t i, d;

	for (i = 0; i < p->n; i++)
		for (d = 0; d < 64 && dtype_at(d); d++)
			if (p->v[i].key == KEY_GROUP &&
			    fnmatch(p->v[i].glob, group_of(dtype_at(d)), 0))
				bits &= ~(UINT64_C(1) << d);
	return bits;
}

bool picks_tier(const struct picks *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->v[i].key == TAG_TIER)
			return true;
	return false;
}

bool item_is_heavy(const struct item *it)
{
	const char *tier = it->tags[TAG_TIER];

	return tier && (!strcmp(tier, "heavy") || !strcmp(tier, "stress"));
}
