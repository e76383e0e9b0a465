/* wire: what goes in comes out, and a cut end is bad and never read over. */
#include <stdlib.h>
#include "tap.h"
#include "wire.h"

int main(void)
{
	struct buf b = BUF_INIT;
	struct wire w;
	size_t n, cut;
	char *s;

	wire_put_u8(&b, 200);
	wire_put_u32(&b, 0xdeadbeef);
	wire_put_u64(&b, UINT64_MAX);
	wire_put_str(&b, "text");
	wire_put_bytes(&b, "\0\1", 2);
	w = (struct wire)WIRE_INIT(b.p, b.len);
	ok(wire_u8(&w) == 200, "a byte");
	ok(wire_u32(&w) == 0xdeadbeef, "four");
	ok(wire_u64(&w) == UINT64_MAX, "eight");
	s = wire_str(&w);
	is_str(s, "text", "a text");
	free(s);
	ok(!memcmp(wire_bytes(&w, &n), "\0\1", 2) && n == 2, "bytes");
	ok(!w.bad && !w.left, "and that is all");
	wire_u8(&w);
	ok(w.bad, "one more is bad");
	ok(wire_u64(&w) == 0, "and gives 0");

	for (cut = 0; cut < b.len; cut++) {
		char *copy = malloc(cut + 1);

		memcpy(copy, b.p, cut);
		w = (struct wire)WIRE_INIT(copy, cut);
		wire_u8(&w);
		wire_u32(&w);
		wire_u64(&w);
		free(wire_str(&w));
		wire_bytes(&w, &n);
		if (!w.bad)
			break;
		free(copy);
	}
	ok(cut == b.len, "cut at any place it is bad");

	buf_reset(&b);
	wire_put_u64(&b, UINT64_MAX / 2);
	w = (struct wire)WIRE_INIT(b.p, b.len);
	ok(wire_count(&w, 8) == 0 && w.bad, "no count beyond what is left");
	w = (struct wire)WIRE_INIT(b.p, b.len);
	ok(!wire_bytes(&w, &n) && w.bad, "nor a length");
	buf_reset(&b);
	wire_put_bytes(&b, "a\0b", 3);
	w = (struct wire)WIRE_INIT(b.p, b.len);
	free(wire_str(&w));
	ok(w.bad, "a text has no NUL inside");
	buf_release(&b);
	return done();
}
