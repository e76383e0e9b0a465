/* utf8: what is UTF-8 and what is not, as RFC 3629 has it. */
#ifndef CTS_UTF8_H
#define CTS_UTF8_H

#include <stddef.h>

/*
 * Bytes of the character that s[0..n) begins with, 1 to 4; 0 where it is none
 * (over-long, a surrogate, past U+10FFFF, cut, or n is 0).
 */
int utf8_len(const char *s, size_t n);

#endif
