#include "py.h"

#include <string.h>
#include "buf.h"
#include "prog.h"

#ifndef CTS_PYTHON
#error "CTS_PYTHON must be the path of the interpreter"
#endif

int py_start(struct err *e)
{
	PyConfig c;
	PyStatus st;

	PyConfig_InitPythonConfig(&c);
	/* getpath finds pyvenv.cfg and the prefix from the program's name. */
	st = PyConfig_SetBytesString(&c, &c.program_name, CTS_PYTHON);
	if (!PyStatus_Exception(st)) {
		c.install_signal_handlers = 0;
		c.parse_argv = 0;
		c.user_site_directory = 0;
		c.buffered_stdio = 0;
		/* Some samples of PyTorch's are drawn from a Python set. */
		c.use_hash_seed = 1;
		c.hash_seed = 0;
		st = Py_InitializeFromConfig(&c);
	}
	PyConfig_Clear(&c);
	if (PyStatus_Exception(st))
		return err_set(e, EX_ENVIRON, "unable to start Python '%s': %s",
			       CTS_PYTHON,
			       st.err_msg ? st.err_msg : "unknown reason");
	return 0;
}

/* The line of the innermost frame of tb that lies in file (NULL: any). */
static long tb_place(PyObject *tb, const char *file, struct buf *name)
{
	long line = 0;

	for (; tb && tb != Py_None;
	     tb = (PyObject *)((PyTracebackObject *)tb)->tb_next) {
		PyObject *frame = PyObject_GetAttrString(tb, "tb_frame");
		PyObject *code = frame ?
			PyObject_GetAttrString(frame, "f_code") : NULL;
		PyObject *path = code ?
			PyObject_GetAttrString(code, "co_filename") : NULL;
		PyObject *no = PyObject_GetAttrString(tb, "tb_lineno");
		const char *s = path ? PyUnicode_AsUTF8(path) : NULL;

		if (s && no && (!file || !strcmp(s, file))) {
			line = PyLong_AsLong(no);
			buf_reset(name);
			buf_addstr(name, s);
		}
		Py_XDECREF(no);
		Py_XDECREF(path);
		Py_XDECREF(code);
		Py_XDECREF(frame);
		PyErr_Clear();
	}
	return line;
}

int py_error(struct err *e, int code, const char *only)
{
	PyObject *type, *value, *tb, *text, *lineno;
	struct buf name = BUF_INIT;
	const char *tname, *msg;
	long line;

	PyErr_Fetch(&type, &value, &tb);
	if (!type)
		return err_set(e, code, "unknown Python error");
	PyErr_NormalizeException(&type, &value, &tb);
	line = tb_place(tb, only, &name);
	if (only && PyErr_GivenExceptionMatches(type, PyExc_SyntaxError)) {
		lineno = PyObject_GetAttrString(value, "lineno");
		if (lineno && PyLong_Check(lineno)) {
			line = PyLong_AsLong(lineno);
			buf_reset(&name);
			buf_addstr(&name, only);
		}
		Py_XDECREF(lineno);
		PyErr_Clear();
	}
	tname = ((PyTypeObject *)type)->tp_name;
	text = PyObject_Str(value);
	msg = text ? PyUnicode_AsUTF8(text) : NULL;
	PyErr_Clear();
	if (only && line)
		err_set(e, code, "%s:%ld: %s: %.*s", name.p, line, tname,
			(int)strcspn(msg ? msg : "", "\n"), msg ? msg : "");
	else
		err_set(e, code, "%s: %.*s", tname,
			(int)strcspn(msg ? msg : "", "\n"), msg ? msg : "");
	Py_XDECREF(text);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(tb);
	buf_release(&name);
	return -1;
}

int py_add_path(const char *dir, struct err *e)
{
	PyObject *path = PySys_GetObject("path");	/* borrowed */
	PyObject *s = PyUnicode_DecodeFSDefault(dir);
	int rc = path && s ? PyList_Insert(path, 0, s) : -1;

	Py_XDECREF(s);
	return rc ? py_error(e, EX_ENVIRON, NULL) : 0;
}

void py_importing(void)
{
	PyGC_Disable();
}

void py_gc(const char *what)
{
	struct err ignored;
	PyObject *fn = py_attr("gc", what, &ignored);
	PyObject *ret = fn ? PyObject_CallNoArgs(fn) : NULL;

	PyErr_Clear();
	Py_XDECREF(ret);
	Py_XDECREF(fn);
}

void py_imported(void)
{
	py_gc("freeze");
	PyGC_Enable();
}

PyObject *py_attr(const char *module, const char *attr, struct err *e)
{
	PyObject *o = PyImport_ImportModule(module), *next;
	const char *p = attr;
	char part[128];

	while (o && p && *p) {
		size_t n = strcspn(p, ".");

		if (n >= sizeof(part)) {
			Py_DECREF(o);
			err_set(e, EX_ENVIRON, "attribute name too long '%s'",
				attr);
			return NULL;
		}
		memcpy(part, p, n);
		part[n] = '\0';
		next = PyObject_GetAttrString(o, part);
		Py_DECREF(o);
		o = next;
		p += n + (p[n] == '.');
	}
	if (!o)
		py_error(e, EX_ENVIRON, NULL);
	return o;
}
