/* device: the table as it is, wrong tables, and hostile names. */
#include <stdlib.h>
#include <sys/stat.h>

#include "device.h"
#include "tap.h"

static char dir[] = "/tmp/u-device.XXXXXX";

static void table(const char *text)
{
	char path[100];
	FILE *f;

	snprintf(path, sizeof(path), "%s/templates/devices.jsonl", dir);
	f = fopen(path, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static void test_shipped(const char *root)
{
	static const char *const known[] = {
		"cpu", "cuda", "mps", "xpu", "hpu", "npu", "refdev", "lazy",
		"vulkan", "tpu", "xla", "jax", "webgpu", "nntile", "opencl",
		"openreg", "ocl", "tiny",
	};
	struct device d;
	struct err e;
	size_t i, bad = 0;
	char **names;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (device_find(&d, root, known[i], &e) || !d.known) {
			printf("# %s: %s\n", known[i], e.msg);
			bad++;
		}
		device_release(&d);
	}
	is_int(bad, 0, "every known backend is listed");
	names = device_names(root, &e);
	for (i = 0; names && names[i]; i++)
		bad += device_find(&d, root, names[i], &e) != 0 ||
		       (device_release(&d), false);
	ok(names && i >= 18 && !bad, "every line is good");
	device_names_free(names);
	is_int(device_find(&d, root, "lazy", &e), 0, "lazy is there");
	is_str(d.string, "lazy:0", "with its string");
	is_str(d.sync, "torch._lazy:mark_step", "and what makes it work");
	ok(d.imports[0] && d.init[0] && !d.init[1] &&
	   d.fork == DEVICE_FORK_OK, "and the rest");
	device_release(&d);
	is_int(device_find(&d, root, "cuda:3", &e), 0, "an index may be given");
	ok(!strcmp(d.string, "cuda:3") && !strcmp(d.name, "cuda"),
	   "and is kept");
	device_release(&d);
	is_int(device_find(&d, root, "brandnew:1", &e), 0,
	       "one that is not listed has an adapter");
	ok(!d.known && !strcmp(d.imports[0], "torch_brandnew?") &&
	   !d.imports[1] && !strcmp(d.string, "brandnew:1") &&
	   d.fork == DEVICE_FORK_NEVER && !d.sync && !d.env[0] && !d.init[0] &&
	   !d.path[0], "the generic one");
	device_release(&d);
	device_release(&d);
	ok(!d.name, "releasing twice does no harm");
}

static void test_names(const char *root)
{
	static const char *const wrong[] = {
		"", ":", ":0", "0", "0cuda", "_x", "cuda:", "cuda:x", "cuda:-1",
		"cuda:1:2", "cuda:1234", "cuda 0", "../x", "a/b", "a.b",
		"cuda;rm", "cuda\n", "c\xc3\xbc", "cuda:1 ", "a-b",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};
	struct device d;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		is_int(device_find(&d, root, wrong[i], &e), -1,
		       "hostile name %zu is refused", i);
		is_int(e.code, EX_BADUSE, "as bad use");
		device_release(&d);
	}
}

static void test_wrong_tables(void)
{
	static const struct { const char *text, *want; } v[] = {
		{ "{\"device\":\"x\"}", ":1: line is cut" },
		{ "nonsense\n", ":1: byte 1: unexpected 'n'" },
		{ "[]\n", ":1: 'device' needs a name" },
		{ "{\"device\":\"x:0\"}\n", ":1: 'device' needs a name" },
		{ "{\"device\":\"y\"}\n{\"device\":3}\n",
		  ":2: 'device' needs a name" },
		{ "{\"device\":\"x\",\"fork\":\"maybe\"}\n",
		  ":1: 'fork' needs ok, bare or never" },
		{ "{\"device\":\"x\",\"string\":\"y:0\"}\n",
		  ":1: 'string' needs the device's name" },
		{ "{\"device\":\"x\",\"import\":\"m\"}\n",
		  ":1: 'import' needs a list" },
		{ "{\"device\":\"x\",\"import\":[1]}\n",
		  ":1: 'import' needs strings" },
		{ "{\"device\":\"x\",\"env\":[\"A=1\"]}\n",
		  ":1: 'env' needs an object" },
		{ "{\"device\":\"x\",\"env\":{\"A=\":\"1\"}}\n",
		  ":1: 'env' needs names" },
		{ "{\"device\":\"x\",\"env\":{\"A\":1}}\n",
		  ":1: 'env' needs strings" },
		{ "{\"device\":\"x\",\"sync\":\"m.f\"}\n",
		  ":1: 'sync' needs \"module:function\"" },
		{ "{\"device\":\"x\",\"sync\":7}\n",
		  ":1: 'sync' needs a string" },
		{ "{\"device\":\"x\",\"init\":[\"m:f(1\"]}\n",
		  ":1: 'init' needs \"module:function\"" },
		{ "{\"device\":\"x\",\"path\":[\"/etc\"]}\n",
		  ":1: 'path' needs folders below the root" },
		{ "{\"device\":\"x\",\"path\":[\"a/../..\"]}\n",
		  ":1: 'path' needs folders below the root" },
		{ "{\"device\":\"x\",\"pth\":[]}\n", ":1: unknown key 'pth'" },
	};
	struct device d;
	struct err e;
	char **names;
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		table(v[i].text);
		is_int(device_find(&d, dir, "x", &e), -1,
		       "wrong table %zu is refused", i);
		ok(strstr(e.msg, v[i].want) && e.code == EX_BADINPUT,
		   "and named: %s", v[i].want);
		device_release(&d);
	}
	table("{\"device\":\"x\"}\n{\"device\":\"x\"}\n");
	names = device_names(dir, &e);
	ok(!names && strstr(e.msg, ":2: device 'x' comes twice"),
	   "a device may not be listed twice");
	table("");
	is_int(device_find(&d, dir, "x", &e), 0, "an empty table is one");
	device_release(&d);
	is_int(device_find(&d, "/nonexistent", "x", &e), -1, "none is not");
	is_int(e.code, EX_ENVIRON, "which is the environment's fault");
}

int main(void)
{
	const char *root = getenv("CTS_ROOT");
	char path[100];

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/templates", dir);
	mkdir(path, 0755);
	test_shipped(root ? root : ".");
	test_names(root ? root : ".");
	test_wrong_tables();
	snprintf(path, sizeof(path), "%s/templates/devices.jsonl", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/templates", dir);
	rmdir(path);
	rmdir(dir);
	return done();
}
