/* manifest: what its claims say, and its canonical form. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "manifest.h"
#include "tap.h"

static struct manifest *parse(const char *text)
{
	struct findings f = { 0 };
	struct err e = { 0 };
	struct manifest *m = manifest_parse(text, strlen(text), "m", &f, &e);

	if (!m)
		printf("# %s; %s\n", e.msg, f.n ? f.v[0].what : "");
	findings_release(&f);
	return m;
}

static void test_claims(void)
{
	static const char text[] =
		"{\"manifest_version\":1,\"device_name\":\"dev:1\","
		"\"supported_dtypes\":{\"torch.float\":true,\"int64\":false,"
		"\"bfloat16\":\"^add$|^mm$\"},"
		"\"capabilities\":{\"rng\":[\"^rand\",\"drop\"],"
		"\"training\":false,\"inference\":true},"
		"\"supported_ops\":\"^(add|mm|sum|div)$\","
		"\"skip_ops\":[\"sum\",\"^mm\"],"
		"\"must_not_fall_back\":[\"div\"]}";
	struct manifest *m = parse(text);

	if (!ok(m, "it is read"))
		return;
	is_int(manifest_dtype(m, "float32", "add"), CLAIM_YES, "true");
	is_int(manifest_dtype(m, "torch.float32", "x"), CLAIM_YES,
	       "by any name");
	is_int(manifest_dtype(m, "int64", "add"), CLAIM_NO, "false");
	is_int(manifest_dtype(m, "int8", "add"), CLAIM_ABSENT, "not listed");
	is_int(manifest_dtype(m, "float3", "add"), CLAIM_ABSENT, "unknown");
	is_int(manifest_dtype(m, "bfloat16", "mm"), CLAIM_YES, "regex, yes");
	is_int(manifest_dtype(m, "bfloat16", "mm:x"), CLAIM_YES,
	       "regex, by the name before the colon");
	is_int(manifest_dtype(m, "bfloat16", "bmm"), CLAIM_FILTERED,
	       "regex, no");
	is_int(manifest_capability(m, "inference", "x"), CLAIM_YES, "claimed");
	is_int(manifest_capability(m, "training", "x"), CLAIM_NO, "denied");
	is_int(manifest_capability(m, "fp8", "x"), CLAIM_ABSENT, "not said");
	is_int(manifest_capability(m, "rng", "nn.dropout"), CLAIM_YES,
	       "one of two regexes");
	is_int(manifest_capability(m, "rng", "add"), CLAIM_FILTERED, "neither");
	is_int(manifest_op(m, "add"), CLAIM_YES, "an op that is listed");
	is_int(manifest_op(m, "div:floor"), CLAIM_YES, "with its variants");
	is_int(manifest_op(m, "sub"), CLAIM_FILTERED, "one that is not");
	is_int(manifest_op(m, "sum"), CLAIM_NO, "one that is excluded");
	is_int(manifest_op(m, "mm"), CLAIM_NO, "or excluded by a regex");
	ok(manifest_must_not_fall_back(m, "div:trunc"), "must not fall back");
	ok(!manifest_must_not_fall_back(m, "add"), "may fall back");
	is_str(manifest_device(m), "dev:1", "the device");
	is_int(manifest_level(m), 8, "the level, if none is named");
	is_int(manifest_max_samples(m), 10, "samples, if none are named");
	manifest_free(m);
}

static void test_form(void)
{
	static const char a[] =
		"{\"capabilities\":{\"rng\":true,\"inference\":true},"
		"\"device_name\":\"cpu\",\"backend_import\":\"a.b\","
		"\"tolerance_overrides\":{\"mm:torch.float\":[0.5,0.25]},"
		"\"supported_dtypes\":{\"torch.float64\":true,\"long\":true},"
		"\"resource_limits\":{\"max_tensor_size_mb\":null},"
		"\"manifest_version\":1}";
	static const char want[] =
		"{\"manifest_version\":1,\"device_name\":\"cpu\","
		"\"backend_import\":[\"a.b\"],"
		"\"supported_dtypes\":{\"int64\":true,\"float64\":true},"
		"\"capabilities\":{\"inference\":true,\"rng\":true},"
		"\"resource_limits\":{},\"tolerance_overrides\":"
		"{\"mm:float32\":{\"rtol\":0.5,\"atol\":0.25}}}\n";
	struct manifest *m = parse(a), *n;
	char d1[72], d2[72];
	struct buf b = BUF_INIT;

	if (!ok(m, "it is read"))
		return;
	manifest_write(m, &b);
	is_str(b.p, want, "its canonical form");
	manifest_digest(m, d1);
	n = parse(b.p);
	manifest_digest(n, d2);
	is_str(d1, d2, "which is its own");
	is_int(strlen(d1), 71, "a digest");
	manifest_free(n);
	manifest_free(m);
	buf_release(&b);
}

static void test_narrow(void)
{
	char *dtypes[] = { (char *)"float", (char *)"torch.float32",
			   (char *)"int8", (char *)"half" };
	char *wrong[] = { (char *)"float3" };
	struct manifest *m = parse(
		"{\"manifest_version\":1,\"device_name\":\"cpu\","
		"\"supported_dtypes\":{\"float32\":\"^a\",\"half\":false,"
		"\"int64\":true},\"capabilities\":{}}");
	struct err e = { 0 };

	is_int(manifest_only_dtypes(m, dtypes, 4, &e), 0, "it is narrowed");
	is_int(manifest_dtype(m, "float32", "b"), CLAIM_FILTERED,
	       "a regex stays");
	is_int(manifest_dtype(m, "int8", "b"), CLAIM_YES, "asking is claiming");
	is_int(manifest_dtype(m, "half", "b"), CLAIM_YES, "even if denied");
	is_int(manifest_dtype(m, "int64", "b"), CLAIM_ABSENT,
	       "the others are gone");
	is_int(cJSON_GetArraySize(cJSON_GetObjectItem(manifest_json(m),
						      "only_dtypes")), 3,
	       "and it says so");
	is_int(manifest_only_dtypes(m, wrong, 1, &e), -1, "unknown dtype");
	is_str(e.msg, "unknown dtype 'float3', did you mean 'float32'?",
	       "is named");
	is_int(e.code, EX_BADUSE, "and a mistake");
	manifest_free(m);
}

int main(void)
{
	test_claims();
	test_form();
	test_narrow();
	return done();
}
