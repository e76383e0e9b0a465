/* What a manifest may say: one function a field, one table of fields. */
#include "manifest_say.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "checknames.h"
#include "device.h"
#include "dtype.h"
#include "json.h"
#include "vocab.h"
#include "xalloc.h"

static bool is_whole(const cJSON *item, double lo, double hi)
{
	return cJSON_IsNumber(item) && floor(item->valuedouble) ==
	       item->valuedouble && item->valuedouble >= lo &&
	       item->valuedouble <= hi;
}

static bool is_positive(const cJSON *item)
{
	return cJSON_IsNumber(item) && isfinite(item->valuedouble) &&
	       item->valuedouble > 0;
}

static void check_version(struct check *c, const char *path, const cJSON *item)
{
	if (!is_whole(item, 1, 1))
		check_expected(c, path, "1", item);
}

static void check_device(struct check *c, const char *path, const cJSON *item)
{
	const char *s = cJSON_IsString(item) ? item->valuestring : "";
	bool lower = !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_:")];

	if (!lower || !device_is_string(s) || !strncmp(s, "auto:", 5))
		check_expected(c, path, "a device such as 'cuda' or 'cuda:1' "
			       "(up to 'cuda:999'), or 'auto'", item);
}

static void check_import_one(struct check *c, const char *path,
			     const cJSON *item)
{
	const char *s = cJSON_IsString(item) ? item->valuestring : "";
	size_t n = strlen(s);

	/* A '?' at the end: it need not be there. */
	if (check_is_dotted(s, n - (n && s[n - 1] == '?')) ||
	    (n > 3 && !strcmp(s + n - 3, ".so")) ||
	    (strchr(s, '/') && strstr(s, ".so")))
		return;
	check_expected(c, path, "a module's name or the path of a shared "
		       "library (.so)", item);
}

static void check_imports(struct check *c, const char *path, const cJSON *item)
{
	check_each(c, path, item, check_import_one);
}

struct whole { const char *key; double lo, hi; const char *form; };
static const struct whole wholes[] = {
	{ "device_count", 1, 4096, "a whole number from 1" },
	{ "semantic_level", 1, 8, "a level from 1 to 8" },
	{ "max_samples", 0, 1e9, "a whole number, 0 for no cap" },
	{ "max_samples_ieee754", 0, 1e9, "a whole number, 0 for no cap" },
	{ "ieee754_seed", 0, 9007199254740991., "a whole number from 0" },
};

static void check_whole(struct check *c, const char *path, const cJSON *item)
{
	size_t i;

	for (i = 0; strcmp(wholes[i].key, path); i++)
		;
	if (!is_whole(item, wholes[i].lo, wholes[i].hi))
		check_expected(c, path, wholes[i].form, item);
}

static void check_note(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsString(item))
		check_expected(c, path, "a text", item);
}

static void check_draft(struct check *c, const char *path, const cJSON *item)
{
	check_bool(c, path, item);
	if (cJSON_IsTrue(item))
		check_advise(c, path, "a draft: review every claim, then "
			     "remove this key");
}

static void check_regex(struct check *c, const char *path, const cJSON *item)
{
	struct err e = { 0 };

	if (!cJSON_IsString(item))
		check_expected(c, path, "a regex", item);
	else if (pyre_check(item->valuestring, &e) < 0)
		check_say(c, path, "the regex '%.60s' can't be used: %s",
			  item->valuestring, e.msg);
}

static void check_regexes(struct check *c, const char *path, const cJSON *item)
{
	check_each(c, path, item, check_regex);
}

static void check_op(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsString(item) || !*item->valuestring)
		check_expected(c, path, "an op's name or a regex", item);
	else if (manifest_is_regex(item->valuestring))
		check_regex(c, path, item);
	else if (item->valuestring[strspn(item->valuestring,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789_.:-+@")])
		check_say(c, path, "'%.60s' can't be the name of an op",
			  item->valuestring);
	else if (strstr(item->valuestring, "::"))
		check_say(c, path, "'%.60s' is an overload, expected an op's "
			  "name without 'aten::'", item->valuestring);
}

static void check_ops(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsArray(item))
		check_expected(c, path, "a list of op names", item);
	else
		check_each(c, path, item, check_op);
}

static void check_dtypes(struct check *c, const char *path, const cJSON *item)
{
	const cJSON *x, *y;

	if (!check_is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		const struct dtype *t = dtype_find(x->string);
		char *p = check_sub(path, x->string);

		if (!t)
			check_unknown(c, p, "dtype", x->string,
				      dtype_nearest(x->string));
		for (y = item->child; t && y != x; y = y->next)
			if (strcmp(y->string, x->string) &&
			    dtype_find(y->string) == t)
				check_say(c, p, "the same dtype as '%s', "
					  "which is already listed", y->string);
		if (cJSON_IsString(x))
			check_regex(c, p, x);
		else if (!cJSON_IsBool(x))
			check_expected(c, p, "true, false or a regex over ops",
				       x);
		free(p);
	}
}

static void check_dtype_name(struct check *c, const char *path,
			     const cJSON *item)
{
	if (!cJSON_IsString(item))
		check_expected(c, path, "a dtype's name", item);
	else if (!dtype_find(item->valuestring))
		check_unknown(c, path, "dtype", item->valuestring,
			      dtype_nearest(item->valuestring));
}

static void check_only(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsArray(item))
		check_expected(c, path, "a list of dtypes", item);
	else
		check_each(c, path, item, check_dtype_name);
}

static const char *nearest_capability(const char *name)
{
	const char *names[128];
	size_t i;

	for (i = 0; i < 127 && capability_at(i); i++)
		names[i] = capability_at(i)->name;
	names[i] = NULL;
	return vocab_nearest(name, names);
}

static void check_capability_name(struct check *c, const char *path,
				  const char *name)
{
	static const struct { const char *old, *now; } stale[] = {
		{ "generator", "'device_generator'" },
		{ "quantized", "'quantized_container_plumbing', "
		  "'native_quantization' or 'custom_quantized_decode'" },
	};
	size_t i;

	if (capability_find(name))
		return;
	for (i = 0; i < sizeof(stale) / sizeof(*stale); i++)
		if (!strcmp(stale[i].old, name)) {
			check_say(c, path, "'%s' is no longer a capability, "
				  "expected %s", name, stale[i].now);
			return;
		}
	check_unknown(c, path, "capability", name, nearest_capability(name));
}

static void check_capabilities(struct check *c, const char *path,
			       const cJSON *item)
{
	const cJSON *x;

	if (!check_is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		char *p = check_sub(path, x->string);

		check_capability_name(c, p, x->string);
		if (cJSON_IsString(x) || cJSON_IsArray(x))
			check_regexes(c, p, x);
		else if (!cJSON_IsBool(x))
			check_expected(c, p, "true, false or a regex over ops",
				       x);
		free(p);
	}
}

static void check_memory_model(struct check *c, const char *path,
			       const cJSON *item)
{
	if (!cJSON_IsString(item) || (strcmp(item->valuestring, "discrete") &&
				      strcmp(item->valuestring, "unified")))
		check_expected(c, path, "'discrete' or 'unified'", item);
}

static void check_gigabytes(struct check *c, const char *path,
			    const cJSON *item)
{
	bool ok = is_positive(item) || (cJSON_IsString(item) &&
					!strcmp(item->valuestring, "auto"));
	const cJSON *x;

	/* One figure a device is allowed too. */
	if (cJSON_IsArray(item) && strstr(path, "device_memory")) {
		ok = item->child;
		cJSON_ArrayForEach(x, item)
			ok = ok && is_positive(x);
	}
	if (!ok)
		check_expected(c, path, "a number above 0 or 'auto'", item);
}

static void check_megabytes(struct check *c, const char *path,
			    const cJSON *item)
{
	if (!is_positive(item))
		check_expected(c, path, "a number above 0", item);
}

static void check_percent(struct check *c, const char *path, const cJSON *item)
{
	if (!is_whole(item, 1, 100))
		check_expected(c, path, "a whole number from 1 to 100", item);
}

struct field {
	const char *key;
	void (*check)(struct check *c, const char *path, const cJSON *item);
	bool null_ok;		/* null means the same as absent */
};

static void check_fields(struct check *c, const char *path, const cJSON *item,
			 const struct field *fields,
			 const char *const *names, const char *what)
{
	const struct field *f;
	const cJSON *x;
	char *p;

	cJSON_ArrayForEach(x, item) {
		p = *path ? check_sub(path, x->string) : xstrdup(x->string);
		for (f = fields; f->key && strcmp(f->key, x->string); f++)
			;
		if (!f->key)
			check_unknown(c, p, what, x->string,
				      vocab_nearest(x->string, names));
		else if (!cJSON_IsNull(x) || !f->null_ok)
			f->check(c, p, x);
		free(p);
	}
}

static void check_hardware(struct check *c, const char *path,
			   const cJSON *item)
{
	static const struct field fields[] = {
		{ "memory_model", check_memory_model, true },
		{ "device_memory_gb", check_gigabytes, true },
		{ "system_memory_gb", check_gigabytes, true },
		{ "oom_recoverable", check_bool, false },
		{ 0 },
	};

	if (check_is_object(c, path, item))
		check_fields(c, path, item, fields, manifest_hardware_keys,
			     "key");
}

static void check_limits(struct check *c, const char *path, const cJSON *item)
{
	static const struct field fields[] = {
		{ "max_device_memory_mb", check_megabytes, true },
		{ "max_system_memory_mb", check_megabytes, true },
		{ "max_tensor_size_mb", check_megabytes, true },
		{ "cleanup_threshold_pct", check_percent, false },
		{ 0 },
	};

	if (check_is_object(c, path, item))
		check_fields(c, path, item, fields, manifest_limit_keys,
			     "key");
}

static void check_call(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsString(item) || !device_is_call(item->valuestring))
		check_expected(c, path, "'module:function'", item);
}

static void check_calls(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsArray(item))
		check_expected(c, path, "a list of 'module:function'", item);
	else
		check_each(c, path, item, check_call);
}

static void check_env(struct check *c, const char *path, const cJSON *item)
{
	const cJSON *x;

	if (!check_is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		char *p = check_sub(path, x->string);

		if (!cJSON_IsString(x))
			check_expected(c, p, "a text", x);
		if (!*x->string || strchr(x->string, '='))
			check_say(c, p, "can't be the name of a variable");
		free(p);
	}
}

static void check_fork(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsString(item) || device_fork_find(item->valuestring) < 0)
		check_expected(c, path, "'ok', 'bare' or 'never'", item);
}

static void check_adapter(struct check *c, const char *path,
			  const cJSON *item)
{
	static const struct field fields[] = {
		{ "sync", check_call, false }, { "seed", check_call, false },
		{ "count", check_call, false }, { "memory", check_call, false },
		{ "empty", check_call, false }, { "init", check_calls, false },
		{ "env", check_env, false }, { "fork", check_fork, false },
		{ 0 },
	};

	if (check_is_object(c, path, item))
		check_fields(c, path, item, fields, manifest_adapter_keys,
			     "key");
}

static bool leads_up(const char *path)
{
	for (; *path; path += strcspn(path, "/"), path += *path == '/')
		if (path[0] == '.' && path[1] == '.' &&
		    (!path[2] || path[2] == '/'))
			return true;
	return false;
}

static void check_dir(struct check *c, const char *path, const cJSON *item)
{
	const char *slash = strrchr(c->file, '/');
	struct stat st;
	char *full;

	if (!cJSON_IsString(item) || !*item->valuestring) {
		check_expected(c, path, "a folder's path", item);
		return;
	}
	if (*item->valuestring != '/' && leads_up(item->valuestring)) {
		check_say(c, path, "'%.200s' leads out of the manifest's "
			  "folder, expected a folder below it or an absolute "
			  "path", item->valuestring);
		return;
	}
	full = *item->valuestring == '/' || !slash ?
		xstrdup(item->valuestring) :
		xasprintf("%.*s/%s", (int)(slash - c->file), c->file,
			  item->valuestring);
	if (stat(full, &st) < 0 || !S_ISDIR(st.st_mode))
		check_advise(c, path, "there is no folder '%.200s'",
			     item->valuestring);
	free(full);
}

static void check_dirs(struct check *c, const char *path, const cJSON *item)
{
	const cJSON *x, *y;

	if (!cJSON_IsArray(item)) {
		check_expected(c, path, "a list of folders", item);
		return;
	}
	check_each(c, path, item, check_dir);
	cJSON_ArrayForEach(x, item)
		for (y = item->child; y != x; y = y->next)
			if (cJSON_IsString(x) && cJSON_IsString(y) &&
			    !strcmp(x->valuestring, y->valuestring))
				check_say(c, path, "'%.200s' comes twice",
					  x->valuestring);
}

static void check_check(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsString(item))
		check_expected(c, path, "the name of a check", item);
	else if (!checkname_known(item->valuestring))
		check_unknown(c, path, "check", item->valuestring,
			      checkname_nearest(item->valuestring));
}

/* Advice that this backend wants to be held to. */
static void check_contract(struct check *c, const char *path,
			   const cJSON *item)
{
	if (!cJSON_IsArray(item))
		check_expected(c, path, "a list of checks", item);
	else
		check_each(c, path, item, check_check);
}

/* In the documented order, which is that of the canonical form. */
static const struct field top_fields[] = {
	{ "manifest_version", check_version, false },
	{ "note", check_note, false },
	{ "draft", check_draft, false },
	{ "device_name", check_device, false },
	{ "backend_import", check_imports, true },
	{ "adapter", check_adapter, false },
	{ "device_count", check_whole, false },
	{ "semantic_level", check_whole, false },
	{ "supported_dtypes", check_dtypes, false },
	{ "only_dtypes", check_only, false },
	{ "supported_ops", check_regexes, true },
	{ "skip_ops", check_ops, false },
	{ "must_not_fall_back", check_ops, false },
	{ "contract", check_contract, false },
	{ "capabilities", check_capabilities, false },
	{ "hardware", check_hardware, false },
	{ "resource_limits", check_limits, false },
	{ "tolerance_overrides", check_tolerances, false },
	{ "supported_container_formats", check_formats, false },
	{ "custom_container_decoders", check_decoders, false },
	{ "custom_test_dirs", check_dirs, false },
	{ "max_samples", check_whole, false },
	{ "max_samples_ieee754", check_whole, false },
	{ "ieee754_seed", check_whole, false },
	{ "show_traceback", check_bool, false },
	{ 0 },
};

const char *const manifest_keys[] = {
	"manifest_version", "note", "draft", "device_name", "backend_import",
	"adapter", "device_count", "semantic_level", "supported_dtypes",
	"only_dtypes", "supported_ops", "skip_ops", "must_not_fall_back",
	"contract", "capabilities", "hardware", "resource_limits",
	"tolerance_overrides",
	"supported_container_formats", "custom_container_decoders",
	"custom_test_dirs", "max_samples", "max_samples_ieee754",
	"ieee754_seed", "show_traceback", NULL
};
_Static_assert(sizeof(manifest_keys) / sizeof(*manifest_keys) ==
	       sizeof(top_fields) / sizeof(*top_fields), "same keys");

const char *const manifest_hardware_keys[] = {
	"memory_model", "device_memory_gb", "system_memory_gb",
	"oom_recoverable", NULL
};

const char *const manifest_adapter_keys[] = {
	"sync", "seed", "count", "memory", "empty", "init", "env", "fork", NULL
};

const char *const manifest_limit_keys[] = {
	"max_device_memory_mb", "max_system_memory_mb", "max_tensor_size_mb",
	"cleanup_threshold_pct", NULL
};

/* The device's name beside what is said of the devices. */
static void check_device_together(struct check *c, const cJSON *count)
{
	const cJSON *name = json_get(c->top, "device_name");
	const cJSON *imports = json_get(c->top, "backend_import");
	const cJSON *hardware = json_get(c->top, "hardware");
	const cJSON *each = json_get(hardware, "device_memory_gb");
	int n = cJSON_IsNumber(count) ? count->valueint : 0;

	if (!cJSON_IsString(name))
		return;
	if (!strcmp(name->valuestring, "auto") && imports &&
	    (cJSON_IsString(imports) || imports->child))
		check_say(c, "device_name", "'auto' beside backend_import, "
			  "expected the name that the import registers");
	if (n && device_index(name->valuestring) >= n)
		check_say(c, "device_name", "'%.80s' is not there: "
			  "device_count is %d", name->valuestring, n);
	if (n && cJSON_IsArray(each) && cJSON_GetArraySize(each) != n)
		check_say(c, "hardware.device_memory_gb", "%d figures, but "
			  "device_count is %d", cJSON_GetArraySize(each), n);
}

/* What only shows when two fields are seen together. */
static void check_together(struct check *c)
{
	const cJSON *caps = json_get(c->top, "capabilities");
	const cJSON *decode = json_get(caps, "custom_quantized_decode");
	const cJSON *multi = json_get(caps, "multi_device");
	const cJSON *count = json_get(c->top, "device_count");
	const cJSON *decoders = json_get(c->top, "custom_container_decoders");
	bool decodes = decode && !cJSON_IsFalse(decode);

	if (decodes && !(decoders && decoders->child))
		check_say(c, "capabilities.custom_quantized_decode",
			  "claimed, but there is no entry in "
			  "custom_container_decoders");
	if (!decodes && decoders && decoders->child)
		check_advise(c, "custom_container_decoders", "not used, since "
		       "capabilities.custom_quantized_decode is not claimed");
	if (cJSON_IsTrue(multi) &&
	    (!cJSON_IsNumber(count) || count->valuedouble < 2))
		check_advise(c, "capabilities.multi_device", "claimed, but "
			     "device_count is less than 2");
	check_device_together(c, count);
	if (!json_get(c->top, "supported_dtypes"))
		check_advise(c, "", "no supported_dtypes, so nothing will run");
}

static int by_line(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->where, y->where);
}

void manifest_check(const cJSON *json, const char *file,
		    const struct jsonpos *pos, struct findings *f)
{
	static const char *const needed[] = {
		"manifest_version", "device_name", "capabilities",
	};
	struct check c = { .top = json, .file = file, .pos = pos, .f = f };
	size_t i;

	for (i = 0; i < pos->n; i++) {
		c.line = pos->v[i].first ? pos->v[i].line : 0;
		if (c.line)
			check_say(&c, pos->v[i].path, "a duplicate key, "
				  "already in line %d", pos->v[i].first);
	}
	c.line = 0;
	if (!cJSON_IsObject(json)) {
		check_expected(&c, "", "an object", json);
		return;
	}
	for (i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!json_get(json, needed[i]))
			check_say(&c, "", "no '%s', which every manifest needs",
				  needed[i]);
	check_fields(&c, "", json, top_fields, manifest_keys, "key");
	check_together(&c);
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), by_line);
}

void findings_release(struct findings *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		free(f->v[i].where);
		free(f->v[i].what);
	}
	free(f->v);
	memset(f, 0, sizeof(*f));
}
