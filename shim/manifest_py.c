/*
 * cts-manifest-py FILE
 *
 * Evaluates a manifest.py and prints, as one line of JSON, either
 * {"manifest":{…},"keys":[["capabilities.rng",12],…]} or {"error":…,"code":…}.
 * A program of its own, so that cts-manifest need not load a Python.
 *
 * While it runs, "torch" is a stand-in that has the dtypes' names alone, since
 * importing the real one takes seconds.  A manifest that wants anything else
 * of it is evaluated once more, with the real one.
 *
 * Exit status: 0 an answer was printed, 2 usage, 4 no Python, lost write.
 */
#include "py.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "dtype.h"
#include "jw.h"
#include "prog.h"
#include "rec.h"

static const char usage_text[] =
"usage: cts-manifest-py FILE\n"
"\n"
"Evaluate a manifest.py for cts-manifest and print it as JSON.\n"
"\n"
"  -h, --help       print this and exit\n"
"  -V, --version    print the version and exit\n"
"\n"
"Exit status: 0 an answer was printed, 2 bad usage, 4 environment.\n";

#define DEPTH 16

/* The stand-in was asked for more than it has. */
static bool wants_torch;

struct fake_dtype {
	PyObject_HEAD
	const char *name;
};

static PyObject *fake_repr(PyObject *self)
{
	return PyUnicode_FromFormat("torch.%s",
				    ((struct fake_dtype *)self)->name);
}

static PyObject *fake_getattro(PyObject *self, PyObject *name)
{
	const char *s = PyUnicode_AsUTF8(name);

	if (s && *s != '_')
		wants_torch = true;
	return PyObject_GenericGetAttr(self, name);
}

static PyType_Slot fake_slots[] = {
	{ Py_tp_repr, fake_repr },
	{ Py_tp_str, fake_repr },
	{ Py_tp_getattro, fake_getattro },
	{ 0, NULL },
};

static PyType_Spec fake_spec = {
	.name = "torch.dtype",
	.basicsize = sizeof(struct fake_dtype),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = fake_slots,
};

static PyObject *module_getattr(PyObject *self, PyObject *name)
{
	const char *s = PyUnicode_AsUTF8(name);

	(void)self;
	/* The import system itself looks for some of these. */
	if (!s || strncmp(s, "__", 2) || !strcmp(s, "__version__") ||
	    !strcmp(s, "__path__"))
		wants_torch = true;
	PyErr_Format(PyExc_AttributeError, "module 'torch' has no attribute "
		     "'%U'", name);
	return NULL;
}

static PyMethodDef getattr_def = {
	"__getattr__", module_getattr, METH_O, NULL
};

static int add_dtype(PyObject *module, PyTypeObject *type, const char *name,
		     const char *alias)
{
	struct fake_dtype *d = PyObject_New(struct fake_dtype, type);
	int rc;

	if (!d)
		return -1;
	d->name = name;
	rc = PyObject_SetAttrString(module, name, (PyObject *)d);
	if (!rc && alias)
		rc = PyObject_SetAttrString(module, alias, (PyObject *)d);
	Py_DECREF(d);
	return rc;
}

/* Put the stand-in where "import torch" finds it. */
static int fake_torch(void)
{
	PyObject *m = PyModule_New("torch");
	PyObject *type = PyType_FromSpec(&fake_spec);
	PyObject *get = PyCFunction_New(&getattr_def, NULL);
	const struct dtype *t;
	int rc = -1;
	size_t i;

	if (m && type && get &&
	    !PyObject_SetAttrString(m, "dtype", type) &&
	    !PyObject_SetAttrString(m, "__getattr__", get))
		rc = PyObject_SetItem(PyImport_GetModuleDict(),
				      PyModule_GetNameObject(m), m);
	for (i = 0; !rc && (t = dtype_at(i)); i++)
		rc = add_dtype(m, (PyTypeObject *)type, t->name, t->alias);
	Py_XDECREF(get);
	Py_XDECREF(type);
	Py_XDECREF(m);
	return rc;
}

/* A dtype's or string's text for a key, "" for anything else. */
static const char *key_text(PyObject *key, struct buf *b)
{
	PyObject *s;
	Py_ssize_t i;

	buf_reset(b);
	if (PyUnicode_Check(key)) {
		const char *u = PyUnicode_AsUTF8(key);

		buf_addstr(b, u ? u : "");
	} else if (PyTuple_Check(key)) {
		/* ("matmul", torch.float32) is how TorchCTS spells a pair. */
		for (i = 0; i < PyTuple_GET_SIZE(key); i++) {
			s = PyObject_Str(PyTuple_GET_ITEM(key, i));
			if (i)
				buf_addch(b, ':');
			if (s && PyUnicode_AsUTF8(s))
				buf_addstr(b, PyUnicode_AsUTF8(s));
			Py_XDECREF(s);
		}
	} else if (!strcmp(Py_TYPE(key)->tp_name, "torch.dtype")) {
		s = PyObject_Str(key);
		if (s && PyUnicode_AsUTF8(s))
			buf_addstr(b, PyUnicode_AsUTF8(s));
		Py_XDECREF(s);
	}
	PyErr_Clear();
	return b->p;
}

static int write_value(struct jw *w, PyObject *o, struct buf *path,
		       struct err *e);

static int write_dict(struct jw *w, PyObject *o, struct buf *path,
		      struct err *e)
{
	struct buf key = BUF_INIT;
	PyObject *k, *v;
	Py_ssize_t pos = 0;
	size_t was = path->len;
	int rc = 0;

	jw_obj(w);
	while (!rc && PyDict_Next(o, &pos, &k, &v)) {
		if (!*key_text(k, &key)) {
			rc = err_set(e, EX_BADINPUT, "%s: a key must be a "
				     "string or a dtype, got %s", path->p,
				     Py_TYPE(k)->tp_name);
			break;
		}
		jw_key(w, key.p);
		if (was)
			buf_addch(path, '.');
		buf_addstr(path, key.p);
		rc = write_value(w, v, path, e);
		path->len = was;
		path->p[was] = '\0';
	}
	if (!rc)
		jw_obj_end(w);
	buf_release(&key);
	return rc;
}

static int write_list(struct jw *w, PyObject *o, struct buf *path,
		      struct err *e)
{
	PyObject *seq = PySequence_Fast(o, "not a sequence");
	size_t was = path->len;
	Py_ssize_t i;
	int rc = 0;

	jw_arr(w);
	for (i = 0; seq && !rc && i < PySequence_Fast_GET_SIZE(seq); i++) {
		buf_addf(path, "[%zd]", i);
		rc = write_value(w, PySequence_Fast_GET_ITEM(seq, i), path, e);
		path->len = was;
		path->p[was] = '\0';
	}
	if (!rc)
		jw_arr_end(w);
	Py_XDECREF(seq);
	return rc;
}

static int write_float(struct jw *w, double v)
{
	char text[40];

	if (!isfinite(v)) {
		jw_str(w, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
		return 0;
	}
	snprintf(text, sizeof(text), "%.17g", v);
	jw_raw(w, text, strlen(text));
	return 0;
}

static int write_value(struct jw *w, PyObject *o, struct buf *path,
		       struct err *e)
{
	const char *s;

	if (w->depth > DEPTH)
		return err_set(e, EX_BADINPUT, "%s: nested too deep", path->p);
	if (PyBool_Check(o)) {
		jw_bool(w, o == Py_True);
	} else if (o == Py_None) {
		jw_raw(w, "null", 4);
	} else if (PyLong_Check(o)) {
		return write_float(w, PyLong_AsDouble(o));
	} else if (PyFloat_Check(o)) {
		return write_float(w, PyFloat_AS_DOUBLE(o));
	} else if (PyUnicode_Check(o)) {
		s = PyUnicode_AsUTF8(o);
		PyErr_Clear();
		jw_str(w, s ? s : "");
	} else if (PyDict_Check(o)) {
		return write_dict(w, o, path, e);
	} else if (PyList_Check(o) || PyTuple_Check(o) || PyAnySet_Check(o)) {
		return write_list(w, o, path, e);
	} else if (!strcmp(Py_TYPE(o)->tp_name, "torch.dtype")) {
		struct buf b = BUF_INIT;

		jw_str(w, key_text(o, &b));
		buf_release(&b);
	} else {
		return err_set(e, EX_BADINPUT, "%s: a manifest can't hold an "
			       "object of type %s", path->p,
			       Py_TYPE(o)->tp_name);
	}
	return 0;
}

static bool is_node(PyObject *o, const char *name)
{
	const char *s = o ? Py_TYPE(o)->tp_name : "", *dot = strrchr(s, '.');

	return !strcmp(dot ? dot + 1 : s, name);
}

static long node_line(PyObject *o)
{
	PyObject *n = PyObject_GetAttrString(o, "lineno");
	long line = n ? PyLong_AsLong(n) : 0;

	Py_XDECREF(n);
	PyErr_Clear();
	return line;
}

/* A key as it stands in the source: "rng" or torch.float32. */
static void node_text(PyObject *o, struct buf *b)
{
	PyObject *s = NULL;

	buf_reset(b);
	if (is_node(o, "Constant")) {
		s = PyObject_GetAttrString(o, "value");
	} else if (is_node(o, "Attribute")) {
		s = PyObject_GetAttrString(o, "attr");
		buf_addstr(b, "torch.");
	}
	if (s && PyUnicode_Check(s) && PyUnicode_AsUTF8(s))
		buf_addstr(b, PyUnicode_AsUTF8(s));
	else
		buf_reset(b);
	Py_XDECREF(s);
	PyErr_Clear();
}

static void write_keys(struct jw *w, PyObject *node, struct buf *path)
{
	PyObject *keys = NULL, *values = NULL, *k;
	struct buf text = BUF_INIT;
	size_t was = path->len;
	Py_ssize_t i;

	if (is_node(node, "Dict")) {
		keys = PyObject_GetAttrString(node, "keys");
		values = PyObject_GetAttrString(node, "values");
	}
	for (i = 0; keys && values && i < PyList_Size(keys); i++) {
		k = PyList_GetItem(keys, i);
		if (!k || k == Py_None)
			continue;
		node_text(k, &text);
		if (!text.len)
			continue;
		if (was)
			buf_addch(path, '.');
		buf_addstr(path, text.p);
		jw_arr(w);
		jw_str(w, path->p);
		jw_int(w, node_line(k));
		jw_arr_end(w);
		write_keys(w, PyList_GetItem(values, i), path);
		path->len = was;
		path->p[was] = '\0';
	}
	PyErr_Clear();
	Py_XDECREF(keys);
	Py_XDECREF(values);
	buf_release(&text);
}

/* Where the source says manifest = {…}, the lines of its keys. */
static void write_positions(struct jw *w, PyObject *tree)
{
	PyObject *body = PyObject_GetAttrString(tree, "body"), *node, *x;
	struct buf path = BUF_INIT, name = BUF_INIT;
	Py_ssize_t i;

	buf_grow(&path, 64);
	for (i = 0; body && i < PyList_Size(body); i++) {
		node = PyList_GetItem(body, i);
		if (!is_node(node, "Assign"))
			continue;
		x = PyObject_GetAttrString(node, "targets");
		if (x && PyList_Size(x) == 1) {
			PyObject *id = PyObject_GetAttrString(
					PyList_GetItem(x, 0), "id");

			buf_reset(&name);
			if (id && PyUnicode_Check(id))
				buf_addstr(&name, PyUnicode_AsUTF8(id));
			Py_XDECREF(id);
		}
		Py_XDECREF(x);
		x = PyObject_GetAttrString(node, "value");
		if (!strcmp(name.p, "manifest") && x)
			write_keys(w, x, &path);
		Py_XDECREF(x);
		PyErr_Clear();
	}
	PyErr_Clear();
	Py_XDECREF(body);
	buf_release(&path);
	buf_release(&name);
}

/* Run the code in a fresh module; its globals (new), or NULL. */
static PyObject *evaluate(PyObject *code, const char *path)
{
	PyObject *globals = PyDict_New(), *file, *name, *done = NULL;

	file = PyUnicode_DecodeFSDefault(path);
	name = PyUnicode_FromString("manifest");
	if (globals && file && name &&
	    !PyDict_SetItemString(globals, "__builtins__",
				  PyEval_GetBuiltins()) &&
	    !PyDict_SetItemString(globals, "__file__", file) &&
	    !PyDict_SetItemString(globals, "__name__", name))
		done = PyEval_EvalCode(code, globals, globals);
	Py_XDECREF(file);
	Py_XDECREF(name);
	if (!done)
		Py_CLEAR(globals);
	Py_XDECREF(done);
	return globals;
}

static int import_real(void)
{
	PyObject *modules = PyImport_GetModuleDict(), *torch;

	if (PyDict_DelItemString(modules, "torch") < 0)
		PyErr_Clear();
	torch = PyImport_ImportModule("torch");
	Py_XDECREF(torch);
	return torch ? 0 : -1;
}

static PyObject *evaluate_twice(PyObject *code, const char *path,
				struct err *e)
{
	PyObject *globals;

	if (fake_torch() < 0) {
		py_error(e, EX_ENVIRON, NULL);
		return NULL;
	}
	globals = evaluate(code, path);
	if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_ImportError))
		wants_torch = true;
	if (wants_torch) {
		Py_CLEAR(globals);
		PyErr_Clear();
		if (import_real() < 0) {
			py_error(e, EX_ENVIRON, NULL);
			err_prefix(e, "%s: unable to import torch", path);
			return NULL;
		}
		globals = evaluate(code, path);
	}
	if (!globals) {
		py_error(e, EX_BADINPUT, path);
		/* One raised below an import has no line here. */
		if (strncmp(e->msg, path, strlen(path)))
			err_prefix(e, "%s", path);
	}
	return globals;
}

static int do_manifest(struct jw *w, const char *path, struct err *e)
{
	struct buf text = BUF_INIT, at = BUF_INIT;
	PyObject *tree = NULL, *code = NULL, *globals = NULL, *m;
	PyCompilerFlags flags = {
		.cf_flags = PyCF_ONLY_AST,
		.cf_feature_version = PY_MINOR_VERSION,
	};
	int rc = -1;

	if (buf_read_file(&text, path, 1 << 20, e) < 0)
		goto out;
	if (strlen(text.p) != text.len) {
		err_set(e, EX_BADINPUT, "%s: it holds a NUL byte", path);
		goto out;
	}
	code = Py_CompileString(text.p, path, Py_file_input);
	if (!code) {
		py_error(e, EX_BADINPUT, path);
		goto out;
	}
	globals = evaluate_twice(code, path, e);
	if (!globals)
		goto out;
	m = PyDict_GetItemString(globals, "manifest");
	if (!m || !PyDict_Check(m)) {
		err_set(e, EX_BADINPUT, m ? "%s: 'manifest' is no dict" :
			"%s: it defines no 'manifest'", path);
		goto out;
	}
	jw_obj(w);
	jw_key(w, "manifest");
	buf_grow(&at, 64);
	rc = write_value(w, m, &at, e);
	if (rc < 0) {
		err_prefix(e, "%s", path);
		goto out;
	}
	jw_key(w, "keys");
	jw_arr(w);
	tree = Py_CompileStringFlags(text.p, path, Py_file_input, &flags);
	if (tree)
		write_positions(w, tree);
	PyErr_Clear();
	jw_arr_end(w);
	jw_obj_end(w);
out:
	PyErr_Clear();
	Py_XDECREF(tree);
	Py_XDECREF(globals);
	Py_XDECREF(code);
	buf_release(&at);
	buf_release(&text);
	return rc;
}

static int write_all(int fd, const char *p, size_t n)
{
	ssize_t k;

	for (; n; p += k, n -= (size_t)k) {
		k = write(fd, p, n);
		if (k < 0 && errno != EINTR)
			return -1;
		if (k < 0)
			k = 0;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct buf out = BUF_INIT;
	struct err e = { 0 };
	struct jw w;
	int fd, rc;

	prog_init("cts-manifest-py", usage_text);
	while (prog_getopt(argc, argv, "hV", longs) != -1)
		;
	if (argc - optind != 1)
		return prog_usage("expected one file");
	fd = prog_private_stdout();
	if (fd < 0)
		return prog_fail(EX_ENVIRON, "unable to keep stdout apart");
	if (py_start(&e) < 0)
		return prog_fail_err(&e);
	jw_init(&w, &out);
	rc = do_manifest(&w, argv[optind], &e);
	if (rc < 0) {
		buf_reset(&out);
		jw_init(&w, &out);
		jw_obj(&w);
		jw_kstr(&w, "error", e.msg);
		jw_kint(&w, "code", e.code);
		jw_obj_end(&w);
	}
	buf_addch(&out, '\n');
	rc = write_all(fd, out.p, out.len);
	/* No finalisation: a backend that was imported may hang in it. */
	fflush(NULL);
	_exit(rc < 0 ? EX_ENVIRON : 0);
}
