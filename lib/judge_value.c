#include "judge.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "num.h"
#include "banned.h"

static int64_t largest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* The sizes of one input. */
static void scale_shape(struct scale *s, const struct tensor *t, size_t which)
{
	int i;

	s->numel = largest(s->numel, t->numel);
	for (i = t->ndim > 2 ? t->ndim - 2 : 0; i < t->ndim; i++) {
		s->dims = largest(s->dims, t->shape[i]);
		if (which == 0)
			s->dim = largest(s->dim, t->shape[i]);
	}
	if (which > 0 && t->ndim > 1 && t->shape[0] > 0 && t->shape[1] > 0) {
		s->weight = largest(s->weight, t->numel / t->shape[0]);
		s->weight = largest(s->weight, t->numel / t->shape[1]);
	}
}

static void scale_tensor(struct scale *s, const struct tensor *t, size_t which)
{
	struct num_stat st = { .amax = t->amax, .asum = -1 };
	size_t i;

	if (t->data == TD_PARTS) {
		for (i = 0; i < t->nparts; i++)
			scale_tensor(s, &t->parts[i], which);
		return;
	}
	scale_shape(s, t, which);
	if (t->dt->cls != DT_FLOAT && t->dt->cls != DT_COMPLEX &&
	    t->dt->cls != DT_INT && t->dt->cls != DT_UINT)
		return;
	if (t->numel == 0)
		return;
	if (t->data == TD_BYTES)
		num_stat(t->dt, t->p, (size_t)t->numel, &st);
	if (st.amax < 0) {
		s->known = false;
		return;
	}
	/* Indices and sizes are no terms of a sum. */
	if (t->dt->cls == DT_INT || t->dt->cls == DT_UINT)
		return;
	if (st.amax > s->a1) {
		s->a2 = s->a1;
		s->a1 = st.amax;
		s->asum = st.asum;
	} else {
		s->a2 = larger(s->a2, st.amax);
	}
}

void scale_of(const struct obs *o, struct scale *s)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	s->known = o->ninputs > 0;
	s->asum = -1;
	s->numel = s->dims = s->dim = s->weight = 1;
	for (i = 0; i < o->ninputs; i++)
		if (o->inputs[i].is_tensor)
			scale_tensor(s, &o->inputs[i].t, i);
}

static double terms(const struct budget *b, const struct scale *s)
{
	int64_t n = 1;

	switch (b->len) {
	case BL_ONE:
		break;
	case BL_INOUT:
		n = s->numel / largest(s->out, 1);
		break;
	case BL_IN:
		n = s->numel;
		break;
	case BL_DIMS:
		n = s->dims;
		break;
	case BL_DIM:
		n = s->dim;
		break;
	case BL_WEIGHT:
		n = s->weight;
		break;
	}
	return (double)largest(n, 1);
}

static double growth(const struct budget *b, double n)
{
	switch (b->grow) {
	case BG_LOG:
		return num_bits((uint64_t)n);
	case BG_SQRT:
		return sqrt(n);
	case BG_LINEAR:
		return n;
	case BG_NONE:
		break;
	}
	return 1;
}

/* The magnitude of what is summed, 0 where that isn't known. */
static double summed(const struct budget *b, const struct scale *s, double n)
{
	double m;

	if (!s->known)
		return 0;
	if (b->mode == BM_DOT)
		m = n * larger(s->a1 * (s->a2 > 0 ? s->a2 : s->a1), s->a1);
	else
		m = s->asum >= 0 ? smaller(n * s->a1, s->asum) : n * s->a1;
	return isfinite(m) ? m : 0;
}

static void override_tol(const struct budget *b, struct num_tol *tol)
{
	int i;

	for (i = 0; i < 2; i++) {
		tol->ulp[i] = b->ov_ulp > 0 ? b->ov_ulp : 0;
		tol->rel[i] = b->rtol > 0 ? b->rtol : 0;
		tol->abs[i] = b->atol > 0 ? b->atol : 0;
	}
}

/*
 * What is allowed for this tensor.  norm is its largest magnitude, own the
 * reference's largest error.
 */
static void tolerance(const struct budget *b, const struct scale *s,
		      const struct dtype *t, bool hp, double norm, double own,
		      struct num_tol *tol)
{
	double n = terms(b, s), g = growth(b, n), sum = summed(b, s, n);
	/* Without hp the reference's rounding comes on top. */
	double more = hp ? 0 : larger(b->ulp[0], 0.51);
	int i;

	memset(tol, 0, sizeof(*tol));
	if (b->override) {
		override_tol(b, tol);
		return;
	}
	if (b->mode == BM_EXACT) {
		tol->exact = true;
		return;
	}
	tol->flush = true;
	/*
	 * A reference that is wrong altogether says nothing of the condition.
	 */
	if (sum > 0)
		own = smaller(own, larger(norm, sum) * 0.0625);
	for (i = 0; i < 2; i++) {
		double u = b->ulp[i] + more;

		tol->ulp[i] = u;
		tol->k[i] = b->k[i];
		if (b->mode == BM_ELEM) {
			tol->ulp[i] *= g;
			continue;
		}
		tol->abs[i] = larger(u * g * num_unit(t, norm),
				     b->k[i] * own);
	}
	if (b->mode == BM_SUM || b->mode == BM_DOT)
		tol->abs[1] = larger(tol->abs[1],
				     tol->ulp[1] * g * num_unit(t, sum));
	if (b->floor > 0)
		tol->abs[1] = larger(tol->abs[1],
				     tol->ulp[1] * num_unit(t, b->floor));
}

static void hexf_text(double x, char *out, size_t n)
{
	if (isnan(x))
		snprintf(out, n, "nan");
	else if (isinf(x))
		snprintf(out, n, x < 0 ? "-inf" : "inf");
	else
		snprintf(out, n, "%a", x);
}

static void element_text(const struct tensor *t, size_t i, const double v[2],
			 char out[VALUE_TEXT])
{
	char re[32], im[32];

	switch (t->dt->cls) {
	case DT_BOOL:
		if (t->p[i] > 1)
			snprintf(out, VALUE_TEXT, "the byte %d, which is no "
				 "bool", t->p[i]);
		else
			snprintf(out, VALUE_TEXT, "%s",
				 t->p[i] ? "true" : "false");
		break;
	case DT_INT:
		snprintf(out, VALUE_TEXT, "%lld",
			 (long long)dtype_get_int(t->dt, t->p, i));
		break;
	case DT_UINT:
		snprintf(out, VALUE_TEXT, "%llu",
			 (unsigned long long)dtype_get_int(t->dt, t->p, i));
		break;
	case DT_BITS:
		snprintf(out, VALUE_TEXT, "0x%02x", t->p[i * t->dt->size]);
		break;
	case DT_COMPLEX:
		hexf_text(v[0], re, sizeof(re));
		hexf_text(v[1], im, sizeof(im));
		snprintf(out, VALUE_TEXT, "%s,%s", re, im);
		break;
	case DT_FLOAT:
	case DT_QUANT:
		hexf_text(v[0], out, VALUE_TEXT);
		break;
	}
}

void value_show(const struct value_fig *f, char got[VALUE_TEXT],
		char want[VALUE_TEXT])
{
	got[0] = want[0] = '\0';
	if (!f->by || !f->by->numel)
		return;
	element_text(f->dev, f->num.at, f->num.got, got);
	element_text(f->by, f->num.at, f->num.want, want);
}

/* Types of packed elements, or without a fraction, are compared as bits. */
static bool is_float(const struct dtype *t)
{
	return (t->cls == DT_FLOAT || t->cls == DT_COMPLEX) &&
		t->mantissa > 0 && !strstr(t->name, "_x2");
}

static bool same_shape(const struct tensor *a, const struct tensor *b)
{
	return a->ndim == b->ndim &&
		!memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(int64_t));
}

static bool usable_hp(const struct tensor *ref, const struct tensor *hp)
{
	return hp && hp->data == TD_BYTES && is_float(ref->dt) &&
		hp->dt->mantissa == 52 && ref->dt->mantissa != 52 &&
		hp->dt->cls == ref->dt->cls && same_shape(hp, ref);
}

/* Of another type it says less than the reference does, or something else. */
static bool usable_np(const struct tensor *ref, const struct tensor *np)
{
	return np && np->data == TD_BYTES && np->dt == ref->dt &&
		ref->dt->cls != DT_BITS && ref->dt->cls != DT_QUANT &&
		same_shape(np, ref);
}

/* Integers, bits and the like are equal or not. */
static void judge_exact(const struct tensor *dev, const struct tensor *ref,
			struct value_fig *f)
{
	const struct budget *b = &f->budget;

	num_exact(ref->dt, dev->p, ref->p, (size_t)ref->numel, &f->num);
	f->bad = f->num.bad > 0;
	if (b->override && ref->dt->cls != DT_BITS &&
	    (f->num.max_abs <= b->atol || f->num.max_abs <= b->ov_ulp))
		f->bad = false;
}

/*
 * By f's budget, as many times as wide as wide says; hp is of use, or NULL, and
 * then ref is the oracle.
 */
static void judge_float(const struct scale *s, const struct tensor *dev,
			const struct tensor *ref, const struct tensor *hp,
			double wide, struct value_fig *f)
{
	const void *o = hp ? hp->p : NULL;
	size_t n = (size_t)ref->numel;
	double norm = 0, own = 0;
	struct num_tol tol;
	int i;

	if (f->budget.mode != BM_EXACT)
		num_norms(ref->dt, ref->p, o, n, &norm, &own);
	tolerance(&f->budget, s, ref->dt, hp, norm, own, &tol);
	for (i = 0; i < 2; i++) {
		tol.ulp[i] *= wide;
		tol.abs[i] *= wide;
	}
	num_compare(ref->dt, dev->p, ref->p, o, n, &tol, &f->num);
	f->bad = f->num.bad > 0;
	/* The reference must tell the values from nothing itself. */
	if (f->num.vanished && hp && own * 4 < norm)
		f->bad = true;
	f->usable = f->num.usable > 0;
}

static void judge_by(const struct scale *s, const struct tensor *dev,
		     const struct tensor *ref, const struct tensor *hp,
		     double wide, struct value_fig *f)
{
	if (is_float(ref->dt))
		judge_float(s, dev, ref, hp, wide, f);
	else
		judge_exact(dev, ref, f);
	f->dev = dev;
	f->by = ref;
}

/*
 * Is NumPy's result one of the same thing?  own: the reference judged by it.
 * Where nothing is rounded, one of the two may be wrong here and there.
 */
static bool credible(const struct value_fig *own, const struct tensor *np)
{
	if (is_float(np->dt) && own->budget.mode != BM_EXACT)
		return !own->num.bad;
	return own->num.bad <= (size_t)np->numel / 16;
}

static int rank_of(const struct value_fig *f)
{
	return f->bad ? 2 : f->usable ? 1 : 0;
}

/*
 * NumPy's result is as good an oracle as the reference's, and of another
 * making: what agrees with either is right.
 */
static void judge_second(const struct scale *s, const struct tensor *dev,
			 const struct tensor *ref, const struct tensor *np,
			 struct value_fig *f)
{
	struct value_fig own = { .budget = f->budget }, by = own;

	judge_by(s, ref, np, NULL, 16, &own);
	if (!credible(&own, np))
		return;
	judge_by(s, dev, np, NULL, 1, &by);
	by.oracle = VO_NP;
	by.num.ref_ulp = own.num.max_ulp;
	by.num.ref_abs = own.num.max_abs;
	by.num.zero_sign = f->num.zero_sign;
	if (rank_of(&by) <= rank_of(f))
		*f = by;
}

void value_judge(const struct judge *j, const struct budget_key *key,
		 const struct scale *s, const struct tensor *dev,
		 const struct tensor *ref, struct others others,
		 struct value_fig *f)
{
	struct budget *b = &f->budget;
	const struct tensor *hp;

	memset(f, 0, sizeof(*f));
	budget_find(j->budgets, key, b);
	if (!is_float(ref->dt) && !b->override) {
		b->cls = "exact";
		b->source = "whole numbers have nothing to round";
		b->mode = BM_EXACT;
		b->dflt = false;
	}
	hp = usable_hp(ref, others.hp) && b->mode != BM_EXACT ? others.hp :
		NULL;
	f->oracle = hp ? VO_HP : VO_REF;
	judge_by(s, dev, ref, hp, 1, f);
	if (!hp && usable_np(ref, others.np))
		judge_second(s, dev, ref, others.np, f);
}
