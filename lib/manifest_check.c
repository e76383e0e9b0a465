/* What a manifest may say: one function a field, one table of fields. */
#include "manifest_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "dtype.h"
#include "vocab.h"
#include "xalloc.h"

struct check {
	const cJSON *top;
	const char *file;
	const struct jsonpos *pos;
	struct findings *f;
	int line;		/* of the finding, where pos can't tell; or 0 */
};

static void vsay(struct check *c, bool warn, const char *path, const char *fmt,
		 va_list ap)
{
	struct buf b = BUF_INIT;
	struct finding *x;
	const char *p;

	c->f->v = xgrow(c->f->v, &c->f->cap, c->f->n + 1, sizeof(*c->f->v));
	x = &c->f->v[c->f->n++];
	x->line = c->line ? c->line : jsonpos_line(c->pos, path);
	x->warn = warn;
	buf_addstr(&b, c->file);
	if (x->line)
		buf_addf(&b, ":%d", x->line);
	if (*path)
		buf_addstr(&b, ": ");
	for (p = path; *p; p++)
		buf_addch(&b, iscntrl((unsigned char)*p) ? '?' : *p);
	x->where = buf_detach(&b);
	buf_init(&b);
	buf_vaddf(&b, fmt, ap);
	for (p = b.p; *p; p++)
		if (iscntrl((unsigned char)*p))
			b.p[p - b.p] = '?';
	x->what = buf_detach(&b);
}

__attribute__((format(printf, 3, 4)))
static void say(struct check *c, const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(c, false, path, fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 3, 4)))
static void advise(struct check *c, const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(c, true, path, fmt, ap);
	va_end(ap);
}

/* What an item is, for "expected X, got Y"; static, one at a time. */
static const char *got(const cJSON *item)
{
	static char text[80];

	if (cJSON_IsString(item))
		snprintf(text, sizeof(text), "'%.60s'", item->valuestring);
	else if (cJSON_IsNumber(item))
		snprintf(text, sizeof(text), "%.15g", item->valuedouble);
	else if (cJSON_IsBool(item))
		return cJSON_IsTrue(item) ? "true" : "false";
	else if (cJSON_IsNull(item))
		return "null";
	else
		return cJSON_IsArray(item) ? "a list" : "an object";
	return text;
}

static void expected(struct check *c, const char *path, const char *form,
		     const cJSON *item)
{
	say(c, path, "expected %s, got %s", form, got(item));
}

/* An unknown name, with the nearest known one where there is one. */
static void unknown(struct check *c, const char *path, const char *what,
		    const char *name, const char *near)
{
	if (near)
		say(c, path, "unknown %s '%.80s', did you mean '%s'?", what,
		    name, near);
	else
		say(c, path, "unknown %s '%.80s'", what, name);
}

static char *sub(const char *path, const char *key)
{
	return xasprintf("%s.%s", path, key);
}

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

static bool is_object(struct check *c, const char *path, const cJSON *item)
{
	if (cJSON_IsObject(item))
		return true;
	expected(c, path, "an object", item);
	return false;
}

/* n letters of a dotted identifier: "pkg.mod". */
static bool is_dotted(const char *s, size_t n)
{
	bool start = true;
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char ch = (unsigned char)s[i];

		if (start ? !(isalpha(ch) || ch == '_') :
		    !(isalnum(ch) || ch == '_' || ch == '.'))
			return false;
		start = ch == '.';
	}
	return n && !start;
}

static void check_version(struct check *c, const char *path, const cJSON *item)
{
	if (!is_whole(item, 1, 1))
		expected(c, path, "1", item);
}

static void check_device(struct check *c, const char *path, const cJSON *item)
{
	const char *s = cJSON_IsString(item) ? item->valuestring : "";
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (!n || isdigit((unsigned char)*s))
		n = strlen(s);
	else if (s[n] == ':' && isdigit((unsigned char)s[n + 1]))
		n += 1 + strspn(s + n + 1, "0123456789");
	else if (!s[n])
		return;
	if (s[n] || !n || !strchr(s, ':') || strlen(s) > 80)
		expected(c, path, "a device such as 'cuda' or 'cuda:1', or "
			 "'auto'", item);
}

static void check_import_one(struct check *c, const char *path,
			     const cJSON *item)
{
	const char *s = cJSON_IsString(item) ? item->valuestring : "";
	size_t n = strlen(s);

	/* A '?' at the end: it need not be there. */
	if (is_dotted(s, n - (n && s[n - 1] == '?')) ||
	    (n > 3 && !strcmp(s + n - 3, ".so")) ||
	    (strchr(s, '/') && strstr(s, ".so")))
		return;
	expected(c, path, "a module's name or the path of a shared library "
		 "(.so)", item);
}

/* Each element of a list, or the one item that stands for a list. */
static void each(struct check *c, const char *path, const cJSON *item,
		 void (*one)(struct check *, const char *, const cJSON *))
{
	const cJSON *x;
	int i = 0;

	if (!cJSON_IsArray(item)) {
		one(c, path, item);
		return;
	}
	cJSON_ArrayForEach(x, item) {
		char *p = xasprintf("%s[%d]", path, i++);

		one(c, p, x);
		free(p);
	}
}

static void check_imports(struct check *c, const char *path, const cJSON *item)
{
	each(c, path, item, check_import_one);
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
		expected(c, path, wholes[i].form, item);
}

static void check_bool(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsBool(item))
		expected(c, path, "true or false", item);
}

static void check_note(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsString(item))
		expected(c, path, "a text", item);
}

static void check_draft(struct check *c, const char *path, const cJSON *item)
{
	check_bool(c, path, item);
	if (cJSON_IsTrue(item))
		advise(c, path, "a draft: review every claim, then remove "
		       "this key");
}

static void check_regex(struct check *c, const char *path, const cJSON *item)
{
	struct err e = { 0 };

	if (!cJSON_IsString(item))
		expected(c, path, "a regex", item);
	else if (pyre_check(item->valuestring, &e) < 0)
		say(c, path, "the regex '%.60s' can't be used: %s",
		    item->valuestring, e.msg);
}

static void check_regexes(struct check *c, const char *path, const cJSON *item)
{
	each(c, path, item, check_regex);
}

static void check_op(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsString(item) || !*item->valuestring)
		expected(c, path, "an op's name or a regex", item);
	else if (manifest_is_regex(item->valuestring))
		check_regex(c, path, item);
	else if (item->valuestring[strspn(item->valuestring,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789_.:-+@")])
		say(c, path, "'%.60s' can't be the name of an op",
		    item->valuestring);
}

static void check_ops(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsArray(item))
		expected(c, path, "a list of op names", item);
	else
		each(c, path, item, check_op);
}

static void check_dtypes(struct check *c, const char *path, const cJSON *item)
{
	const cJSON *x, *y;

	if (!is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		const struct dtype *t = dtype_find(x->string);
		char *p = sub(path, x->string);

		if (!t)
			unknown(c, p, "dtype", x->string,
				dtype_nearest(x->string));
		for (y = item->child; t && y != x; y = y->next)
			if (strcmp(y->string, x->string) &&
			    dtype_find(y->string) == t)
				say(c, p, "the same dtype as '%s', which is "
				    "already listed", y->string);
		if (cJSON_IsString(x))
			check_regex(c, p, x);
		else if (!cJSON_IsBool(x))
			expected(c, p, "true, false or a regex over ops", x);
		free(p);
	}
}

static void check_dtype_name(struct check *c, const char *path,
			     const cJSON *item)
{
	if (!cJSON_IsString(item))
		expected(c, path, "a dtype's name", item);
	else if (!dtype_find(item->valuestring))
		unknown(c, path, "dtype", item->valuestring,
			dtype_nearest(item->valuestring));
}

static void check_only(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsArray(item))
		expected(c, path, "a list of dtypes", item);
	else
		each(c, path, item, check_dtype_name);
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
			say(c, path, "'%s' is no longer a capability, expected "
			    "%s", name, stale[i].now);
			return;
		}
	unknown(c, path, "capability", name, nearest_capability(name));
}

static void check_capabilities(struct check *c, const char *path,
			       const cJSON *item)
{
	const cJSON *x;

	if (!is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		char *p = sub(path, x->string);

		check_capability_name(c, p, x->string);
		if (cJSON_IsString(x) || cJSON_IsArray(x))
			check_regexes(c, p, x);
		else if (!cJSON_IsBool(x))
			expected(c, p, "true, false or a regex over ops", x);
		free(p);
	}
}

static void check_memory_model(struct check *c, const char *path,
			       const cJSON *item)
{
	if (!cJSON_IsString(item) || (strcmp(item->valuestring, "discrete") &&
				      strcmp(item->valuestring, "unified")))
		expected(c, path, "'discrete' or 'unified'", item);
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
		expected(c, path, "a number above 0 or 'auto'", item);
}

static void check_megabytes(struct check *c, const char *path,
			    const cJSON *item)
{
	if (!is_positive(item))
		expected(c, path, "a number above 0", item);
}

static void check_percent(struct check *c, const char *path, const cJSON *item)
{
	if (!is_whole(item, 1, 100))
		expected(c, path, "a whole number from 1 to 100", item);
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
		p = *path ? sub(path, x->string) : xstrdup(x->string);
		for (f = fields; f->key && strcmp(f->key, x->string); f++)
			;
		if (!f->key)
			unknown(c, p, what, x->string,
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

	if (is_object(c, path, item))
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

	if (is_object(c, path, item))
		check_fields(c, path, item, fields, manifest_limit_keys,
			     "key");
}

/*
 * How wide a tolerance may be before the check says nothing: a relative one of
 * 1 accepts a zero for anything; the values that ops are given are of the
 * order of 1 to 10; and as many ulps as there are fractions accept any value
 * of the right exponent.
 */
static double widest(const struct dtype *t, const char *key)
{
	if (t->cls != DT_FLOAT && t->cls != DT_COMPLEX)
		return strcmp(key, "rtol") ? 2 : 0x1p-8;
	if (!strcmp(key, "ulp"))
		return ldexp(1, t->mantissa);
	return !strcmp(key, "rtol") || t->mantissa >= 23 ? 1 : 16;
}

static void check_bound(struct check *c, const char *path, const char *key,
			const struct dtype *t, const cJSON *item)
{
	if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) ||
	    item->valuedouble < 0)
		say(c, path, "%s: expected a finite number from 0, got %s",
		    key, got(item));
	else if (t && item->valuedouble >= widest(t, key))
		say(c, path, "%s of %s is so wide that the check is void, "
		    "expected less than %g for %s", key, got(item),
		    widest(t, key), t->name);
}

static void check_tolerance_value(struct check *c, const char *path,
				  const struct dtype *t, const cJSON *item)
{
	static const char *const keys[] = { "rtol", "atol", "ulp", NULL };
	const cJSON *x;
	size_t i;

	if (cJSON_IsArray(item) && cJSON_GetArraySize(item) == 2) {
		check_bound(c, path, "rtol", t, item->child);
		check_bound(c, path, "atol", t, item->child->next);
		return;
	}
	if (!cJSON_IsObject(item) || !item->child) {
		expected(c, path, "{\"rtol\": …, \"atol\": …}, {\"ulp\": …} or "
			 "[rtol, atol]", item);
		return;
	}
	cJSON_ArrayForEach(x, item) {
		char *p = sub(path, x->string);

		for (i = 0; keys[i] && strcmp(keys[i], x->string); i++)
			;
		if (keys[i])
			check_bound(c, p, x->string, t, x);
		else
			say(c, p, "unknown key, expected rtol, atol or ulp");
		free(p);
	}
	if (cJSON_GetObjectItemCaseSensitive(item, "ulp") &&
	    item->child->next)
		say(c, path, "ulp stands alone, not beside rtol or atol");
}

int manifest_split_tolerance(const char *key, char **op, char **dtype)
{
	const char *at = strrchr(key, ':'), *p;

	if (!at)
		at = strrchr(key, '/');
	if (!at || at == key || !at[1])
		return -1;
	for (p = at + 1; *p == ' '; p++)
		;
	*op = xstrndup(key, (size_t)(at - key));
	*dtype = xstrdup(p);
	return 0;
}

static void check_tolerances(struct check *c, const char *path,
			     const cJSON *item)
{
	const struct dtype *t;
	const cJSON *x;
	char *op, *name;

	if (!is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		char *p = sub(path, x->string);

		if (manifest_split_tolerance(x->string, &op, &name) < 0) {
			say(c, p, "expected 'op:dtype' or 'category:dtype'");
			free(p);
			continue;
		}
		t = dtype_find(name);
		if (!t)
			unknown(c, p, "dtype", name, dtype_nearest(name));
		check_tolerance_value(c, p, t, x);
		free(op);
		free(name);
		free(p);
	}
}

static const char *const formats[] = {
	"int2_ternary", "int4_symmetric", "int4_asymmetric", "uint4", "nf4",
	"fp4_e2m1", "fp4_bnb", "af4", "mxfp4", "nvfp4", "fp6_e3m2",
	"fp6_e2m3", "mxfp6_e3m2", "mxfp6_e2m3", "fp8_e4m3fn", "fp8_e5m2",
	"fp8_e4m3fnuz", "fp8_e5m2fnuz", "int8_symmetric", "int8_asymmetric",
	"uint8", "e8m0fnu", "mxfp8_e4m3", "mxfp8_e5m2", "mxint8", NULL
};

static bool known_format(struct check *c, const char *path, const char *name)
{
	size_t i;

	for (i = 0; formats[i]; i++)
		if (!strcmp(formats[i], name))
			return true;
	unknown(c, path, "container format", name,
		vocab_nearest(name, formats));
	return false;
}

static void check_formats(struct check *c, const char *path, const cJSON *item)
{
	const cJSON *x;

	if (!is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		char *p = sub(path, x->string);

		known_format(c, p, x->string);
		check_bool(c, p, x);
		free(p);
	}
}

static bool is_decoder(const cJSON *item)
{
	const char *s = cJSON_IsString(item) ? item->valuestring : "";
	const char *at = strchr(s, ':');

	return at && is_dotted(s, (size_t)(at - s)) &&
	       is_dotted(at + 1, strlen(at + 1));
}

static void check_decoders(struct check *c, const char *path,
			   const cJSON *item)
{
	const cJSON *claimed = cJSON_GetObjectItemCaseSensitive(c->top,
					"supported_container_formats");
	const cJSON *x;

	if (!is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		char *p = sub(path, x->string);

		if (!is_decoder(x))
			expected(c, p, "'module:function'", x);
		if (known_format(c, p, x->string) &&
		    !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(claimed,
							x->string)))
			say(c, p, "a decoder needs supported_container_formats."
			    "%s to be true", x->string);
		free(p);
	}
}

static void check_dir(struct check *c, const char *path, const cJSON *item)
{
	const char *slash = strrchr(c->file, '/');
	struct stat st;
	char *full;

	if (!cJSON_IsString(item) || !*item->valuestring) {
		expected(c, path, "a folder's path", item);
		return;
	}
	full = *item->valuestring == '/' || !slash ?
		xstrdup(item->valuestring) :
		xasprintf("%.*s/%s", (int)(slash - c->file), c->file,
			  item->valuestring);
	if (stat(full, &st) < 0 || !S_ISDIR(st.st_mode))
		advise(c, path, "there is no folder '%.200s'",
		       item->valuestring);
	free(full);
}

static void check_dirs(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsArray(item))
		expected(c, path, "a list of folders", item);
	else
		each(c, path, item, check_dir);
}

/* In the documented order, which is that of the canonical form. */
static const struct field top_fields[] = {
	{ "manifest_version", check_version, false },
	{ "note", check_note, false },
	{ "draft", check_draft, false },
	{ "device_name", check_device, false },
	{ "backend_import", check_imports, true },
	{ "device_count", check_whole, false },
	{ "semantic_level", check_whole, false },
	{ "supported_dtypes", check_dtypes, false },
	{ "only_dtypes", check_only, false },
	{ "supported_ops", check_regexes, true },
	{ "skip_ops", check_ops, false },
	{ "must_not_fall_back", check_ops, false },
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
	"device_count", "semantic_level", "supported_dtypes", "only_dtypes",
	"supported_ops", "skip_ops", "must_not_fall_back", "capabilities",
	"hardware", "resource_limits", "tolerance_overrides",
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

const char *const manifest_limit_keys[] = {
	"max_device_memory_mb", "max_system_memory_mb", "max_tensor_size_mb",
	"cleanup_threshold_pct", NULL
};

/* What only shows when two fields are seen together. */
static void check_together(struct check *c)
{
	const cJSON *caps = cJSON_GetObjectItemCaseSensitive(c->top,
							"capabilities");
	const cJSON *decode = cJSON_GetObjectItemCaseSensitive(caps,
						"custom_quantized_decode");
	const cJSON *multi = cJSON_GetObjectItemCaseSensitive(caps,
							"multi_device");
	const cJSON *count = cJSON_GetObjectItemCaseSensitive(c->top,
							"device_count");
	const cJSON *decoders = cJSON_GetObjectItemCaseSensitive(c->top,
						"custom_container_decoders");
	bool decodes = decode && !cJSON_IsFalse(decode);

	if (decodes && !(decoders && decoders->child))
		say(c, "capabilities.custom_quantized_decode", "claimed, but "
		    "there is no entry in custom_container_decoders");
	if (!decodes && decoders && decoders->child)
		advise(c, "custom_container_decoders", "not used, since "
		       "capabilities.custom_quantized_decode is not claimed");
	if (cJSON_IsTrue(multi) &&
	    (!cJSON_IsNumber(count) || count->valuedouble < 2))
		advise(c, "capabilities.multi_device", "claimed, but "
		       "device_count is less than 2");
	if (!cJSON_GetObjectItemCaseSensitive(c->top, "supported_dtypes"))
		advise(c, "", "no supported_dtypes, so nothing will run");
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
			say(&c, pos->v[i].path, "a duplicate key, already in "
			    "line %d", pos->v[i].first);
	}
	c.line = 0;
	if (!cJSON_IsObject(json)) {
		expected(&c, "", "an object", json);
		return;
	}
	for (i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!cJSON_GetObjectItemCaseSensitive(json, needed[i]))
			say(&c, "", "no '%s', which every manifest needs",
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
