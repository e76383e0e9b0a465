/* jw: JSON as it must look, and misuse. */
#include <math.h>
#include <signal.h>

#include "jw.h"
#include "json.h"
#include "tap.h"

static struct buf b = BUF_INIT;
static struct jw w;

static void fresh(void)
{
	buf_reset(&b);
	jw_init(&w, &b);
}

static void value_without_key(void *p)
{
	(void)p;
	fresh();
	jw_obj(&w);
	jw_int(&w, 1);
}

static void key_in_array(void *p)
{
	(void)p;
	fresh();
	jw_arr(&w);
	jw_key(&w, "a");
}

static void key_after_key(void *p)
{
	(void)p;
	fresh();
	jw_obj(&w);
	jw_key(&w, "a");
	jw_key(&w, "b");
}

static void key_without_value(void *p)
{
	(void)p;
	fresh();
	jw_obj(&w);
	jw_key(&w, "a");
	jw_obj_end(&w);
}

static void wrong_end(void *p)
{
	(void)p;
	fresh();
	jw_obj(&w);
	jw_arr_end(&w);
}

static void too_deep(void *p)
{
	int i;

	(void)p;
	fresh();
	for (i = 0; i <= JW_DEPTH; i++)
		jw_arr(&w);
}

static void not_finite(void *p)
{
	(void)p;
	fresh();
	jw_num(&w, NAN);
}

static void test_numbers(void)
{
	static const struct { int64_t v; const char *want; } ints[] = {
		{ 0, "0" }, { -1, "-1" },
		{ 9007199254740991, "9007199254740991" },
		{ 9007199254740992, "\"9007199254740992\"" },
		{ -9007199254740991, "-9007199254740991" },
		{ -9007199254740992, "\"-9007199254740992\"" },
		{ INT64_MIN, "\"-9223372036854775808\"" },
	};
	static const struct { double v; const char *want; } hex[] = {
		{ 1.5, "\"0x1.8p+0\"" }, { 0.0, "\"0x0p+0\"" },
		{ -0.0, "\"-0x0p+0\"" }, { NAN, "\"nan\"" },
		{ -NAN, "\"nan\"" }, { INFINITY, "\"inf\"" },
		{ -INFINITY, "\"-inf\"" },
		{ 0x1p-1074, "\"0x0.0000000000001p-1022\"" },
		{ 0x1.fffffffffffffp+1023, "\"0x1.fffffffffffffp+1023\"" },
	};
	size_t i;

	for (i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
		fresh();
		jw_int(&w, ints[i].v);
		is_str(b.p, ints[i].want, "integer %s", ints[i].want);
	}
	fresh();
	jw_uint(&w, UINT64_MAX);
	is_str(b.p, "\"18446744073709551615\"", "the largest of all");
	fresh();
	jw_uint(&w, 67);
	is_str(b.p, "67", "a small unsigned one");
	for (i = 0; i < sizeof(hex) / sizeof(hex[0]); i++) {
		fresh();
		jw_hexf(&w, hex[i].v);
		is_str(b.p, hex[i].want, "float %s", hex[i].want);
	}
	fresh();
	jw_num(&w, 0.25);
	is_str(b.p, "0.25", "a plain number");
	fresh();
	jw_num(&w, 1e-9);
	is_str(b.p, "1e-09", "a small one is not 0");
}

static void test_strings(void)
{
	static const struct { const char *s, *want; } strings[] = {
		{ "", "\"\"" }, { "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
		{ "\n\r\t\b\x01\x1f\x7f",
		  "\"\\n\\r\\t\\u0008\\u0001\\u001f\x7f\"" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "a\xff" "b\xc3", "\"a\xef\xbf\xbd" "b\xef\xbf\xbd\"" },
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
	};
	unsigned char all[256];
	struct err e;
	cJSON *v;
	size_t i;

	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		fresh();
		jw_str(&w, strings[i].s);
		is_str(b.p, strings[i].want, "string %zu", i);
	}
	fresh();
	jw_strn(&w, "a\0b", 3);
	is_str(b.p, "\"a\\u0000b\"", "a NUL is escaped");
	for (i = 0; i < 255; i++)
		all[i] = (unsigned char)(i + 1);
	fresh();
	jw_strn(&w, (const char *)all, 255);
	v = json_parse(b.p, b.len, &e);
	ok(cJSON_IsString(v) && !memcmp(v->valuestring, all, 0x7f),
	   "any bytes give a string that can be read");
	cJSON_Delete(v);
}

int main(void)
{
	static const struct { void (*f)(void *); const char *name; } bugs[] = {
		{ value_without_key, "a value without its key" },
		{ key_in_array, "a key in an array" },
		{ key_after_key, "a key after a key" },
		{ key_without_value, "a key without its value" },
		{ wrong_end, "the wrong end" },
		{ too_deep, "too deep" },
		{ not_finite, "a number that is not finite" },
	};
	char err[512];
	size_t i;
	int status;

	fresh();
	jw_record(&w, "obs", "a/b/c/d", "r1");
	jw_key(&w, "list");
	jw_arr(&w);
	jw_int(&w, 1);
	jw_obj(&w);
	jw_obj_end(&w);
	jw_arr(&w);
	jw_arr_end(&w);
	jw_bool(&w, false);
	jw_arr_end(&w);
	jw_key(&w, "data");
	jw_b64(&w, "abcd", 4);
	jw_key(&w, "raw");
	jw_raw(&w, "{\"x\":1}", 7);
	jw_kbool(&w, "t", true);
	jw_khexf(&w, "h", 2);
	jw_knum(&w, "t_s", 1.5);
	jw_obj_end(&w);
	is_str(b.p, "{\"v\":1,\"kind\":\"obs\",\"id\":\"a/b/c/d\","
	       "\"run\":\"r1\",\"list\":[1,{},[],false],\"data\":\"YWJjZA==\","
	       "\"raw\":{\"x\":1},\"t\":true,\"h\":\"0x1p+1\",\"t_s\":1.5}",
	       "a record");
	test_numbers();
	test_strings();
	for (i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++) {
		status = tap_child(bugs[i].f, NULL, err, sizeof(err));
		ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
		   !strncmp(err, "BUG: ", 5), "%s is a BUG", bugs[i].name);
	}
	buf_release(&b);
	return done();
}
