#include "variants.h"

#include <stdlib.h>
#include <string.h>
#include "buf.h"
#include "dtype.h"
#include "json.h"
#include "prog.h"
#include "pyre.h"
#include "rec.h"
#include "xalloc.h"

struct line {
	struct variant var;
	cJSON *o;		/* owns the strings */
	unsigned needs, without;
	int set;		/* enum item_set */
	bool has_op, has_except;
	bool overloads;		/* for those of the dispatcher, no others */
	struct pyre op, except;
	uint64_t classes;	/* dtypes of those classes */
	const cJSON *one_of;
};

struct variants { struct line *v; size_t n, cap; };

static int read_flags(const cJSON *o, const char *key, unsigned *out,
		      struct err *e)
{
	const cJSON *x;
	int flag;

	cJSON_ArrayForEach(x, json_get(o, key)) {
		flag = cJSON_IsString(x) ? item_flag_find(x->valuestring) : -1;
		if (flag < 0)
			return err_set(e, EX_ENVIRON, "unknown flag in '%s'",
				       key);
		*out |= 1u << flag;
	}
	return 0;
}

static int read_classes(const cJSON *o, uint64_t *out, struct err *e)
{
	static const char *const names[] = {
		[DT_BOOL] = "bool", [DT_UINT] = "uint", [DT_INT] = "int",
		[DT_FLOAT] = "float", [DT_COMPLEX] = "complex",
		[DT_BITS] = "bits", [DT_QUANT] = "quant",
	};
	const cJSON *list = json_get(o, "classes"), *x;
	size_t c, i, n = sizeof(names) / sizeof(*names);

	*out = list ? 0 : UINT64_MAX;
	cJSON_ArrayForEach(x, list) {
		for (c = 0; c < n; c++)
			if (cJSON_IsString(x) &&
			    !strcmp(names[c], x->valuestring))
				break;
		if (c == n)
			return err_set(e, EX_ENVIRON, "unknown class");
		for (i = 0; dtype_at(i); i++)
			if (dtype_at(i)->cls == (enum dtype_class)c)
				*out |= UINT64_C(1) << i;
	}
	return 0;
}

static const struct dtype *named(const cJSON *x, uint64_t *bit)
{
	size_t i;

	for (i = 0; cJSON_IsString(x) && dtype_at(i); i++) {
		*bit = UINT64_C(1) << i;
		if (!strcmp(dtype_at(i)->name, x->valuestring))
			return dtype_at(i);
	}
	return NULL;
}

static int read_one_of(struct line *l, struct err *e)
{
	const cJSON *x;
	uint64_t bit;

	l->one_of = json_get(l->o, "one_of");
	cJSON_ArrayForEach(x, l->one_of)
		if (!named(x, &bit))
			return err_set(e, EX_ENVIRON, "unknown dtype in "
				       "'one_of'");
	return 0;
}

static int read_regex(const cJSON *o, const char *key, struct pyre *re,
		      bool *has, struct err *e)
{
	const char *s = rec_str_opt(o, key, NULL);

	if (!s)
		return 0;
	if (pyre_compile(re, s, e) < 0)
		return err_prefix(e, "'%s'", key);
	*has = true;
	return 0;
}

static int read_line(struct line *l, struct err *e)
{
	const cJSON *o = l->o;

	l->var.name = rec_str_opt(o, "variant", NULL);
	l->var.capability = rec_str_opt(o, "capability", NULL);
	l->var.oracle = rec_str_opt(o, "oracle", NULL);
	l->var.reason = rec_str_opt(o, "reason", "");
	l->var.level = (int)rec_int_opt(o, "level", 1);
	l->var.devices = (int)rec_int_opt(o, "devices", 1);
	l->overloads = rec_bool_opt(o, "overloads", false);
	l->var.mb = (long)rec_int_opt(o, "mb", 0);
	l->set = item_set_find(rec_str_opt(o, "dtypes_of", "forward"));
	if (l->set < 0)
		return err_set(e, EX_ENVIRON, "unknown set '%s' in 'dtypes_of'",
			       rec_str_opt(o, "dtypes_of", ""));
	if (!l->var.name || !*l->var.reason || l->var.level < 1 ||
	    l->var.level > 8)
		return err_set(e, EX_ENVIRON, "a variant needs a name, a "
			       "reason and a level from 1 to 8");
	if (read_flags(o, "needs", &l->needs, e) ||
	    read_flags(o, "without", &l->without, e) ||
	    read_classes(o, &l->classes, e) || read_one_of(l, e) ||
	    read_regex(o, "op", &l->op, &l->has_op, e) ||
	    read_regex(o, "except", &l->except, &l->has_except, e))
		return -1;
	return 0;
}

struct variants *variants_parse(const char *text, size_t n, const char *file,
				struct err *e)
{
	struct variants *v = xcalloc(1, sizeof(*v));
	const char *end = text + n, *lf;
	int no = 1;
	cJSON *o;

	for (; text < end; text = lf + 1, no++) {
		struct line *l;

		lf = memchr(text, '\n', (size_t)(end - text));
		if (!lf)
			lf = end;
		o = json_parse(text, (size_t)(lf - text), e);
		if (o && !rec_bool_opt(o, "engine", false)) {
			cJSON_Delete(o);
			continue;
		}
		v->v = xgrow(v->v, &v->cap, v->n + 1, sizeof(*v->v));
		l = &v->v[v->n++];
		memset(l, 0, sizeof(*l));
		l->o = o;
		if (!o || read_line(l, e) < 0) {
			err_prefix(e, "%s:%d", file, no);
			if (e)
				e->code = EX_ENVIRON;
			variants_free(v);
			return NULL;
		}
	}
	return v;
}

struct variants *variants_load(struct err *e)
{
	char *path = xasprintf("%s/coverage/variants.jsonl", prog_root());
	struct buf b = BUF_INIT;
	struct variants *v = NULL;

	if (!buf_read_file(&b, path, 16 << 20, e))
		v = variants_parse(b.p, b.len, path, e);
	buf_release(&b);
	free(path);
	return v;
}

void variants_free(struct variants *v)
{
	size_t i;

	if (!v)
		return;
	for (i = 0; i < v->n; i++) {
		if (v->v[i].has_op)
			pyre_release(&v->v[i].op);
		if (v->v[i].has_except)
			pyre_release(&v->v[i].except);
		cJSON_Delete(v->v[i].o);
	}
	free(v->v);
	free(v);
}

const struct variant *variants_at(const struct variants *v, size_t i)
{
	return i < v->n ? &v->v[i].var : NULL;
}

uint64_t variants_dtypes(const struct variants *v, size_t i,
			 const struct item *it)
{
	const struct line *l = &v->v[i];
	uint64_t bits, bit;
	const cJSON *x;

	if (l->overloads != !!it->via ||
	    (it->flags & l->needs) != l->needs || (it->flags & l->without) ||
	    (l->has_op && !pyre_search(&l->op, it->op)) ||
	    (l->has_except && pyre_search(&l->except, it->op)))
		return 0;
	bits = it->dtypes[ITEM_FORWARD] & it->dtypes[l->set] & l->classes;
	if (!l->one_of)
		return bits;
	cJSON_ArrayForEach(x, l->one_of)
		if (named(x, &bit) && (bits & bit))
			return bit;
	return 0;
}
