#include "opnames.h"

#include <stdlib.h>
#include <string.h>
#include "dtype.h"
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
	static const char *const keys[] = { "skip_ops", "must_not_fall_back" };
	const cJSON *top = manifest_json(m), *x;
	size_t i;

	warn_dtypes(m, inv);
	for (i = 0; i < 2; i++)
		cJSON_ArrayForEach(x, cJSON_GetObjectItemCaseSensitive(top,
								keys[i]))
			if (!manifest_is_regex(x->valuestring))
				warn_op(inv, keys[i], x->valuestring);
	x = cJSON_GetObjectItemCaseSensitive(top, "tolerance_overrides");
	if (x && x->child)
		warn_tolerances(x, inv);
}
