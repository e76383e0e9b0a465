/* dtype: known values of every format. */
#include <math.h>
#include <stdlib.h>

#include "dtype.h"
#include "tap.h"

static double get(const char *name, const void *p, size_t i)
{
	double re, im;

	dtype_get(dtype_find(name), p, i, &re, &im);
	return re;
}

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof(a));
}

static void test_floats(void)
{
	static const struct {
		const char *name;
		uint64_t bits;
		double want;
	} v[] = {
		{ "float16", 0x3c00, 1 }, { "float16", 0x0001, 0x1p-24 },
		{ "float16", 0x03ff, 0x1.ff8p-15 },
		{ "float16", 0x0400, 0x1p-14 }, { "float16", 0x7bff, 65504 },
		{ "float16", 0x7c00, INFINITY },
		{ "float16", 0xfc00, -INFINITY },
		{ "float16", 0x7c01, NAN }, { "float16", 0x8000, -0.0 },
		{ "bfloat16", 0x3f80, 1 }, { "bfloat16", 0x0001, 0x1p-133 },
		{ "bfloat16", 0x7f7f, 0x1.fep127 },
		{ "bfloat16", 0x7f80, INFINITY }, { "bfloat16", 0xffff, NAN },
		{ "float32", 0x00000001, 0x1p-149 },
		{ "float32", 0x7f7fffff, 0x1.fffffep127 },
		{ "float32", 0xff800000, -INFINITY },
		{ "float32", 0x7fc00000, NAN }, { "float32", 0x80000000, -0.0 },
		{ "float64", 1, 0x1p-1074 },
		{ "float64", 0x7fefffffffffffff, 0x1.fffffffffffffp1023 },
		{ "float8_e5m2", 0x3c, 1 }, { "float8_e5m2", 0x01, 0x1p-16 },
		{ "float8_e5m2", 0x7b, 57344 },
		{ "float8_e5m2", 0x7c, INFINITY },
		{ "float8_e5m2", 0xfc, -INFINITY },
		{ "float8_e5m2", 0x7d, NAN }, { "float8_e5m2", 0x80, -0.0 },
		{ "float8_e4m3fn", 0x38, 1 }, { "float8_e4m3fn", 0x01, 0x1p-9 },
		{ "float8_e4m3fn", 0x08, 0x1p-6 },
		{ "float8_e4m3fn", 0x7e, 448 }, { "float8_e4m3fn", 0x7f, NAN },
		{ "float8_e4m3fn", 0xff, NAN }, { "float8_e4m3fn", 0xfe, -448 },
		{ "float8_e4m3fn", 0x80, -0.0 },
		{ "float8_e5m2fnuz", 0x40, 1 },
		{ "float8_e5m2fnuz", 0x01, 0x1p-17 },
		{ "float8_e5m2fnuz", 0x7f, 57344 },
		{ "float8_e5m2fnuz", 0x80, NAN },
		{ "float8_e5m2fnuz", 0xff, -57344 },
		{ "float8_e4m3fnuz", 0x40, 1 },
		{ "float8_e4m3fnuz", 0x01, 0x1p-10 },
		{ "float8_e4m3fnuz", 0x7f, 240 },
		{ "float8_e4m3fnuz", 0x80, NAN },
		{ "float8_e8m0fnu", 0x00, 0x1p-127 },
		{ "float8_e8m0fnu", 0x7f, 1 },
		{ "float8_e8m0fnu", 0xfe, 0x1p127 },
		{ "float8_e8m0fnu", 0xff, NAN },
	};
	size_t i, bad = 0;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		if (!same(get(v[i].name, &v[i].bits, 0), v[i].want)) {
			printf("# %s 0x%llx is %a, not %a\n", v[i].name,
			       (unsigned long long)v[i].bits,
			       get(v[i].name, &v[i].bits, 0), v[i].want);
			bad++;
		}
	is_int(bad, 0, "floats have the values that they should");
}

static void test_packed(void)
{
	static const double e2m1[] = { 0, .5, 1, 1.5, 2, 3, 4, 6 };
	const unsigned char two[2] = { 0x21, 0xf8 };
	unsigned char c;
	size_t i, bad = 0;

	for (i = 0; i < 16; i++) {
		c = (unsigned char)(i << 4 | (15 - i));
		bad += !same(get("float4_e2m1fn_x2", &c, 1),
			     i < 8 ? e2m1[i] : -e2m1[i - 8]);
		bad += !same(get("float4_e2m1fn_x2", &c, 0),
			     15 - i < 8 ? e2m1[15 - i] : -e2m1[7 - i]);
	}
	is_int(bad, 0, "every four-bit float, in either half");
	ok(get("float4_e2m1fn_x2", two, 0) == .5 &&
	   get("float4_e2m1fn_x2", two, 1) == 1 &&
	   same(get("float4_e2m1fn_x2", two, 2), -0.0) &&
	   get("float4_e2m1fn_x2", two, 3) == -6, "low half first");
	c = 0xe4;
	ok(get("quint2x4", &c, 0) == 0 && get("quint2x4", &c, 1) == 1 &&
	   get("quint2x4", &c, 2) == 2 && get("quint2x4", &c, 3) == 3,
	   "quint2x4 has four values a byte");
	ok(get("quint4x2", &c, 0) == 4 && get("quint4x2", &c, 1) == 14,
	   "quint4x2 has two");
	c = 0xa0;
	ok(dtype_get_int(dtype_find("bits1x8"), &c, 7) == 1 &&
	   dtype_get_int(dtype_find("bits1x8"), &c, 6) == 0 &&
	   dtype_get_int(dtype_find("bits1x8"), &c, 5) == 1,
	   "bits1x8 has eight");
}

static void test_ints(void)
{
	const unsigned char ff[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				      0xff };
	const unsigned char le[8] = { 1, 2, 0, 0, 0, 0, 0, 0x80 };
	static const struct { const char *name; double want; } v[] = {
		{ "uint8", 255 }, { "int8", -1 }, { "uint16", 65535 },
		{ "int16", -1 }, { "uint32", 4294967295.0 }, { "int32", -1 },
		{ "uint64", 18446744073709551616.0 }, { "int64", -1 },
		{ "bool", 1 }, { "qint8", -1 }, { "quint8", 255 },
		{ "qint32", -1 }, { "uint4", 255 }, { "int4", -1 },
		{ "bit", 255 },
	};
	size_t i, bad = 0;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		if (get(v[i].name, ff, 0) != v[i].want) {
			printf("# %s is %a\n", v[i].name,
			       get(v[i].name, ff, 0));
			bad++;
		}
	is_int(bad, 0, "integers have the values that they should");
	is_int(dtype_get_int(dtype_find("uint64"), ff, 0), -1,
	       "uint64 by its bit pattern");
	is_int(dtype_get_int(dtype_find("int16"), le, 0), 513,
	       "bytes are little-endian");
	is_int(dtype_get_int(dtype_find("int16"), le, 3), -32768,
	       "elements follow each other");
	ok(dtype_get_int(dtype_find("int64"), le, 0) ==
	   INT64_MIN + 513, "a large one is exact");
	is_int(dtype_get_int(dtype_find("bool"), "\x02", 0), 1,
	       "any bool that is not 0 is true");
}

static void test_complex(void)
{
	const float c64[4] = { 1, 2, 3, -4 };
	const double c128[2] = { 0.1, -0.2 };
	const uint16_t c32[2] = { 0x3c00, 0xc000 };
	double re, im;

	dtype_get(dtype_find("complex64"), c64, 1, &re, &im);
	ok(re == 3 && im == -4, "complex64");
	dtype_get(dtype_find("cdouble"), c128, 0, &re, &im);
	ok(re == 0.1 && im == -0.2, "complex128");
	dtype_get(dtype_find("chalf"), c32, 0, &re, &im);
	ok(re == 1 && im == -2, "complex32");
	dtype_get(dtype_find("float32"), c64, 1, &re, &im);
	ok(re == 2 && im == 0, "what is real has no imaginary part");
}

static void test_ulp(void)
{
	const struct dtype *f = dtype_find("float"), *d;
	static const float xs[] = { 1.0f, 1.5f, 3.9999998f, 4.0f, 1e-40f,
				    1e30f, 0x1p-126f, 0x1.fffffep-126f };
	size_t i, bad = 0;

	for (i = 0; i < sizeof(xs) / sizeof(xs[0]); i++) {
		double want = (double)nextafterf(xs[i], INFINITY) -
			      (double)xs[i];

		bad += dtype_ulp(f, (double)xs[i]) != want ||
		       dtype_ulp(f, -(double)xs[i]) != want;
	}
	is_int(bad, 0, "float32's spacing is what nextafterf() says");
	ok(dtype_ulp(f, 0) == 0x1p-149, "around zero the smallest subnormal");
	ok(dtype_ulp(f, INFINITY) == 0x1p104 && dtype_ulp(f, 1e300) == 0x1p104,
	   "beyond the largest that of the largest");
	ok(isnan(dtype_ulp(f, NAN)), "NaN has none");
	ok(dtype_ulp(dtype_find("float64"), 1e-320) == 0x1p-1074 &&
	   dtype_ulp(dtype_find("float64"), 1) == 0x1p-52, "float64");
	ok(dtype_ulp(dtype_find("bfloat16"), 256) == 2, "bfloat16");
	ok(dtype_ulp(dtype_find("float8_e4m3fn"), 448) == 32 &&
	   dtype_ulp(dtype_find("float8_e4m3fn"), 1e-9) == 0x1p-9,
	   "float8_e4m3fn");
	ok(dtype_ulp(dtype_find("float8_e8m0fnu"), 8) == 8, "float8_e8m0fnu");
	ok(dtype_ulp(dtype_find("complex32"), 1) == 0x1p-10, "complex32");
	for (i = 0; (d = dtype_at(i)); i++)
		if (d->cls == DT_FLOAT && d->pack == 1 && d->size < 4) {
			/* The next pattern is one spacing away. */
			uint32_t a, n = d->size == 1 ? 255 : 65535;

			for (a = 0; a < n; a++) {
				uint32_t b = a + 1;
				double x = get(d->name, &a, 0);
				double y = get(d->name, &b, 0);

				if (isfinite(x) && isfinite(y) && x >= 0 &&
				    y > x && y - x != dtype_ulp(d, x))
					bad++;
			}
		}
	is_int(bad, 0, "in every small format, neighbours are one ulp apart");
}

static void test_table(void)
{
	static const struct { const char *name; double want; } max[] = {
		{ "float16", 65504 }, { "bfloat16", 0x1.fep127 },
		{ "float32", 0x1.fffffep127 },
		{ "float64", 0x1.fffffffffffffp1023 },
		{ "float8_e5m2", 57344 }, { "float8_e4m3fn", 448 },
		{ "float8_e5m2fnuz", 57344 }, { "float8_e4m3fnuz", 240 },
		{ "float8_e8m0fnu", 0x1p127 }, { "float4_e2m1fn_x2", 6 },
		{ "complex64", 0x1.fffffep127 },
	};
	static const struct { const char *name; int num; size_t size; } v[] = {
		{ "uint8", 0, 1 }, { "long", 4, 8 }, { "half", 5, 2 },
		{ "torch.float", 6, 4 }, { "complex32", 8, 4 },
		{ "cdouble", 10, 16 }, { "bool", 11, 1 },
		{ "torch.bfloat16", 15, 2 }, { "bits16", 22, 2 },
		{ "float8_e4m3fn", 24, 1 }, { "uint64", 29, 8 },
		{ "int7", 43, 1 }, { "float4_e2m1fn_x2", 45, 1 },
	};
	const struct dtype *d;
	size_t i, bad = 0;

	for (i = 0; (d = dtype_at(i)); i++)
		bad += d->scalar_type != (int)i || dtype_find(d->name) != d ||
		       dtype_by_scalar_type((int)i) != d || !d->size ||
		       (d->alias && dtype_find(d->alias) != d);
	is_int(bad, 0, "each is found by number, name and alias");
	is_int(i, 46, "there are so many");
	ok(!dtype_by_scalar_type(46) && !dtype_by_scalar_type(-1),
	   "no other number is one");
	ok(!dtype_find("float3") && !dtype_find("") && !dtype_find("torch.") &&
	   !dtype_find("torch.torch.int8"), "no other name is one");
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		d = dtype_find(v[i].name);
		bad += !d || d->scalar_type != v[i].num ||
		       d->size != v[i].size;
	}
	is_int(bad, 0, "numbers and sizes are PyTorch's");
	for (i = 0; i < sizeof(max) / sizeof(max[0]); i++)
		bad += dtype_max(dtype_find(max[i].name)) != max[i].want;
	is_int(bad, 0, "so are the largest values");
	is_str(dtype_nearest("float3"), "float32", "a slip is understood");
	is_str(dtype_nearest("torch.bflaot16"), "bfloat16", "with torch., too");
	ok(!dtype_nearest("quaternion"), "nonsense is not");
}

int main(void)
{
	test_table();
	test_floats();
	test_packed();
	test_ints();
	test_complex();
	test_ulp();
	return done();
}
