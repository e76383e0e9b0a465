#define _GNU_SOURCE		/* qsort_r() */
#include "legal.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "budget.h"
#include "num.h"
#include "rec.h"
#include "table.h"
#include "xalloc.h"
#include "banned.h"

struct legal {
	cJSON *table;
	char *last_op;		/* the op last looked up, and its line */
	const cJSON *last_line;
};

static const char *const kinds[] = {
	"index", "rows", "unique", "multiset", "random",
};

struct legal *legal_read(const char *path, struct err *e)
{
	struct legal *l = xcalloc(1, sizeof(*l));
	const cJSON *line;

	l->table = table_read(path, e);
	if (!l->table)
		goto bad;
	cJSON_ArrayForEach(line, l->table) {
		const char *op, *kind, *reason;
		bool known;
		size_t i;

		if (rec_str(line, "op", &op, e) < 0 ||
		    rec_str(line, "check", &kind, e) < 0 ||
		    rec_str(line, "reason", &reason, e) < 0) {
			err_prefix(e, "%s", path);
			goto bad;
		}
		known = legal_is_matrix(kind);
		for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			known = known || !strcmp(kinds[i], kind);
		if (!known) {
			err_set(e, EX_BADINPUT, "%s: no legal-output check "
				"'%s'", path, kind);
			goto bad;
		}
	}
	return l;
bad:
	legal_free(l);
	return NULL;
}

void legal_free(struct legal *l)
{
	if (!l)
		return;
	cJSON_Delete(l->table);
	free(l->last_op);
	free(l);
}

static const cJSON *line_search(const struct legal *l, const char *op)
{
	char forms[OPNAME_MAX][256];
	size_t n = opname_forms(op, forms), i;
	const cJSON *line;

	for (i = 0; i < n; i++)
		cJSON_ArrayForEach(line, l->table)
			if (!fnmatch(rec_str_opt(line, "op", ""), forms[i], 0))
				return line;
	return NULL;
}

static const cJSON *line_of(const struct legal *l, const char *op)
{
	struct legal *mine = (struct legal *)l;

	if (!l->last_op || strcmp(l->last_op, op)) {
		free(mine->last_op);
		mine->last_op = xstrdup(op);
		mine->last_line = line_search(l, op);
	}
	return l->last_line;
}

bool legal_is_random(const struct legal *l, const char *op, const char *args)
{
	const cJSON *line = line_of(l, op);
	const char *only, *unless;

	if (!line || strcmp(rec_str_opt(line, "check", ""), "random"))
		return false;
	only = rec_str_opt(line, "args", NULL);
	unless = rec_str_opt(line, "unless", NULL);
	return (!only || strstr(args, only)) &&
		!(unless && strstr(args, unless));
}

static bool is_int(const struct tensor *t)
{
	return t->dt->cls == DT_INT || t->dt->cls == DT_UINT;
}

static bool has_bytes(const struct value *v)
{
	return v->is_tensor && v->t.data == TD_BYTES;
}

static const struct tensor *input_at(const struct obs *o, size_t i)
{
	return i < o->ninputs && has_bytes(&o->inputs[i]) ? &o->inputs[i].t :
		NULL;
}

/* Are elements a and b of t equal, NaN to NaN and zero to zero? */
static bool same_element(const struct tensor *t, int64_t a, int64_t b)
{
	double x[2], y[2];

	if (a == b || !memcmp(t->p + (size_t)a * t->dt->size,
			      t->p + (size_t)b * t->dt->size, t->dt->size))
		return true;
	if (t->dt->cls != DT_FLOAT && t->dt->cls != DT_COMPLEX)
		return false;
	dtype_get(t->dt, t->p, (size_t)a, &x[0], &x[1]);
	dtype_get(t->dt, t->p, (size_t)b, &y[0], &y[1]);
	return (x[0] == y[0] || (isnan(x[0]) && isnan(y[0]))) &&
		(x[1] == y[1] || (isnan(x[1]) && isnan(y[1])));
}

/*
 * The input as outer x len x inner, the indices as outer x m x inner: one way
 * in which an index may refer to the input.
 */
struct gather {
	int64_t outer, len, m, inner;
};

enum index_rule { IR_ANY, IR_DISTINCT, IR_BEFORE };

static bool gather_ok(const struct gather *g, const struct tensor *in,
		      const struct tensor *dev, const struct tensor *ref,
		      enum index_rule rule)
{
	unsigned char *seen = xcalloc((size_t)g->len + 1, 1);
	int64_t o, i, k;
	bool ok = true;

	for (o = 0; o < g->outer && ok; o++) {
		for (i = 0; i < g->inner && ok; i++) {
			memset(seen, 0, (size_t)g->len);
			for (k = 0; k < g->m && ok; k++) {
				int64_t at = (o * g->m + k) * g->inner + i;
				int64_t d = dtype_get_int(dev->dt, dev->p,
							  (size_t)at);
				int64_t r = dtype_get_int(ref->dt, ref->p,
							  (size_t)at);
				int64_t base = o * g->len * g->inner + i;

				ok = d >= 0 && d < g->len && r >= 0 &&
					r < g->len &&
					same_element(in, base + d * g->inner,
						     base + r * g->inner);
				if (!ok)
					break;
				if (rule == IR_DISTINCT && seen[d]++)
					ok = false;
				if (rule == IR_BEFORE && d > k)
					ok = false;
			}
		}
	}
	free(seen);
	return ok;
}

static int64_t product(const int64_t *v, int from, int to)
{
	int64_t n = 1;

	for (; from < to; from++)
		n *= v[from];
	return n;
}

/* Try every way in which indices of this shape may refer to the input. */
static bool index_ok(const struct tensor *in, const struct tensor *dev,
		     const struct tensor *ref, enum index_rule rule)
{
	struct gather g;
	int d, i, lead, n = in->ndim;

	if (!in->numel)
		return false;
	for (d = 0; d < n; d++) {
		bool keep = ref->ndim == n, drop = ref->ndim == n - 1;

		for (i = 0; i < n; i++) {
			if (i == d)
				continue;
			keep = keep && ref->shape[i] == in->shape[i];
			drop = drop && ref->shape[i - (i > d)] == in->shape[i];
		}
		if (!keep && !drop)
			continue;
		g.outer = product(in->shape, 0, d);
		g.len = in->shape[d];
		g.m = keep ? ref->shape[d] : 1;
		g.inner = product(in->shape, d + 1, n);
		if (gather_ok(&g, in, dev, ref, rule))
			return true;
	}
	/* One index into everything, or into the last sizes taken as one. */
	for (lead = 0; lead < n || lead == 0; lead++) {
		if (lead && (ref->ndim != n || ref->shape[lead - 1] !=
			     in->shape[lead - 1]))
			break;
		if (!lead && ref->ndim != n && ref->numel != 1)
			continue;
		g.outer = product(in->shape, 0, lead);
		g.len = product(in->shape, lead, n);
		g.m = g.outer ? ref->numel / g.outer : 0;
		g.inner = 1;
		if (gather_ok(&g, in, dev, ref, rule))
			return true;
	}
	return false;
}

static enum legal_answer check_index(const cJSON *line, const struct obs *o,
				     const bool *wrong, const char **why)
{
	const struct tensor *in = input_at(o, 0);
	enum index_rule rule = IR_ANY;
	size_t i;

	if (rec_bool_opt(line, "order", false)) {
		rule = IR_DISTINCT;
		if (strstr(o->args, "stable=True")) {
			*why = "a stable sort has one answer";
			return LEGAL_NO;
		}
	}
	if (rec_bool_opt(line, "before", false))
		rule = IR_BEFORE;
	for (i = 0; i < o->dev.n; i++) {
		if (!wrong[i])
			continue;
		if (!is_int(&o->dev.outs[i].t)) {
			*why = "a value differs, not only an index";
			return LEGAL_NO;
		}
		if (!in) {
			*why = "the input that indices refer to was not "
				"recorded";
			return LEGAL_UNKNOWN;
		}
		if (!index_ok(in, &o->dev.outs[i].t, &o->ref.outs[i].t,
			      rule)) {
			*why = "the index is not that of an equal element";
			return LEGAL_NO;
		}
	}
	return LEGAL_YES;
}

/* Rows of whole numbers, k columns each, from one matrix or k vectors. */
static int64_t *rows_of(const struct result *r, int64_t *n, int64_t *k)
{
	const struct tensor *t = r->n ? &r->outs[0].t : NULL;
	int64_t *v, i, j;

	if (!t || !has_bytes(&r->outs[0]) || !is_int(t))
		return NULL;
	*n = t->ndim ? t->shape[0] : 0;
	*k = r->n > 1 ? (int64_t)r->n : *n ? t->numel / *n : 0;
	v = xcalloc((size_t)(*n * *k) + 1, sizeof(*v));
	for (j = 0; j < *k; j++) {
		const struct tensor *c = r->n > 1 ? &r->outs[j].t : t;

		if (r->n > 1 && (!has_bytes(&r->outs[j]) || c->numel != *n)) {
			free(v);
			return NULL;
		}
		for (i = 0; i < *n; i++)
			v[i * *k + j] = dtype_get_int(c->dt, c->p,
				(size_t)(r->n > 1 ? i : i * *k + j));
	}
	return v;
}

static int row_cmp(const void *a, const void *b, void *k)
{
	const int64_t *x = a, *y = b;
	int64_t i, n = *(const int64_t *)k;

	for (i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static enum legal_answer check_rows(const struct obs *o, const char **why)
{
	int64_t n, k, n2, k2, *a, *b;
	bool same;

	a = rows_of(&o->dev, &n, &k);
	b = rows_of(&o->ref, &n2, &k2);
	same = a && b && n == n2 && k == k2;
	if (same && n && k) {
		qsort_r(a, (size_t)n, (size_t)k * sizeof(*a), row_cmp, &k);
		qsort_r(b, (size_t)n, (size_t)k * sizeof(*b), row_cmp, &k);
		same = !memcmp(a, b, (size_t)(n * k) * sizeof(*a));
	}
	free(a);
	free(b);
	if (!same)
		*why = "not the same positions in another order";
	return same ? LEGAL_YES : LEGAL_NO;
}

static int bytes_cmp(const void *a, const void *b, void *size)
{
	return memcmp(a, b, *(const size_t *)size);
}

/* The same elements, bit by bit, in another order? */
static bool same_bag(const struct tensor *a, const struct tensor *b)
{
	size_t size = a->dt->size;
	unsigned char *x = xmalloc(a->nbytes + 1), *y = xmalloc(a->nbytes + 1);
	bool same = a->nbytes == b->nbytes;

	if (same) {
		memcpy(x, a->p, a->nbytes);
		memcpy(y, b->p, b->nbytes);
		qsort_r(x, (size_t)a->numel, size, bytes_cmp, &size);
		qsort_r(y, (size_t)b->numel, size, bytes_cmp, &size);
		same = !memcmp(x, y, a->nbytes);
	}
	free(x);
	free(y);
	return same;
}

/* Does inv, element by element, lead from u back to the input? */
static bool inverse_ok(const struct tensor *u, const struct tensor *inv,
		       const struct tensor *in)
{
	size_t size = u->dt->size;
	int64_t i, j;

	for (i = 0; i < in->numel; i++) {
		j = dtype_get_int(inv->dt, inv->p, (size_t)i);
		if (j < 0 || j >= u->numel ||
		    memcmp(u->p + (size_t)j * size, in->p + (size_t)i * size,
			   size))
			return false;
	}
	return true;
}

static bool counts_ok(const struct tensor *u, const struct tensor *count,
		      const struct tensor *in)
{
	size_t size = u->dt->size;
	int64_t i, j, n;

	for (j = 0; j < u->numel; j++) {
		n = 0;
		for (i = 0; i < in->numel; i++)
			n += !memcmp(u->p + (size_t)j * size,
				     in->p + (size_t)i * size, size);
		if (n != dtype_get_int(count->dt, count->p, (size_t)j))
			return false;
	}
	return true;
}

/* unique(sorted=False): values in any order, the rest in step with them. */
static enum legal_answer check_unique(const struct obs *o, const char **why)
{
	const struct tensor *in = input_at(o, 0), *u = &o->dev.outs[0].t;
	size_t i;

	if (!strstr(o->args, "sorted=False") || strstr(o->args, "dim=")) {
		*why = "a sorted result has one answer";
		return LEGAL_NO;
	}
	if (!in) {
		*why = "the input was not recorded";
		return LEGAL_UNKNOWN;
	}
	*why = "not the same values in another order";
	if (!has_bytes(&o->dev.outs[0]) || !has_bytes(&o->ref.outs[0]) ||
	    u->dt != in->dt ||
	    !same_bag(u, &o->ref.outs[0].t))
		return LEGAL_NO;
	for (i = 1; i < o->dev.n; i++) {
		const struct tensor *t = &o->dev.outs[i].t;
		bool ok;

		if (!has_bytes(&o->dev.outs[i]) || !is_int(t))
			return LEGAL_NO;
		if (t->numel == in->numel && t->numel == u->numel)
			ok = inverse_ok(u, t, in) || counts_ok(u, t, in);
		else if (t->numel == in->numel)
			ok = inverse_ok(u, t, in);
		else
			ok = t->numel == u->numel && counts_ok(u, t, in);
		if (!ok)
			return LEGAL_NO;
	}
	return LEGAL_YES;
}

bool legal_multiset(const struct tensor *a, const struct tensor *b)
{
	int64_t n = a->ndim ? a->shape[a->ndim - 1] : 1, i, j, base;
	unsigned char *used;
	struct num_stat st;
	double x[2], y[2], tol;
	bool ok = true;

	if (!n)
		return true;
	num_stat(b->dt, b->p, (size_t)b->numel, &st);
	/* A defective matrix's eigenvalues move by the root of the rounding. */
	tol = sqrt(ldexp(16, -b->dt->mantissa)) * st.amax;
	used = xcalloc((size_t)n, 1);
	for (base = 0; base < a->numel && ok; base += n) {
		memset(used, 0, (size_t)n);
		for (i = 0; i < n && ok; i++) {
			double best = INFINITY;
			int64_t which = -1;

			dtype_get(a->dt, a->p, (size_t)(base + i), &x[0],
				  &x[1]);
			for (j = 0; j < n; j++) {
				double d0, d1;

				dtype_get(b->dt, b->p, (size_t)(base + j),
					  &y[0], &y[1]);
				d0 = fabs(x[0] - y[0]);
				d1 = fabs(x[1] - y[1]);
				d0 = d1 > d0 ? d1 : d0;
				if (!used[j] && d0 < best) {
					best = d0;
					which = j;
				}
			}
			ok = which >= 0 && best <= tol;
			if (ok)
				used[which] = 1;
		}
	}
	free(used);
	return ok;
}

enum legal_answer legal_check(const struct legal *l, const struct obs *o,
			      const bool *wrong, const char **why)
{
	const cJSON *line = line_of(l, o->called);
	const char *kind;

	*why = NULL;
	if (!line || !o->dev.n)
		return LEGAL_NONE;
	kind = rec_str_opt(line, "check", "");
	if (!strcmp(kind, "index"))
		return check_index(line, o, wrong, why);
	if (!strcmp(kind, "rows"))
		return check_rows(o, why);
	if (!strcmp(kind, "unique"))
		return check_unique(o, why);
	if (!strcmp(kind, "multiset")) {
		*why = "not the same values in another order";
		return has_bytes(&o->dev.outs[0]) &&
			has_bytes(&o->ref.outs[0]) &&
			legal_multiset(&o->dev.outs[0].t, &o->ref.outs[0].t) ?
			LEGAL_YES : LEGAL_NO;
	}
	if (legal_is_matrix(kind))
		return legal_matrix(kind, o, why);
	return LEGAL_NONE;
}
