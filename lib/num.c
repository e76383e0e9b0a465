#include "num.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "banned.h"

#define CHUNK 512		/* doubles at a time: they stay in L1 */

/* Exact powers of two without libm. */
static double pow2(int e)
{
	return ldexp(1.0, e);
}

/* The unit at x: 2^floor(log2 |x|) * scale, but at least least. */
struct unit {
	double scale, least;
};

static struct unit unit_of(const struct dtype *t)
{
	struct unit u = {
		.scale = pow2(-t->mantissa),
		.least = pow2(t->emin - t->mantissa),
	};

	return u;
}

static inline uint64_t bits_of(double x)
{
	uint64_t b;

	memcpy(&b, &x, sizeof(b));
	return b;
}

static inline double binade(double x)
{
	uint64_t b = bits_of(x) & UINT64_C(0x7ff0000000000000);

	memcpy(&x, &b, sizeof(x));
	return x;
}

static inline double unit_at(const struct unit *u, double x)
{
	double v = binade(x) * u->scale;

	return v > u->least ? v : u->least;
}

double num_unit(const struct dtype *t, double x)
{
	struct unit u = unit_of(t);

	return unit_at(&u, x);
}

int num_bits(uint64_t n)
{
	return n ? 64 - __builtin_clzll(n) : 0;
}

static void get_half(const uint16_t *p, size_t n, double *out)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t h = p[i], e = h >> 10 & 31, m = h & 1023;
		double v;

		if (e == 31)
			v = m ? NAN : INFINITY;
		else if (e)
			v = (double)(m | 1024) *
				(double)(UINT32_C(1) << e) * 0x1p-25;
		else
			v = (double)m * 0x1p-24;
		out[i] = h & 0x8000 ? -v : v;
	}
}

static void get_bfloat(const uint16_t *p, size_t n, double *out)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t b = (uint32_t)p[i] << 16;
		float f;

		memcpy(&f, &b, sizeof(f));
		out[i] = f;
	}
}

static void get_float(const unsigned char *p, size_t n, double *out)
{
	size_t i;
	float f;

	for (i = 0; i < n; i++) {
		memcpy(&f, p + i * sizeof(f), sizeof(f));
		out[i] = f;
	}
}

void num_get(const struct dtype *t, const void *p, size_t first, size_t n,
	     double *out)
{
	const unsigned char *b = (const unsigned char *)p + first * t->size;
	bool complex = t->cls == DT_COMPLEX;
	size_t i, m = complex ? 2 * n : n;
	size_t part = complex ? t->size / 2 : t->size;

	if (part == 8 && t->mantissa == 52) {
		memcpy(out, b, m * sizeof(*out));
	} else if (part == 4 && t->mantissa == 23) {
		get_float(b, m, out);
	} else if (part == 2 && t->mantissa == 10) {
		get_half((const uint16_t *)(const void *)b, m, out);
	} else if (part == 2 && t->mantissa == 7) {
		get_bfloat((const uint16_t *)(const void *)b, m, out);
	} else {
		for (i = 0; i < n; i++) {
			double re, im;

			dtype_get(t, p, first + i, &re, &im);
			if (complex) {
				out[2 * i] = re;
				out[2 * i + 1] = im;
			} else {
				out[i] = re;
			}
		}
	}
}

/* One comparison under way. */
struct cmp {
	const struct dtype *t;
	const struct num_tol *tol;
	struct num_fig *fig;
	struct unit u;
	double max, least_normal;
	bool hp;
	bool worst_bad;		/* fig->at is a bad element */
	double worst;		/* its error over what was allowed, or ulp */
	size_t nz_oracle, nz_dev, nz_ref;
};

static bool same_double(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static double bigger(double a, double b)
{
	return a > b ? a : b;
}

static void keep_worst(struct cmp *c, bool bad, double how, size_t at,
		       double dr, double di, double wr, double wi)
{
	struct num_fig *f = c->fig;

	if (c->worst_bad && !bad)
		return;
	if (c->worst_bad == bad && !(how > c->worst))
		return;
	c->worst_bad = bad;
	c->worst = how;
	f->at = at;
	f->got[0] = dr;
	f->got[1] = di;
	f->want[0] = wr;
	f->want[1] = wi;
}

static void count_signs(struct cmp *c, double d, double o, double r)
{
	if (d == 0 && r == 0 && !signbit(d) != !signbit(r) &&
	    (!c->hp || (o == 0 && !signbit(o) == !signbit(r))))
		c->fig->zero_sign++;
}

/*
 * The oracle's value as t would hold it, as far as range goes: infinite where
 * it is past the largest finite value by half a unit or more.
 */
static double in_range(const struct cmp *c, double o)
{
	double half = binade(c->max) * c->u.scale / 2;

	if (isnan(o) || isinf(o) || fabs(o) < c->max + half)
		return o;
	return o > 0 ? INFINITY : -INFINITY;
}

/* Is a finite value so near the range's end that infinity is near it? */
static bool at_the_end(const struct cmp *c, double finite, double inf,
		       double ulp)
{
	double unit = binade(c->max) * c->u.scale;

	return (finite > 0) == (inf > 0) &&
		fabs(finite) >= c->max - ulp * unit;
}

/*
 * Where something isn't finite: 0 right, 1 right by the usable tier, 2 wrong.
 */
static int judge_special(const struct cmp *c, double d, double o, double r)
{
	double want = in_range(c, o), err, unit;
	int tier;

	if (same_double(d, r) || same_double(d, want))
		return 0;
	if (isnan(d))
		return 2;
	for (tier = 0; tier < 2; tier++) {
		double ulp = c->tol->ulp[tier];

		if (isfinite(d) && isfinite(want)) {
			err = fabs(d - o);
			unit = unit_at(&c->u, o);
			if (err <= bigger(ulp * unit, c->tol->abs[tier]))
				return tier;
		}
		/* The reference stayed finite where the oracle did not. */
		if (isfinite(d) && isfinite(r) && !isfinite(want)) {
			err = fabs(d - r);
			if (err <= ulp * unit_at(&c->u, r))
				return tier;
		}
		if (isfinite(d) && isinf(want) && at_the_end(c, d, want, ulp))
			return tier;
		if (isinf(d) && isfinite(want) && at_the_end(c, want, d, ulp))
			return tier;
	}
	return 2;
}

static double allowed(const struct cmp *c, int tier, double unit, double mag,
		      double own)
{
	const struct num_tol *t = c->tol;
	double a = bigger(t->ulp[tier] * unit, t->abs[tier]);

	a = bigger(a, t->rel[tier] * mag);
	return bigger(a, t->k[tier] * own);
}

static void count(struct cmp *c, int verdict)
{
	if (verdict == 2)
		c->fig->bad++;
	else if (verdict == 1)
		c->fig->usable++;
}

/* One element, with all the care that is due. */
static void one(struct cmp *c, size_t at, double d, double o, double r)
{
	struct num_fig *f = c->fig;
	double err, unit, own = 0, ulps, lim;
	int verdict = 0;

	if (c->hp && isfinite(in_range(c, o)) != isfinite(r) &&
	    !(isinf(in_range(c, o)) && isfinite(r)))
		f->ref_error++;
	count_signs(c, d, o, r);
	if (!isfinite(d) || !isfinite(o) || !isfinite(r) ||
	    fabs(o) > c->max) {
		verdict = c->tol->exact ? 2 * !same_double(d, r) :
			judge_special(c, d, o, r);
		if (verdict) {
			f->max_ulp = INFINITY;
			keep_worst(c, verdict == 2, INFINITY, at, d, 0, o, 0);
			if (f->at == at)
				f->allowed = 0;
		}
		count(c, verdict);
		return;
	}
	err = fabs(d - o);
	unit = unit_at(&c->u, o);
	if (c->hp) {
		own = fabs(r - o);
		f->ref_ulp = bigger(f->ref_ulp, own / unit);
		f->ref_abs = bigger(f->ref_abs, own);
	}
	ulps = err / unit;
	f->max_ulp = bigger(f->max_ulp, ulps);
	f->max_abs = bigger(f->max_abs, err);
	if (o != 0)
		f->max_rel = bigger(f->max_rel, err / fabs(o));
	lim = allowed(c, 1, unit, fabs(o), own);
	if (d == r)
		verdict = 0;
	else if (c->tol->exact)
		verdict = 2;
	else if (err <= allowed(c, 0, unit, fabs(o), own))
		verdict = 0;
	else if (err <= lim)
		verdict = 1;
	else if (c->tol->flush && d == 0 && fabs(o) < c->least_normal)
		verdict = 1;
	else
		verdict = 2;
	keep_worst(c, verdict == 2, verdict == 2 && lim > 0 ? err / lim : ulps,
		   at, d, 0, o, 0);
	if (f->at == at)
		f->allowed = c->tol->exact ? 0 : lim;
	count(c, verdict);
}

/*
 * The fast path: a whole chunk without branches, so that the compiler can use
 * vectors.  False where some element needs care; nothing is recorded then.
 */
static bool chunk_fast(struct cmp *c, size_t first, size_t n, const double *d,
		       const double *o, const double *r)
{
	const struct num_tol *t = c->tol;
	struct num_fig *f = c->fig;
	struct unit u = c->u;
	double ulp0 = t->ulp[0], abs0 = t->abs[0], rel0 = t->rel[0];
	double k0 = t->k[0], top = c->max;
	double max_ulp = 0, max_abs = 0, max_rel = 0, ref_ulp = 0, ref_abs = 0;
	unsigned long care = 0, nzo = 0, nzd = 0, nzr = 0;
	double tiny = c->least_normal;
	size_t i;

	for (i = 0; i < n; i++) {
		double err = fabs(d[i] - o[i]), own = fabs(r[i] - o[i]);
		double mag = fabs(o[i]), a, q;
		double unit = binade(o[i]) * u.scale;

		unit = unit > u.least ? unit : u.least;
		a = ulp0 * unit;
		a = a > abs0 ? a : abs0;
		a = a > rel0 * mag ? a : rel0 * mag;
		a = a > k0 * own ? a : k0 * own;
		/* A zero of the wrong sign is rare enough for care. */
		care += !(err <= a) | !(mag <= top) | !(own < INFINITY) |
			((d[i] == 0) & (r[i] == 0) &
			 (bits_of(d[i]) != bits_of(r[i])));
		q = err / unit;
		max_ulp = q > max_ulp ? q : max_ulp;
		max_abs = err > max_abs ? err : max_abs;
		q = err / (mag > 0 ? mag : 1.0);
		q = mag > 0 ? q : 0.0;
		max_rel = q > max_rel ? q : max_rel;
		q = own / unit;
		ref_ulp = q > ref_ulp ? q : ref_ulp;
		ref_abs = own > ref_abs ? own : ref_abs;
		nzo += mag >= tiny;
		nzd += d[i] != 0;
		nzr += r[i] != 0;
	}
	c->nz_oracle += nzo;
	c->nz_dev += nzd;
	c->nz_ref += nzr;
	if (care)
		return false;
	if (max_ulp > f->max_ulp || (!first && !c->worst_bad)) {
		for (i = 0; i < n; i++) {
			double unit = unit_at(&u, o[i]);

			if (fabs(d[i] - o[i]) / unit < max_ulp)
				continue;
			keep_worst(c, false, max_ulp, first + i, d[i], 0,
				   o[i], 0);
			break;
		}
	}
	f->max_ulp = bigger(f->max_ulp, max_ulp);
	f->max_abs = bigger(f->max_abs, max_abs);
	f->max_rel = bigger(f->max_rel, max_rel);
	if (c->hp) {
		f->ref_ulp = bigger(f->ref_ulp, ref_ulp);
		f->ref_abs = bigger(f->ref_abs, ref_abs);
	}
	return true;
}

/*
 * A complex element is one number: its error is that of the worse part, its
 * magnitude that of the larger one, since a part may cancel.
 */
static void one_complex(struct cmp *c, size_t at, const double *d,
			const double *o, const double *r)
{
	struct num_fig *f = c->fig;
	double mag = bigger(fabs(o[0]), fabs(o[1]));
	double unit = unit_at(&c->u, mag), err, own = 0, ulps, lim;
	bool fd = isfinite(d[0]) && isfinite(d[1]);
	bool fr = isfinite(r[0]) && isfinite(r[1]);
	bool fo = isfinite(in_range(c, o[0])) && isfinite(in_range(c, o[1]));
	bool equal = same_double(d[0], r[0]) && same_double(d[1], r[1]);
	int verdict = 0;

	count_signs(c, d[0], o[0], r[0]);
	count_signs(c, d[1], o[1], r[1]);
	if (c->hp && fo != fr && fo)
		f->ref_error++;
	c->nz_oracle += mag >= c->least_normal;
	c->nz_dev += d[0] != 0 || d[1] != 0;
	c->nz_ref += r[0] != 0 || r[1] != 0;
	if (!fd || !fo || !fr) {
		/*
		 * Which part of an infinite result is infinite and which is
		 * NaN differs between PyTorch's own kernels.
		 */
		if (equal)
			verdict = 0;
		else if (c->tol->exact)
			verdict = 2;
		else if (fd && fo)
			verdict = bigger(fabs(d[0] - o[0]),
					 fabs(d[1] - o[1])) <=
				allowed(c, 1, unit, mag, 0) ? 0 : 2;
		else if (fd && fr)
			verdict = bigger(fabs(d[0] - r[0]),
					 fabs(d[1] - r[1])) <=
				c->tol->ulp[1] * unit_at(&c->u,
				bigger(fabs(r[0]), fabs(r[1]))) ? 0 : 2;
		else
			verdict = fd || (fo && fr) ? 2 : 0;
		if (verdict) {
			f->max_ulp = INFINITY;
			keep_worst(c, true, INFINITY, at, d[0], d[1], o[0],
				   o[1]);
			if (f->at == at)
				f->allowed = 0;
		}
		count(c, verdict);
		return;
	}
	err = bigger(fabs(d[0] - o[0]), fabs(d[1] - o[1]));
	if (c->hp) {
		own = bigger(fabs(r[0] - o[0]), fabs(r[1] - o[1]));
		f->ref_ulp = bigger(f->ref_ulp, own / unit);
		f->ref_abs = bigger(f->ref_abs, own);
	}
	ulps = err / unit;
	f->max_ulp = bigger(f->max_ulp, ulps);
	f->max_abs = bigger(f->max_abs, err);
	if (mag > 0)
		f->max_rel = bigger(f->max_rel, err / mag);
	lim = allowed(c, 1, unit, mag, own);
	if (equal)
		verdict = 0;
	else if (c->tol->exact)
		verdict = 2;
	else if (err <= allowed(c, 0, unit, mag, own))
		verdict = 0;
	else if (err <= lim)
		verdict = 1;
	else if (c->tol->flush && d[0] == 0 && d[1] == 0 &&
		 mag < c->least_normal)
		verdict = 1;
	else
		verdict = 2;
	keep_worst(c, verdict == 2, verdict == 2 && lim > 0 ? err / lim : ulps,
		   at, d[0], d[1], o[0], o[1]);
	if (f->at == at)
		f->allowed = c->tol->exact ? 0 : lim;
	count(c, verdict);
}

static void chunk_complex(struct cmp *c, size_t first, size_t n,
			  const double *d, const double *o, const double *r)
{
	size_t i;

	for (i = 0; i < n; i++)
		one_complex(c, first + i, d + 2 * i, o + 2 * i, r + 2 * i);
}

static void chunk(struct cmp *c, size_t first, size_t n, const double *d,
		  const double *o, const double *r)
{
	size_t i;

	if (!c->tol->exact && chunk_fast(c, first, n, d, o, r))
		return;
	for (i = 0; i < n; i++)
		one(c, first + i, d[i], o[i], r[i]);
}

void num_compare(const struct dtype *t, const void *dev, const void *ref,
		 const void *hp, size_t n, const struct num_tol *tol,
		 struct num_fig *fig)
{
	struct cmp c = {
		.t = t, .tol = tol, .fig = fig, .u = unit_of(t), .hp = hp,
		.max = dtype_max(t), .least_normal = pow2(t->emin),
		.worst = -1,
	};
	double d[CHUNK], r[CHUNK], o[CHUNK];
	bool complex = t->cls == DT_COMPLEX;
	size_t i, m, step = complex ? CHUNK / 2 : CHUNK;

	memset(fig, 0, sizeof(*fig));
	fig->n = n;
	fig->ref_ulp = hp ? 0 : -1;
	if (!hp && n && !memcmp(dev, ref, n * t->size)) {
		num_get(t, dev, 0, 1, fig->got);
		num_get(t, ref, 0, 1, fig->want);
		return;
	}
	for (i = 0; i < n; i += m) {
		m = n - i < step ? n - i : step;
		num_get(t, dev, i, m, d);
		num_get(t, ref, i, m, r);
		if (hp)
			memcpy(o, (const double *)hp + (complex ? 2 * i : i),
			       m * (complex ? 2 : 1) * sizeof(*o));
		else
			memcpy(o, r, m * (complex ? 2 : 1) * sizeof(*o));
		if (complex)
			chunk_complex(&c, i, m, d, o, r);
		else
			chunk(&c, i, m, d, o, r);
	}
	fig->vanished = c.nz_oracle >= 2 && !c.nz_dev && c.nz_ref;
}

void num_exact(const struct dtype *t, const void *dev, const void *ref,
	       size_t n, struct num_fig *fig)
{
	const unsigned char *a = dev, *b = ref;
	size_t i, size = t->size;

	memset(fig, 0, sizeof(*fig));
	fig->n = n;
	fig->ref_ulp = -1;
	if (!memcmp(a, b, n * size))
		return;
	for (i = 0; i < n; i++) {
		double x[2], y[2], err = 1;

		if (!memcmp(a + i * size, b + i * size, size))
			continue;
		if (t->cls == DT_BITS) {
			x[0] = y[0] = x[1] = y[1] = 0;
		} else {
			dtype_get(t, a, i, &x[0], &x[1]);
			dtype_get(t, b, i, &y[0], &y[1]);
			err = fabs(x[0] - y[0]);
			/* Beyond 2^53 a double may not see the difference. */
			err = err > 0 ? err : 1;
		}
		if (!fig->bad || err > fig->max_abs) {
			fig->at = i;
			fig->got[0] = x[0];
			fig->want[0] = y[0];
		}
		fig->bad++;
		fig->max_abs = bigger(fig->max_abs, err);
		fig->max_ulp = fig->max_abs;
		if (y[0] != 0)
			fig->max_rel = bigger(fig->max_rel,
					      err / fabs(y[0]));
	}
}

void num_stat(const struct dtype *t, const void *p, size_t n,
	      struct num_stat *s)
{
	double v[CHUNK];
	size_t i, j, m, parts = t->cls == DT_COMPLEX ? 2 : 1;

	s->amax = 0;
	s->asum = 0;
	s->finite = true;
	for (i = 0; i < n; i += m) {
		m = n - i < CHUNK / 2 ? n - i : CHUNK / 2;
		num_get(t, p, i, m, v);
		for (j = 0; j < m * parts; j++) {
			if (!isfinite(v[j])) {
				s->finite = false;
				continue;
			}
			s->amax = bigger(s->amax, fabs(v[j]));
			s->asum += fabs(v[j]);
		}
	}
}

void num_norms(const struct dtype *t, const void *ref, const void *hp,
	       size_t n, double *norm, double *ref_err)
{
	double r[CHUNK];
	const double *o = r;
	double top = dtype_max(t);
	size_t i, j, m, parts = t->cls == DT_COMPLEX ? 2 : 1;

	*norm = 0;
	*ref_err = 0;
	for (i = 0; i < n; i += m) {
		m = n - i < CHUNK / 2 ? n - i : CHUNK / 2;
		num_get(t, ref, i, m, r);
		if (hp)
			o = (const double *)hp + i * parts;
		for (j = 0; j < m * parts; j++) {
			/* Also false for NaN. */
			if (!(fabs(o[j]) <= top && fabs(r[j]) <= top))
				continue;
			*norm = bigger(*norm, fabs(o[j]));
			*ref_err = bigger(*ref_err, fabs(r[j] - o[j]));
		}
	}
}
