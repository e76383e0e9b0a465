/* b64: base64 with padding, RFC 4648 section 4. */
#ifndef CTS_B64_H
#define CTS_B64_H

#include <stddef.h>
#include "buf.h"

#ifdef __cplusplus
extern "C" {
#endif

void b64_encode(struct buf *out, const void *p, size_t n);

/*
 * Decode s[0..n) into out (appended).  0, or -1 where s is not base64; out is
 * then as it was.
 */
int b64_decode(struct buf *out, const char *s, size_t n);

#ifdef __cplusplus
}
#endif

#endif
