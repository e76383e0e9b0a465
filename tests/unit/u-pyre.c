/* pyre: Python's regexes on POSIX ones. */
#include <stdlib.h>
#include <string.h>

#include "pyre.h"
#include "tap.h"

static void match(const char *re, const char *subject, bool want)
{
	struct err e = { 0 };
	struct pyre p;

	if (pyre_compile(&p, re, &e) < 0) {
		ok(false, "%s does not compile: %s", re, e.msg);
		return;
	}
	ok(pyre_search(&p, subject) == want, "%s %s %s", re,
	   want ? "is found in" : "is not in", subject);
	pyre_release(&p);
}

static void refused(const char *re, const char *why)
{
	struct err e = { 0 };

	is_int(pyre_check(re, &e), -1, "%.40s is refused", re);
	ok(strstr(e.msg, why), "since %s (%s)", why, e.msg);
	is_int(e.code, EX_BADUSE, "as a mistake");
}

static void test_match(void)
{
	match("", "anything", true);
	match("add", "nn.add.x", true);
	match("^add$", "add_", false);
	match("^(?:add|sub)$", "sub", true);
	match("^(?P<op>mul)_", "mul_out", true);
	match("^a.+?b", "axxb", true);
	match("\\d\\d", "conv2d", false);
	match("conv\\dd", "conv2d", true);
	match("^\\w+$", "a_b1", true);
	match("^\\w+$", "a.b", false);
	match("\\s", "a b", true);
	match("^\\D+$", "abc", true);
	match("^\\W$", ".", true);
	match("\\bsum\\b", "nan.sum", true);
	match("\\Aadd\\Z", "add", true);
	match("(?i)ADD", "add", true);
	match("fft\\.", "fft.fft", true);
	match("fft\\.", "fftxfft", false);
	match("^[\\w.]+$", "nn.functional_x", true);
	match("^[\\w.]+$", "a:b", false);
	match("^[^\\d]+$", "ab1", false);
	match("^[a\\-z]+$", "a-z", true);
	match("^[a\\-z]+$", "b", false);
	match("^[]x]$", "]", true);
	match("^[\\]\\[^-]+$", "[]^-", true);
	match("^[\\^]$", "^", true);
	match("^[\\^-]$", "-", true);
	match("^[^]]$", "]", false);
	match("^[\\S]+$", "a b", false);
	match("^a{2,3}$", "aaa", true);
	match("^a{,2}$", "aaa", false);
	match("^a{2}$", "aa", true);
	match("a{x", "a{x", true);
	match("^\\x61$", "a", true);
	match("a\\+b", "a+b", true);
	match("a}]", "a}]", true);
	match("(|x)y", "y", true);
}

static void test_ahead(void)
{
	match("^(?!aten\\.linalg_|aten\\.fft_)", "aten.fft_fft", false);
	match("^(?!aten\\.linalg_|aten\\.fft_)", "aten.add", true);
	match("^(?!add$)a", "add", false);
	match("^(?!add$)a", "addmm", true);
	match("^(?=a)(?!ab).*c$", "axc", true);
	match("^(?=a)(?!ab).*c$", "abc", false);
	match("^(?![)(])x", "x", true);
	match("(?i)^(?!ADD)", "add", false);
}

static void test_refused(void)
{
	char *longest = malloc(PYRE_MAX + 2);

	refused("(", "'(' without ')'");
	refused("a)", "')' without '('");
	refused("[a", "'[' without ']'");
	refused("*a", "nothing to repeat");
	refused("a**", "a repeat of a repeat");
	refused("a++", "possessive");
	refused("a\\", "ends in a backslash");
	refused("(a)\\1", "back-references");
	refused("a(?=b)", "look-around");
	refused("(?<!a)b", "look-around");
	refused("^(?!a)b|c", "outside all groups");
	refused("^(?!a)*b", "can't be repeated");
	refused("^(?!a", "'(' without ')'");
	refused("(?>a)", "not supported");
	refused("(?P<x", "without '>'");
	refused("\\p", "unknown escape");
	refused("[b-a]", "bad character range");
	refused("[\xc3\xa9]", "ASCII");
	refused("(a{100}){100}", "multiply");
	refused("((a{20}){20}){20}", "multiply");
	refused("a{99999999999}", "multiply");
	memset(longest, 'a', PYRE_MAX + 1);
	longest[PYRE_MAX + 1] = '\0';
	refused(longest, "longer than");
	free(longest);
}

int main(void)
{
	test_match();
	test_ahead();
	test_refused();
	return done();
}
