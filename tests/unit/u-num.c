#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "num.h"
#include "tap.h"

static const struct dtype *f32, *f64, *f16, *bf16, *c64, *i64, *f8;

/* One float32 element against its oracle: 0 strict, 1 usable, 2 wrong. */
static int tier(float dev, float ref, const double *hp,
		const struct num_tol *tol)
{
	struct num_fig f;

	num_compare(f32, &dev, &ref, hp, 1, tol, &f);
	return f.bad ? 2 : f.usable ? 1 : 0;
}

static float up(float x, int ulps)
{
	while (ulps-- > 0)
		x = nextafterf(x, INFINITY);
	return x;
}

static void units(void)
{
	ok(num_unit(f32, 1) == 0x1p-23, "float32 at 1");
	ok(num_unit(f32, -1.999) == 0x1p-23, "float32 below 2");
	ok(num_unit(f32, 2) == 0x1p-22, "float32 at 2");
	ok(num_unit(f32, 0) == 0x1p-149, "float32 at 0");
	ok(num_unit(f32, 1e-42) == 0x1p-149, "float32 among subnormals");
	ok(num_unit(f64, 1) == 0x1p-52, "float64 at 1");
	ok(num_unit(f16, 1) == 0x1p-10, "float16 at 1");
	ok(num_unit(bf16, 3) == 0x1p-6, "bfloat16 at 3");
	ok(num_unit(c64, 1) == 0x1p-23, "complex64 at 1");
	is_int(num_bits(0), 0, "no bits of 0");
	is_int(num_bits(1), 1, "one of 1");
	is_int(num_bits(1024), 11, "eleven of 1024");
}

static void budgets(void)
{
	struct num_tol t = { .ulp = { 1, 3 } };
	double hp = 1;

	is_int(tier(1, 1, &hp, &t), 0, "equal is right");
	is_int(tier(up(1, 1), 1, &hp, &t), 0, "1 ulp of 1 is strict");
	is_int(tier(up(1, 2), 1, &hp, &t), 1, "2 ulp of 3 are usable");
	is_int(tier(up(1, 3), 1, &hp, &t), 1, "3 are, too");
	is_int(tier(up(1, 4), 1, &hp, &t), 2, "4 are wrong");
	is_int(tier(up(1, 4), up(1, 4), &hp, &t), 0,
	       "but not where the reference has the same bits");
	is_int(tier(up(1, 4), 1, NULL, &t), 2, "nor without an oracle");
	t.abs[1] = 1e-3;
	is_int(tier(1.0009f, 1, &hp, &t), 1, "an absolute bound widens");
	t.abs[1] = 0;
	t.rel[0] = t.rel[1] = 1e-3;
	is_int(tier(1.0009f, 1, &hp, &t), 0, "so does a relative one");
	is_int(tier(1.0011f, 1, &hp, &t), 2, "as far as it goes");
	t.rel[0] = t.rel[1] = 0;
	t.k[1] = 4;
	is_int(tier(up(1, 8), up(1, 2), &hp, &t), 1,
	       "four times the reference's own error");
	is_int(tier(up(1, 9), up(1, 2), &hp, &t), 2, "and no more");
	t.exact = true;
	is_int(tier(up(1, 1), 1, NULL, &t), 2, "exact means exact");
	is_int(tier(-0.0f, 0, NULL, &t), 0, "a zero's sign apart");
	is_int(tier(NAN, -NAN, NULL, &t), 0, "and a NaN's");
}

static void specials(void)
{
	struct num_tol t = { .ulp = { 1, 3 } };
	double nan = NAN, inf = INFINITY, one = 1, big = 1e39, end = FLT_MAX;
	struct num_fig f;
	float dev[3] = { 1, NAN, -0.0f }, ref[3] = { 1, NAN, 0 };

	is_int(tier(NAN, NAN, &nan, &t), 0, "NaN for NaN");
	is_int(tier(1, NAN, &nan, &t), 2, "a number for NaN is wrong");
	is_int(tier(-INFINITY, NAN, &nan, &t), 2, "nor is infinity NaN");
	is_int(tier(INFINITY, NAN, &nan, &t), 2, "of either sign");
	is_int(tier(NAN, 1, &one, &t), 2, "NaN for a number is wrong");
	is_int(tier(INFINITY, INFINITY, &inf, &t), 0, "infinity for infinity");
	is_int(tier(-INFINITY, INFINITY, &inf, &t), 2, "not the other one");
	is_int(tier(3e38f, INFINITY, &inf, &t), 2, "not a large number");
	is_int(tier(INFINITY, INFINITY, &big, &t), 0,
	       "infinity where float32 overflows");
	is_int(tier(1, INFINITY, &big, &t), 2, "a small number there is not");
	is_int(tier(INFINITY, INFINITY, &one, &t), 0,
	       "the reference's overflow in mid-way, as the reference");
	is_int(tier(1, INFINITY, &one, &t), 0, "or the right result instead");
	is_int(tier(2, INFINITY, &one, &t), 2, "but no third thing");
	is_int(tier(1, NAN, &one, &t), 0, "likewise for NaN");
	is_int(tier(INFINITY, (float)end, &end, &t), 0,
	       "infinity one step from the largest number");
	num_compare(f32, dev, ref, NULL, 3, &t, &f);
	is_int(f.bad, 0, "an array with NaN and -0");
	is_int(f.zero_sign, 1, "the zero's sign is counted");
	dev[1] = 1;
	num_compare(f32, dev, ref, NULL, 3, &t, &f);
	is_int(f.bad, 1, "a swallowed NaN is seen");
	is_int(f.at, 1, "and where");
	t.flush = true;
	one = 1e-40;
	is_int(tier(0, 1e-40f, &one, &t), 1, "a flushed subnormal is usable");
	one = 2e-38;
	is_int(tier(0, 2e-38f, &one, &t), 2, "a flushed normal is wrong");
}

/* Where in a long array the fault is must not matter. */
static void long_arrays(void)
{
	enum { N = 3000 };
	struct num_tol t = { .ulp = { 1, 3 } };
	static float dev[N], ref[N];
	static double hp[N];
	struct num_fig f;
	size_t at[] = { 0, 1, 511, 512, 1500, N - 1 }, i;

	for (i = 0; i < N; i++)
		hp[i] = dev[i] = ref[i] = 1 + (float)i / 7;
	num_compare(f32, dev, ref, hp, N, &t, &f);
	is_int(f.bad + f.usable, 0, "%d elements are right", N);
	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		float was = dev[at[i]];

		dev[at[i]] = up(was, 2);
		num_compare(f32, dev, ref, hp, N, &t, &f);
		ok(!f.bad && f.usable == 1 && f.at == at[i] &&
		   f.max_ulp == 2, "2 ulp at %zu are seen", at[i]);
		dev[at[i]] = up(was, 4);
		num_compare(f32, dev, ref, hp, N, &t, &f);
		ok(f.bad == 1 && f.at == at[i], "4 ulp at %zu are wrong",
		   at[i]);
		dev[at[i]] = NAN;
		num_compare(f32, dev, ref, NULL, N, &t, &f);
		ok(f.bad == 1 && f.at == at[i], "NaN at %zu is wrong", at[i]);
		dev[at[i]] = was;
	}
	for (i = 0; i < N; i++) {
		hp[i] = ref[i] = 1e-9f;
		dev[i] = 0;
	}
	t.abs[1] = 1e-6;
	num_compare(f32, dev, ref, hp, N, &t, &f);
	ok(!f.bad && f.vanished, "all zero within atol is told apart");
	dev[7] = 1e-9f;
	num_compare(f32, dev, ref, hp, N, &t, &f);
	ok(!f.vanished, "one that isn't zero makes the difference");
}

static void other_types(void)
{
	struct num_tol t = { .ulp = { 1, 1 } };
	struct num_fig f;
	uint16_t h[2] = { 0x3c00, 0xbc01 }, h2[2] = { 0x3c00, 0xbc03 };
	double o16[2] = { 1, -1.0009765625 };
	uint16_t b[1] = { 0x3f80 }, b2[1] = { 0x3f82 };
	float c[2] = { 1e-8f, 1 }, c2[2] = { 3e-8f, 1 };
	double oc[2] = { 2e-8, 1 };
	int64_t n[2] = { INT64_C(9007199254740993), -1 };
	int64_t n2[2] = { INT64_C(9007199254740992), -1 };
	unsigned char e[2] = { 0x7f, 0x38 }, e2[2] = { 0x7f, 0x39 };
	double g[4];

	num_compare(f16, h2, h, o16, 2, &t, &f);
	ok(f.bad == 1 && f.at == 1 && f.max_ulp == 2, "float16, 2 ulp");
	num_compare(bf16, b2, b, NULL, 1, &t, &f);
	ok(f.bad == 1 && f.max_ulp == 2, "bfloat16, 2 ulp");
	num_compare(c64, c2, c, oc, 1, &t, &f);
	ok(!f.bad && f.ref_ulp > 0 && f.ref_ulp < 1,
	   "a complex part that cancels is measured by the number");
	c2[1] = up(1, 3);
	num_compare(c64, c2, c, oc, 1, &t, &f);
	is_int(f.bad, 1, "the other part is not free");
	c[0] = INFINITY;
	c[1] = NAN;
	c2[0] = NAN;
	c2[1] = -INFINITY;
	num_compare(c64, c2, c, NULL, 1, &t, &f);
	is_int(f.bad, 0, "a complex infinity has many forms");
	c2[0] = c2[1] = 0;
	num_compare(c64, c2, c, NULL, 1, &t, &f);
	is_int(f.bad, 1, "but is no number");
	num_exact(i64, n2, n, 2, &f);
	ok(f.bad == 1 && f.at == 0 && f.max_abs == 1,
	   "int64 just above 2^53 is compared exactly");
	t.ulp[0] = t.ulp[1] = 0.5;
	num_compare(f8, e2, e, NULL, 2, &t, &f);
	ok(f.bad == 1 && f.at == 1, "float8: NaN is NaN, and 1 ulp is seen");
	num_get(f16, h, 0, 2, g);
	ok(g[0] == 1 && g[1] == -1.0009765625, "float16 is read exactly");
	num_get(bf16, b2, 0, 1, g);
	ok(g[0] == 1.015625, "so is bfloat16");
	h[0] = 0x0001;
	h[1] = 0xfc00;
	num_get(f16, h, 0, 2, g);
	ok(g[0] == 0x1p-24 && g[1] == -INFINITY, "and its ends");
}

/* The quick reader of halves against the general one, every value. */
static void all_halves(void)
{
	const struct dtype *t[] = { f16, bf16 };
	size_t k, wrong;
	uint32_t i;

	for (k = 0; k < 2; k++) {
		wrong = 0;
		for (i = 0; i < 65536; i++) {
			uint16_t h = (uint16_t)i;
			double fast, re, im;

			num_get(t[k], &h, 0, 1, &fast);
			dtype_get(t[k], &h, 0, &re, &im);
			wrong += !(fast == re || (isnan(fast) && isnan(re)));
		}
		is_int(wrong, 0, "%s: all 65536 values", t[k]->name);
	}
}

static void stats(void)
{
	float v[4] = { 1, -3, INFINITY, NAN }, r[3] = { 1, 2.5f, INFINITY };
	double o[3] = { 1, 2, 5 }, norm, own;
	struct num_stat s;

	num_stat(f32, v, 4, &s);
	ok(s.amax == 3 && s.asum == 4 && !s.finite, "magnitudes and sums");
	num_norms(f32, r, o, 3, &norm, &own);
	ok(norm == 2 && own == 0.5, "norms leave out what isn't finite");
	num_norms(f32, r, NULL, 2, &norm, &own);
	ok(norm == 2.5 && own == 0, "without an oracle, the reference's");
}

int main(void)
{
	f32 = dtype_find("float32");
	f64 = dtype_find("float64");
	f16 = dtype_find("float16");
	bf16 = dtype_find("bfloat16");
	c64 = dtype_find("complex64");
	i64 = dtype_find("int64");
	f8 = dtype_find("float8_e4m3fn");
	units();
	budgets();
	specials();
	long_arrays();
	other_types();
	all_halves();
	stats();
	return done();
}
