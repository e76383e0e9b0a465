#include "buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "xalloc.h"

#define RECYCLED_MAX (1u << 20)

char buf_empty[1];

void buf_init(struct buf *b)
{
	b->p = buf_empty;
	b->len = b->cap = 0;
}

void buf_release(struct buf *b)
{
	if (b->cap)
		free(b->p);
	buf_init(b);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->cap)
		b->p[0] = '\0';
}

void buf_recycle(struct buf *b)
{
	if (b->cap > RECYCLED_MAX)
		buf_release(b);
	else
		buf_reset(b);
}

void buf_grow(struct buf *b, size_t extra)
{
	if (extra >= SIZE_MAX - b->len)
		extra = SIZE_MAX - b->len - 1;	/* xgrow() says no */
	if (b->cap > b->len + extra)
		return;
	b->p = xgrow(b->cap ? b->p : NULL, &b->cap, b->len + extra + 1, 1);
	b->p[b->len] = '\0';
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if (!n)
		return;
	buf_grow(b, n);
	memcpy(b->p + b->len, p, n);
	b->len += n;
	b->p[b->len] = '\0';
}

void buf_addch(struct buf *b, char c)
{
	if (b->len + 1 >= b->cap)
		buf_grow(b, 1);
	b->p[b->len++] = c;
	b->p[b->len] = '\0';
}

void buf_addstr(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list copy;
	int n;

	buf_grow(b, 64);
	va_copy(copy, ap);
	n = vsnprintf(b->p + b->len, b->cap - b->len, fmt, copy);
	va_end(copy);
	if (n < 0)
		BUG("vsnprintf");
	if ((size_t)n >= b->cap - b->len) {
		buf_grow(b, (size_t)n);
		vsnprintf(b->p + b->len, b->cap - b->len, fmt, ap);
	}
	b->len += (size_t)n;
}

char *buf_detach(struct buf *b)
{
	char *p;

	buf_grow(b, 0);		/* a fresh one points at a constant */
	p = b->p;
	buf_init(b);
	return p;
}

int buf_read_file(struct buf *b, const char *path, size_t max, struct err *e)
{
	bool is_stdin = !strcmp(path, "-");
	const char *name = is_stdin ? "<stdin>" : path;
	int fd = is_stdin ? 0 : open(path, O_RDONLY | O_CLOEXEC);
	size_t start = b->len, want;
	ssize_t n;
	int rc = -1;

	if (fd < 0)
		return err_sys(e, errno, "cannot open '%s'", path);
	for (;;) {
		/* One byte over max is asked for, to see that it is over. */
		want = max - (b->len - start);
		want = want < 65536 ? want + 1 : 65536;
		buf_grow(b, want);
		n = read(fd, b->p + b->len, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err_sys(e, errno, "cannot read '%s'", name);
			break;
		}
		if (!n) {
			rc = 0;
			break;
		}
		b->len += (size_t)n;
		b->p[b->len] = '\0';
		if (b->len - start > max) {
			err_set(e, EX_BADINPUT, "'%s' is over %zu bytes", name,
				max);
			break;
		}
	}
	if (rc < 0 && b->cap) {
		b->len = start;
		b->p[start] = '\0';
	}
	if (!is_stdin)
		close(fd);
	return rc;
}
