#include "opnames.h"

#include <stdlib.h>
#include <string.h>
#include "dtype.h"
#include "json.h"
#include "manifest_impl.h"
#include "prog.h"
#include "rec.h"
#include "table.h"
#include "xalloc.h"

static void warn_op(const struct inventory *inv, const char *key,
		    const char *op)
{
	const char *near;

	if (inventory_has(inv, op))
		return;
	near = inventory_nearest(inv, op);
	if (near)
		prog_warn("%s: no op is named '%s', did you mean '%s'?", key,
			  op, near);
	else
		prog_warn("%s: no op is named '%s'", key, op);
}

/* Does a line of the budgets begin a category of that name? */
static bool is_category(const cJSON *budgets, const char *name)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, budgets)
		if (!strcmp(rec_str_opt(x, "class", ""), name) ||
		    !strcmp(rec_str_opt(x, "category", ""), name))
			return true;
	return false;
}

static void warn_tolerances(const cJSON *overrides,
			    const struct inventory *inv)
{
	char *path = xasprintf("%s/coverage/budgets.jsonl", prog_root());
	cJSON *budgets = table_read(path, NULL);
	const cJSON *x;
	char *op, *dtype;

	cJSON_ArrayForEach(x, overrides) {
		if (manifest_split_tolerance(x->string, &op, &dtype) < 0)
			continue;
		if (!is_category(budgets, op))
			warn_op(inv, "tolerance_overrides", op);
		free(op);
		free(dtype);
	}
	cJSON_Delete(budgets);
	free(path);
}

static bool matches_any(const struct pyre *re, const struct inventory *inv)
{
	size_t i;

	for (i = 0; i < inv->n; i++)
		if (pyre_search(re, inv->v[i].op) ||
		    pyre_search(re, inv->v[i].name))
			return true;
	return false;
}

/* A regex that no op matches claims, or leaves out, nothing. */
static void warn_regex(const struct inventory *inv, const char *key,
		       const char *pattern)
{
	const char *p = pattern + (*pattern == '^');
	char *literal = xstrndup(p, strcspn(p, "^$*+?()[]{}|\\"));
	const char *near;
	struct pyre re;

	if (pyre_compile(&re, pattern, NULL) == 0) {
		near = *literal ? inventory_nearest(inv, literal) : NULL;
		if (matches_any(&re, inv))
			;
		else if (near)
			prog_warn("%s: no op matches '%s', did you mean "
				  "'%s'?", key, pattern, near);
		else
			prog_warn("%s: no op matches '%s'", key, pattern);
		pyre_release(&re);
	}
	free(literal);
}

/* Names, or regexes where an entry is one or regexes says that all are. */
static void warn_list(const struct inventory *inv, const char *key,
		      const cJSON *list, bool regexes)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, list)
		if (regexes || manifest_is_regex(x->valuestring))
			warn_regex(inv, key, x->valuestring);
		else
			warn_op(inv, key, x->valuestring);
}

/* Claims for the ops that a regex, or one of several, matches. */
static void warn_claims(const struct inventory *inv, const char *key,
			const cJSON *claims)
{
	const cJSON *x;
	char *name;

	cJSON_ArrayForEach(x, claims) {
		name = xasprintf("%s.%s", key, x->string);
		if (cJSON_IsString(x))
			warn_regex(inv, name, x->valuestring);
		else if (cJSON_IsArray(x))
			warn_list(inv, name, x, true);
		free(name);
	}
}

/* A dtype that is claimed and that this PyTorch is too old for. */
static void warn_dtypes(const struct manifest *m, const struct inventory *inv)
{
	size_t i;

	for (i = 0; inv->dtypes && i < 64 && dtype_at(i); i++)
		if (!(inv->dtypes >> i & 1) &&
		    manifest_dtype_at(m, i, "") != CLAIM_NO &&
		    manifest_dtype_at(m, i, "") != CLAIM_ABSENT)
			prog_warn("supported_dtypes.%s: PyTorch %s has no "
				  "such dtype", dtype_at(i)->name, inv->torch);
}

void opnames_warn(const struct manifest *m, const struct inventory *inv)
{
	static const struct { const char *key; bool regexes; } lists[] = {
		{ "supported_ops", true }, { "skip_ops", false },
		{ "must_not_fall_back", false },
	};
	static const char *const claims[] = {
		"supported_dtypes", "capabilities",
	};
	const cJSON *top = manifest_json(m), *x;
	size_t i;

	warn_dtypes(m, inv);
	for (i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		warn_list(inv, lists[i].key, json_get(top, lists[i].key),
			  lists[i].regexes);
	for (i = 0; i < sizeof(claims) / sizeof(*claims); i++)
		warn_claims(inv, claims[i], json_get(top, claims[i]));
	x = json_get(top, "tolerance_overrides");
	if (x && x->child)
		warn_tolerances(x, inv);
}
