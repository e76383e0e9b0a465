#include "inventory.h"

#include <string.h>
#include "jw.h"
#include "rec.h"

/* Write each string that iterating obj (which is consumed) gives. */
static int write_lines(PyObject *obj, int out, struct err *e)
{
	PyObject *it = obj ? PyObject_GetIter(obj) : NULL, *line;
	int rc = 0;

	while (it && !rc && (line = PyIter_Next(it))) {
		Py_ssize_t n;
		const char *s = PyUnicode_AsUTF8AndSize(line, &n);

		rc = s ? rec_write(out, s, (size_t)n, e) :
			py_error(e, EX_ENVIRON, NULL);
		Py_DECREF(line);
	}
	if (!rc && PyErr_Occurred())
		rc = py_error(e, EX_ENVIRON, NULL);
	Py_XDECREF(it);
	Py_XDECREF(obj);
	return rc;
}

int inventory_opinfo(struct lab *lab, int out, struct err *e)
{
	PyObject *fn = py_attr("opinfo", "inventory", e), *lines;

	(void)lab;
	if (!fn)
		return -1;
	lines = PyObject_CallNoArgs(fn);
	Py_DECREF(fn);
	return write_lines(lines, out, e);
}

int inventory_suites(const char *folder, int out, struct err *e)
{
	PyObject *fn = py_attr("suite", "inventory_of", e), *lines;

	if (!fn)
		return -1;
	lines = PyObject_CallFunction(fn, "s", folder);
	Py_DECREF(fn);
	return write_lines(lines, out, e);
}

struct aten { int out, rc; struct err *e; struct buf line; };

static void write_overload(void *ctx, const struct ctt_overload *o)
{
	struct aten *a = ctx;
	const char *p = o->tags;
	struct jw w;

	if (a->rc)
		return;
	buf_reset(&a->line);
	jw_init(&w, &a->line);
	jw_record(&w, "aten", "", "");
	jw_kstr(&w, "op", o->name);
	jw_kstr(&w, "schema", o->schema);
	jw_kstr(&w, "kernel", o->kernel);
	jw_kstr(&w, "surface", o->surface);
	jw_key(&w, "tags");
	jw_arr(&w);
	while (*p) {
		size_t n = strcspn(p, ",");

		jw_strn(&w, p, n);
		p += n + (p[n] == ',');
	}
	jw_arr_end(&w);
	jw_obj_end(&w);
	a->rc = rec_write_buf(a->out, &a->line, a->e);
}

int inventory_aten(struct lab *lab, int out, struct err *e)
{
	struct aten a = { out, 0, e, BUF_INIT };

	if (lab->api->overloads(lab->adapter.dev.string, write_overload, &a))
		a.rc = err_set(e, EX_ENVIRON, "%s", lab->api->error());
	buf_release(&a.line);
	return a.rc;
}

int inventory_probe(struct lab *lab, int out, struct err *e)
{
	PyObject *fn = py_attr("probe", "probe", e), *lines;

	if (!fn)
		return -1;
	lines = PyObject_CallFunction(fn, "si", lab->adapter.dev.string,
				      lab->adapter.count);
	Py_DECREF(fn);
	return write_lines(lines, out, e);
}
