#include "manifest_impl.h"

#include <stdlib.h>
#include <string.h>
#include "device.h"
#include "dtype.h"
#include "json.h"
#include "prog.h"
#include "sha256.h"
#include "vocab.h"
#include "xalloc.h"

/* Move key's value from one object to another; a null is dropped. */
static void move(cJSON *to, cJSON *from, const char *key, const char *as)
{
	cJSON *x = cJSON_DetachItemFromObjectCaseSensitive(from, key);

	if (x && !cJSON_IsNull(x))
		cJSON_AddItemToObject(to, as, x);
	else
		cJSON_Delete(x);
}

/* o with the given keys alone, in their order. */
static cJSON *in_order(cJSON *o, const char *const *keys)
{
	cJSON *out = cJSON_CreateObject();

	for (; *keys; keys++)
		move(out, o, *keys, *keys);
	cJSON_Delete(o);
	return out;
}

static cJSON *normal_dtypes(cJSON *o)
{
	cJSON *out = cJSON_CreateObject();
	const struct dtype *t;
	size_t i;

	for (i = 0; (t = dtype_at(i)); i++) {
		cJSON *x, *next;

		for (x = o->child; x; x = next) {
			next = x->next;
			if (dtype_find(x->string) == t) {
				cJSON_DetachItemViaPointer(o, x);
				cJSON_AddItemToObject(out, t->name, x);
			}
		}
	}
	cJSON_Delete(o);
	return out;
}

static cJSON *normal_capabilities(cJSON *o)
{
	cJSON *out = cJSON_CreateObject();
	size_t i;

	for (i = 0; capability_at(i); i++)
		move(out, o, capability_at(i)->name, capability_at(i)->name);
	cJSON_Delete(o);
	return out;
}

static cJSON *normal_tolerances(cJSON *o)
{
	cJSON *out = cJSON_CreateObject(), *x, *pair;
	char *op, *dtype, *key;

	while ((x = cJSON_DetachItemFromArray(o, 0))) {
		manifest_split_tolerance(x->string, &op, &dtype);
		key = xasprintf("%s:%s", op, dtype_find(dtype)->name);
		if (cJSON_IsArray(x)) {
			pair = cJSON_CreateObject();
			cJSON_AddNumberToObject(pair, "rtol",
						x->child->valuedouble);
			cJSON_AddNumberToObject(pair, "atol",
						x->child->next->valuedouble);
			cJSON_Delete(x);
			x = pair;
		}
		cJSON_AddItemToObject(out, key, x);
		free(key);
		free(op);
		free(dtype);
	}
	cJSON_Delete(o);
	return out;
}

static cJSON *normal_list(cJSON *x)
{
	cJSON *list;

	if (cJSON_IsArray(x))
		return x;
	list = cJSON_CreateArray();
	cJSON_AddItemToArray(list, x);
	return list;
}

static cJSON *normal_hardware(cJSON *x)
{
	return in_order(x, manifest_hardware_keys);
}

static cJSON *normal_limits(cJSON *x)
{
	return in_order(x, manifest_limit_keys);
}

static cJSON *normal_adapter(cJSON *x)
{
	return in_order(x, manifest_adapter_keys);
}

cJSON *manifest_normalise(cJSON *json)
{
	static const struct {
		const char *key;
		cJSON *(*normal)(cJSON *x);
	} how[] = {
		{ "backend_import", normal_list },
		{ "supported_dtypes", normal_dtypes },
		{ "supported_ops", normal_list },
		{ "capabilities", normal_capabilities },
		{ "hardware", normal_hardware },
		{ "resource_limits", normal_limits },
		{ "adapter", normal_adapter },
		{ "tolerance_overrides", normal_tolerances },
	};
	cJSON *out = in_order(json, manifest_keys), *x;
	size_t i;

	for (i = 0; i < sizeof(how) / sizeof(*how); i++) {
		if (!json_get(out, how[i].key))
			continue;
		/* Replaced in place, so that the order stays. */
		x = cJSON_Duplicate(json_get(out, how[i].key), 1);
		cJSON_ReplaceItemInObjectCaseSensitive(out, how[i].key,
						       how[i].normal(x));
	}
	return out;
}

static struct manifest *make(cJSON *json, const char *file,
			     const struct jsonpos *pos, struct findings *f,
			     struct err *e)
{
	const char *slash = strrchr(file, '/');
	struct manifest *m;
	size_t i, wrong = 0;

	manifest_check(json, file, pos, f);
	for (i = 0; i < f->n; i++)
		wrong += !f->v[i].warn;
	if (wrong) {
		cJSON_Delete(json);
		err_set(e, EX_BADINPUT, "%s: %zu thing%s wrong", file, wrong,
			wrong == 1 ? "" : "s");
		return NULL;
	}
	m = xcalloc(1, sizeof(*m));
	m->json = manifest_normalise(json);
	m->folder = slash ? xstrndup(file, (size_t)(slash - file + 1)) : NULL;
	manifest_compile(m);
	return m;
}

struct manifest *manifest_parse(const char *text, size_t n, const char *file,
				struct findings *f, struct err *e)
{
	struct jsonpos pos = JSONPOS_INIT;
	struct manifest *m = NULL;
	cJSON *json;

	if (jsonpos_scan(&pos, text, n, e) < 0) {
		if (e)
			memmove(e->msg + strlen(file) + 1, e->msg,
				sizeof(e->msg) - strlen(file) - 1);
		if (e) {
			memcpy(e->msg, file, strlen(file));
			e->msg[strlen(file)] = ':';
			e->msg[sizeof(e->msg) - 1] = '\0';
		}
	} else if (!(json = cJSON_ParseWithLength(text, n))) {
		err_set(e, EX_BADINPUT, "%s: not JSON", file);
	} else {
		m = make(json, file, &pos, f, e);
	}
	jsonpos_release(&pos);
	return m;
}

static struct manifest *load_py(const char *path, struct findings *f,
				struct err *e)
{
	struct jsonpos pos = JSONPOS_INIT;
	struct manifest *m = NULL;
	struct buf text = BUF_INIT;
	cJSON *json;

	if (!manifest_eval_py(path, &text, &pos, f, e)) {
		json = cJSON_ParseWithLength(text.p, text.len);
		if (json)
			m = make(json, path, &pos, f, e);
		else
			err_set(e, EX_ENVIRON, "%s: its evaluation gave no "
				"JSON", path);
	}
	jsonpos_release(&pos);
	buf_release(&text);
	return m;
}

struct manifest *manifest_load(const char *path, struct findings *f,
			       struct err *e)
{
	struct buf text = BUF_INIT;
	struct manifest *m = NULL;
	size_t n = strlen(path);

	if (n > 3 && !strcmp(path + n - 3, ".py"))
		return load_py(path, f, e);
	if (!buf_read_file(&text, path, MANIFEST_MAX, e))
		m = manifest_parse(text.p, text.len,
				   strcmp(path, "-") ? path : "<stdin>", f, e);
	buf_release(&text);
	return m;
}

void manifest_free(struct manifest *m)
{
	if (!m)
		return;
	manifest_uncompile(m);
	cJSON_Delete(m->json);
	free(m->folder);
	free(m);
}

void manifest_set(struct manifest *m, const char *key, cJSON *value)
{
	manifest_uncompile(m);
	/* Added at the end and then put in its documented place. */
	cJSON_DeleteItemFromObjectCaseSensitive(m->json, key);
	cJSON_AddItemToObject(m->json, key, value);
	m->json = manifest_normalise(m->json);
	manifest_compile(m);
}

int manifest_set_device(struct manifest *m, const char *device, struct err *e)
{
	struct device d;
	cJSON *list;
	int i;

	if (device_find(&d, prog_root(), device, e) < 0)
		return -1;
	manifest_set(m, "device_name", cJSON_CreateString(device));
	/* An import that the manifest names itself stays. */
	if (!json_get(m->json, "backend_import") && d.imports && d.imports[0] &&
	    strcmp(device, "auto")) {
		list = cJSON_CreateArray();
		for (i = 0; d.imports[i]; i++)
			cJSON_AddItemToArray(list,
					     cJSON_CreateString(d.imports[i]));
		manifest_set(m, "backend_import", list);
	}
	device_release(&d);
	return 0;
}

int manifest_set_level(struct manifest *m, int level)
{
	manifest_set(m, "semantic_level", cJSON_CreateNumber(level));
	return 0;
}

struct manifest *manifest_template(const char *name, const char *device,
				   struct err *e)
{
	struct findings f = { 0 };
	struct manifest *m;
	char *path;

	path = xasprintf("%s/templates/%s.json", prog_root(), name);
	m = manifest_load(path, &f, e);
	if (!m && f.n)
		err_set(e, EX_ENVIRON, "%s: %s", f.v[0].where, f.v[0].what);
	findings_release(&f);
	free(path);
	if (m && device && manifest_set_device(m, device, e) < 0) {
		manifest_free(m);
		m = NULL;
	}
	return m;
}

struct manifest *manifest_for_device(const char *device, struct err *e)
{
	return manifest_template("complete", device, e);
}

static void write_with(char *(*print)(const cJSON *),
		       const struct manifest *m, struct buf *out)
{
	char *s = print(m->json);

	buf_addstr(out, s);
	buf_addch(out, '\n');
	cJSON_free(s);
}

void manifest_write(const struct manifest *m, struct buf *out)
{
	write_with(cJSON_PrintUnformatted, m, out);
}

void manifest_write_pretty(const struct manifest *m, struct buf *out)
{
	write_with(cJSON_Print, m, out);
}

void manifest_digest(const struct manifest *m, char out[72])
{
	struct buf b = BUF_INIT;

	manifest_write(m, &b);
	memcpy(out, "sha256:", 7);
	sha256_hex(b.p, b.len, out + 7);
	buf_release(&b);
}

const cJSON *manifest_json(const struct manifest *m)
{
	return m->json;
}

cJSON *manifest_json_mut(struct manifest *m)
{
	return m->json;
}

static int number(const struct manifest *m, const char *key, int dflt)
{
	const cJSON *x = json_get(m->json, key);

	return x ? (int)x->valuedouble : dflt;
}

const char *manifest_device(const struct manifest *m)
{
	return json_get(m->json, "device_name")->valuestring;
}

const cJSON *manifest_imports(const struct manifest *m)
{
	return json_get(m->json, "backend_import");
}

int manifest_level(const struct manifest *m)
{
	return number(m, "semantic_level", 8);
}

int manifest_max_samples(const struct manifest *m)
{
	return number(m, "max_samples", 10);
}

const char *manifest_decoder(const struct manifest *m, const char *format)
{
	const cJSON *x = json_get(json_get(m->json,
					    "custom_container_decoders"),
				   format);

	return x ? x->valuestring : NULL;
}

/* Below base, once all links are followed? */
static bool below(const char *path, const char *base)
{
	char *real = realpath(path, NULL), *top = realpath(base, NULL);
	size_t n = top ? strlen(top) : 0;
	bool in = real && top && !strncmp(real, top, n) &&
		  (!real[n] || real[n] == '/' || n == 1);

	free(real);
	free(top);
	return in;
}

/* One folder's real path (new), or NULL with e set. */
static char *settle_dir(const struct manifest *m, const char *dir,
			struct err *e)
{
	const char *base = m->folder ? m->folder : "./";
	char *full, *real;

	full = *dir == '/' ? xstrdup(dir) : xasprintf("%s%s", base, dir);
	real = realpath(full, NULL);
	if (!real) {
		err_set(e, EX_BADINPUT, "custom_test_dirs: there is no folder "
			"'%.200s'", dir);
	} else if (*dir != '/' && !below(full, base)) {
		err_set(e, EX_BADINPUT, "custom_test_dirs: '%.200s' leads out "
			"of the manifest's folder", dir);
		free(real);
		real = NULL;
	}
	free(full);
	return real;
}

int manifest_settle_dirs(struct manifest *m, struct err *e)
{
	const cJSON *x;
	cJSON *list;
	char *dir;

	if (!cJSON_GetArraySize(json_get(m->json, "custom_test_dirs")))
		return 0;
	list = cJSON_CreateArray();
	cJSON_ArrayForEach(x, json_get(m->json, "custom_test_dirs")) {
		dir = settle_dir(m, x->valuestring, e);
		if (!dir) {
			cJSON_Delete(list);
			return -1;
		}
		cJSON_AddItemToArray(list, cJSON_CreateString(dir));
		free(dir);
	}
	manifest_set(m, "custom_test_dirs", list);
	return 0;
}

int manifest_max_samples_special(const struct manifest *m)
{
	return number(m, "max_samples_ieee754", 3);
}
