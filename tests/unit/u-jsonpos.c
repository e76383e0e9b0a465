/* jsonpos: lines of keys, keys that come twice, faults with their line. */
#include <string.h>

#include "jsonpos.h"
#include "tap.h"

static void fault(const char *text, const char *want)
{
	struct jsonpos p = JSONPOS_INIT;
	struct err e = { 0 };

	is_int(jsonpos_scan(&p, text, strlen(text), &e), -1, "refused: %s",
	       want);
	is_int(e.code, EX_BADINPUT, "as bad input");
	is_str(e.msg, want, "with its line");
	jsonpos_release(&p);
}

static void test_lines(void)
{
	static const char text[] =
		"{\n"
		"  \"a\": 1,\n"
		"  \"b\": {\"c\": true,\n"
		"         \"d.e\": [1,\n"
		"                 \"x\\u00e9\\n\", -2.5e+3]},\n"
		"  \"a\": null, \"\\u0062\": {}\n"
		"}\n";
	struct jsonpos p = JSONPOS_INIT;
	struct err e = { 0 };
	size_t i, twice = 0;

	is_int(jsonpos_scan(&p, text, sizeof(text) - 1, &e), 0, "it scans");
	is_int(jsonpos_line(&p, "a"), 2, "a key's line is the first one's");
	is_int(jsonpos_line(&p, "b.c"), 3, "a nested key");
	is_int(jsonpos_line(&p, "b.d.e"), 4, "a key with a dot");
	is_int(jsonpos_line(&p, "b.d.e[1]"), 5, "an element");
	is_int(jsonpos_line(&p, "b.d.e[1].x"), 5, "else the parent's");
	is_int(jsonpos_line(&p, "nowhere"), 0, "or none");
	for (i = 0; i < p.n; i++)
		twice += p.v[i].first != 0;
	is_int(twice, 2, "two keys come twice, one of them escaped");
	jsonpos_release(&p);
}

static void test_faults(void)
{
	fault("", "1: not JSON: the text is cut short");
	fault("{\n\"a\":", "2: not JSON: the text is cut short");
	fault("{\"a\":1,}", "1: not JSON: a comma before '}'");
	fault("[1,\n]", "2: not JSON: a comma before ']'");
	fault("{\"a\" 1}", "1: not JSON: expected ':' after a key");
	fault("{a: 1}", "1: not JSON: expected a key in double quotes");
	fault("[01]", "1: not JSON: a number begins with 0");
	fault("[1.]", "1: not JSON: a number ends in '.'");
	fault("[-]", "1: not JSON: a number without digits");
	fault("[1e]", "1: not JSON: an exponent without digits");
	fault("[True]", "1: not JSON: expected true, false or null in lower "
	      "case");
	fault("[NaN]", "1: not JSON: expected true, false or null in lower "
	      "case");
	fault("['a']", "1: not JSON: strings need double quotes");
	fault("{} // x", "1: not JSON: more text after the end");
	fault("[\n# x\n]", "2: not JSON: comments are not allowed");
	fault("[\"a\nb\"]", "1: not JSON: a string without closing quote");
	fault("[\"\xff\"]", "1: not JSON: a string is not UTF-8");
	fault("[\"\xed\xa0\x80\"]", "1: not JSON: a string is not UTF-8");
	fault("[\"\\q\"]", "1: not JSON: unknown escape in a string");
	fault("[\"\\u00g0\"]", "1: not JSON: \\u needs four hex digits");
	fault("[\n\"\\ud800\"]", "2: not JSON: half a surrogate pair");
	fault("[\"\\udc00\"]", "1: not JSON: half a surrogate pair");
	fault("[\"\\ud800\\ud800\"]",
	      "1: not JSON: half a surrogate pair");
	fault("[\"\\u0000\"]", "1: not JSON: a NUL character in a string");
	fault("[\"a", "1: not JSON: cut inside a string");
	fault("[[[[[[[[[[[[[[[[[", "1: not JSON: nested too deep");
}

/* A pair is one character, in a key as in a value. */
static void test_pair(void)
{
	struct jsonpos p = JSONPOS_INIT;
	struct err e = { 0 };
	const char *text = "{\n\"\\ud83d\\ude00\":\"\\ud83d\\ude00\"}";

	is_int(jsonpos_scan(&p, text, strlen(text), &e), 0, "a pair is read");
	is_int(jsonpos_line(&p, "\xf0\x9f\x98\x80"), 2,
	       "and found by its character");
	jsonpos_release(&p);
}

static void test_nul(void)
{
	struct jsonpos p = JSONPOS_INIT;
	struct err e = { 0 };

	is_int(jsonpos_scan(&p, "{}\0", 3, &e), -1, "a NUL byte is refused");
	jsonpos_release(&p);
}

int main(void)
{
	test_lines();
	test_faults();
	test_pair();
	test_nul();
	return done();
}
