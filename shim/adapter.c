#include "adapter.h"

#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "prog.h"
#include "vocab.h"
#include "xalloc.h"

/*
 * "@package/rest" is what is below the folder of that installed package; NULL
 * where there is none.  new
 */
static char *expand(const char *value)
{
	const char *slash = strchr(value, '/');
	PyObject *spec, *dirs, *dir = NULL;
	char *name, *out = NULL;
	const char *s;

	if (value[0] != '@' || !slash)
		return xstrdup(value);
	name = xstrndup(value + 1, (size_t)(slash - value - 1));
	spec = PyImport_ImportModule("importlib.util");
	dirs = spec ? PyObject_CallMethod(spec, "find_spec", "s", name) : NULL;
	Py_XDECREF(spec);
	spec = dirs;
	dirs = spec ? PyObject_GetAttrString(spec,
			"submodule_search_locations") : NULL;
	if (dirs && dirs != Py_None)
		dir = PySequence_GetItem(dirs, 0);
	s = dir ? PyUnicode_AsUTF8(dir) : NULL;
	if (s)
		out = xasprintf("%s%s", s, slash);
	PyErr_Clear();
	Py_XDECREF(dir);
	Py_XDECREF(dirs);
	Py_XDECREF(spec);
	free(name);
	return out;
}

/* Set name in os.environ (and so for C code) where the user has not. */
static void set_default(PyObject *environ, const char *name,
			const char *value)
{
	PyObject *s;

	if (getenv(name))
		return;
	s = PyUnicode_DecodeFSDefault(value);
	if (s)
		PyMapping_SetItemString(environ, name, s);
	Py_XDECREF(s);
}

void adapter_environ(const struct device *d)
{
	struct err ignored;
	PyObject *environ = py_attr("os", "environ", &ignored);
	char **v;

	for (v = environ ? d->env : NULL; v && *v; v++) {
		const char *eq = strchr(*v, '=');
		char *name, *value;

		if (!eq || eq == *v)
			continue;
		name = xstrndup(*v, (size_t)(eq - *v));
		value = expand(eq + 1);
		if (value)
			set_default(environ, name, value);
		free(value);
		free(name);
	}
	/*
	 * A listed backend is imported by name: a broken entry point of
	 * another one must not keep torch from being imported.
	 */
	if (environ && d->known)
		set_default(environ, "TORCH_DEVICE_BACKEND_AUTOLOAD", "0");
	PyErr_Clear();
	Py_XDECREF(environ);
}

/*
 * The callable of "module:attr.function(arg)"; *arg (where arg is not NULL) is
 * its argument, a string, or NULL where it has none.
 */
static PyObject *resolve(const char *text, PyObject **arg, struct err *e)
{
	const char *colon = strchr(text, ':');
	const char *paren = strchr(text, '(');
	const char *end = paren ? paren : text + strlen(text);
	char *module, *attr;
	PyObject *fn;

	if (arg)
		*arg = NULL;
	if (!colon || colon > end) {
		err_set(e, EX_ENVIRON,
			"'%s' is not of the form module:function", text);
		return NULL;
	}
	module = xstrndup(text, (size_t)(colon - text));
	attr = xstrndup(colon + 1, (size_t)(end - colon - 1));
	fn = py_attr(module, attr, e);
	free(module);
	free(attr);
	if (fn && arg && paren && paren[1] != ')')
		*arg = PyUnicode_FromStringAndSize(paren + 1,
			(Py_ssize_t)strlen(paren) - 2);
	return fn;
}

static int call_once(const char *text, struct err *e)
{
	PyObject *arg, *ret, *fn = resolve(text, &arg, e);

	if (!fn)
		return -1;
	ret = arg ? PyObject_CallOneArg(fn, arg) : PyObject_CallNoArgs(fn);
	Py_XDECREF(arg);
	Py_DECREF(fn);
	if (!ret)
		return py_error(e, EX_ENVIRON, NULL);
	Py_DECREF(ret);
	return 0;
}

/* Is there a module of that name?  Found without running it. */
static bool module_exists(const char *name)
{
	struct err ignored;
	PyObject *find = py_attr("importlib.util", "find_spec", &ignored);
	PyObject *spec = find ? PyObject_CallFunction(find, "s", name) : NULL;
	bool found = spec && spec != Py_None;

	PyErr_Clear();
	Py_XDECREF(spec);
	Py_XDECREF(find);
	return found;
}

static int import_module(const char *name, struct err *e)
{
	size_t n = strlen(name);
	PyObject *m;

	if (n > 3 && !strcmp(name + n - 3, ".so")) {
		PyObject *ops = py_attr("torch", "ops.load_library", e);

		if (!ops)
			return -1;
		m = PyObject_CallFunction(ops, "s", name);
		Py_DECREF(ops);
	} else {
		m = PyImport_ImportModule(name);
	}
	if (!m) {
		py_error(e, EX_ENVIRON, NULL);
		return err_prefix(e, "unable to import '%s'", name);
	}
	Py_DECREF(m);
	return 0;
}

/* A name that ends in '?' need not be there. */
static int import_one(const char *name, struct err *e)
{
	size_t n = strlen(name);
	char *bare = xstrndup(name, n - (n && name[n - 1] == '?'));
	int rc = 0;

	if (name[strlen(bare)] != '?' || module_exists(bare))
		rc = import_module(bare, e);
	free(bare);
	return rc;
}

/* torch.<name>.<attr> where there is such a thing. */
static PyObject *module_attr(const struct device *d, const char *attr)
{
	char *path = xasprintf("%s.%s", d->name, attr);
	struct err ignored;
	PyObject *fn = py_attr("torch", path, &ignored);

	free(path);
	return fn && PyCallable_Check(fn) ? fn : NULL;
}

/*
 * Modules that it has beside what it is known to need, and what else is said of
 * it, as text: new.  So that one that is open needs not be opened again.
 */
static char *text_of(const struct device *d, const cJSON *imports,
		     const cJSON *override)
{
	char *a = NULL, *b = NULL, *text;
	const cJSON *x;
	size_t i = 0;

	cJSON_ArrayForEach(x, imports)
		if (!d->imports[i] || strcmp(d->imports[i++], x->valuestring))
			break;
	if (x || (imports && imports->child && d->imports[i]))
		a = cJSON_PrintUnformatted(imports);
	if (override)
		b = cJSON_PrintUnformatted(override);
	text = xasprintf("%s %s", a ? a : "", b ? b : "");
	cJSON_free(a);
	cJSON_free(b);
	return text;
}

bool adapter_is(const struct adapter *a, const char *device,
		const cJSON *imports, const cJSON *override)
{
	char *text;
	bool same;

	if (strcmp(a->asked, device))
		return false;
	text = text_of(&a->dev, imports, override);
	same = !strcmp(a->how, text);
	free(text);
	return same;
}

static int import_all(const struct device *d, const cJSON *imports,
		      struct err *e)
{
	const cJSON *x;
	char **v;

	cJSON_ArrayForEach(x, imports)
		if (import_one(x->valuestring, e))
			return -1;
	for (v = imports && imports->child ? NULL : d->imports; v && *v; v++)
		if (import_one(*v, e))
			return -1;
	for (v = d->init; v && *v; v++)
		if (call_once(*v, e))
			return err_prefix(e, "unable to start '%s'", d->name);
	return 0;
}

/*
 * The function that the table or the manifest names, which must be there, or
 * the first of the usual ones below torch.<name> that is there.
 */
static int find_call(PyObject **out, const struct device *d, const char *call,
		     const char *usual, const char *other, struct err *e)
{
	if (call)
		*out = resolve(call, NULL, e);
	else if (!(*out = module_attr(d, usual)) && other)
		*out = module_attr(d, other);
	return call && !*out ? -1 : 0;
}

/* One that can be done without, unless the manifest names it. */
static int find_extra(PyObject **out, const struct device *d, const char *call,
		      const char *usual, const cJSON *override,
		      const char *key, struct err *e)
{
	if (!find_call(out, d, call, usual, NULL, e))
		return 0;
	return json_get(override, key) ? -1 : 0;
}

char *adapter_accelerator(void)
{
	struct err ignored;
	PyObject *fn = py_attr("torch", "accelerator.current_accelerator",
			       &ignored);
	PyObject *dev = fn ? PyObject_CallNoArgs(fn) : NULL;
	PyObject *type = dev ? PyObject_GetAttrString(dev, "type") : NULL;
	const char *s = type ? PyUnicode_AsUTF8(type) : NULL;
	char *name = s ? xstrdup(s) : NULL;

	PyErr_Clear();
	Py_XDECREF(type);
	Py_XDECREF(dev);
	Py_XDECREF(fn);
	return name;
}

/* torch.accelerator speaks for one device; is it this one? */
static PyObject *accelerator_empty(const struct device *d)
{
	struct err ignored;
	char *name = adapter_accelerator();
	bool ours = name && !strcmp(name, d->name);

	free(name);
	return ours ? py_attr("torch", "accelerator.empty_cache", &ignored) :
		      NULL;
}

/* The listed device whose name is nearest to a mistyped one, or NULL: new. */
static char *nearest_device(const char *root, const char *name)
{
	char **names = device_names(root, NULL);
	const char *found = NULL;

	if (names)
		found = vocab_nearest(name, (const char *const *)names);
	if (found)
		found = xstrdup(found);
	device_names_free(names);
	return (char *)found;
}

/* Does PyTorch know a device of that name?  Asking uses none. */
static int check_name(const struct device *d, const char *root, struct err *e)
{
	PyObject *make = py_attr("torch", "device", e), *dev;
	char *near;

	if (!make)
		return -1;
	dev = PyObject_CallFunction(make, "s", d->string);
	Py_DECREF(make);
	Py_XDECREF(dev);
	if (dev)
		return 0;
	PyErr_Clear();
	near = d->known ? NULL : nearest_device(root, d->name);
	err_set(e, EX_ENVIRON, "PyTorch knows no device '%s'%s%s%s", d->name,
		near ? ", the nearest is '" : "; name the module that "
		"registers it in backend_import", near ? near : "",
		near ? "'" : "");
	free(near);
	return -1;
}

int adapter_open(struct adapter *a, const char *root, const char *device,
		 const cJSON *imports, const cJSON *override, struct err *e)
{
	struct device *d = &a->dev;
	char **p;

	memset(a, 0, sizeof(*a));
	if (device_find(d, root, device, e))
		return -1;
	a->count = -2;
	a->reference = !strcmp(d->name, "cpu");
	a->asked = xstrdup(device);
	a->how = text_of(d, imports, override);
	if (override && device_override(d, override, e))
		goto fail;
	for (p = d->path; p && *p; p++) {
		char *dir = xasprintf("%s/%s", root, *p);
		int rc = py_add_path(dir, e);

		free(dir);
		if (rc)
			goto fail;
	}
	adapter_environ(d);
	if (import_all(d, imports, e) ||
	    check_name(d, root, e) ||
	    ((!a->reference || d->sync) &&
	     find_call(&a->sync, d, d->sync, "synchronize", NULL, e)) ||
	    find_call(&a->seed, d, d->seed, "manual_seed_all", "manual_seed",
		      e) ||
	    find_extra(&a->ask_count, d, d->count, "device_count", override,
		       "count", e) ||
	    find_extra(&a->memory, d, d->memory, "memory_allocated", override,
		       "memory", e) ||
	    find_extra(&a->empty, d, d->empty, "empty_cache", override,
		       "empty", e))
		goto fail;
	if (!a->empty)
		a->empty = accelerator_empty(d);
	return 0;
fail:
	adapter_close(a);
	return -1;
}

void adapter_close(struct adapter *a)
{
	Py_CLEAR(a->sync);
	Py_CLEAR(a->seed);
	Py_CLEAR(a->ask_count);
	Py_CLEAR(a->memory);
	Py_CLEAR(a->empty);
	device_release(&a->dev);
	free(a->asked);
	free(a->how);
	a->asked = a->how = NULL;
}

int adapter_there(struct adapter *a, struct err *e)
{
	const char *colon = strchr(a->dev.string, ':');
	PyObject *ret;
	long n;

	if (a->count != -2)
		return 0;
	ret = a->ask_count ? PyObject_CallNoArgs(a->ask_count) : NULL;
	n = ret && PyLong_Check(ret) ? PyLong_AsLong(ret) : -1;
	PyErr_Clear();
	Py_XDECREF(ret);
	a->count = n >= 0 && n <= 1 << 20 ? (int)n : -1;
	if (!a->count)
		return err_set(e, EX_ENVIRON, "there is no '%s' here: its "
			       "device count is 0", a->dev.name);
	if (a->count > 0 && colon && strtol(colon + 1, NULL, 10) >= a->count)
		return err_set(e, EX_ENVIRON, "there is no '%s': the device "
			       "count is %d", a->dev.string, a->count);
	return 0;
}

int adapter_sync(const struct adapter *a)
{
	PyObject *ret;

	if (!a->sync)
		return 0;
	ret = PyObject_CallNoArgs(a->sync);
	if (!ret)
		return -1;
	Py_DECREF(ret);
	return 0;
}

double adapter_memory(const struct adapter *a)
{
	PyObject *ret = a->memory ? PyObject_CallNoArgs(a->memory) : NULL;
	double bytes = ret ? PyFloat_AsDouble(ret) : -1;

	PyErr_Clear();
	Py_XDECREF(ret);
	return bytes;
}

void adapter_empty(const struct adapter *a)
{
	PyObject *ret = a->empty ? PyObject_CallNoArgs(a->empty) : NULL;

	PyErr_Clear();
	Py_XDECREF(ret);
}

void adapter_seed(const struct adapter *a, uint64_t seed)
{
	PyObject *ret = NULL, *n;

	if (!a->seed)
		return;
	n = PyLong_FromUnsignedLongLong(seed);
	if (n)
		ret = PyObject_CallOneArg(a->seed, n);
	Py_XDECREF(n);
	Py_XDECREF(ret);
	PyErr_Clear();
}
