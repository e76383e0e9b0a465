/*
 * dtype: PyTorch's scalar types as data.  Names are torch's without the
 * "torch." in front; numbers are c10::ScalarType's, which are part of its
 * serialised form and do not change.
 */
#ifndef CTS_DTYPE_H
#define CTS_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dtype_class {
	DT_BOOL, DT_UINT, DT_INT, DT_FLOAT, DT_COMPLEX, DT_BITS, DT_QUANT,
};

struct dtype {
	const char *name;	/* "float32" */
	const char *alias;	/* "float", or NULL */
	int scalar_type;	/* c10::ScalarType */
	size_t size;		/* bytes an element (float4_e2m1fn_x2: 1) */
	int pack;		/* values in an element: 1, or 2, 4, 8 */
	enum dtype_class cls;
	/* Floats, and a complex type's parts: */
	int mantissa;		/* stored fraction bits */
	int emin, emax;		/* exponents of the normals: least, greatest */
	bool has_inf, has_nan, has_negzero;
};

/* By torch name, alias, or either with "torch." in front; NULL if unknown. */
const struct dtype *dtype_find(const char *name);
const struct dtype *dtype_by_scalar_type(int scalar_type);
const struct dtype *dtype_at(size_t i);		/* i-th of all, NULL past it */
const char *dtype_nearest(const char *name);	/* for "did you mean" */

/*
 * Value i of the packed little-endian array p as the nearest double (exact for
 * every float type and for integers up to 2^53).  Complex: re and im; others
 * have im 0.  DT_QUANT: the stored integer.  Not for DT_BITS.
 *
 * Where t->pack > 1, i counts values, not elements: float4_e2m1fn_x2's element
 * k holds values 2k (its low half) and 2k + 1 (its high half).  So n elements
 * of any type have n * t->pack values.  The types uint1 to uint7 and int1 to
 * int7 are bytes to PyTorch and are read as such.
 */
void dtype_get(const struct dtype *t, const void *p, size_t i,
	       double *re, double *im);

/*
 * Value i of a type of whole numbers (all but DT_FLOAT and DT_COMPLEX) exactly;
 * uint64 by its bit pattern.
 */
int64_t dtype_get_int(const struct dtype *t, const void *p, size_t i);

/*
 * The spacing of t's values around |x| (the unit in the last place): for
 * subnormal or zero x the smallest subnormal, beyond the largest value that of
 * the largest; NaN for NaN.  t is DT_FLOAT or DT_COMPLEX.
 */
double dtype_ulp(const struct dtype *t, double x);
double dtype_max(const struct dtype *t);	/* largest finite value */

#ifdef __cplusplus
}
#endif

#endif
