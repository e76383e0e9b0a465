#include "budget.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "table.h"
#include "xalloc.h"
#include "banned.h"

/* The lines of one sort, in the table's order. */
struct lines {
	const cJSON **v;
	size_t n, cap;
};

/* A name or pattern of an op, and one of the lines that have it. */
struct named {
	const char *op;
	const cJSON *line;
	size_t at;		/* the line's place among those */
};

struct names {
	struct named *v;
	size_t n, cap;
};

struct budgets {
	cJSON *table;		/* all lines, in order */
	struct lines classes;	/* that define one */
	struct lines categories, suites, variants;
	struct names exact;	/* ops by name, then by place */
	struct names globs;	/* patterns, by place */
	const cJSON *overrides;
	/* The op last looked up; its line, unless that depends on args. */
	char *last_op, *last_dtype;
	const cJSON *last_line;
	bool last_args;
};

static const char *const mode_names[] = {
	"exact", "elem", "norm", "sum", "dot", NULL
};
static const char *const grow_names[] = {
	"none", "log", "sqrt", "linear", NULL
};
static const char *const len_names[] = {
	"one", "inout", "in", "dims", "dim", "weight", NULL
};

/* The index of name's value in words; dflt where absent, -1 if unknown. */
static int word(const cJSON *o, const char *name, const char *const *words,
		int dflt)
{
	const cJSON *v = json_get(o, name);
	int i;

	if (!v)
		return dflt;
	for (i = 0; cJSON_IsString(v) && words[i]; i++)
		if (!strcmp(words[i], v->valuestring))
			return i;
	return -1;
}

static const char *text(const cJSON *o, const char *name)
{
	const cJSON *v = json_get(o, name);

	return cJSON_IsString(v) ? v->valuestring : NULL;
}

static bool good_number(double x)
{
	return isfinite(x) && x >= 0;
}

static bool number(const cJSON *o, const char *name, double *out)
{
	const cJSON *v = json_get(o, name);

	if (!cJSON_IsNumber(v))
		return false;
	*out = v->valuedouble;
	return true;
}

static bool pair(const cJSON *o, const char *name, double out[2])
{
	const cJSON *v = json_get(o, name);

	if (!cJSON_IsArray(v) || cJSON_GetArraySize(v) != 2 ||
	    !cJSON_IsNumber(v->child) || !cJSON_IsNumber(v->child->next))
		return false;
	out[0] = v->child->valuedouble;
	out[1] = v->child->next->valuedouble;
	return true;
}

/* The first of the lines whose key has the value, or NULL. */
static const cJSON *line_of(const struct lines *l, const char *key,
			    const char *value)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!strcmp(text(l->v[i], key), value))
			return l->v[i];
	return NULL;
}

static const cJSON *class_line(const struct budgets *b, const char *name)
{
	return line_of(&b->classes, "class", name);
}

static void lines_add(struct lines *l, const cJSON *line)
{
	l->v = xgrow(l->v, &l->cap, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = line;
}

static void names_add(struct names *l, const char *op, const cJSON *line,
		      size_t at)
{
	l->v = xgrow(l->v, &l->cap, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = (struct named){ op, line, at };
}

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int d = strcmp(x->op, y->op);

	return d ? d : (x->at > y->at) - (x->at < y->at);
}

/* What is no list of strings is told later, by check_line(). */
static void sort_ops(struct budgets *b, const cJSON *line, size_t at)
{
	const cJSON *v;

	cJSON_ArrayForEach(v, json_get(line, "ops")) {
		if (!cJSON_IsString(v))
			continue;
		names_add(strpbrk(v->valuestring, "*?[\\") ? &b->globs :
			  &b->exact, v->valuestring, line, at);
	}
}

static void sort_lines(struct budgets *b)
{
	const cJSON *line;
	size_t at = 0;

	cJSON_ArrayForEach(line, b->table) {
		if (text(line, "class") && text(line, "mode") &&
		    !json_get(line, "ops"))
			lines_add(&b->classes, line);
		if (text(line, "category"))
			lines_add(&b->categories, line);
		sort_ops(b, line, at++);
		if (text(line, "suite"))
			lines_add(&b->suites, line);
		if (text(line, "variant"))
			lines_add(&b->variants, line);
	}
	if (b->exact.n)
		qsort(b->exact.v, b->exact.n, sizeof(*b->exact.v), by_name);
}

/* A name that stands for several classes in tolerance_overrides. */
static int check_category(const struct budgets *b, const cJSON *line,
			  struct err *e)
{
	const cJSON *v, *list = json_get(line, "classes");

	if (!cJSON_IsArray(list) || !list->child)
		return err_set(e, EX_BADINPUT, "a category without 'classes'");
	cJSON_ArrayForEach(v, list)
		if (!cJSON_IsString(v) || !class_line(b, v->valuestring))
			return err_set(e, EX_BADINPUT, "no class '%s'",
				       cJSON_IsString(v) ? v->valuestring : "");
	return 0;
}

static bool category_holds(const struct budgets *b, const char *name,
			   const char *cls)
{
	const struct lines *l = &b->categories;
	const cJSON *v;
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (strcmp(text(l->v[i], "category"), name))
			continue;
		cJSON_ArrayForEach(v, json_get(l->v[i], "classes"))
			if (!strcmp(v->valuestring, cls))
				return true;
	}
	return false;
}

/* A line that defines or refers to a class, an op, a suite or a variant. */
static int check_line(const struct budgets *b, const cJSON *line,
		      struct err *e)
{
	static const char *const nums[] = { "strict", "usable", "floor",
		"times" };
	static const char *const pairs[] = { "k", "half", "complex",
		"double" };
	const char *cls = text(line, "class");
	const cJSON *ops = json_get(line, "ops"), *v;
	double d[2];
	size_t i;

	if (text(line, "category"))
		return check_category(b, line, e);
	if (!cls && !text(line, "variant"))
		return err_set(e, EX_BADINPUT, "no 'class'");
	if (cls && !class_line(b, cls))
		return err_set(e, EX_BADINPUT, "no class '%s'", cls);
	if (ops && !cJSON_IsArray(ops))
		return err_set(e, EX_BADINPUT, "'ops' is not a list");
	cJSON_ArrayForEach(v, ops)
		if (!cJSON_IsString(v))
			return err_set(e, EX_BADINPUT, "'ops' holds what is "
				       "no string");
	for (i = 0; i < sizeof(nums) / sizeof(nums[0]); i++) {
		v = json_get(line, nums[i]);
		if (v && (!cJSON_IsNumber(v) || !good_number(v->valuedouble)))
			return err_set(e, EX_BADINPUT, "'%s' is no number",
				       nums[i]);
	}
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		v = json_get(line, pairs[i]);
		if (v && (!pair(line, pairs[i], d) || !good_number(d[0]) ||
			  !good_number(d[1])))
			return err_set(e, EX_BADINPUT, "'%s' is no pair of "
				       "numbers", pairs[i]);
	}
	if (word(line, "mode", mode_names, 0) < 0 ||
	    word(line, "grow", grow_names, 0) < 0 ||
	    word(line, "len", len_names, 0) < 0)
		return err_set(e, EX_BADINPUT, "an unknown 'mode', 'grow' or "
			       "'len'");
	return 0;
}

struct budgets *budgets_read(const char *path, struct err *e)
{
	struct budgets *b = xcalloc(1, sizeof(*b));
	const cJSON *line;
	int n = 0;

	b->table = table_read(path, e);
	if (!b->table)
		goto bad;
	sort_lines(b);
	if (!class_line(b, "default")) {
		err_set(e, EX_BADINPUT, "%s: no class 'default'", path);
		goto bad;
	}
	cJSON_ArrayForEach(line, b->table) {
		n++;
		if (check_line(b, line, e) < 0) {
			err_prefix(e, "%s: entry %d", path, n);
			goto bad;
		}
	}
	return b;
bad:
	budgets_free(b);
	return NULL;
}

void budgets_free(struct budgets *b)
{
	if (!b)
		return;
	cJSON_Delete(b->table);
	free(b->classes.v);
	free(b->categories.v);
	free(b->exact.v);
	free(b->globs.v);
	free(b->suites.v);
	free(b->variants.v);
	free(b->last_op);
	free(b->last_dtype);
	free(b);
}

/* "op:torch.dtype" into its two parts, at the last colon; -1: no such. */
static int override_split(const char *key, char op[256], const char **dtype)
{
	const char *colon = strrchr(key, ':');
	size_t n = colon ? (size_t)(colon - key) : 0;

	if (!colon || !n || n >= 256)
		return -1;
	memcpy(op, key, n);
	op[n] = '\0';
	*dtype = colon + 1;
	return 0;
}

int budgets_override(struct budgets *b, const cJSON *overrides, struct err *e)
{
	const cJSON *o;

	b->overrides = overrides;
	if (overrides && !cJSON_IsObject(overrides))
		return err_set(e, EX_BADINPUT,
			       "'tolerance_overrides' is not an object");
	cJSON_ArrayForEach(o, overrides) {
		char op[256];
		const char *dtype;
		double x;
		bool any = false;
		static const char *const keys[] = { "ulp", "rtol", "atol" };
		size_t i;

		if (override_split(o->string, op, &dtype) < 0 ||
		    !dtype_find(dtype))
			return err_set(e, EX_BADINPUT, "tolerance_overrides: "
				       "'%s' is not \"op:dtype\"", o->string);
		for (i = 0; i < 3; i++) {
			if (!json_get(o, keys[i]))
				continue;
			if (!number(o, keys[i], &x) || !good_number(x))
				return err_set(e, EX_BADINPUT,
					       "tolerance_overrides: '%s': "
					       "'%s' is no tolerance",
					       o->string, keys[i]);
			any = true;
		}
		if (!any)
			return err_set(e, EX_BADINPUT, "tolerance_overrides: "
				       "'%s' has no 'ulp', 'rtol' or 'atol'",
				       o->string);
	}
	return 0;
}

/* Add name to names unless it is empty, too long or there already. */
static void form_add(char names[OPNAME_MAX][256], size_t *n, const char *s,
		     size_t len)
{
	size_t i;

	if (!len || len >= 256 || *n == OPNAME_MAX)
		return;
	for (i = 0; i < *n; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], s, len))
			return;
	memcpy(names[*n], s, len);
	names[*n][len] = '\0';
	++*n;
}

size_t opname_forms(const char *op, char names[OPNAME_MAX][256])
{
	static const char *const prefixes[] = {
		"aten::", "torch.ops.aten.", "_foreach_", "_fused_",
	};
	size_t n = 0, i, len;
	const char *s = op, *end;

	form_add(names, &n, s, strlen(s));
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(s, prefixes[i], strlen(prefixes[i])))
			s += strlen(prefixes[i]);
	form_add(names, &n, s, strlen(s));
	len = strcspn(s, ":");
	form_add(names, &n, s, len);
	/* "add_.Tensor": the overload, then the in-place mark. */
	for (end = s + len; end > s && *end != '.'; end--)
		;
	if (end > s && strncmp(s, "nn.", 3) &&
	    strncmp(s, "linalg.", 7) && strncmp(s, "special.", 8) &&
	    strncmp(s, "fft.", 4) && strncmp(s, "masked.", 7))
		len = (size_t)(end - s);
	form_add(names, &n, s, len);
	while (len > 1 && s[len - 1] == '_' && s[len - 2] != '_')
		len--;
	form_add(names, &n, s, len);
	if (!strncmp(s, "linalg_", 7) || !strncmp(s, "special_", 8)) {
		char dotted[256];

		if (len < sizeof(dotted)) {
			memcpy(dotted, s, len);
			dotted[strcspn(s, "_")] = '.';
			form_add(names, &n, dotted, len);
		}
	} else if (s[0] == '_' && s[1] != '_') {
		form_add(names, &n, s + 1, len - 1);
	}
	return n;
}

/* Does the line that names key's op hold for this case and its arguments? */
static bool fits(const cJSON *line, const struct budget_key *key,
		 bool *by_args)
{
	const char *kind = text(line, "case"), *want;

	if (kind && strncmp(kind, key->dtype, strlen(kind)))
		return false;
	want = text(line, "args");
	*by_args |= want != NULL;
	return !want || strstr(key->args, want);
}

/* The last fitting line that has the very name, else a pattern of it. */
static const cJSON *name_search(const struct budgets *b, const char *name,
				const struct budget_key *key, bool *by_args)
{
	const cJSON *found = NULL;
	size_t lo = 0, hi = b->exact.n, mid;
	const struct named *x;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (strcmp(b->exact.v[mid].op, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (x = b->exact.v + lo;
	     x < b->exact.v + b->exact.n && !strcmp(x->op, name); x++)
		if (fits(x->line, key, by_args))
			found = x->line;
	if (found)
		return found;
	for (x = b->globs.v; x < b->globs.v + b->globs.n; x++)
		if (!fnmatch(x->op, name, 0) && fits(x->line, key, by_args))
			found = x->line;
	return found;
}

/* The last line that names one of the forms, the nearest form first. */
static const cJSON *op_search(const struct budgets *b,
			      const struct budget_key *key, bool *by_args)
{
	char names[OPNAME_MAX][256];
	size_t n = opname_forms(key->called, names), i;
	const cJSON *found = NULL;

	*by_args = false;
	for (i = 0; i < n && !found; i++)
		found = name_search(b, names[i], key, by_args);
	return found;
}

static const cJSON *op_line(struct budgets *b, const struct budget_key *key)
{
	if (b->last_op && !b->last_args && !strcmp(b->last_op, key->called) &&
	    !strcmp(b->last_dtype, key->dtype))
		return b->last_line;
	free(b->last_op);
	free(b->last_dtype);
	b->last_op = xstrdup(key->called);
	b->last_dtype = xstrdup(key->dtype);
	b->last_line = op_search(b, key, &b->last_args);
	return b->last_line;
}

/* What a line says, over what out holds. */
static void apply(const cJSON *line, struct budget *out)
{
	const char *s = text(line, "source");

	out->mode = (enum budget_mode)word(line, "mode", mode_names,
					   (int)out->mode);
	out->grow = (enum budget_grow)word(line, "grow", grow_names,
					   (int)out->grow);
	out->len = (enum budget_len)word(line, "len", len_names,
					 (int)out->len);
	number(line, "strict", &out->ulp[0]);
	number(line, "usable", &out->ulp[1]);
	number(line, "floor", &out->floor);
	pair(line, "k", out->k);
	if (s)
		out->source = s;
}

/* The figures for dt's family, where the line has some. */
static bool family(const cJSON *line, const struct dtype *dt, double ulp[2])
{
	if (!dt)
		return false;
	if (dt->cls == DT_COMPLEX)
		return pair(line, "complex", ulp);
	if (dt->cls == DT_FLOAT && dt->mantissa <= 10)
		return pair(line, "half", ulp);
	if (dt->cls == DT_FLOAT && dt->mantissa == 52)
		return pair(line, "double", ulp);
	return false;
}

/* A derivative mixes elements, and takes several roundings. */
static void apply_variant(const struct budgets *b, const char *variant,
			  struct budget *out)
{
	size_t i;

	for (i = 0; i < b->variants.n; i++) {
		const cJSON *line = b->variants.v[i];
		double times = 1;

		if (fnmatch(text(line, "variant"), variant, 0))
			continue;
		number(line, "times", &times);
		if (out->mode == BM_EXACT) {
			/* The sum of gradients that meet in an element. */
			out->mode = BM_NORM;
			out->grow = BG_LOG;
			out->len = BL_INOUT;
			out->ulp[0] = 0.51;
			out->ulp[1] = times = 1;
		} else {
			number(line, "floor", &out->floor);
		}
		if (out->mode == BM_ELEM)
			out->mode = BM_NORM;
		out->ulp[0] *= times;
		out->ulp[1] *= times;
		out->k[0] = out->k[0] < 4 ? 4 : out->k[0];
		out->k[1] = out->k[1] < 16 ? 16 : out->k[1];
		return;
	}
}

static void apply_override(const struct budgets *b,
			   const struct budget_key *key, struct budget *out)
{
	char names[2 * OPNAME_MAX][256], op[256];
	size_t n = opname_forms(key->op, names), i;
	const cJSON *o, *found = NULL;
	const struct dtype *want = dtype_find(key->dtype);
	bool by_op = false;

	if (strcmp(key->called, key->op))
		n += opname_forms(key->called, names + n);
	cJSON_ArrayForEach(o, b->overrides) {
		const char *dtype;
		bool hit = false;

		if (override_split(o->string, op, &dtype) < 0 ||
		    !want || dtype_find(dtype) != want)
			continue;
		for (i = 0; i < n; i++)
			hit = hit || !strcmp(names[i], op);
		if (hit) {
			found = o;
			by_op = true;
		} else if (!by_op && (!strcmp(op, out->cls) ||
				      category_holds(b, op, out->cls))) {
			found = o;
		}
	}
	if (!found)
		return;
	out->override = true;
	out->cls = "override";
	out->source = "manifest: tolerance_overrides";
	out->ov_ulp = out->rtol = out->atol = -1;
	number(found, "ulp", &out->ov_ulp);
	number(found, "rtol", &out->rtol);
	number(found, "atol", &out->atol);
}

void budget_find(struct budgets *b, const struct budget_key *key,
		 struct budget *out)
{
	const cJSON *line = op_line(b, key), *base;
	const char *cls;

	memset(out, 0, sizeof(*out));
	if (!line)
		line = line_of(&b->suites, "suite", key->suite);
	out->dflt = !line;
	cls = line ? text(line, "class") : "default";
	out->cls = cls;
	base = class_line(b, cls);
	apply(base, out);
	if (line)
		apply(line, out);
	if (!line || !family(line, key->dt, out->ulp))
		family(base, key->dt, out->ulp);
	apply_variant(b, key->variant, out);
	apply_override(b, key, out);
}
