/* scan: takes what the strict reader takes, and says what the frame says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "rec.h"
#include "scan.h"
#include "seed.h"
#include "tap.h"

static bool takes(const char *line, size_t len)
{
	struct scan s;

	return scan_record(&s, line, len) == 0;
}

#define HEAD "{\"v\":1,\"kind\":\"k\",\"id\":\"i\",\"run\":\"r\""

static const struct { bool good; const char *line; } table[] = {
	{ true, HEAD "}" },
	{ true, " { \"v\" : 1 , \"kind\":\"k\",\"id\":\"\",\"run\":\"\" } " },
	{ true, HEAD ",\"a\":[1,-2.5e+3,{\"b\":[]},{},true,false,null]}" },
	{ true, HEAD ",\"s\":\"\\u00e9\\ud83d\\ude00\\n\xc3\xa9\"}" },
	{ true, "{\"run\":\"r\",\"id\":\"i\",\"kind\":\"k\",\"v\":1}" },
	{ false, "" },
	{ false, "{}" },
	{ false, "[]" },
	{ false, HEAD },
	{ false, HEAD "}}" },
	{ false, HEAD ",}" },
	{ false, HEAD ",\"a\":}" },
	{ false, HEAD ",\"a\":01}" },
	{ false, HEAD ",\"a\":.5}" },
	{ false, HEAD ",\"a\":1.}" },
	{ false, HEAD ",\"a\":+1}" },
	{ false, HEAD ",\"a\":nan}" },
	{ false, HEAD ",\"a\":[1,]}" },
	{ false, HEAD ",\"a\":[1}" },
	{ false, HEAD ",\"a\":{1}}" },
	{ false, HEAD ",\"a\":\"\t\"}" },
	{ false, HEAD ",\"a\":\"\\x\"}" },
	{ false, HEAD ",\"a\":\"\\u0000\"}" },
	{ false, HEAD ",\"a\":\"\\ud800\"}" },
	{ false, HEAD ",\"a\":\"\xff\"}" },
	{ false, HEAD ",\"a\":\"\xc0\x80\"}" },
	{ false, HEAD ",\"id\":\"j\"}" },
	{ false, "{\"v\":2,\"kind\":\"k\",\"id\":\"\",\"run\":\"\"}" },
	{ false, "{\"v\":\"1\",\"kind\":\"k\",\"id\":\"\",\"run\":\"\"}" },
	{ false, "{\"v\":1,\"kind\":7,\"id\":\"\",\"run\":\"\"}" },
	{ false, "{\"v\":1,\"kind\":\"k\",\"run\":\"\"}" },
	{ false, "{\"v\":1,\"kind\":\"k\",\"id\":\"\"}" },
};

static void check_table(void)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		ok(takes(table[i].line, strlen(table[i].line)) ==
		   table[i].good, "%s: %s", table[i].good ? "a record" :
		   "none", table[i].line);
	ok(!takes(HEAD "\0}", sizeof(HEAD "\0}") - 1), "a NUL is none");
}

static void check_fields(void)
{
	static const char line[] = "{\"v\":1,\"kind\":\"verdict\",\"id\":"
		"\"a/b\",\"run\":\"r7\",\"outcome\":\"fail\",\"sample\":12,"
		"\"x\":{\"outcome\":\"pass\",\"id\":\"no\"},"
		"\"order_dependent\":true,\"torch\":\"2.13.0\"}";
	struct scan s;

	ok(scan_record(&s, line, strlen(line)) == 0, "a verdict");
	ok(slice_is(s.kind, "verdict") && slice_is(s.id, "a/b") &&
	   slice_is(s.run, "r7"), "its frame");
	ok(slice_is(s.outcome, "fail"), "its own outcome, not a nested one");
	ok(s.sample == 12 && s.order_dependent, "numbers and flags");
	ok(slice_is(s.torch, "2.13.0") && !s.device.p, "what is there");
	ok(!slice_is(s.device, ""), "and what is not");
	ok(scan_record(&s, HEAD "}", strlen(HEAD "}")) == 0 && s.sample == -1,
	   "no sample");
}

/* The strict reader is the judge: mutate a record and ask both. */
static void check_against_json(void)
{
	static const char base[] = HEAD ",\"a\":[1,-2.5e+3,{\"b\":\"\\u00e9"
		"\\n\xc3\xa9\"},true,null],\"n\":0}";
	static const char bytes[] =
		"{}[]\",:\\/u019eE+-.tfn \t\x01\xc3\xa9\xff";
	char line[sizeof(base)];
	size_t len, differ = 0, good = 0, at;
	uint64_t seed = 1;
	cJSON *o;
	long i;
	bool is;

	for (i = 0; i < 200000; i++) {
		len = sizeof(base) - 1;
		memcpy(line, base, sizeof(base));
		at = sizeof(HEAD) - 1 +
		     seed_next(&seed) % (len - sizeof(HEAD) + 1);
		if (seed_next(&seed) % 3) {
			line[at] = bytes[seed_next(&seed) %
					 (sizeof(bytes) - 1)];
		} else {
			memmove(line + at, line + at + 1, len - at);
			len--;
		}
		o = json_parse(line, len, NULL);
		is = o && cJSON_IsObject(o);
		good += is;
		cJSON_Delete(o);
		if (is != takes(line, len) && !differ++)
			printf("# first difference: %s\n", line);
	}
	ok(differ == 0, "agrees with the strict reader");
	ok(good > 1000, "on good ones, too");
}

int main(void)
{
	char *big = calloc(1, REC_MAX + 1);
	size_t i;

	check_table();
	check_fields();
	check_against_json();
	snprintf(big, REC_MAX, "%s,\"d\":\"", HEAD);
	for (i = strlen(big); i < REC_MAX - 3; i++)
		big[i] = 'x';
	memcpy(big + REC_MAX - 3, "\"}", 2);
	ok(takes(big, REC_MAX - 1), "as long as a record may be");
	ok(!takes(big, REC_MAX), "and one byte more");
	memset(big, '[', 5000);
	ok(!takes(big, 5000), "not without end in depth");
	free(big);
	return done();
}
