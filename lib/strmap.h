/*
 * strmap: numbers strings from 0 in the order of first sight, keeps one copy
 * of each, and finds them again.
 */
#ifndef CTS_STRMAP_H
#define CTS_STRMAP_H

#include <stddef.h>

struct strmap {
	char **key;		/* by number */
	size_t n, cap;
	size_t *slot;		/* number + 1, 0: free */
	size_t nslots;		/* a power of two, or 0 */
};

#define STRMAP_NONE ((size_t)-1)

void strmap_init(struct strmap *m);
void strmap_release(struct strmap *m);
size_t strmap_add(struct strmap *m, const char *s);	/* its number */
size_t strmap_find(const struct strmap *m, const char *s); /* or NONE */

/*
 * The numbers 0..n-1 in the byte order of their strings; new, the caller
 * frees it.
 */
size_t *strmap_sorted(const struct strmap *m);

#endif
