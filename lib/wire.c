#include "wire.h"

#include <string.h>
#include "xalloc.h"

void wire_put_u8(struct buf *b, uint8_t v)
{
	buf_add(b, &v, sizeof(v));
}

void wire_put_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof(v));
}

void wire_put_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

void wire_put_bytes(struct buf *b, const void *p, size_t n)
{
	wire_put_u64(b, n);
	buf_add(b, p, n);
}

void wire_put_str(struct buf *b, const char *s)
{
	wire_put_bytes(b, s, strlen(s));
}

static void take(struct wire *w, void *p, size_t n)
{
	memset(p, 0, n);
	if (w->bad || w->left < n) {
		w->bad = true;
		return;
	}
	memcpy(p, w->p, n);
	w->p += n;
	w->left -= n;
}

uint8_t wire_u8(struct wire *w)
{
	uint8_t v;

	take(w, &v, sizeof(v));
	return v;
}

uint32_t wire_u32(struct wire *w)
{
	uint32_t v;

	take(w, &v, sizeof(v));
	return v;
}

uint64_t wire_u64(struct wire *w)
{
	uint64_t v;

	take(w, &v, sizeof(v));
	return v;
}

size_t wire_count(struct wire *w, size_t size)
{
	uint64_t n = wire_u64(w);

	if (n > w->left / (size ? size : 1)) {
		w->bad = true;
		return 0;
	}
	return (size_t)n;
}

const void *wire_bytes(struct wire *w, size_t *n)
{
	const char *p;

	*n = wire_count(w, 1);
	if (w->bad)
		return NULL;
	p = w->p;
	w->p += *n;
	w->left -= *n;
	return p;
}

char *wire_str(struct wire *w)
{
	size_t n;
	const char *p = wire_bytes(w, &n);

	if (p && memchr(p, '\0', n))
		w->bad = true;
	return p && !w->bad ? xstrndup(p, n) : xstrdup("");
}
