#include "utf8.h"

#include <stdint.h>

int utf8_len(const char *s, size_t n)
{
	/* Smallest code point that needs so many bytes. */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c;
	size_t len, i;

	if (!n)
		return 0;
	if (p[0] < 0x80)
		return 1;
	len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || len > n)
		return 0;
	c = p[0] & (0xffu >> (len + 1));
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		return 0;
	return (int)len;
}
