/* arena: what is taken is there, apart and aligned, until it is reset. */
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "tap.h"

static void test_pieces(void)
{
	enum { N = 5000 };
	static unsigned char *p[N];
	static size_t size[N];
	struct arena a = ARENA_INIT;
	bool aligned = true, whole = true;
	int i, round;
	size_t k;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < N; i++) {
			size[i] = (size_t)(i * 37 % 301);
			p[i] = arena_take(&a, size[i]);
			memset(p[i], i & 255, size[i]);
			aligned &= (uintptr_t)p[i] % _Alignof(max_align_t) == 0;
		}
		for (i = 0; i < N; i++)
			for (k = 0; k < size[i]; k++)
				whole &= p[i][k] == (i & 255);
		arena_reset(&a);
	}
	ok(aligned, "every piece is aligned");
	ok(whole, "no piece is another's, in a first round or a later one");
	arena_release(&a);
	arena_reset(&a);
	ok(!a.blocks, "what is released is empty");
}

static void test_large(void)
{
	struct arena a = ARENA_INIT;
	const size_t n = (size_t)64 << 20;
	unsigned char *small = arena_take(&a, 3), *big;
	bool zero = true;
	size_t i;

	memset(small, 'x', 3);
	big = arena_zero(&a, n / 8, 8);
	for (i = 0; i < n; i += 4096)
		zero &= !big[i];
	ok(zero && !big[n - 1], "64 MiB of zero are one piece");
	ok(small[0] == 'x' && small[2] == 'x', "beside a small one");
	arena_reset(&a);
	ok(!a.blocks, "and aren't kept for the next record");
	memset(arena_take(&a, 100), 'y', 100);
	arena_reset(&a);
	big = arena_zero(&a, 100, 1);
	zero = true;
	for (i = 0; i < 100; i++)
		zero &= !big[i];
	ok(zero, "what is used again is zero where that is asked for");
	arena_release(&a);
}

int main(void)
{
	test_pieces();
	test_large();
	return done();
}
