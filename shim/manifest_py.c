/*
 * cts-manifest-py FILE
 *
 * Evaluates a manifest.py and prints, as one line of JSON, either
 * {"manifest":{…},"wrong":[["note","…"],…],"keys":[["note",12],…]} or
 * {"error":…,"code":…}.  What can't be said in JSON is left out and is wrong.
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
/* Seconds that a manifest may take, an import of torch included. */
#define PATIENCE 120

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

/* By its name: so a dtype can be copied, as the real ones can. */
static PyObject *fake_reduce(PyObject *self, PyObject *ignored)
{
	(void)ignored;
	return PyUnicode_FromString(((struct fake_dtype *)self)->name);
}

static PyMethodDef fake_methods[] = {
	{ "__reduce__", fake_reduce, METH_NOARGS, NULL },
	{ 0 },
};

static PyType_Slot fake_slots[] = {
	{ Py_tp_methods, fake_methods },
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

/*
 * TorchCTS's own tolerances are objects: one with rtol and atol stands for a
 * dict of both, one with two tiers for its usable one.  New.
 */
static PyObject *plain(PyObject *o)
{
	PyObject *usable = NULL, *rtol, *atol, *d;

	if (PyDict_Check(o) || PyUnicode_Check(o) || PyNumber_Check(o))
		return Py_NewRef(o);
	if (PyObject_HasAttrString(o, "golden"))
		usable = PyObject_GetAttrString(o, "usable");
	if (!usable)
		usable = Py_NewRef(o);
	rtol = PyObject_GetAttrString(usable, "rtol");
	atol = rtol ? PyObject_GetAttrString(usable, "atol") : NULL;
	PyErr_Clear();
	d = atol ? Py_BuildValue("{sOsO}", "rtol", rtol, "atol", atol) :
		   Py_NewRef(o);
	Py_XDECREF(rtol);
	Py_XDECREF(atol);
	Py_DECREF(usable);
	return d;
}

/* A value on its way into JSON. */
struct writer {
	struct jw *w;
	struct buf path;	/* of keys, "tolerance_overrides.mm:float32" */
	struct buf wrong;	/* [path,what] of what was left out, in JSON */
	bool some;		/* wrong holds any */
};

static void write_value(struct writer *t, PyObject *o);

static void wrong(struct writer *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void wrong(struct writer *t, const char *fmt, ...)
{
	struct buf what = BUF_INIT;
	struct jw w;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&what, fmt, ap);
	va_end(ap);
	if (t->some)
		buf_addch(&t->wrong, ',');
	t->some = true;
	jw_init(&w, &t->wrong);
	jw_arr(&w);
	jw_str(&w, t->path.len ? t->path.p : "");
	jw_str(&w, what.p);
	jw_arr_end(&w);
	buf_release(&what);
}

static void leave(struct writer *t, size_t was)
{
	t->path.len = was;
	t->path.p[was] = '\0';
}

/* Is it a text without what JSON or C can't hold? */
static const char *text_of(PyObject *o)
{
	Py_ssize_t n;
	const char *s = PyUnicode_AsUTF8AndSize(o, &n);

	PyErr_Clear();
	return s && strlen(s) == (size_t)n ? s : NULL;
}

/*
 * A number that JSON has no word for, where only a number can be meant: its
 * check says the rest.
 */
static bool is_odd_number(const struct writer *t, PyObject *o)
{
	return PyFloat_Check(o) && !isfinite(PyFloat_AS_DOUBLE(o)) &&
		!strncmp(t->path.p, "tolerance_overrides.", 20);
}

/* Can it stand in JSON?  If not, say so. */
static bool writable(struct writer *t, PyObject *o)
{
	if (is_odd_number(t, o))
		return true;
	if (t->w->depth > DEPTH)
		wrong(t, "nested too deep");
	else if (PyUnicode_Check(o) && !text_of(o))
		wrong(t, "expected a text of valid characters");
	else if ((PyFloat_Check(o) || PyLong_Check(o)) &&
		 !isfinite(PyFloat_AsDouble(o)))
		wrong(t, "expected a finite number, got %s",
		      PyFloat_Check(o) && isnan(PyFloat_AS_DOUBLE(o)) ?
		      "'nan'" : "'inf'");
	else if (!PyBool_Check(o) && o != Py_None && !PyLong_Check(o) &&
		 !PyFloat_Check(o) && !PyUnicode_Check(o) &&
		 !PyDict_Check(o) && !PyList_Check(o) && !PyTuple_Check(o) &&
		 !PyAnySet_Check(o) &&
		 strcmp(Py_TYPE(o)->tp_name, "torch.dtype"))
		wrong(t, "a manifest can't hold an object of type %s",
		      Py_TYPE(o)->tp_name);
	else
		return true;
	PyErr_Clear();
	return false;
}

static void write_dict(struct writer *t, PyObject *o)
{
	struct buf key = BUF_INIT;
	PyObject *k, *v;
	Py_ssize_t pos = 0;
	size_t was = t->path.len;

	jw_obj(t->w);
	while (PyDict_Next(o, &pos, &k, &v)) {
		if (!*key_text(k, &key)) {
			wrong(t, "a key must be a string or a dtype, got %s",
			      Py_TYPE(k)->tp_name);
			continue;
		}
		if (was)
			buf_addch(&t->path, '.');
		buf_addstr(&t->path, key.p);
		v = plain(v);
		if (writable(t, v)) {
			jw_key(t->w, key.p);
			write_value(t, v);
		}
		Py_DECREF(v);
		leave(t, was);
	}
	jw_obj_end(t->w);
	buf_release(&key);
}

static void write_list(struct writer *t, PyObject *o)
{
	PyObject *seq = PySequence_Fast(o, "not a sequence"), *v;
	size_t was = t->path.len;
	Py_ssize_t i;

	jw_arr(t->w);
	for (i = 0; seq && i < PySequence_Fast_GET_SIZE(seq); i++) {
		buf_addf(&t->path, "[%zd]", i);
		v = PySequence_Fast_GET_ITEM(seq, i);
		if (writable(t, v))
			write_value(t, v);
		leave(t, was);
	}
	jw_arr_end(t->w);
	Py_XDECREF(seq);
	PyErr_Clear();
}

static void write_number(struct jw *w, double v)
{
	char text[40];

	snprintf(text, sizeof(text), "%.17g", v);
	jw_raw(w, text, strlen(text));
}

static void write_value(struct writer *t, PyObject *o)
{
	struct buf b = BUF_INIT;

	if (PyBool_Check(o))
		jw_bool(t->w, o == Py_True);
	else if (o == Py_None)
		jw_raw(t->w, "null", 4);
	else if (is_odd_number(t, o))
		jw_str(t->w, isnan(PyFloat_AS_DOUBLE(o)) ? "nan" : "inf");
	else if (PyLong_Check(o) || PyFloat_Check(o))
		write_number(t->w, PyFloat_AsDouble(o));
	else if (PyUnicode_Check(o))
		jw_str(t->w, text_of(o));
	else if (PyDict_Check(o))
		write_dict(t, o);
	else if (PyList_Check(o) || PyTuple_Check(o) || PyAnySet_Check(o))
		write_list(t, o);
	else
		jw_str(t->w, key_text(o, &b));
	buf_release(&b);
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

static void node_text(PyObject *o, struct buf *b);

/* ("mm", torch.float32) as its key: "mm:torch.float32". */
static void pair_text(PyObject *o, struct buf *b)
{
	PyObject *elts = PyObject_GetAttrString(o, "elts");
	struct buf one = BUF_INIT;
	Py_ssize_t i;

	for (i = 0; elts && i < PyList_Size(elts); i++) {
		node_text(PyList_GetItem(elts, i), &one);
		buf_addf(b, "%s%s", i ? ":" : "", one.p);
	}
	PyErr_Clear();
	Py_XDECREF(elts);
	buf_release(&one);
}

/*
 * A key as it stands in the source: "rng" or torch.float32, of which
 * torch.float is another name.
 */
static void node_text(PyObject *o, struct buf *b)
{
	const struct dtype *t = NULL;
	PyObject *s = NULL;

	buf_reset(b);
	if (is_node(o, "Constant")) {
		s = PyObject_GetAttrString(o, "value");
	} else if (is_node(o, "Attribute")) {
		s = PyObject_GetAttrString(o, "attr");
		buf_addstr(b, "torch.");
		t = s && text_of(s) ? dtype_find(text_of(s)) : NULL;
	} else if (is_node(o, "Tuple")) {
		pair_text(o, b);
		return;
	}
	if (s && PyUnicode_Check(s) && text_of(s))
		buf_addstr(b, t ? t->name : text_of(s));
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

/* Does the statement say manifest = …? */
static bool assigns_manifest(PyObject *node)
{
	PyObject *x = is_node(node, "Assign") ?
		PyObject_GetAttrString(node, "targets") : NULL;
	PyObject *id = x && PyList_Size(x) == 1 ?
		PyObject_GetAttrString(PyList_GetItem(x, 0), "id") : NULL;
	bool yes = id && PyUnicode_Check(id) && text_of(id) &&
		!strcmp(text_of(id), "manifest");

	PyErr_Clear();
	Py_XDECREF(id);
	Py_XDECREF(x);
	return yes;
}

/* Where the source says manifest = {…} last, the lines of its keys. */
static void write_positions(struct jw *w, PyObject *tree)
{
	PyObject *body = PyObject_GetAttrString(tree, "body"), *value = NULL;
	struct buf path = BUF_INIT;
	Py_ssize_t i;

	buf_grow(&path, 64);
	for (i = body ? PyList_Size(body) : 0; i-- > 0 && !value; )
		if (assigns_manifest(PyList_GetItem(body, i)))
			value = PyObject_GetAttrString(PyList_GetItem(body, i),
						       "value");
	if (value)
		write_keys(w, value, &path);
	PyErr_Clear();
	Py_XDECREF(value);
	Py_XDECREF(body);
	buf_release(&path);
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
	struct writer t = { .w = w, .path = BUF_INIT, .wrong = BUF_INIT };
	struct buf text = BUF_INIT;
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
	buf_grow(&t.path, 64);
	write_value(&t, m);
	jw_key(w, "wrong");
	buf_addch(&t.wrong, ']');
	jw_raw(w, "[", 1);
	buf_add(w->out, t.wrong.p, t.wrong.len);
	jw_key(w, "keys");
	jw_arr(w);
	tree = Py_CompileStringFlags(text.p, path, Py_file_input, &flags);
	if (tree)
		write_positions(w, tree);
	PyErr_Clear();
	jw_arr_end(w);
	jw_obj_end(w);
	rc = 0;
out:
	PyErr_Clear();
	Py_XDECREF(tree);
	Py_XDECREF(globals);
	Py_XDECREF(code);
	buf_release(&t.path);
	buf_release(&t.wrong);
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
	alarm(PATIENCE);
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
