/* b64: the RFC's vectors, every length, and what is no base64. */
#include <stdlib.h>

#include "b64.h"
#include "seed.h"
#include "tap.h"

static void test_vectors(void)
{
	static const struct { const char *plain, *coded; } v[] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
		{ "\xff\xef\xfe", "/+/+" },
	};
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		buf_reset(&b);
		b64_encode(&b, v[i].plain, strlen(v[i].plain));
		is_str(b.p, v[i].coded, "encodes '%s'", v[i].coded);
		buf_reset(&b);
		buf_addstr(&b, "x");
		is_int(b64_decode(&b, v[i].coded, strlen(v[i].coded)), 0,
		       "decodes it");
		is_str(b.p + 1, v[i].plain, "to the same, appended");
	}
	buf_release(&b);
}

static void test_wrong(void)
{
	static const char *const wrong[] = {
		"Z", "Zg", "Zg=", "Zg===", "====", "=", "Zg==Zg==", "Zm9 ",
		"Zm9v\n", "Zm9-", "Zm_v", "Zh==", "Zm9=", "Z===", "Zm9v=g==",
		"Zm\xff" "v", "Zg=v", "\x80\x80\x80\x80", "Zm9v====",
	};
	struct buf b = BUF_INIT;
	size_t i;

	buf_addstr(&b, "kept");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		is_int(b64_decode(&b, wrong[i], strlen(wrong[i])), -1,
		       "wrong text %zu is refused", i);
		is_str(b.p, "kept", "and nothing was appended");
	}
	is_int(b64_decode(&b, "Zm\0v", 4), -1, "a NUL is refused");
	buf_release(&b);
	is_int(b64_decode(&b, "Zm9", 3), -1, "a fresh buffer, too");
	is_str(b.p, "", "stays empty");
}

static void test_lengths(void)
{
	struct buf coded = BUF_INIT, back = BUF_INIT;
	unsigned char p[512];
	uint64_t s = 1;
	size_t n, i, bad = 0, flipped = 0;

	for (i = 0; i < sizeof(p); i++)
		p[i] = (unsigned char)seed_next(&s);
	for (n = 0; n <= sizeof(p); n++) {
		buf_reset(&coded);
		buf_reset(&back);
		b64_encode(&coded, p, n);
		bad += coded.len != (n + 2) / 3 * 4 ||
		       strlen(coded.p) != coded.len ||
		       b64_decode(&back, coded.p, coded.len) ||
		       back.len != n || memcmp(back.p, p, n);
	}
	is_int(bad, 0, "every length comes back");
	/* One bad byte is seen at any place. */
	for (i = 0; i + 4 < coded.len; i++) {
		char was = coded.p[i];

		coded.p[i] = '!';
		flipped += b64_decode(&back, coded.p, coded.len) == -1;
		coded.p[i] = was;
	}
	is_int(flipped, coded.len - 4, "a bad byte is seen at any place");
	buf_release(&coded);
	buf_release(&back);
}

int main(void)
{
	test_vectors();
	test_wrong();
	test_lengths();
	return done();
}
