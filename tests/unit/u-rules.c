/* rules and variants: the tables that say what a case is. */
#include <string.h>

#include "dtype.h"
#include "rules.h"
#include "tap.h"
#include "variants.h"

static size_t index_of(const char *name)
{
	size_t i;

	for (i = 0; strcmp(dtype_at(i)->name, name); i++)
		;
	return i;
}

static struct item make(const char *op, const char *name, unsigned flags)
{
	struct item it = {
		.suite = (char *)"opinfo", .op = (char *)op,
		.name = (char *)name, .flags = flags,
	};

	it.dtypes[ITEM_FORWARD] = UINT64_C(1) << index_of("float32") |
		    UINT64_C(1) << index_of("int64");
	it.dtypes[ITEM_BACKWARD] = UINT64_C(1) << index_of("float32");
	return it;
}

static void test_rules(void)
{
	static const char text[] =
		"{\"suite\":\"other\",\"level\":7,\"reason\":\"no\"}\n"
		"{\"ops\":[\"div\"],\"dtypes\":[\"float32\"],\"level\":1,"
		"\"reason\":\"core\"}\n"
		"{\"op\":\"^di\",\"variant\":[\"out\"],\"level\":5}\n"
		"{\"flags\":[\"random\"],\"level\":3,\"reason\":\"rng\"}\n"
		"{\"level\":2,\"reason\":\"rest\"}\n";
	struct err e = { 0 };
	struct rules *r = rules_parse(text, sizeof(text) - 1, "t", "level", &e);
	struct item div = make("div:floor", "div", 0);
	struct item draw = make("draw", "draw", 1u << ITEM_RANDOM);
	const char *why = NULL;
	size_t f = index_of("float32"), i = index_of("int64");

	if (!ok(r, "the table is read (%s)", e.msg))
		return;
	rules_item(r, &div);
	is_str(rules_find(r, "plain", f, &why), "1", "by the base name");
	is_str(why, "core", "with its reason");
	is_str(rules_find(r, "plain", i, &why), "2", "not for that dtype");
	is_str(rules_find(r, "out", i, NULL), "5", "by regex and variant");
	rules_item(r, &draw);
	is_str(rules_find(r, "plain", f, NULL), "3", "by a flag");
	rules_free(r);
}

static void test_device(void)
{
	static const char text[] =
		"{\"device\":\"cpu\",\"account\":\"cpu_contract\"}\n";
	struct err e = { 0 };
	struct rules *r = rules_parse(text, sizeof(text) - 1, "t", "account",
				      &e);
	struct item add = make("add", "add", 0);
	size_t f = index_of("float32");

	if (!ok(r, "a table about a device (%s)", e.msg))
		return;
	rules_item(r, &add);
	ok(!rules_find(r, "plain", f, NULL), "of no device, nothing");
	rules_device(r, "cpu:0");
	rules_item(r, &add);
	is_str(rules_find(r, "plain", f, NULL), "cpu_contract",
	       "that device, whatever its index");
	rules_device(r, "cpux");
	rules_item(r, &add);
	ok(!rules_find(r, "plain", f, NULL), "not another");
	rules_free(r);
}

static void bad_rules(const char *text, const char *want)
{
	struct err e = { 0 };
	struct rules *r = rules_parse(text, strlen(text), "t", "level", &e);

	ok(!r, "refused: %s", want);
	is_str(e.msg, want, "with file and line");
	is_int(e.code, EX_ENVIRON, "as a fault of the installation");
	rules_free(r);
}

static void test_variants(void)
{
	static const char text[] =
		"{\"variant\":\"plain\",\"engine\":true,\"reason\":\"x\"}\n"
		"{\"variant\":\"soon\",\"engine\":false,\"reason\":\"x\"}\n"
		"{\"variant\":\"backward\",\"engine\":true,\"level\":4,"
		"\"dtypes_of\":\"backward\",\"needs\":[\"autograd\"],"
		"\"except\":\"^bad$\",\"reason\":\"x\"}\n"
		"{\"variant\":\"big\",\"engine\":true,\"classes\":[\"int\"],"
		"\"without\":[\"random\"],\"reason\":\"x\"}\n"
		"{\"variant\":\"one\",\"engine\":true,\"one_of\":[\"int8\","
		"\"int64\",\"float32\"],\"reason\":\"x\"}\n";
	struct err e = { 0 };
	struct variants *v = variants_parse(text, sizeof(text) - 1, "t", &e);
	struct item plain = make("a", "a", 0);
	struct item grad = make("b", "b", 1u << ITEM_AUTOGRAD);
	struct item bad = make("bad", "bad", 1u << ITEM_AUTOGRAD);
	struct item draw = make("c", "c", 1u << ITEM_RANDOM);

	if (!ok(v, "the table is read (%s)", e.msg))
		return;
	is_str(variants_at(v, 1)->name, "backward", "what is not there yet is "
	       "left out");
	ok(!variants_at(v, 4), "four of them");
	is_int(variants_dtypes(v, 3, &plain), UINT64_C(1) << index_of("int64"),
	       "the first that it has");
	is_int(variants_dtypes(v, 0, &plain), plain.dtypes[ITEM_FORWARD],
	       "plain: all");
	is_int(variants_dtypes(v, 1, &plain), 0, "a flag is needed");
	is_int(variants_dtypes(v, 1, &grad), grad.dtypes[ITEM_BACKWARD],
	       "then: backward's");
	is_int(variants_dtypes(v, 1, &bad), 0, "but not for an exception");
	is_int(variants_dtypes(v, 2, &plain), UINT64_C(1) << index_of("int64"),
	       "one class alone");
	is_int(variants_dtypes(v, 2, &draw), 0, "a flag is unwanted");
	is_int(variants_at(v, 1)->level, 4, "its level");
	variants_free(v);
}

static void bad_variant(const char *text)
{
	struct err e = { 0 };
	struct variants *v = variants_parse(text, strlen(text), "t", &e);

	ok(!v && !strncmp(e.msg, "t:1: ", 5), "refused: %s", e.msg);
	variants_free(v);
}

int main(void)
{
	test_rules();
	test_device();
	bad_rules("{\"reason\":\"x\"}\n", "t:1: no 'level'");
	bad_rules("{\"level\":9}\n", "t:1: level 9, expected 1 to 8");
	bad_rules("{\"level\":12}\n", "t:1: level 12, expected 1 to 8");
	bad_rules("{\"level\":1}\n{\"level\":1,\"dtypes\":[\"float3\"]}\n",
		  "t:2: unknown dtype 'float3'");
	bad_rules("{\"level\":1,\"op\":\"(\"}\n",
		  "t:1: regex '(': a '(' without ')'");
	bad_rules("{\"level\":1,\"flags\":[\"blue\"]}\n",
		  "t:1: unknown flag 'blue'");
	bad_rules("{\"level\":1,\"ops\":\"add\"}\n", "t:1: 'ops' is no list");
	test_variants();
	bad_variant("{\"variant\":\"x\",\"engine\":true}\n");
	bad_variant("{\"variant\":\"x\",\"engine\":true,\"reason\":\"x\","
		    "\"level\":9}\n");
	bad_variant("{\"variant\":\"x\",\"engine\":true,\"reason\":\"x\","
		    "\"needs\":[\"blue\"]}\n");
	bad_variant("{\"variant\":\"x\",\"engine\":true,\"reason\":\"x\","
		    "\"classes\":[\"blue\"]}\n");
	return done();
}
