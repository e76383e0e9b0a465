#include "b64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void b64_encode(struct buf *out, const void *p, size_t n)
{
	const unsigned char *s = p;
	char *d;
	uint32_t w;

	buf_grow(out, n / 3 * 4 + 4);
	d = out->p + out->len;
	for (; n >= 3; n -= 3, s += 3, d += 4) {
		w = (uint32_t)s[0] << 16 | (uint32_t)s[1] << 8 | s[2];
		d[0] = digits[w >> 18];
		d[1] = digits[w >> 12 & 63];
		d[2] = digits[w >> 6 & 63];
		d[3] = digits[w & 63];
	}
	if (n) {
		w = (uint32_t)s[0] << 16 | (n == 2 ? (uint32_t)s[1] << 8 : 0);
		d[0] = digits[w >> 18];
		d[1] = digits[w >> 12 & 63];
		d[2] = n == 2 ? digits[w >> 6 & 63] : '=';
		d[3] = '=';
		d += 4;
	}
	*d = '\0';
	out->len = (size_t)(d - out->p);
}

/* Value of a digit plus one; 0: not a digit. */
static const unsigned char value[256] = {
	['A'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
	19, 20, 21, 22, 23, 24, 25, 26,
	['a'] = 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42,
	43, 44, 45, 46, 47, 48, 49, 50, 51, 52,
	['0'] = 53, 54, 55, 56, 57, 58, 59, 60, 61, 62,
	['+'] = 63, ['/'] = 64,
};

/*
 * Four digits as 24 bits.  bad gathers, above bit 5, whether any was none:
 * 0 - 1 wraps, and no other value reaches so high.
 */
static uint32_t quad(const unsigned char *s, uint32_t *bad)
{
	uint32_t a = value[s[0]] - 1u, b = value[s[1]] - 1u;
	uint32_t c = value[s[2]] - 1u, d = value[s[3]] - 1u;

	*bad |= a | b | c | d;
	return a << 18 | b << 12 | c << 6 | d;
}

int b64_decode(struct buf *out, const char *str, size_t n)
{
	const unsigned char *s = (const unsigned char *)str;
	unsigned char last[4], *d;
	size_t pad = 0, start = out->len;
	uint32_t w, bad = 0;

	if (n % 4)
		return -1;
	if (!n)
		return 0;
	while (pad < 2 && s[n - 1 - pad] == '=')
		pad++;
	buf_grow(out, n / 4 * 3);
	d = (unsigned char *)out->p + start;
	for (; n > 4; n -= 4, s += 4, d += 3) {
		w = quad(s, &bad);
		d[0] = (unsigned char)(w >> 16);
		d[1] = (unsigned char)(w >> 8);
		d[2] = (unsigned char)w;
	}
	memcpy(last, s, 4);
	memset(last + 4 - pad, 'A', pad);
	w = quad(last, &bad);
	/* Bits under the padding must be 0: one text for one value. */
	if (bad > 63 || (w & ((1u << 8 * pad) - 1))) {
		if (out->cap)
			out->p[start] = '\0';
		return -1;
	}
	d[0] = (unsigned char)(w >> 16);
	if (pad < 2)
		d[1] = (unsigned char)(w >> 8);
	if (pad < 1)
		d[2] = (unsigned char)w;
	out->len = (size_t)(d - (unsigned char *)out->p) + 3 - pad;
	out->p[out->len] = '\0';
	return 0;
}
