/*
 * How fast elements are compared, in MB of the device's result a second and
 * core.  One JSON object a line.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "num.h"

#define N (8u << 20)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure(const char *name, const struct dtype *t, const void *dev,
		    const void *ref, const void *hp, size_t n)
{
	struct num_tol tol = { .ulp = { 2, 4 }, .k = { 2, 4 } };
	struct num_fig f;
	double best = INFINITY, t0;
	int i;

	for (i = 0; i < 5; i++) {
		t0 = now();
		num_compare(t, dev, ref, hp, n, &tol, &f);
		t0 = now() - t0;
		best = t0 < best ? t0 : best;
	}
	if (f.bad)
		exit(1);
	printf("{\"compare\":\"%s\",\"mb_per_s\":%.0f}\n", name,
	       (double)(n * t->size) / best / 1e6);
}

int main(void)
{
	float *dev = malloc(N * sizeof(*dev)), *ref = malloc(N * sizeof(*ref));
	double *hp = malloc(N * sizeof(*hp));
	uint16_t *h = malloc(N * sizeof(*h)), *g = malloc(N * sizeof(*g));
	size_t i;

	if (!dev || !ref || !hp || !h || !g)
		return 4;
	for (i = 0; i < N; i++) {
		hp[i] = ((double)(i * 2654435761u % 1000003) - 5e5) / 997;
		ref[i] = (float)hp[i];
		dev[i] = i % 3 ? ref[i] : nextafterf(ref[i], 9e9f);
		h[i] = (uint16_t)(0x3c00 + i % 512);
		g[i] = (uint16_t)(h[i] + (i % 5 == 0));
	}
	measure("float32 against float64", dtype_find("float32"), dev, ref,
		hp, N);
	measure("float32 against float32", dtype_find("float32"), dev, ref,
		NULL, N);
	measure("float32, the same bits", dtype_find("float32"), ref, ref,
		NULL, N);
	measure("float16 against float16", dtype_find("float16"), g, h, NULL,
		N);
	measure("bfloat16 against bfloat16", dtype_find("bfloat16"), g, h,
		NULL, N);
	measure("complex64 against complex128", dtype_find("complex64"), dev,
		ref, hp, N / 2);
	return 0;
}
