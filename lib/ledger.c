#include "ledger.h"

#include <string.h>

#include "buf.h"
#include "json.h"

#define LEDGER_MAX (64u << 20)

/* Index of name in keys, or nkeys. */
static size_t find_key(const struct ledger_key *keys, size_t nkeys,
		       const char *name)
{
	size_t i = 0;

	while (i < nkeys && strcmp(keys[i].name, name))
		i++;
	return i;
}

static int read_value(const struct ledger_key *k, const cJSON *item,
		      const char **value, struct err *e)
{
	if (!cJSON_IsString(item) || !*item->valuestring ||
	    (k->ok && !k->ok(item->valuestring)))
		return err_set(e, EX_BADINPUT, "'%s' must be %s", k->name,
			       k->form);
	*value = item->valuestring;
	return 0;
}

/* Fill value[] from one object; 0, or -1 with e set. */
static int read_object(const cJSON *o, const struct ledger_key *keys,
		       size_t nkeys, const char **value, struct err *e)
{
	const cJSON *item;

	if (!cJSON_IsObject(o))
		return err_set(e, EX_BADINPUT, "not a JSON object");
	memset(value, 0, nkeys * sizeof(*value));
	cJSON_ArrayForEach(item, o) {
		size_t i = find_key(keys, nkeys, item->string);

		if (i == nkeys)
			return err_set(e, EX_BADINPUT, "unknown key '%s'",
				       item->string);
		if (read_value(&keys[i], item, &value[i], e) < 0)
			return -1;
	}
	for (size_t i = 0; i < nkeys; i++)
		if (keys[i].need && !value[i])
			return err_set(e, EX_BADINPUT, "no '%s', which must "
				       "be %s", keys[i].name, keys[i].form);
	return 0;
}

int ledger_read(const char *path, const struct ledger_key *keys, size_t nkeys,
		int (*line)(void *ctx, const char *const *value, int lineno,
			    struct err *e),
		void *ctx, struct err *e)
{
	const char *value[LEDGER_KEYS_MAX];
	struct buf b = BUF_INIT;
	int rc = 0, lineno = 0;

	if (buf_read_file(&b, path, LEDGER_MAX, e) < 0)
		return -1;
	for (char *p = b.p, *end = b.p + b.len; p < end && rc == 0; ) {
		char *lf = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((lf ? lf : end) - p);
		cJSON *o;

		lineno++;
		if (strspn(p, " \t\r") < n) {
			o = json_parse(p, n, e);
			rc = o ? read_object(o, keys, nkeys, value, e) : -1;
			if (rc == 0)
				rc = line(ctx, value, lineno, e);
			if (rc)
				err_prefix(e, "%s:%d", path, lineno);
			cJSON_Delete(o);
		}
		p += n + 1;
	}
	buf_release(&b);
	return rc;
}
