/*
 * xalloc: memory that is there.  These are the only library functions that
 * may end the process (status 4, one line on stderr): nothing can be reported
 * without memory.
 */
#ifndef CTS_XALLOC_H
#define CTS_XALLOC_H

#include <stddef.h>
#include "banned.h"

#ifdef __cplusplus
extern "C" {
#endif

void *xmalloc(size_t n) __attribute__((malloc));
void *xcalloc(size_t n, size_t size) __attribute__((malloc));
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s) __attribute__((malloc));
char *xstrndup(const char *s, size_t n) __attribute__((malloc));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Make room for n elements of *p, whose allocated count is *cap; grows by half.
 * Returns the possibly moved array.
 */
void *xgrow(void *p, size_t *cap, size_t n, size_t size);

/* Program name in front of "out of memory"; set by prog_init(). */
extern const char *xalloc_name;

/* "BUG: file:line: what" on stderr, and abort(). */
_Noreturn void xbug(const char *file, int line, const char *what);
#define BUG(what) xbug(__FILE__, __LINE__, what)

#ifdef __cplusplus
}
#endif

#endif
