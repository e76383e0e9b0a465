/* case: ids, and records there and back. */
#include <stdlib.h>

#include "case.h"
#include "json.h"
#include "seed.h"
#include "tap.h"

static int read_text(struct case_rec *c, const char *text, cJSON **j,
		     struct err *e)
{
	struct rec r = { .kind = REC_CASE };

	*j = json_parse(text, strlen(text), e);
	r.json = *j;
	r.id = rec_str_opt(*j, "id", "");
	r.run = rec_str_opt(*j, "run", "");
	return case_read(c, &r, e);
}

static void test_ids(void)
{
	char out[CASE_ID_MAX], p[4][CASE_ID_MAX], longer[600];
	static const char *const wrong[] = {
		"", "a", "a/b/c", "a/b/c/", "/b/c/d", "a//c/d", "a/b/c/d/e",
		"a/b/c/d/", "a/b/c/.", "../b/c/d", "a/b c/c/d", "a/b\n/c/d",
		"a/b/c/d\xc3\xa4", "a/b*/c/d", "a/b/c/d?",
	};
	struct err e;
	size_t i;

	is_int(case_id(out, "opinfo", "div:floor_rounding", "int64",
		       "out+neg@1", &e), 0, "an id is built");
	is_str(out, "opinfo/div:floor_rounding/int64/out+neg@1", "as it reads");
	is_int(case_id_split(out, p[0], p[1], p[2], p[3]), 0, "and split");
	ok(!strcmp(p[0], "opinfo") && !strcmp(p[1], "div:floor_rounding") &&
	   !strcmp(p[2], "int64") && !strcmp(p[3], "out+neg@1"),
	   "into its parts");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		is_int(case_id_split(wrong[i], p[0], p[1], p[2], p[3]), -1,
		       "wrong id %zu is refused", i);
	is_int(case_id(out, "a", "", "c", "d", &e), -1, "a part is empty");
	is_str(e.msg, "'' is no op name: only letters, digits and ._:+@- are",
	       "and it says which");
	is_int(case_id(out, "a", "b", "c", "..", &e), -1, "a part is ..");
	is_int(case_id(out, "a/x", "b", "c", "d", &e), -1, "a part has a /");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	is_int(case_id(out, "a", longer, "c", "d", &e), -1, "one is over-long");
	memcpy(longer, "a/b/c/", 6);
	is_int(case_id_split(longer, p[0], p[1], p[2], p[3]), -1,
	       "an over-long id is refused");
	longer[CASE_ID_MAX - 1] = '\0';
	is_int(case_id_split(longer, p[0], p[1], p[2], p[3]), 0,
	       "one that is just short enough is not");
}

#define HEAD "{\"v\":1,\"kind\":\"case\",\"id\":\"opinfo/add/float32/plain\"," \
	"\"run\":\"r\",\"suite\":\"opinfo\",\"op\":\"add\"," \
	"\"variant\":\"plain\",\"dtype\":\"float32\""

static void test_good(void)
{
	static const char all[] = HEAD ",\"device\":\"lazy\",\"level\":2,"
		"\"level_reason\":\"a\",\"capability\":\"inference\","
		"\"oracle\":\"float64\",\"samples\":3,"
		"\"seed\":\"18446744073709551615\",\"backend_import\":[\"m\"],"
		"\"sample\":1,\"edits\":[\"half 0\"],\"attempt\":4,"
		"\"timeout_s\":2.5,\"isolate\":\"case\"}";
	struct buf b = BUF_INIT;
	char key[CASE_KEY_MAX];
	struct case_rec c;
	struct err e;
	struct jw w;
	cJSON *j;

	is_int(read_text(&c, HEAD "}", &j, &e), 0, "a short case is read");
	ok(!strcmp(c.oracle, "cpu") && c.level == 1 && !c.samples &&
	   c.only == -1 && c.seed == SEED_DEFAULT && !c.isolate &&
	   !c.backend_import && !c.timeout_s && !*c.device,
	   "the rest is as documented");
	cJSON_Delete(j);
	is_int(read_text(&c, all, &j, &e), 0, "a full case is read");
	ok(c.level == 2 && c.samples == 3 && c.only == 1 && c.isolate &&
	   c.seed == UINT64_MAX && c.timeout_s == 2.5 &&
	   cJSON_GetArraySize(c.backend_import) == 1, "all of it");
	jw_init(&w, &b);
	case_write(&w, &c);
	is_str(b.p, all, "and written the same");
	case_key(key, &c);
	is_str(key, "opinfo/add/float32/plain#4", "its key has the attempt");
	cJSON_Delete(j);
	buf_release(&b);
}

static void test_bad(void)
{
	static const struct { const char *text, *want; } v[] = {
		{ "{\"v\":1,\"kind\":\"case\",\"id\":\"a/b/c/d\"}",
		  "'suite' needs a string, not nothing" },
		{ "{\"id\":\"a/b/c/d\",\"suite\":\"a\",\"op\":7}",
		  "'op' needs a string, not a number" },
		{ "{\"id\":\"a/b/c\",\"suite\":\"a\",\"op\":\"b\","
		  "\"dtype\":\"c\",\"variant\":\"d\"}",
		  "'a/b/c' is no case id" },
		{ "{\"id\":\"a/b/c/d\",\"suite\":\"a\",\"op\":\"x\","
		  "\"dtype\":\"c\",\"variant\":\"d\"}",
		  "'op' is 'x', which is not that of the id 'a/b/c/d'" },
		{ HEAD ",\"level\":9}", "'level' is 9, not 1 to 8" },
		{ HEAD ",\"level\":1.5}",
		  "'level' needs a whole number, not a broken one" },
		{ HEAD ",\"level\":null}",
		  "'level' needs a whole number, not null" },
		{ HEAD ",\"samples\":-1}", NULL },
		{ HEAD ",\"sample\":\"x\"}", NULL },
		{ HEAD ",\"edits\":[\"half 0\"]}",
		  "'edits' are of one sample, and there is no 'sample'" },
		{ HEAD ",\"sample\":1,\"edits\":[1]}", NULL },
		{ HEAD ",\"attempt\":0}", NULL },
		{ HEAD ",\"seed\":-1}", NULL },
		{ HEAD ",\"seed\":\"18446744073709551616\"}", NULL },
		{ HEAD ",\"seed\":\"0x1\"}", NULL },
		{ HEAD ",\"seed\":1e17}", NULL },
		{ HEAD ",\"timeout_s\":-1}", NULL },
		{ HEAD ",\"timeout_s\":\"1\"}", NULL },
		{ HEAD ",\"backend_import\":\"m\"}", NULL },
		{ HEAD ",\"backend_import\":[1]}", NULL },
		{ HEAD ",\"isolate\":\"never\"}", NULL },
		{ HEAD ",\"isolate\":true}", NULL },
		{ HEAD ",\"device\":3}", NULL },
	};
	struct case_rec c;
	struct err e;
	cJSON *j;
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		e.msg[0] = '\0';
		ok(read_text(&c, v[i].text, &j, &e) == -1 && e.msg[0] &&
		   e.code == EX_BADINPUT, "wrong case %zu is refused", i);
		if (v[i].want)
			is_str(e.msg, v[i].want, "and says why");
		cJSON_Delete(j);
	}
}

int main(void)
{
	test_ids();
	test_good();
	test_bad();
	return done();
}
