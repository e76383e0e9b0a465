/*
 * arena: memory for what lives and goes together, such as all that one record
 * holds.  Taking is a step of a pointer; nothing is given back by itself.
 */
#ifndef CTS_ARENA_H
#define CTS_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *blocks;	/* newest first, others full */
};

#define ARENA_INIT { NULL }

/*
 * n bytes, aligned for any type, that hold anything; or n items of size bytes
 * that are zero.  Theirs until arena_reset().  Where there is no memory, or
 * the product overflows, the program ends as with xmalloc().
 */
void *arena_take(struct arena *a, size_t n);
void *arena_zero(struct arena *a, size_t n, size_t size);

/* All that was taken is void; the memory is kept for what comes. */
void arena_reset(struct arena *a);
void arena_release(struct arena *a);

#endif
