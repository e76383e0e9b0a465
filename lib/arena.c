#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "xalloc.h"
#include "banned.h"

/* A sanitizer sees an overrun only where each piece is a block of its own. */
#ifdef __SANITIZE_ADDRESS__
#define BLOCK_MIN 0
#define BLOCK_KEPT 0
#else
#define BLOCK_MIN ((size_t)16 << 10)
#define BLOCK_KEPT ((size_t)4 << 20)
#endif

struct arena_block {
	struct arena_block *next;
	size_t size, used;
	max_align_t data[];
};

static struct arena_block *add_block(struct arena *a, size_t n)
{
	size_t size = a->blocks ? 2 * a->blocks->size : BLOCK_MIN;
	struct arena_block *b;

	if (size > BLOCK_KEPT)
		size = BLOCK_KEPT;
	if (size < n)
		size = n;
	b = xmalloc(sizeof(*b) + size);
	b->next = a->blocks;
	b->size = size;
	b->used = 0;
	a->blocks = b;
	return b;
}

void *arena_take(struct arena *a, size_t n)
{
	const size_t unit = sizeof(max_align_t);
	struct arena_block *b = a->blocks;
	char *p;

	if (n > SIZE_MAX / 2)
		return xcalloc(n, SIZE_MAX);	/* says so, and ends */
	n = (n + !n + unit - 1) / unit * unit;
	if (!b || b->size - b->used < n)
		b = add_block(a, n);
	p = (char *)b->data + b->used;
	b->used += n;
	return p;
}

void *arena_zero(struct arena *a, size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes))
		return xcalloc(n, size);	/* says so, and ends */
	p = arena_take(a, bytes);
	memset(p, 0, bytes);
	return p;
}

void arena_reset(struct arena *a)
{
	struct arena_block *b = a->blocks, *next;

	/* The newest is the largest, as a rule: the next record will fit. */
	if (b && b->size && b->size <= BLOCK_KEPT) {
		b->used = 0;
		next = b->next;
		b->next = NULL;
		b = next;
	} else {
		a->blocks = NULL;
	}
	for (; b; b = next) {
		next = b->next;
		free(b);
	}
}

void arena_release(struct arena *a)
{
	struct arena_block *b, *next;

	for (b = a->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	a->blocks = NULL;
}
