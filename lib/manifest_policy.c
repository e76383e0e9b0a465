/* What a manifest's claims say of one op and one dtype. */
#include "manifest_impl.h"

#include <stdlib.h>
#include <string.h>
#include "dtype.h"
#include "json.h"
#include "vocab.h"
#include "xalloc.h"

bool manifest_is_regex(const char *entry)
{
	return entry[strcspn(entry, "^$*+?()[]{}|\\")] != '\0';
}

static void add_regex(struct pyre **v, size_t *n, const char *pattern)
{
	*v = xrealloc(*v, (*n + 1) * sizeof(**v));
	/* It was checked; one that fails all the same matches nothing. */
	if (pyre_compile(&(*v)[*n], pattern, NULL) == 0)
		++*n;
}

/*
 * OpInfo's name of an op with its variant is "div:floor_rounding"; a claim may
 * mean the whole or the name before the colon.
 */
static bool matches(const struct pyre *v, size_t n, const char *op)
{
	const char *colon = strchr(op, ':');
	char name[256];
	size_t i;

	if (colon && (size_t)(colon - op) < sizeof(name)) {
		memcpy(name, op, (size_t)(colon - op));
		name[colon - op] = '\0';
	} else {
		colon = NULL;
	}
	for (i = 0; i < n; i++)
		if (pyre_search(&v[i], op) ||
		    (colon && pyre_search(&v[i], name)))
			return true;
	return false;
}

static void compile_rule(struct rule *r, const cJSON *item)
{
	const cJSON *x;

	memset(r, 0, sizeof(*r));
	r->fixed = !item ? CLAIM_ABSENT : cJSON_IsTrue(item) ? CLAIM_YES :
		   cJSON_IsFalse(item) ? CLAIM_NO : CLAIM_FILTERED;
	if (cJSON_IsString(item))
		add_regex(&r->re, &r->nre, item->valuestring);
	else if (cJSON_IsArray(item))
		cJSON_ArrayForEach(x, item)
			add_regex(&r->re, &r->nre, x->valuestring);
}

static void compile_list(struct oplist *l, const cJSON *item, bool regexes)
{
	const cJSON *x;

	memset(l, 0, sizeof(*l));
	l->set = item;
	cJSON_ArrayForEach(x, item) {
		if (regexes || manifest_is_regex(x->valuestring)) {
			add_regex(&l->re, &l->nre, x->valuestring);
			continue;
		}
		l->names = xrealloc(l->names,
				    (l->nnames + 1) * sizeof(*l->names));
		l->names[l->nnames++] = x->valuestring;
	}
}

void manifest_compile(struct manifest *m)
{
	const cJSON *dtypes = json_get(m->json, "supported_dtypes");
	const cJSON *caps = json_get(m->json, "capabilities");
	size_t i, n;

	for (n = 0; dtype_at(n); n++)
		;
	m->dtypes = xcalloc(n, sizeof(*m->dtypes));
	for (i = 0; i < n; i++)
		compile_rule(&m->dtypes[i],
			     json_get(dtypes, dtype_at(i)->name));
	for (n = 0; capability_at(n); n++)
		;
	m->caps = xcalloc(n, sizeof(*m->caps));
	for (i = 0; i < n; i++)
		compile_rule(&m->caps[i],
			     json_get(caps, capability_at(i)->name));
	compile_list(&m->supported, json_get(m->json, "supported_ops"), true);
	compile_list(&m->skip, json_get(m->json, "skip_ops"), false);
	compile_list(&m->no_fallback, json_get(m->json, "must_not_fall_back"),
		     false);
}

static void release_regexes(struct pyre *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		pyre_release(&v[i]);
	free(v);
}

static void release_list(struct oplist *l)
{
	release_regexes(l->re, l->nre);
	free(l->names);
	memset(l, 0, sizeof(*l));
}

void manifest_uncompile(struct manifest *m)
{
	size_t i;

	for (i = 0; m->dtypes && dtype_at(i); i++)
		release_regexes(m->dtypes[i].re, m->dtypes[i].nre);
	for (i = 0; m->caps && capability_at(i); i++)
		release_regexes(m->caps[i].re, m->caps[i].nre);
	free(m->dtypes);
	free(m->caps);
	m->dtypes = m->caps = NULL;
	release_list(&m->supported);
	release_list(&m->skip);
	release_list(&m->no_fallback);
}

static enum claim ask(const struct rule *r, const char *op)
{
	if (r->fixed != CLAIM_FILTERED)
		return r->fixed;
	return matches(r->re, r->nre, op) ? CLAIM_YES : CLAIM_FILTERED;
}

enum claim manifest_dtype(const struct manifest *m, const char *dtype,
			  const char *op)
{
	const struct dtype *t = dtype_find(dtype);
	size_t i;

	for (i = 0; t && dtype_at(i); i++)
		if (dtype_at(i) == t)
			return ask(&m->dtypes[i], op);
	return CLAIM_ABSENT;
}

enum claim manifest_dtype_at(const struct manifest *m, size_t dtype,
			     const char *op)
{
	return ask(&m->dtypes[dtype], op);
}

enum claim manifest_capability(const struct manifest *m, const char *cap,
			       const char *op)
{
	size_t i;

	for (i = 0; capability_at(i); i++)
		if (!strcmp(capability_at(i)->name, cap))
			return ask(&m->caps[i], op);
	return CLAIM_ABSENT;
}

static bool listed(const struct oplist *l, const char *op)
{
	size_t base = strcspn(op, ":"), i;

	for (i = 0; i < l->nnames; i++)
		if (!strcmp(l->names[i], op) ||
		    (strlen(l->names[i]) == base &&
		     !strncmp(l->names[i], op, base)))
			return true;
	return matches(l->re, l->nre, op);
}

enum claim manifest_op(const struct manifest *m, const char *op)
{
	if (listed(&m->skip, op))
		return CLAIM_NO;
	if (m->supported.set && !listed(&m->supported, op))
		return CLAIM_FILTERED;
	return CLAIM_YES;
}

bool manifest_must_not_fall_back(const struct manifest *m, const char *op)
{
	return listed(&m->no_fallback, op);
}

int manifest_only_dtypes(struct manifest *m, char *const *dtypes, size_t n,
			 struct err *e)
{
	const cJSON *old = json_get(m->json, "supported_dtypes"), *x;
	cJSON *now = cJSON_CreateObject(), *said;
	const struct dtype *t;
	size_t i;

	for (i = 0; i < n; i++) {
		t = dtype_find(dtypes[i]);
		if (!t) {
			const char *near = dtype_nearest(dtypes[i]);

			cJSON_Delete(now);
			return err_set(e, EX_BADUSE, near ? "unknown dtype "
				"'%s', did you mean '%s'?" :
				"unknown dtype '%s'", dtypes[i], near);
		}
		if (json_get(now, t->name))
			continue;
		/* A regex stays; asking by name overrides false and absent. */
		x = json_get(old, t->name);
		cJSON_AddItemToObject(now, t->name, cJSON_IsString(x) ?
				      cJSON_Duplicate(x, 1) :
				      cJSON_CreateTrue());
	}
	/* The effective manifest says that it was narrowed. */
	said = cJSON_CreateArray();
	cJSON_ArrayForEach(x, now)
		cJSON_AddItemToArray(said, cJSON_CreateString(x->string));
	manifest_set(m, "supported_dtypes", now);
	manifest_set(m, "only_dtypes", said);
	return 0;
}
