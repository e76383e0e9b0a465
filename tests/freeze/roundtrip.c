/*
 * roundtrip MODULE: every value of MODULE.exact() is made bytes and back, and
 * MODULE.same() says of the two whether anybody could tell them apart; those of
 * MODULE.live() have to be refused.  Then each frozen value is cut at every
 * place and damaged at many: what comes of that doesn't matter, but that it
 * comes to an end.  TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "freeze.h"
#include "lab.h"
#include "prog.h"
#include "thaw.h"

#define MAX (1u << 20)

static struct lab lab;
static struct freeze_types types;
static int points, bad;

static void point(bool good, const char *what, const char *name)
{
	printf("%sok %d - %s: %s\n", good ? "" : "not ", ++points, name,
	       what);
	bad += !good;
}

static int freeze(struct buf *out, PyObject *o)
{
	struct freezer f;
	int rc;

	freezer_init(&f, &lab, &types, out, MAX);
	rc = freezer_value(&f, o);
	freezer_release(&f);
	PyErr_Clear();
	return rc;
}

static PyObject *thaw(const char *p, size_t n)
{
	struct wire in = WIRE_INIT(p, n);
	struct thawer t;
	PyObject *o;

	thawer_init(&t, &lab, &types, &in);
	o = thawer_value(&t);
	thawer_release(&t);
	if (o && in.left)
		Py_CLEAR(o);
	return o;
}

static bool same(PyObject *fn, PyObject *a, PyObject *b)
{
	PyObject *ret = PyObject_CallFunctionObjArgs(fn, a, b, NULL);
	bool yes = ret == Py_True;

	if (!ret)
		PyErr_Print();
	Py_XDECREF(ret);
	return yes;
}

/* What is damaged may come to anything, in an end. */
static void spoil(const struct buf *b)
{
	char *copy = malloc(b->len);
	size_t i, step = b->len / 400 + 1;

	for (i = 0; i < b->len; i += step) {
		memcpy(copy, b->p, i);
		Py_XDECREF(thaw(copy, i));
		memcpy(copy, b->p, b->len);
		copy[i] = (char)(copy[i] ^ (1 << i % 8));
		Py_XDECREF(thaw(copy, b->len));
		memset(copy + i, 0xff, b->len - i < 8 ? b->len - i : 8);
		Py_XDECREF(thaw(copy, b->len));
	}
	free(copy);
}

static void one(const char *name, PyObject *o, PyObject *fn)
{
	struct buf b = BUF_INIT, again = BUF_INIT;
	PyObject *back;

	if (freeze(&b, o)) {
		point(false, "can be kept", name);
		buf_release(&b);
		return;
	}
	back = thaw(b.p, b.len);
	point(back && same(fn, o, back), "comes back the same", name);
	point(back && !freeze(&again, back) && again.len == b.len &&
	      !memcmp(again.p, b.p, b.len), "as the same bytes", name);
	Py_XDECREF(back);
	spoil(&b);
	point(true, "spoilt, it does no harm", name);
	buf_release(&b);
	buf_release(&again);
}

/* The dict that MODULE.attr() gives: new. */
static PyObject *table(const char *module, const char *attr, struct err *e)
{
	PyObject *fn = py_attr(module, attr, e);
	PyObject *ret = fn ? PyObject_CallNoArgs(fn) : NULL;

	if (fn && !ret)
		py_error(e, EX_ENVIRON, NULL);
	Py_XDECREF(fn);
	return ret;
}

int main(int argc, char **argv)
{
	PyObject *exact, *live, *fn, *key, *value;
	Py_ssize_t pos = 0;
	struct buf b = BUF_INIT;
	struct err e;

	prog_init("roundtrip", "usage: roundtrip MODULE\n");
	if (argc != 2)
		return prog_usage("one module");
	if (lab_open(&lab, NULL, &e) || freeze_types_init(&types, &e))
		return prog_fail_err(&e);
	exact = table(argv[1], "exact", &e);
	live = exact ? table(argv[1], "live", &e) : NULL;
	fn = live ? py_attr(argv[1], "same", &e) : NULL;
	if (!fn)
		return prog_fail_err(&e);
	while (PyDict_Next(exact, &pos, &key, &value))
		one(PyUnicode_AsUTF8(key), value, fn);
	for (pos = 0; PyDict_Next(live, &pos, &key, &value);) {
		buf_reset(&b);
		point(freeze(&b, value), "is refused", PyUnicode_AsUTF8(key));
	}
	buf_release(&b);
	printf("1..%d\n", points);
	return bad != 0;
}
