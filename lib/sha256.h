/* sha256: FIPS 180-4, for blobs, manifests and run ids. */
#ifndef CTS_SHA256_H
#define CTS_SHA256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sha256 {
	uint32_t h[8];
	uint64_t nbytes;
	unsigned char block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_end(struct sha256 *s, unsigned char digest[32]);

/* The digest of one buffer, as 64 hex digits and a NUL. */
void sha256_hex(const void *p, size_t n, char out[65]);

#ifdef __cplusplus
}
#endif

#endif
