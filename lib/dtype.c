#include "dtype.h"

#include <math.h>
#include <string.h>

#include "vocab.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define PLAIN(name, alias, num, size, cls) \
	{ name, alias, num, size, 1, cls, 0, 0, 0, false, false, false }
#define PACKED(name, num, pack, cls) \
	{ name, NULL, num, 1, pack, cls, 0, 0, 0, false, false, false }

/* In the order of their numbers, so that a number is an index. */
static const struct dtype table[] = {
	PLAIN("uint8", NULL, 0, 1, DT_UINT),
	PLAIN("int8", NULL, 1, 1, DT_INT),
	PLAIN("int16", "short", 2, 2, DT_INT),
	PLAIN("int32", "int", 3, 4, DT_INT),
	PLAIN("int64", "long", 4, 8, DT_INT),
	{ "float16", "half", 5, 2, 1, DT_FLOAT, 10, -14, 15, true, true, true },
	{ "float32", "float", 6, 4, 1, DT_FLOAT, 23, -126, 127, true, true,
	  true },
	{ "float64", "double", 7, 8, 1, DT_FLOAT, 52, -1022, 1023, true, true,
	  true },
	{ "complex32", "chalf", 8, 4, 1, DT_COMPLEX, 10, -14, 15, true, true,
	  true },
	{ "complex64", "cfloat", 9, 8, 1, DT_COMPLEX, 23, -126, 127, true,
	  true, true },
	{ "complex128", "cdouble", 10, 16, 1, DT_COMPLEX, 52, -1022, 1023,
	  true, true, true },
	PLAIN("bool", NULL, 11, 1, DT_BOOL),
	PLAIN("qint8", NULL, 12, 1, DT_QUANT),
	PLAIN("quint8", NULL, 13, 1, DT_QUANT),
	PLAIN("qint32", NULL, 14, 4, DT_QUANT),
	{ "bfloat16", NULL, 15, 2, 1, DT_FLOAT, 7, -126, 127, true, true,
	  true },
	PACKED("quint4x2", 16, 2, DT_QUANT),
	PACKED("quint2x4", 17, 4, DT_QUANT),
	PACKED("bits1x8", 18, 8, DT_BITS),
	PACKED("bits2x4", 19, 4, DT_BITS),
	PACKED("bits4x2", 20, 2, DT_BITS),
	PLAIN("bits8", NULL, 21, 1, DT_BITS),
	PLAIN("bits16", NULL, 22, 2, DT_BITS),
	{ "float8_e5m2", NULL, 23, 1, 1, DT_FLOAT, 2, -14, 15, true, true,
	  true },
	{ "float8_e4m3fn", NULL, 24, 1, 1, DT_FLOAT, 3, -6, 8, false, true,
	  true },
	{ "float8_e5m2fnuz", NULL, 25, 1, 1, DT_FLOAT, 2, -15, 15, false, true,
	  false },
	{ "float8_e4m3fnuz", NULL, 26, 1, 1, DT_FLOAT, 3, -7, 7, false, true,
	  false },
	PLAIN("uint16", NULL, 27, 2, DT_UINT),
	PLAIN("uint32", NULL, 28, 4, DT_UINT),
	PLAIN("uint64", NULL, 29, 8, DT_UINT),
	PLAIN("uint1", "bit", 30, 1, DT_UINT),
	PLAIN("uint2", NULL, 31, 1, DT_UINT),
	PLAIN("uint3", NULL, 32, 1, DT_UINT),
	PLAIN("uint4", NULL, 33, 1, DT_UINT),
	PLAIN("uint5", NULL, 34, 1, DT_UINT),
	PLAIN("uint6", NULL, 35, 1, DT_UINT),
	PLAIN("uint7", NULL, 36, 1, DT_UINT),
	PLAIN("int1", NULL, 37, 1, DT_INT),
	PLAIN("int2", NULL, 38, 1, DT_INT),
	PLAIN("int3", NULL, 39, 1, DT_INT),
	PLAIN("int4", NULL, 40, 1, DT_INT),
	PLAIN("int5", NULL, 41, 1, DT_INT),
	PLAIN("int6", NULL, 42, 1, DT_INT),
	PLAIN("int7", NULL, 43, 1, DT_INT),
	/* No sign, no fraction: powers of two, and one NaN. */
	{ "float8_e8m0fnu", NULL, 44, 1, 1, DT_FLOAT, 0, -127, 127, false,
	  true, false },
	{ "float4_e2m1fn_x2", NULL, 45, 1, 2, DT_FLOAT, 1, 0, 2, false, false,
	  true },
};

enum {
	T_E8M0 = 44,
};

static const char *bare(const char *name)
{
	return strncmp(name, "torch.", 6) ? name : name + 6;
}

const struct dtype *dtype_find(const char *name)
{
	size_t i;

	name = bare(name);
	for (i = 0; i < COUNT(table); i++)
		if (!strcmp(name, table[i].name) ||
		    (table[i].alias && !strcmp(name, table[i].alias)))
			return &table[i];
	return NULL;
}

const struct dtype *dtype_by_scalar_type(int scalar_type)
{
	if (scalar_type < 0 || (size_t)scalar_type >= COUNT(table))
		return NULL;
	return &table[scalar_type];
}

const struct dtype *dtype_at(size_t i)
{
	return i < COUNT(table) ? &table[i] : NULL;
}

const char *dtype_nearest(const char *name)
{
	/* What other tools call them. */
	static const struct { const char *said, *meant; } nicknames[] = {
		{ "fp64", "float64" }, { "fp32", "float32" },
		{ "fp16", "float16" }, { "bf16", "bfloat16" },
		{ "f64", "float64" }, { "f32", "float32" },
		{ "f16", "float16" }, { "i64", "int64" }, { "i32", "int32" },
		{ "fp8", "float8_e4m3fn" }, { "boolean", "bool" },
		{ "u8", "uint8" }, { "i8", "int8" },
	};
	const char *names[COUNT(table) + 1];
	size_t i;

	for (i = 0; i < COUNT(nicknames); i++)
		if (!strcmp(bare(name), nicknames[i].said))
			return nicknames[i].meant;
	for (i = 0; i < COUNT(table); i++)
		names[i] = table[i].name;
	names[i] = NULL;
	return vocab_nearest(bare(name), names);
}

/* n little-endian bytes. */
static uint64_t load(const unsigned char *p, size_t n)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/*
 * The value of a float of w bits, sign on top.  The bias is 1 - emin: that of
 * the smallest normal's exponent field, 1.
 */
static double decode(const struct dtype *t, uint32_t bits, int w)
{
	uint32_t m = t->mantissa, frac = bits & ((1u << m) - 1);
	uint32_t top = (1u << (w - 1 - m)) - 1;		/* all ones */
	uint32_t e = bits >> m & top;
	bool neg = bits >> (w - 1) & 1;
	double v;

	if (t->has_inf && e == top)
		return frac ? NAN : neg ? -INFINITY : INFINITY;
	if (t->has_nan && !t->has_inf) {
		if (t->has_negzero && e == top && frac == (1u << m) - 1)
			return NAN;
		/* Without a negative zero, its pattern is the NaN. */
		if (!t->has_negzero && neg && !e && !frac)
			return NAN;
	}
	if (e)
		v = ldexp((double)(frac + (1u << m)),
			  (int)e - 1 + t->emin - (int)m);
	else
		v = ldexp((double)frac, t->emin - (int)m);
	return neg ? -v : v;
}

static double get_float(const struct dtype *t, const unsigned char *p,
			size_t size)
{
	uint64_t bits = load(p, size);
	uint32_t b32;
	double d;
	float f;

	switch (size) {
	case 8:
		memcpy(&d, &bits, sizeof(d));
		return d;
	case 4:
		b32 = (uint32_t)bits;
		memcpy(&f, &b32, sizeof(f));
		return (double)f;
	default:
		if (t->scalar_type == T_E8M0)
			return bits == 0xff ? NAN :
			       ldexp(1.0, (int)bits - 127);
		return decode(t, (uint32_t)bits, (int)size * 8);
	}
}

/* Element i of those that lie several to a byte, the first in the low bits. */
static uint32_t get_packed(const struct dtype *t, const unsigned char *p,
			   size_t i)
{
	unsigned w = 8 / (unsigned)t->pack;
	size_t per = (size_t)t->pack;

	return p[i / per] >> i % per * w & ((1u << w) - 1);
}

int64_t dtype_get_int(const struct dtype *t, const void *data, size_t i)
{
	const unsigned char *p = data;
	uint64_t v;

	if (t->pack > 1)
		return get_packed(t, p, i);
	v = load(p + i * t->size, t->size);
	if (t->cls == DT_BOOL)
		return v != 0;
	if (t->cls == DT_INT || !strncmp(t->name, "qint", 4))
		switch (t->size) {
		case 1: return (int8_t)v;
		case 2: return (int16_t)v;
		case 4: return (int32_t)v;
		}
	return (int64_t)v;
}

void dtype_get(const struct dtype *t, const void *data, size_t i,
	       double *re, double *im)
{
	const unsigned char *p = data;
	size_t half = t->size / 2;
	int64_t v;

	*im = 0;
	switch (t->cls) {
	case DT_FLOAT:
		if (t->pack > 1)
			*re = decode(t, get_packed(t, p, i), 8 / t->pack);
		else
			*re = get_float(t, p + i * t->size, t->size);
		return;
	case DT_COMPLEX:
		*re = get_float(t, p + i * t->size, half);
		*im = get_float(t, p + i * t->size + half, half);
		return;
	default:
		v = dtype_get_int(t, p, i);
		*re = t->cls == DT_UINT ? (double)(uint64_t)v : (double)v;
	}
}

double dtype_ulp(const struct dtype *t, double x)
{
	int e;

	if (isnan(x))
		return NAN;
	if (isinf(x)) {
		e = t->emax;
	} else if (x == 0) {
		e = t->emin;
	} else {
		frexp(x, &e);
		e--;			/* |x| is in [2^e, 2^(e+1)) */
		if (e < t->emin)
			e = t->emin;
		if (e > t->emax)
			e = t->emax;
	}
	return ldexp(1.0, e - t->mantissa);
}

double dtype_max(const struct dtype *t)
{
	double top = 2.0 - ldexp(1.0, -t->mantissa);

	/* One NaN among the largest values, where nothing else marks it. */
	if (t->has_nan && !t->has_inf && t->has_negzero)
		top -= ldexp(1.0, -t->mantissa);
	return ldexp(top, t->emax);
}
