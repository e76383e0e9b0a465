/*
 * buf: a growing byte buffer.  p is always NUL-terminated once anything was
 * added, and "" for a fresh one.
 */
#ifndef CTS_BUF_H
#define CTS_BUF_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct buf {
	char *p;
	size_t len;		/* bytes held, without the NUL */
	size_t cap;		/* bytes allocated, 0: p points at a constant */
};

extern char buf_empty[];
#define BUF_INIT { .p = buf_empty }

void buf_init(struct buf *b);
void buf_release(struct buf *b);		/* frees; b is empty again */
void buf_reset(struct buf *b);			/* empties, keeps the memory */
void buf_recycle(struct buf *b);		/* ... unless it is much */
void buf_grow(struct buf *b, size_t extra);	/* room for extra more bytes */
void buf_add(struct buf *b, const void *p, size_t n);
void buf_addch(struct buf *b, char c);
void buf_addstr(struct buf *b, const char *s);
void buf_addf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap);
char *buf_detach(struct buf *b);		/* new: the caller frees it */

/*
 * Append everything that can be read from path ("-" is stdin), at most max
 * bytes.  0, or -1 with e set (EX_ENVIRON, or EX_BADINPUT when too large).
 */
struct err;
int buf_read_file(struct buf *b, const char *path, size_t max, struct err *e);

#ifdef __cplusplus
}
#endif

#endif
