#include "rules.h"

#include <stdlib.h>
#include <string.h>
#include "buf.h"
#include "dtype.h"
#include "json.h"
#include "prog.h"
#include "pyre.h"
#include "rec.h"
#include "xalloc.h"

struct row {
	cJSON *o;		/* owns the strings below */
	const char *suite, *device;	/* NULL: any */
	const cJSON *ops, *variants;
	uint64_t names;		/* name_bit() of each of ops */
	struct pyre op;
	bool has_op;
	unsigned flags;
	uint64_t dtypes;	/* all bits where the line names none */
	char *value;
	const char *reason;
};

struct rules {
	struct row *v;
	size_t n, cap;
	size_t *here;		/* rows that apply to the item */
	size_t nhere;
	char *device;		/* whose cases these are, or NULL */
};

/* One of 64 bits: most names that are not in a list are known by it alone. */
static uint64_t name_bit(const char *s)
{
	size_t n = strlen(s);

	return UINT64_C(1) << ((n + 7u * (unsigned char)s[0] +
				13u * (unsigned char)s[n / 2]) & 63);
}

static bool in_list(const cJSON *list, const char *s)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, list)
		if (!strcmp(x->valuestring, s))
			return true;
	return false;
}

/* A key that is absent or a list of strings. */
static int get_list(const cJSON *o, const char *key, const cJSON **out,
		    struct err *e)
{
	const cJSON *x;

	*out = json_get(o, key);
	if (!*out)
		return 0;
	if (!cJSON_IsArray(*out))
		return err_set(e, EX_ENVIRON, "'%s' is no list", key);
	cJSON_ArrayForEach(x, *out)
		if (!cJSON_IsString(x))
			return err_set(e, EX_ENVIRON, "'%s' holds what is no "
				       "string", key);
	return 0;
}

static int read_dtypes(struct row *r, const cJSON *list, struct err *e)
{
	const cJSON *x;
	size_t i;

	r->dtypes = list ? 0 : UINT64_MAX;
	cJSON_ArrayForEach(x, list) {
		for (i = 0; dtype_at(i); i++)
			if (!strcmp(dtype_at(i)->name, x->valuestring))
				break;
		if (!dtype_at(i))
			return err_set(e, EX_ENVIRON, "unknown dtype '%s'",
				       x->valuestring);
		r->dtypes |= UINT64_C(1) << i;
	}
	return 0;
}

static int read_row(struct row *r, cJSON *o, const char *key, struct err *e)
{
	const cJSON *list, *x, *value;
	const char *op;

	r->suite = rec_str_opt(o, "suite", NULL);
	r->device = rec_str_opt(o, "device", NULL);
	r->reason = rec_str_opt(o, "reason", "");
	if (get_list(o, "ops", &r->ops, e) ||
	    get_list(o, "variant", &r->variants, e) ||
	    get_list(o, "dtypes", &list, e) || read_dtypes(r, list, e) ||
	    get_list(o, "flags", &list, e))
		return -1;
	cJSON_ArrayForEach(x, list) {
		int flag = item_flag_find(x->valuestring);

		if (flag < 0)
			return err_set(e, EX_ENVIRON, "unknown flag '%s'",
				       x->valuestring);
		r->flags |= 1u << flag;
	}
	cJSON_ArrayForEach(x, r->ops)
		r->names |= name_bit(x->valuestring);
	value = json_get(o, key);
	if (!cJSON_IsString(value) && !cJSON_IsNumber(value))
		return err_set(e, EX_ENVIRON, "no '%s'", key);
	r->value = cJSON_IsString(value) ? xstrdup(value->valuestring) :
		   xasprintf("%d", value->valueint);
	if (!strcmp(key, "level") && (r->value[0] < '1' || r->value[0] > '8' ||
				      r->value[1]))
		return err_set(e, EX_ENVIRON, "level %.20s, expected 1 to 8",
			       r->value);
	op = rec_str_opt(o, "op", NULL);
	if (op && pyre_compile(&r->op, op, e) < 0)
		return err_prefix(e, "regex '%s'", op);
	r->has_op = op;
	return 0;
}

struct rules *rules_parse(const char *text, size_t n, const char *file,
			  const char *key, struct err *e)
{
	struct rules *r = xcalloc(1, sizeof(*r));
	const char *end = text + n, *lf;
	int line = 1;

	for (; text < end; text = lf + 1, line++) {
		struct row *row;

		lf = memchr(text, '\n', (size_t)(end - text));
		if (!lf)
			lf = end;
		r->v = xgrow(r->v, &r->cap, r->n + 1, sizeof(*r->v));
		row = &r->v[r->n++];
		memset(row, 0, sizeof(*row));
		row->o = json_parse(text, (size_t)(lf - text), e);
		if (!row->o || read_row(row, row->o, key, e) < 0) {
			err_prefix(e, "%s:%d", file, line);
			if (e)
				e->code = EX_ENVIRON;
			rules_free(r);
			return NULL;
		}
	}
	r->here = xcalloc(r->n + 1, sizeof(*r->here));
	return r;
}

struct rules *rules_load(const char *name, const char *key, struct err *e)
{
	char *path = xasprintf("%s/coverage/%s.jsonl", prog_root(), name);
	struct buf b = BUF_INIT;
	struct rules *r = NULL;

	if (!buf_read_file(&b, path, 16 << 20, e))
		r = rules_parse(b.p, b.len, path, key, e);
	buf_release(&b);
	free(path);
	return r;
}

void rules_free(struct rules *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->n; i++) {
		if (r->v[i].has_op)
			pyre_release(&r->v[i].op);
		free(r->v[i].value);
		cJSON_Delete(r->v[i].o);
	}
	free(r->v);
	free(r->here);
	free(r->device);
	free(r);
}

void rules_device(struct rules *r, const char *device)
{
	free(r->device);
	r->device = xstrndup(device, strcspn(device, ":"));
}

void rules_item(struct rules *r, const struct item *it)
{
	uint64_t op = name_bit(it->op), name = name_bit(it->name);
	size_t i;

	r->nhere = 0;
	for (i = 0; i < r->n; i++) {
		const struct row *row = &r->v[i];

		if ((it->flags & row->flags) != row->flags ||
		    (row->ops && !(row->names & (op | name))) ||
		    (row->suite && strcmp(row->suite, it->suite)) ||
		    (row->device && (!r->device ||
				     strcmp(row->device, r->device))) ||
		    (row->ops && !in_list(row->ops, it->op) &&
		     !in_list(row->ops, it->name)) ||
		    (row->has_op && !pyre_search(&row->op, it->op)))
			continue;
		r->here[r->nhere++] = i;
	}
}

const char *rules_find(const struct rules *r, const char *variant,
		       size_t dtype, const char **reason)
{
	size_t i;

	for (i = 0; i < r->nhere; i++) {
		const struct row *row = &r->v[r->here[i]];

		if (!(row->dtypes >> dtype & 1) ||
		    (row->variants && !in_list(row->variants, variant)))
			continue;
		if (reason)
			*reason = row->reason;
		return row->value;
	}
	return NULL;
}
