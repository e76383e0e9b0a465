#include <stdlib.h>
#include "budget.h"
#include "buf.h"
#include "tap.h"
#include "xalloc.h"

static struct budgets *b;

static struct budget find(const char *op, const char *dtype,
			  const char *variant, const char *args)
{
	struct budget_key key = {
		.suite = "opinfo", .op = op, .called = op, .variant = variant,
		.args = args, .dtype = dtype, .dt = dtype_find(dtype),
	};
	struct budget out;

	budget_find(b, &key, &out);
	return out;
}

static bool has_form(const char *op, const char *form)
{
	char names[OPNAME_MAX][256];
	size_t n = opname_forms(op, names), i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], form))
			return true;
	return false;
}

static void names(void)
{
	char huge[600];

	ok(has_form("add", "add"), "an op is known by its name");
	ok(has_form("aten::add_.Tensor", "add"), "aten, in place, overload");
	ok(has_form("add.out", "add"), "an out form");
	ok(has_form("_foreach_add", "add"), "a foreach form");
	ok(has_form("max:reduction_with_dim", "max"), "an OpInfo variant");
	ok(has_form("_softmax", "softmax"), "a private name");
	ok(has_form("linalg_svd.U", "linalg.svd"), "aten's name of a module");
	ok(has_form("nn.functional.relu", "nn.functional.relu"), "a module");
	ok(!has_form("nn.functional.relu", "nn.functional"),
	   "whose last part is no overload");
	ok(!has_form("__radd__", "__radd"), "a dunder is whole");
	memset(huge, 'a', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	ok(!has_form(huge, "a"), "a huge name is nobody's");
	ok(!has_form("", ""), "nor is none");
}

static void table(void)
{
	struct budget x = find("add", "float32", "plain", "");

	is_str(x.cls, "round", "add is correctly rounded");
	ok(!x.dflt && x.ulp[1] == 1, "to one ulp at most");
	x = find("add", "float32", "plain", "x, y, alpha=2");
	is_str(x.cls, "madd", "unless it multiplies");
	x = find("exp", "float32", "plain", "");
	ok(x.ulp[0] == 2 && x.ulp[1] == 3, "exp in float32");
	x = find("exp", "float16", "plain", "");
	ok(x.ulp[0] == 1 && x.ulp[1] == 2, "in float16");
	x = find("exp", "complex64", "plain", "");
	ok(x.ulp[0] == 8 && x.ulp[1] == 16, "in complex64");
	x = find("abs", "float32", "plain", "");
	is_int(x.mode, BM_EXACT, "abs is exact");
	x = find("abs", "complex64", "plain", "");
	is_int(x.mode, BM_ELEM, "but not of complex numbers");
	x = find("nothing_like_it", "float32", "plain", "");
	ok(x.dflt && x.ulp[1] < 3.5, "the default sees 4 ulp");
	is_str(x.cls, "default", "and says so");
	x = find("linalg.diagonal", "float32", "plain", "");
	is_str(x.cls, "exact", "a name goes before a glob");
	x = find("linalg.inv", "float32", "plain", "");
	is_str(x.cls, "linalg", "a glob is next");
	x = find("exp", "float32", "backward", "");
	ok(x.mode == BM_NORM && x.ulp[0] == 4, "a derivative is wider");
	x = find("view", "float32", "backward", "");
	ok(x.mode == BM_NORM && x.ulp[1] == 1, "that of a view adds");
}

static void overrides(void)
{
	struct err e;
	cJSON *o = cJSON_Parse("{\"exp:torch.float32\":{\"ulp\":7},"
			       "\"math:float32\":{\"rtol\":1}}");
	cJSON *bad = cJSON_Parse("{\"exp:float32\":{\"ulp\":-1}}");
	cJSON *none = cJSON_Parse("{\"exp\":{\"ulp\":1}}");
	struct budget x;

	ok(budgets_override(b, o, &e) == 0, "overrides are taken");
	x = find("exp", "float32", "plain", "");
	ok(x.override && x.ov_ulp == 7 && x.rtol == -1, "an op's");
	x = find("sin", "float32", "plain", "");
	ok(x.override && x.rtol == 1, "a class's");
	x = find("sin", "float64", "plain", "");
	ok(!x.override, "not another dtype's");
	ok(budgets_override(b, bad, &e) < 0 && e.code == EX_BADINPUT,
	   "a negative one is refused");
	ok(budgets_override(b, none, &e) < 0, "one without a dtype too");
	budgets_override(b, NULL, &e);
	cJSON_Delete(o);
	cJSON_Delete(bad);
	cJSON_Delete(none);
}

static void bad_tables(void)
{
	static const char *const lines[] = {
		"[]", "{}", "not json", "{\"class\":\"default\"}",
		"{\"class\":\"default\",\"mode\":\"wild\"}",
		"{\"class\":\"default\",\"mode\":\"elem\",\"strict\":-1}",
		"{\"class\":\"default\",\"mode\":\"elem\",\"k\":[1]}",
		"{\"class\":\"default\",\"mode\":\"elem\",\"ops\":\"x\"}",
	};
	struct err e;
	size_t i;
	FILE *f;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char path[] = "/tmp/u-budget.XXXXXX";
		struct budgets *x;

		f = fdopen(mkstemp(path), "w");
		fprintf(f, "%s\n", lines[i]);
		fclose(f);
		x = budgets_read(path, &e);
		ok(!x && e.code == EX_BADINPUT, "refused: %s", lines[i]);
		budgets_free(x);
		remove(path);
	}
	ok(!budgets_read("/nonexistent", &e) && e.code == EX_ENVIRON,
	   "a table that isn't there");
}

int main(void)
{
	const char *root = getenv("CTS_ROOT");
	char *path = xasprintf("%s/coverage/budgets.jsonl", root ? root : ".");
	struct err e = { .code = 0 };

	b = budgets_read(path, &e);
	free(path);
	if (!ok(b, "the table is read"))
		printf("# %s\n", e.msg);
	else {
		names();
		table();
		overrides();
		bad_tables();
	}
	budgets_free(b);
	return done();
}
