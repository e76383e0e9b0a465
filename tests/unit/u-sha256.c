/* sha256: published digests, and pieces of any size. */
#include <stdlib.h>

#include "sha256.h"
#include "tap.h"
#include "xalloc.h"

int main(void)
{
	static const struct { const char *text, *want; } v[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb924"
		      "27ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223"
			 "b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039"
		  "a33ce45964ff2167f6ecedd419db06c1" },
	};
	unsigned char digest[32], *p = xcalloc(1000000, 1);
	char hex[65], again[65];
	struct sha256 s;
	size_t i, n, at, bad = 0;

	for (i = 0; i < 3; i++) {
		sha256_hex(v[i].text, strlen(v[i].text), hex);
		is_str(hex, v[i].want, "digest of '%s'", v[i].text);
	}
	memset(p, 'a', 1000000);
	sha256_hex(p, 1000000, hex);
	is_str(hex, "cdc76e5c9914fb9281a1c7e284d73e67"
	       "f1809a48a497200e046d39ccc7112cd0", "a million times 'a'");
	for (n = 0; n < 300; n++) {
		sha256_hex(p, n, hex);
		sha256_init(&s);
		for (at = 0; at < n; at += 7)
			sha256_add(&s, p + at, n - at < 7 ? n - at : 7);
		sha256_end(&s, digest);
		for (i = 0; i < 32; i++)
			snprintf(again + 2 * i, 3, "%02x", digest[i]);
		bad += strcmp(hex, again) != 0;
	}
	is_int(bad, 0, "pieces give the digest of the whole");
	sha256_init(&s);
	sha256_add(&s, NULL, 0);
	sha256_end(&s, digest);
	ok(digest[0] == 0xe3, "nothing may be NULL");
	free(p);
	return done();
}
