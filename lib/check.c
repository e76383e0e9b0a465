#include "check.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "budget.h"
#include "checknames.h"
#include "json.h"
#include "rec.h"
#include "table.h"
#include "vocab.h"
#include "xalloc.h"
#include "banned.h"

static const char *const names[] = {
	"error_unexpected", "error_missing", "outputs", "readable", "dtype",
	"shape", "layout", "device", "value", "aliasing", "out", "mutation",
	"inputs_unmodified", "guard", "generator", "sensitivity", "strides",
	"conj", "neg", "zero_sign", "repeat", "error_type", "version", "fallback",
	"ref_error",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == CHECK_N,
	       "a name for every check");

struct checks {
	cJSON *table;
	bool contract[CHECK_N];
	bool excepted[CHECK_N];		/* an exception of the table names it */
	const struct manifest *manifest;
};

const char *check_name(enum check c)
{
	return names[c];
}

static int check_find(const char *name)
{
	int i;

	for (i = 0; i < CHECK_N; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

struct checks *checks_read(const char *path, struct err *e)
{
	struct checks *c = xcalloc(1, sizeof(*c));
	bool seen[CHECK_N] = { false };
	const cJSON *line;
	int i;

	c->table = table_read(path, e);
	if (!c->table)
		goto bad;
	cJSON_ArrayForEach(line, c->table) {
		const char *name, *cls, *reason;
		bool contract;

		if (rec_str(line, "check", &name, e) < 0 ||
		    rec_str(line, "class", &cls, e) < 0 ||
		    rec_str(line, "reason", &reason, e) < 0) {
			err_prefix(e, "%s", path);
			goto bad;
		}
		i = check_find(name);
		contract = !strcmp(cls, "contract");
		if (i < 0 || (!contract && strcmp(cls, "advice"))) {
			err_set(e, EX_BADINPUT, "%s: '%s' is no check, or '%s' "
				"no class", path, name, cls);
			goto bad;
		}
		/* A line with ops is an exception for those ops. */
		if (json_get(line, "ops")) {
			c->excepted[i] = true;
			continue;
		}
		c->contract[i] = contract;
		seen[i] = true;
	}
	for (i = 0; i < CHECK_N; i++) {
		if (seen[i])
			continue;
		err_set(e, EX_BADINPUT, "%s: no class for check '%s'", path,
			names[i]);
		goto bad;
	}
	return c;
bad:
	checks_free(c);
	return NULL;
}

void checks_free(struct checks *c)
{
	if (!c)
		return;
	cJSON_Delete(c->table);
	free(c);
}

bool checkname_known(const char *name)
{
	return check_find(name) >= 0;
}

const char *checkname_nearest(const char *name)
{
	const char *all[CHECK_N + 1];
	int i;

	for (i = 0; i < CHECK_N; i++)
		all[i] = check_name((enum check)i);
	all[i] = NULL;
	return vocab_nearest(name, all);
}

int checks_manifest(struct checks *c, const struct manifest *m,
		    struct err *e)
{
	const cJSON *list, *item;
	int i;

	c->manifest = m;
	if (!m)
		return 0;
	list = json_get(manifest_json(m), "contract");
	cJSON_ArrayForEach(item, list) {
		i = cJSON_IsString(item) ? check_find(item->valuestring) : -1;
		if (i < 0)
			return err_set(e, EX_BADINPUT,
				       "contract: '%.40s' is no check",
				       cJSON_IsString(item) ?
				       item->valuestring : "?");
		c->contract[i] = true;
	}
	return 0;
}

/* Does an exception of the table soften this check for this op? */
static bool softened(const struct checks *c, enum check which, const char *op)
{
	char forms[OPNAME_MAX][256];
	const cJSON *line, *ops, *o;
	size_t n, i;

	if (!c->excepted[which])
		return false;
	n = opname_forms(op, forms);
	cJSON_ArrayForEach(line, c->table) {
		ops = json_get(line, "ops");
		if (!ops || strcmp(rec_str_opt(line, "check", ""),
				   names[which]) ||
		    strcmp(rec_str_opt(line, "class", ""), "advice"))
			continue;
		cJSON_ArrayForEach(o, ops)
			for (i = 0; i < n; i++)
				if (cJSON_IsString(o) &&
				    !fnmatch(o->valuestring, forms[i], 0))
					return true;
	}
	return false;
}

bool check_is_contract(const struct checks *c, enum check which,
		       const char *op)
{
	const struct manifest *m = c->manifest;

	if (c->contract[which])
		return !softened(c, which, op);
	if (!m)
		return false;
	if (which == CHECK_REPEAT)
		return manifest_capability(m, "deterministic", op) ==
			CLAIM_YES;
	if (which == CHECK_FALLBACK)
		return manifest_must_not_fall_back(m, op);
	return false;
}
