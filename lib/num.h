/*
 * num: how far apart the elements of two arrays are, and whether that is
 * allowed.  Nothing here calls a libm function whose result may differ between
 * machines, so that a verdict is the same bytes everywhere.
 */
#ifndef CTS_NUM_H
#define CTS_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dtype.h"

/*
 * What is allowed at an element: the largest of ulp (times the unit in the
 * last place at the oracle's element), abs, rel (times the oracle's
 * magnitude), and k (times the reference's own error at that element, where
 * that is known).  [0] is the strict tier, [1] the usable one.
 */
struct num_tol {
	bool exact;		/* equal to the reference; the rest is unused */
	bool flush;		/* usable: a subnormal result may be zero */
	double ulp[2], abs[2], rel[2], k[2];
};

struct num_fig {
	size_t n;		/* elements */
	size_t bad;		/* beyond the usable tier */
	size_t usable;		/* beyond the strict tier, within the usable */
	double max_ulp, max_abs, max_rel;
	double ref_ulp;		/* the reference's own, -1: not known */
	double ref_abs;
	size_t at;		/* the worst element */
	double got[2], want[2];	/* there; [1] is an imaginary part */
	double allowed;		/* how far off it may be there; 0: equal */
	size_t zero_sign;	/* zeros of the wrong sign */
	size_t ref_error;	/* reference non-finite where hp isn't, or so */
	bool vanished;		/* all zero where the oracle isn't */
};

/*
 * Compare n elements of float or complex type t.  hp is of float64 or
 * complex128, or NULL: then ref is the oracle.
 */
void num_compare(const struct dtype *t, const void *dev, const void *ref,
		 const void *hp, size_t n, const struct num_tol *tol,
		 struct num_fig *fig);

/*
 * Compare n elements of any type bit by bit.  For integers max_abs and
 * max_ulp are the distance as far as a double can tell.
 */
void num_exact(const struct dtype *t, const void *dev, const void *ref,
	       size_t n, struct num_fig *fig);

/* Facts of an array of floats, integers or complex numbers. */
struct num_stat {
	double amax;		/* largest finite magnitude */
	double asum;		/* sum of the finite magnitudes, in order */
	bool finite;		/* all of them are */
};
void num_stat(const struct dtype *t, const void *p, size_t n,
	      struct num_stat *s);

/*
 * Over all elements: the largest finite |oracle|, and the largest finite
 * |ref - hp| (0 without hp).  For complex, of either part.
 */
void num_norms(const struct dtype *t, const void *ref, const void *hp,
	       size_t n, double *norm, double *ref_err);

/* Elements first..first+n of p as doubles; complex: 2n, interleaved. */
void num_get(const struct dtype *t, const void *p, size_t first, size_t n,
	     double *out);

/* The spacing of t's values at |x|; as dtype_ulp(), inline. */
double num_unit(const struct dtype *t, double x);

/* floor(log2(n)) + 1, 0 for 0. */
int num_bits(uint64_t n);

#endif
