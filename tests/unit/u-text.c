/* Text from outside, for each place that it may go to. */
#include "tap.h"

#include <stdlib.h>

#include "buf.h"
#include "text.h"

static void check(void (*fn)(struct buf *, const char *), const char *in,
		  const char *want, const char *name)
{
	struct buf b = BUF_INIT;

	fn(&b, in);
	is_str(b.p, want, name);
	buf_release(&b);
}

static void cut(const char *in, size_t max, const char *want, const char *name)
{
	char *got = text_cut(in, max);

	is_str(got, want, name);
	free(got);
}

int main(void)
{
	struct buf b = BUF_INIT;

	cut("abc", 3, "abc", "what fits is kept");
	cut("abcd", 3, "abc...", "what doesn't is cut");
	cut("a\xc3\xa9", 2, "a...", "never inside a character");
	cut("a\xff" "b", 9, "a\xef\xbf\xbd" "b", "bad UTF-8 is replaced");
	cut("\xe2\x82", 9, "\xef\xbf\xbd\xef\xbf\xbd", "a cut character too");
	ok(text_cut(NULL, 3) == NULL, "nothing stays nothing");

	check(text_plain, "a\033[31m\nb\x7f", "a?[31m?b?", "controls");
	check(text_plain, "\xc2\x9b" "x", "?x", "C1 controls");
	check(text_plain, "a\xe2\x80\xae" "b", "a?b", "a change of direction");
	check(text_plain, "\xc3\xa9", "\xc3\xa9", "letters stay");

	check(text_shell, "opinfo/add/int8/plain", "opinfo/add/int8/plain",
	      "a plain word");
	check(text_shell, "", "''", "an empty word");
	check(text_shell, "a b", "'a b'", "a blank");
	check(text_shell, "$(x)'", "'$(x)'\\'''", "quotes and commands");
	check(text_shell, "~", "'~'", "a tilde");

	check(text_xml, "<a b=\"'\">&", "&lt;a b=&quot;&#39;&quot;&gt;&amp;",
	      "markup");
	check(text_xml, "\x01" "a\n\tb", "\xef\xbf\xbd" "a\n\tb",
	      "what XML forbids");
	check(text_xml, "\xef\xbf\xbf", "\xef\xbf\xbd", "U+FFFF");

	ok(text_is_url("https://example.org/a?b#c"), "an address");
	ok(text_is_url("http://x"), "a short one");
	ok(!text_is_url("javascript:alert(1)"), "a script is none");
	ok(!text_is_url("https://"), "nor half of one");
	ok(!text_is_url("https://a b"), "nor one with a blank");
	ok(!text_is_url("https://a\"b"), "nor one with a quote");

	text_count(&b, 0);
	is_str(b.p, "0", "0");
	buf_reset(&b);
	text_count(&b, 999);
	is_str(b.p, "999", "999");
	buf_reset(&b);
	text_count(&b, 1234567);
	is_str(b.p, "1,234,567", "1,234,567");
	buf_release(&b);
	return done();
}
