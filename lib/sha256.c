#include "sha256.h"

#include <string.h>

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

#define SIGMA(x, a, b, c) (ror(x, a) ^ ror(x, b) ^ ror(x, c))
#define sigma(x, a, b, c) (ror(x, a) ^ ror(x, b) ^ (x) >> (c))

/* One round; the caller renames the eight words in place of moving them. */
#define ROUND(a, b, c, d, e, f, g, h, i) do { \
	t = h + SIGMA(e, 6, 11, 25) + (g ^ (e & (f ^ g))) + k[i] + w[i]; \
	d += t; \
	h = t + SIGMA(a, 2, 13, 22) + ((a & b) | (c & (a | b))); \
} while (0)

static void block(uint32_t s[8], const unsigned char *p)
{
	uint32_t a = s[0], b = s[1], c = s[2], d = s[3];
	uint32_t e = s[4], f = s[5], g = s[6], h = s[7];
	uint32_t w[64], t;
	int i;

	for (i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
		       (uint32_t)p[2] << 8 | p[3];
	for (; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] + sigma(w[i - 15], 7, 18, 3) +
		       sigma(w[i - 2], 17, 19, 10);
	for (i = 0; i < 64; i += 8) {
		ROUND(a, b, c, d, e, f, g, h, i);
		ROUND(h, a, b, c, d, e, f, g, i + 1);
		ROUND(g, h, a, b, c, d, e, f, i + 2);
		ROUND(f, g, h, a, b, c, d, e, i + 3);
		ROUND(e, f, g, h, a, b, c, d, i + 4);
		ROUND(d, e, f, g, h, a, b, c, i + 5);
		ROUND(c, d, e, f, g, h, a, b, i + 6);
		ROUND(b, c, d, e, f, g, h, a, i + 7);
	}
	s[0] += a;
	s[1] += b;
	s[2] += c;
	s[3] += d;
	s[4] += e;
	s[5] += f;
	s[6] += g;
	s[7] += h;
}

void sha256_init(struct sha256 *s)
{
	static const uint32_t init[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(s->h, init, sizeof(init));
	s->nbytes = 0;
}

void sha256_add(struct sha256 *s, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t have = s->nbytes % 64, take;

	if (!n)
		return;		/* p may be NULL */
	s->nbytes += n;
	if (have) {
		take = n < 64 - have ? n : 64 - have;
		memcpy(s->block + have, p, take);
		if (have + take < 64)
			return;
		block(s->h, s->block);
		p += take;
		n -= take;
	}
	for (; n >= 64; n -= 64, p += 64)
		block(s->h, p);
	if (n)
		memcpy(s->block, p, n);
}

void sha256_end(struct sha256 *s, unsigned char digest[32])
{
	uint64_t bits = s->nbytes * 8;
	unsigned char pad[72] = { 0x80 };
	size_t n = (s->nbytes % 64 < 56 ? 56 : 120) - s->nbytes % 64;
	int i;

	for (i = 0; i < 8; i++)
		pad[n + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(s, pad, n + 8);
	for (i = 0; i < 32; i++)
		digest[i] = (unsigned char)(s->h[i / 4] >> (24 - i % 4 * 8));
}

void sha256_hex(const void *p, size_t n, char out[65])
{
	static const char hex[] = "0123456789abcdef";
	unsigned char digest[32];
	struct sha256 s;
	int i;

	sha256_init(&s);
	sha256_add(&s, p, n);
	sha256_end(&s, digest);
	for (i = 0; i < 32; i++) {
		out[2 * i] = hex[digest[i] >> 4];
		out[2 * i + 1] = hex[digest[i] & 15];
	}
	out[64] = '\0';
}
