/* json: what is JSON, what isn't, and what comes of it. */
#include <math.h>
#include <stdlib.h>

#include "arena.h"
#include "buf.h"
#include "json.h"
#include "seed.h"
#include "tap.h"
#include "utf8.h"

static cJSON *parse(const char *s, struct err *e)
{
	return json_parse(s, strlen(s), e);
}

static void test_good(void)
{
	/* What cJSON prints of it. */
	static const struct { const char *text, *want; } v[] = {
		{ "{}", "{}" }, { " [ ] ", "[]" },
		{ "\t\r\n{\"a\" : 1 , \"b\":[true,false,null]}\n",
		  "{\"a\":1,\"b\":[true,false,null]}" },
		{ "\"\\u00e4\\u20ac\\ud83d\\ude00\\\"\\\\\\/\\n\"",
		  "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\\\"\\\\/\\n\"" },
		{ "\"\xc3\xa4 plain \xf4\x8f\xbf\xbf\"",
		  "\"\xc3\xa4 plain \xf4\x8f\xbf\xbf\"" },
		{ "-0.5e+3", "-500" }, { "0", "0" }, { "-7", "-7" },
		{ "123456789012345", "123456789012345" },
		{ "1E2", "100" }, { "[[[[1]]]]", "[[[[1]]]]" },
		{ "{\"\":{\"\":[]}}", "{\"\":{\"\":[]}}" },
		{ "{\"a\":1,\"A\":2}", "{\"a\":1,\"A\":2}" },
		{ "\"0123456701234567\\t0123456701234567\"",
		  "\"0123456701234567\\t0123456701234567\"" },
	};
	struct err e;
	cJSON *j;
	size_t i;
	char *s;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		e.msg[0] = '\0';
		j = parse(v[i].text, &e);
		s = j ? cJSON_PrintUnformatted(j) : NULL;
		is_str(s ? s : e.msg, v[i].want, "reads text %zu", i);
		free(s);
		cJSON_Delete(j);
	}
	j = parse("[9007199254740991,1e300,-1e300,0.1]", &e);
	ok(j && cJSON_GetArrayItem(j, 0)->valuedouble == 9007199254740991.0 &&
	   cJSON_GetArrayItem(j, 1)->valueint == 0x7fffffff &&
	   cJSON_GetArrayItem(j, 2)->valueint == -0x7fffffff - 1 &&
	   cJSON_GetArrayItem(j, 3)->valuedouble == 0.1, "numbers are exact");
	is_int(cJSON_GetArraySize(j), 4, "cJSON can count them");
	cJSON_AddItemToArray(j, cJSON_CreateNumber(5));
	is_int(cJSON_GetArraySize(j), 5, "and add one at the end");
	cJSON_DeleteItemFromArray(j, 0);
	ok(cJSON_GetArrayItem(j, 0)->valuedouble == 1e300, "and take one out");
	cJSON_Delete(j);
}

static void test_bad(void)
{
	static const struct { const char *text, *want; } v[] = {
		{ "", "byte 1: text ends where a value was expected" },
		{ "{", "byte 2: text ends where a key was expected" },
		{ "{\"a\"", "byte 5: text ends where ':' was expected" },
		{ "{\"a\":}", "byte 6: unexpected '}' where a value was "
		  "expected" },
		{ "{\"a\":1,}", "byte 8: unexpected '}' where a key was "
		  "expected" },
		{ "[1,]", "byte 4: unexpected ']' where a value was "
		  "expected" },
		{ "[1 2]", "byte 4: unexpected '2' where ',' or ']' was "
		  "expected" },
		{ "{a:1}", "byte 2: unexpected 'a' where a key was expected" },
		{ "{\"a\":1,\"b\":2,\"a\":3}", "byte 19: key 'a' comes twice" },
		{ "[{\"x\":{\"y\":1,\"y\":1}}]", NULL },
		{ "{\"a\":1,\"\\u0061\":3}", NULL },
		{ "01", "byte 2: unexpected '1' where the end was expected" },
		{ "-", NULL }, { "+1", NULL }, { ".5", NULL }, { "1.", NULL },
		{ "1e", NULL }, { "0x10", NULL }, { "1e400", NULL },
		{ "-1e400", NULL }, { "NaN", NULL }, { "Infinity", NULL },
		{ "nul", NULL }, { "truex", NULL }, { "True", NULL },
		{ "'a'", NULL }, { "\"a", NULL }, { "\"a\\", NULL },
		{ "\"a\\\"", NULL }, { "\"\\x41\"", NULL },
		{ "\"\\u12g4\"", NULL }, { "\"\\u12\"", NULL },
		{ "\"\\u0000\"", "byte 4: \\u0000 in a string" },
		{ "\"\\ud83d\"", NULL }, { "\"\\ude00\"", NULL },
		{ "\"\\ud83d\\u0041\"", NULL }, { "\"\\ud83d\\", NULL },
		{ "\"a\tb\"", "byte 3: control byte in a string" },
		{ "\"0123456789\xff\"", "byte 12: not UTF-8" },
		{ "\"\xc3\"", NULL }, { "\"\xe2\x82", NULL },
		{ "{\"\xff\":1}", NULL }, { "\xef\xbb\xbf{}", NULL },
		{ "{} {}", NULL }, { "[]]", NULL }, { "// x\n{}", NULL },
		{ "{\n\"a\": 1,\n\"b\"; 2}", "line 3: unexpected ';' where ':' "
		  "was expected" },
	};
	struct err e;
	cJSON *j;
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		e.code = 0;
		e.msg[0] = '\0';
		j = parse(v[i].text, &e);
		ok(!j && e.code == EX_BADINPUT && e.msg[0],
		   "refuses text %zu", i);
		if (v[i].want)
			is_str(e.msg, v[i].want, "and says why");
		cJSON_Delete(j);
	}
	ok(!json_parse("[1]\0", 4, &e), "a NUL behind it is something");
	ok(!json_parse("nu\0l", 4, NULL), "nobody need want the reason");
}

static void test_depth(void)
{
	struct buf b = BUF_INIT;
	struct err e;
	cJSON *j;
	int i;

	for (i = 0; i < JSON_DEPTH; i++)
		buf_addch(&b, '[');
	for (i = 0; i < JSON_DEPTH; i++)
		buf_addch(&b, ']');
	j = json_parse(b.p, b.len, &e);
	ok(j != NULL, "the greatest depth is read");
	cJSON_Delete(j);
	buf_reset(&b);
	for (i = 0; i < 1000000; i++)
		buf_addstr(&b, "[");
	ok(!json_parse(b.p, b.len, &e) && strstr(e.msg, "nested too deeply"),
	   "a million levels are not");
	buf_reset(&b);
	for (i = 0; i < 200000; i++)
		buf_addstr(&b, "{\"a\":");
	ok(!json_parse(b.p, b.len, &e), "nor as objects");
	buf_release(&b);
}

static void test_many_keys(void)
{
	struct buf b = BUF_INIT;
	struct err e;
	cJSON *j;
	int i;

	buf_addch(&b, '{');
	for (i = 0; i < 50000; i++)
		buf_addf(&b, "%s\"k%d\":0", i ? "," : "", i);
	buf_addch(&b, '}');
	j = json_parse(b.p, b.len, &e);
	is_int(cJSON_GetArraySize(j), 50000, "many keys are read");
	cJSON_Delete(j);
	b.p[--b.len] = '\0';
	buf_addstr(&b, ",\"k123\":1}");
	ok(!json_parse(b.p, b.len, &e) &&
	   strstr(e.msg, "key 'k123' comes twice"),
	   "one among many that comes twice is found");
	buf_release(&b);
}

static void test_mutated(void)
{
	static const char text[] =
		"{\"v\":1,\"kind\":\"obs\",\"id\":\"a/b/c/d\",\"x\":[1,-2.5e3,"
		"true,null,{\"y\":\"\\u00e4\\n\xc3\xa4\"}],\"z\":{}}";
	char copy[sizeof(text)];
	struct err e;
	uint64_t s = 42;
	size_t n, at, good = 0;
	cJSON *j;
	int i, k;

	for (i = 0; i < 20000; i++) {
		memcpy(copy, text, sizeof(text));
		for (k = 1 + (int)(seed_next(&s) % 3); k; k--) {
			at = seed_next(&s) % (sizeof(text) - 1);
			copy[at] = (char)seed_next(&s);
		}
		n = seed_next(&s) % 4 ? sizeof(text) - 1 :
		    seed_next(&s) % sizeof(text);
		j = json_parse(copy, n, &e);
		good += j != NULL;
		cJSON_Delete(j);
	}
	ok(good > 100 && good < 10000,
	   "mutated text neither crashes nor leaks");
}

static void test_arena(void)
{
	static const char good[] = "{\"a\":[1,\"x\\ny\",{}],\"b\":null}";
	static const char bad[] = "{\"a\":[1,\"x\\ny\",\"cut";
	struct arena a = ARENA_INIT;
	struct err e;
	cJSON *j, *copy;
	bool same = true, refused = true;
	char *s;
	int i;

	for (i = 0; i < 1000; i++) {
		refused &= !json_parse_in(&a, bad, strlen(bad), &e);
		j = json_parse_in(&a, good, strlen(good), &e);
		s = j ? cJSON_PrintUnformatted(j) : NULL;
		same &= s && !strcmp(s, good);
		free(s);
		if (i % 10 == 9)
			arena_reset(&a);
	}
	ok(same, "an arena's tree is the same");
	ok(refused, "and so is what is refused");
	j = json_parse_in(&a, good, strlen(good), &e);
	copy = cJSON_Duplicate(j, true);
	arena_release(&a);
	s = cJSON_PrintUnformatted(copy);
	is_str(s, good, "a copy of it outlives the arena");
	free(s);
	cJSON_Delete(copy);
}

static void test_get(void)
{
	cJSON *j = parse("{\"a\":1,\"ab\":2,\"\":3,\"A\":4,\"l\":[5]}",
			 NULL);

	is_int(json_get(j, "a")->valueint, 1, "a key is found");
	is_int(json_get(j, "ab")->valueint, 2, "a longer one");
	is_int(json_get(j, "")->valueint, 3, "an empty one");
	is_int(json_get(j, "A")->valueint, 4, "letter for letter");
	ok(!json_get(j, "b") && !json_get(j, "abc"), "no other");
	ok(!json_get(NULL, "a"), "nothing in nothing");
	ok(!json_get(json_get(j, "l"), "a") && !json_get(json_get(j, "a"), ""),
	   "nor in what is no object");
	cJSON_Delete(j);
}

static void test_utf8(void)
{
	static const struct { const char *s; size_t n; int want; } v[] = {
		{ "", 0, 0 }, { "a", 1, 1 }, { "\0", 1, 1 }, { "\x7f", 1, 1 },
		{ "\x80", 1, 0 }, { "\xbf", 1, 0 }, { "\xc1\xbf", 2, 0 },
		{ "\xc2\x80", 2, 2 }, { "\xdf\xbf", 2, 2 },
		{ "\xdf", 1, 0 }, { "\xdf\x3f", 2, 0 },
		{ "\xe0\x9f\xbf", 3, 0 }, { "\xe0\xa0\x80", 3, 3 },
		{ "\xed\x9f\xbf", 3, 3 }, { "\xed\xa0\x80", 3, 0 },
		{ "\xed\xbf\xbf", 3, 0 }, { "\xee\x80\x80", 3, 3 },
		{ "\xef\xbf\xbf", 3, 3 }, { "\xef\xbf\xbf", 2, 0 },
		{ "\xf0\x8f\xbf\xbf", 4, 0 }, { "\xf0\x90\x80\x80", 4, 4 },
		{ "\xf4\x8f\xbf\xbf", 4, 4 }, { "\xf4\x90\x80\x80", 4, 0 },
		{ "\xf5\x80\x80\x80", 4, 0 }, { "\xff", 1, 0 },
		{ "\xf8\x88\x80\x80\x80", 5, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		is_int(utf8_len(v[i].s, v[i].n), v[i].want,
		       "UTF-8 sequence %zu", i);
}

int main(void)
{
	test_good();
	test_bad();
	test_depth();
	test_many_keys();
	test_mutated();
	test_arena();
	test_get();
	test_utf8();
	return done();
}
