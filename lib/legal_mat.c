#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "legal.h"
#include "num.h"
#include "xalloc.h"
#include "banned.h"

/*
 * Factorisations are judged by what they promise: the product of the factors
 * is the input, and orthogonal factors are orthogonal, to a multiple of the
 * rounding that grows with the size (Higham, Accuracy and Stability of
 * Numerical Algorithms, chapters 9, 19 and 20).
 */

/* One matrix of a batch, row-major. */
struct mat {
	int64_t m, n;
	double _Complex *a;
};

#define SIZE_MAX_ 512		/* rows or columns: the work is their cube */

#define AT(x, i, j) ((x).a[(i) * (x).n + (j)])

static struct mat mat_new(int64_t m, int64_t n)
{
	struct mat x = { m, n, xcalloc((size_t)(m * n) + 1, sizeof(*x.a)) };

	return x;
}

static void mat_free(struct mat *x)
{
	free(x->a);
	x->a = NULL;
}

/* Matrix number b of t, whose last sizes are its rows and columns. */
static struct mat mat_of(const struct tensor *t, int64_t b)
{
	int64_t m = t->shape[t->ndim - 2], n = t->shape[t->ndim - 1], i;
	struct mat x = mat_new(m, n);
	double re, im;

	for (i = 0; i < m * n; i++) {
		dtype_get(t->dt, t->p, (size_t)(b * m * n + i), &re, &im);
		x.a[i] = CMPLX(re, im);
	}
	return x;
}

/* Vector number b as a diagonal, m by n. */
static struct mat diag_of(const struct tensor *t, int64_t b, int64_t m,
			  int64_t n)
{
	int64_t k = t->shape[t->ndim - 1], i;
	struct mat x = mat_new(m, n);
	double re, im;

	for (i = 0; i < k && i < m && i < n; i++) {
		dtype_get(t->dt, t->p, (size_t)(b * k + i), &re, &im);
		AT(x, i, i) = CMPLX(re, im);
	}
	return x;
}

static double _Complex mul(double _Complex x, double _Complex y)
{
	double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);

	/* Without C's rules for infinities: NaN is refused anyway. */
	return CMPLX(a * c - b * d, a * d + b * c);
}

static struct mat product(const struct mat *x, const struct mat *y)
{
	struct mat z = mat_new(x->m, y->n);
	int64_t i, j, k;

	for (i = 0; i < x->m; i++)
		for (k = 0; k < x->n; k++)
			for (j = 0; j < y->n; j++)
				AT(z, i, j) += mul(AT(*x, i, k), AT(*y, k, j));
	return z;
}

static struct mat adjoint(const struct mat *x)
{
	struct mat z = mat_new(x->n, x->m);
	int64_t i, j;

	for (i = 0; i < x->m; i++)
		for (j = 0; j < x->n; j++)
			AT(z, j, i) = conj(AT(*x, i, j));
	return z;
}

static double largest(const struct mat *x)
{
	double most = 0, v;
	int64_t i;

	for (i = 0; i < x->m * x->n; i++) {
		v = fmax(fabs(creal(x->a[i])), fabs(cimag(x->a[i])));
		if (!(v <= most))
			most = v;
	}
	return most;
}

/* Largest difference; NaN or infinity where there is one. */
static double distance(const struct mat *x, const struct mat *y)
{
	double most = 0, re, im;
	int64_t i;

	if (x->m != y->m || x->n != y->n)
		return INFINITY;
	for (i = 0; i < x->m * x->n; i++) {
		re = fabs(creal(x->a[i]) - creal(y->a[i]));
		im = fabs(cimag(x->a[i]) - cimag(y->a[i]));
		if (!(re <= most))
			most = re;
		if (!(im <= most))
			most = im;
		if (isnan(most))
			break;
	}
	return most;
}

/* Is x's adjoint times x the identity? */
static bool orthonormal(const struct mat *x, double eps)
{
	struct mat h, p, id;
	int64_t i;
	bool ok;

	if (x->n > x->m)
		return false;
	h = adjoint(x);
	p = product(&h, x);
	id = mat_new(x->n, x->n);
	for (i = 0; i < x->n; i++)
		AT(id, i, i) = 1;
	ok = distance(&p, &id) <= eps * (double)(x->m + x->n);
	mat_free(&h);
	mat_free(&p);
	mat_free(&id);
	return ok;
}

static bool near(const struct mat *x, const struct mat *y, double eps)
{
	return distance(x, y) <= eps * (double)(y->m + y->n) * largest(y);
}

/* x[:, :k] and x[:k, :] */
static struct mat columns(const struct mat *x, int64_t k)
{
	struct mat z = mat_new(x->m, k < x->n ? k : x->n);
	int64_t i, j;

	for (i = 0; i < z.m; i++)
		for (j = 0; j < z.n; j++)
			AT(z, i, j) = AT(*x, i, j);
	return z;
}

static struct mat rows(const struct mat *x, int64_t k)
{
	struct mat z = mat_new(k < x->m ? k : x->m, x->n);

	memcpy(z.a, x->a, (size_t)(z.m * z.n) * sizeof(*z.a));
	return z;
}

/* The whole of a question: the input and the device's factors. */
struct ask {
	const struct tensor *in;
	const struct tensor *out[3];
	size_t n;
	double eps;
	bool hermitian;		/* not only symmetric */
	const char *why;
};

static bool fail(struct ask *q, const char *why)
{
	q->why = why;
	return false;
}

static bool descending(const struct tensor *t, int64_t b)
{
	int64_t k = t->shape[t->ndim - 1], i;
	double last = INFINITY, re, im;

	for (i = 0; i < k; i++) {
		dtype_get(t->dt, t->p, (size_t)(b * k + i), &re, &im);
		if (!(re <= last && re >= 0))
			return false;
		last = re;
	}
	return true;
}

/* U, S and Vh (or V): A = U S Vh. */
static bool ask_svd_v(struct ask *q, int64_t b, bool v)
{
	struct mat a = mat_of(q->in, b), u = mat_of(q->out[0], b);
	struct mat x = mat_of(q->out[2], b), vh, uk, vk, s, us, p, w;
	int64_t k = a.m < a.n ? a.m : a.n;
	bool ok;

	vh = v ? adjoint(&x) : columns(&x, x.n);
	w = adjoint(&vh);
	uk = columns(&u, k);
	vk = rows(&vh, k);
	s = diag_of(q->out[1], b, k, k);
	us = product(&uk, &s);
	p = product(&us, &vk);
	ok = near(&p, &a, q->eps) || fail(q, "U S Vh is not the input");
	ok = ok && (orthonormal(&u, q->eps) ||
		    fail(q, "U's columns are not orthonormal"));
	ok = ok && (orthonormal(&w, q->eps) ||
		    fail(q, "V's columns are not orthonormal"));
	ok = ok && (descending(q->out[1], b) ||
		    fail(q, "the singular values are not in order"));
	mat_free(&a);
	mat_free(&u);
	mat_free(&x);
	mat_free(&vh);
	mat_free(&w);
	mat_free(&uk);
	mat_free(&vk);
	mat_free(&s);
	mat_free(&us);
	mat_free(&p);
	return ok;
}

static bool ask_svd(struct ask *q, int64_t b)
{
	return ask_svd_v(q, b, false);
}

static bool ask_svd_old(struct ask *q, int64_t b)
{
	return ask_svd_v(q, b, true);
}

/* A V = V diag(w), for the matrix a. */
static bool eigenpairs(const struct mat *a, const struct mat *v,
		       const struct tensor *w, int64_t b, double eps)
{
	struct mat av = product(a, v), d = diag_of(w, b, a->n, a->n);
	struct mat vd = product(v, &d);
	bool ok = distance(&av, &vd) <= eps * (double)(2 * a->n) *
		largest(a);

	mat_free(&av);
	mat_free(&d);
	mat_free(&vd);
	return ok;
}

/* The Hermitian matrix that a's lower or upper half stands for. */
static struct mat half_of(const struct mat *a, bool lower)
{
	struct mat z = mat_new(a->m, a->n);
	int64_t i, j;

	for (i = 0; i < a->m; i++) {
		for (j = 0; j < a->n; j++) {
			bool mine = lower ? i > j : i < j;

			AT(z, i, j) = i == j ? creal(AT(*a, i, i)) :
				mine ? AT(*a, i, j) : conj(AT(*a, j, i));
		}
	}
	return z;
}

static bool ask_eigh(struct ask *q, int64_t b)
{
	struct mat a = mat_of(q->in, b), v = mat_of(q->out[1], b), h;
	bool ok = orthonormal(&v, q->eps) ||
		fail(q, "the eigenvectors are not orthonormal");
	bool pairs = false;
	int lower;

	for (lower = 1; lower >= 0 && ok && !pairs; lower--) {
		h = half_of(&a, lower);
		pairs = eigenpairs(&h, &v, q->out[0], b, q->eps);
		mat_free(&h);
	}
	mat_free(&a);
	mat_free(&v);
	return ok && (pairs || fail(q, "A V is not V diag(w)"));
}

static bool ask_eig(struct ask *q, int64_t b)
{
	struct mat a = mat_of(q->in, b), v = mat_of(q->out[1], b);
	bool ok = eigenpairs(&a, &v, q->out[0], b, q->eps) ||
		fail(q, "A V is not V diag(w)");
	int64_t i, j;

	for (j = 0; j < v.n && ok; j++) {
		double s = 0;

		for (i = 0; i < v.m; i++)
			s += creal(mul(AT(v, i, j), conj(AT(v, i, j))));
		ok = fabs(s - 1) <= q->eps * (double)v.m ||
			fail(q, "an eigenvector's length is not 1");
	}
	mat_free(&a);
	mat_free(&v);
	return ok;
}

static bool triangular(const struct mat *x, bool upper)
{
	int64_t i, j;

	for (i = 0; i < x->m; i++)
		for (j = 0; j < x->n; j++)
			if ((upper ? i > j : i < j) && AT(*x, i, j) != 0)
				return false;
	return true;
}

static bool ask_qr(struct ask *q, int64_t b)
{
	struct mat a = mat_of(q->in, b), x = { 0, 0, NULL };
	struct mat r = mat_of(q->out[1], b), p, g;
	bool ok = triangular(&r, true) || fail(q, "R is not triangular");

	if (q->out[0]->numel) {
		x = mat_of(q->out[0], b);
		p = product(&x, &r);
		ok = ok && (orthonormal(&x, q->eps) ||
			    fail(q, "Q's columns are not orthonormal"));
		ok = ok && (near(&p, &a, q->eps) ||
			    fail(q, "Q R is not the input"));
		mat_free(&p);
		mat_free(&x);
	} else {
		/* Without Q: the Gram matrices agree. */
		x = adjoint(&r);
		p = product(&x, &r);
		mat_free(&x);
		x = adjoint(&a);
		g = product(&x, &a);
		ok = ok && (near(&p, &g, q->eps * (double)a.m) ||
			    fail(q, "R does not belong to the input"));
		mat_free(&g);
		mat_free(&p);
		mat_free(&x);
	}
	mat_free(&a);
	mat_free(&r);
	return ok;
}

/* l with its unit diagonal, u; their product under pivoting is a. */
static bool lu_ok(struct ask *q, const struct mat *l, const struct mat *u,
		  const struct mat *pa)
{
	struct mat p = product(l, u);
	double grow = fmax(largest(u), largest(pa));
	bool ok = distance(&p, pa) <= q->eps * (double)(l->n + 1) * grow ||
		fail(q, "L U is not the pivoted input");

	/* Partial pivoting keeps L's entries within 1. */
	ok = ok && (largest(l) <= 1.5 || fail(q, "L's entries exceed 1"));
	mat_free(&p);
	return ok;
}

static bool ask_lu(struct ask *q, int64_t b)
{
	struct mat a = mat_of(q->in, b), p = mat_of(q->out[0], b);
	struct mat l = mat_of(q->out[1], b), u = mat_of(q->out[2], b);
	struct mat pt = adjoint(&p), pa = product(&pt, &a);
	int64_t i, j;
	bool ok = (orthonormal(&p, 0) || fail(q, "P is no permutation")) &&
		(triangular(&l, false) || fail(q, "L is not triangular")) &&
		(triangular(&u, true) || fail(q, "U is not triangular"));

	for (i = 0; i < p.m && ok; i++)
		for (j = 0; j < p.n && ok; j++)
			ok = AT(p, i, j) == 0 || AT(p, i, j) == 1 ||
				fail(q, "P is no permutation");
	for (i = 0; i < l.m && i < l.n && ok; i++)
		ok = AT(l, i, i) == 1 || fail(q, "L's diagonal is not 1");
	ok = ok && lu_ok(q, &l, &u, &pa);
	mat_free(&a);
	mat_free(&p);
	mat_free(&l);
	mat_free(&u);
	mat_free(&pt);
	mat_free(&pa);
	return ok;
}

/* LU in one matrix, and the rows that were swapped, counted from 1. */
static bool ask_lu_factor(struct ask *q, int64_t b)
{
	struct mat a = mat_of(q->in, b), lu = mat_of(q->out[0], b);
	int64_t k = a.m < a.n ? a.m : a.n, i, j;
	struct mat l = mat_new(a.m, k), u = mat_new(k, a.n);
	const struct tensor *piv = q->out[1];
	bool ok = true;

	for (i = 0; i < a.m; i++)
		for (j = 0; j < a.n; j++)
			if (i > j && j < k)
				AT(l, i, j) = AT(lu, i, j);
			else if (i < k)
				AT(u, i, j) = AT(lu, i, j);
	for (i = 0; i < k; i++)
		AT(l, i, i) = 1;
	for (i = 0; i < k && ok; i++) {
		int64_t r = dtype_get_int(piv->dt, piv->p,
					  (size_t)(b * k + i)) - 1;

		ok = (r >= i && r < a.m) || fail(q, "a pivot out of range");
		for (j = 0; j < a.n && ok && r != i; j++) {
			double _Complex t = AT(a, i, j);

			AT(a, i, j) = AT(a, r, j);
			AT(a, r, j) = t;
		}
	}
	ok = ok && lu_ok(q, &l, &u, &a);
	mat_free(&a);
	mat_free(&lu);
	mat_free(&l);
	mat_free(&u);
	return ok;
}

/* x becomes (I - tau v v^H) x; v is 0 up to i, 1 there, then column i of f. */
static void reflect(struct mat *x, const struct mat *f, int64_t i,
		    double _Complex tau)
{
	int64_t r, c;

	for (c = 0; c < x->n; c++) {
		double _Complex s = AT(*x, i, c);

		for (r = i + 1; r < x->m; r++)
			s += mul(conj(AT(*f, r, i)), AT(*x, r, c));
		s = mul(tau, s);
		AT(*x, i, c) -= s;
		for (r = i + 1; r < x->m; r++)
			AT(*x, r, c) -= mul(AT(*f, r, i), s);
	}
}

/* Is that reflection unitary? */
static bool unitary(const struct mat *f, int64_t i, double _Complex tau,
		    double eps)
{
	double v = 1, t = creal(mul(tau, conj(tau)));
	int64_t r;

	for (r = i + 1; r < f->m; r++)
		v += creal(mul(AT(*f, r, i), conj(AT(*f, r, i))));
	return fabs(t * v - 2 * creal(tau)) <= eps * (double)(f->m + 2) *
		fmax(1, fabs(creal(tau)));
}

/* R above the diagonal, the reflections whose product is Q below it. */
static bool ask_geqrf(struct ask *q, int64_t b)
{
	struct mat a = mat_of(q->in, b), f = mat_of(q->out[0], b);
	int64_t k = a.m < a.n ? a.m : a.n, i, j;
	struct mat t = diag_of(q->out[1], b, k, k), x = mat_new(a.m, a.n);
	bool ok = true;

	for (i = 0; i < a.m; i++)
		for (j = i; j < a.n; j++)
			AT(x, i, j) = AT(f, i, j);
	for (i = k - 1; i >= 0 && ok; i--) {
		ok = unitary(&f, i, AT(t, i, i), q->eps) ||
			fail(q, "a reflection is not unitary");
		reflect(&x, &f, i, AT(t, i, i));
	}
	ok = ok && (near(&x, &a, q->eps) || fail(q, "Q R is not the input"));
	mat_free(&a);
	mat_free(&f);
	mat_free(&t);
	mat_free(&x);
	return ok;
}

static double _Complex turned(const struct ask *q, double _Complex z)
{
	return q->hermitian ? conj(z) : z;
}

/* x becomes L x L', where L is I but for rows from on of column c of f. */
static void eliminate(const struct ask *q, struct mat *x, const struct mat *f,
		      int64_t c, int64_t from)
{
	int64_t i, j;

	for (i = from; i < x->m; i++)
		for (j = 0; j < x->n; j++)
			AT(*x, i, j) += mul(AT(*f, i, c), AT(*x, c, j));
	for (j = from; j < x->n; j++)
		for (i = 0; i < x->m; i++)
			AT(*x, i, j) += mul(turned(q, AT(*f, j, c)),
					    AT(*x, i, c));
}

/* Rows and columns a and b of x change places. */
static void exchange(struct mat *x, int64_t a, int64_t b)
{
	double _Complex z;
	int64_t i;

	for (i = 0; i < x->n; i++) {
		z = AT(*x, a, i);
		AT(*x, a, i) = AT(*x, b, i);
		AT(*x, b, i) = z;
	}
	for (i = 0; i < x->m; i++) {
		z = AT(*x, i, a);
		AT(*x, i, a) = AT(*x, i, b);
		AT(*x, i, b) = z;
	}
}

/* Pivot number k of n, and that of a block of two twice. */
static bool pivot_ok(const struct tensor *piv, int64_t at, int64_t k,
		     int64_t n, int64_t *p)
{
	*p = dtype_get_int(piv->dt, piv->p, (size_t)(at + k));
	if (*p > 0)
		return *p > k && *p <= n;
	return k > 0 && -*p > k && *p >= -n &&
		*p == dtype_get_int(piv->dt, piv->p, (size_t)(at + k - 1));
}

/*
 * L and D in one matrix, with pivots as LAPACK's sytrf has them for the lower
 * half: two equal negative ones are a block of two.
 */
static bool ask_ldl(struct ask *q, int64_t b)
{
	struct mat a = mat_of(q->in, b), f = mat_of(q->out[0], b);
	struct mat x = mat_new(a.m, a.n);
	const struct tensor *piv = q->out[1];
	double grow = largest(&a);
	int64_t k, p, n = a.m;
	bool ok = true;

	for (k = n - 1; k >= 0 && ok; k--) {
		ok = pivot_ok(piv, b * n, k, n, &p) ||
			fail(q, "a pivot out of range");
		if (!ok)
			break;
		AT(x, k, k) = AT(f, k, k);
		if (p < 0) {
			AT(x, k - 1, k - 1) = AT(f, k - 1, k - 1);
			AT(x, k, k - 1) = AT(f, k, k - 1);
			AT(x, k - 1, k) = turned(q, AT(f, k, k - 1));
		}
		grow = fmax(grow, largest(&x));
		eliminate(q, &x, &f, k, k + 1);
		if (p < 0)
			eliminate(q, &x, &f, k - 1, k + 1);
		exchange(&x, k, (p < 0 ? -p : p) - 1);
		k -= p < 0;
	}
	ok = ok && (distance(&x, &a) <= q->eps * (double)(2 * n) * grow ||
		    fail(q, "L D L' is not the input"));
	mat_free(&a);
	mat_free(&f);
	mat_free(&x);
	return ok;
}

/* What a factor's shape must be, in terms of the input's m, n, k. */
static const struct kind {
	const char *name;
	size_t outs;
	const char *form;	/* an output: 'm' matrix, 'v' vector, 'i' int */
	bool (*ask)(struct ask *q, int64_t b);
	bool bag;		/* output 0 is in any order */
} kinds[] = {
	{ "svd", 3, "mvm", ask_svd, false },
	{ "svd_v", 3, "mvm", ask_svd_old, false },
	{ "eigh", 2, "vm", ask_eigh, false },
	{ "eig", 2, "vm", ask_eig, true },
	{ "qr", 2, "mm", ask_qr, false },
	{ "lu", 3, "mmm", ask_lu, false },
	{ "lu_factor", 2, "mi", ask_lu_factor, false },
	{ "geqrf", 2, "mv", ask_geqrf, false },
	{ "ldl_factor", 2, "mi", ask_ldl, false },
};

static const struct kind *kind_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

bool legal_is_matrix(const char *kind)
{
	return kind_find(kind);
}

/* The factors' inner sizes must agree, so that nothing is read past an end. */
static bool sizes_ok(const struct kind *k, const struct ask *q)
{
	const struct tensor *a = q->in, *const *t = q->out;
	int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1];
	int64_t least = m < n ? m : n;
#define ROWS(x) ((x)->shape[(x)->ndim - 2])
#define COLS(x) ((x)->shape[(x)->ndim - 1])

	if (k->ask == ask_svd)
		return ROWS(t[0]) == m && COLS(t[0]) >= least &&
			COLS(t[1]) == least && ROWS(t[2]) >= least &&
			COLS(t[2]) == n;
	if (k->ask == ask_svd_old)
		return ROWS(t[0]) == m && COLS(t[0]) >= least &&
			COLS(t[1]) == least && COLS(t[2]) >= least &&
			ROWS(t[2]) == n;
	if (k->ask == ask_ldl && m != n)
		return false;
	if (k->ask == ask_eigh || k->ask == ask_eig)
		return m == n && COLS(t[0]) == n && ROWS(t[1]) == n &&
			COLS(t[1]) == n;
	if (k->ask == ask_qr)
		return COLS(t[1]) == n && (!t[0]->numel ||
			(ROWS(t[0]) == m && COLS(t[0]) == ROWS(t[1])));
	if (k->ask == ask_lu)
		return ROWS(t[0]) == m && COLS(t[0]) == m &&
			ROWS(t[1]) == m && COLS(t[1]) == least &&
			ROWS(t[2]) == least && COLS(t[2]) == n;
	return ROWS(t[0]) == m && COLS(t[0]) == n && COLS(t[1]) == least;
}

static int64_t batch_of(const struct tensor *t, int inner)
{
	int64_t n = 1;
	int i;

	for (i = 0; i < t->ndim - inner; i++)
		n *= t->shape[i];
	return n;
}

enum legal_answer legal_matrix(const char *kind, const struct obs *o,
			       const char **why)
{
	const struct kind *k = kind_find(kind);
	struct ask q = { .in = NULL };
	int64_t batch, b;
	size_t i;

	*why = "the matrix was not recorded";
	if (!o->ninputs || !o->inputs[0].is_tensor ||
	    o->inputs[0].t.data != TD_BYTES)
		return LEGAL_UNKNOWN;
	q.in = &o->inputs[0].t;
	*why = "the factors are not those of a matrix";
	if (q.in->ndim < 2 || o->dev.n < k->outs || q.in->dt->cls < DT_FLOAT ||
	    q.in->dt->cls > DT_COMPLEX)
		return LEGAL_NO;
	if (q.in->shape[q.in->ndim - 2] > SIZE_MAX_ ||
	    q.in->shape[q.in->ndim - 1] > SIZE_MAX_) {
		*why = "the matrix is too large for the legal-output check";
		return LEGAL_UNKNOWN;
	}
	batch = batch_of(q.in, 2);
	for (i = 0; i < k->outs; i++) {
		const struct value *v = &o->dev.outs[i];
		int inner = k->form[i] == 'm' ? 2 : 1;
		/* qr without Q gives an empty one. */
		bool none = k->ask == ask_qr && i == 0 && v->is_tensor &&
			!v->t.numel;
		bool whole;

		if (!v->is_tensor || v->t.data != TD_BYTES ||
		    (v->t.ndim < inner && !none))
			return LEGAL_NO;
		whole = v->t.dt->cls == DT_INT;
		if (whole != (k->form[i] == 'i') ||
		    (v->t.numel && batch_of(&v->t, inner) != batch))
			return LEGAL_NO;
		q.out[i] = &v->t;
	}
	if (!sizes_ok(k, &q))
		return LEGAL_NO;
	if (k->bag && o->ref.outs[0].t.data != TD_BYTES)
		return LEGAL_NO;
	if (k->bag && !legal_multiset(q.out[0], &o->ref.outs[0].t)) {
		*why = "the eigenvalues are others";
		return LEGAL_NO;
	}
	q.hermitian = strstr(o->args, "hermitian=True");
	q.eps = ldexp(16, -q.in->dt->mantissa);
	for (b = 0; b < batch; b++) {
		if (!k->ask(&q, b)) {
			*why = q.why;
			return LEGAL_NO;
		}
	}
	return LEGAL_YES;
}
