#include "side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "xalloc.h"

#define LEAVES_MAX 1024

/* Words by which backends and PyTorch say that something is not there. */
static enum raised_kind kind_of(const char *type, const char *message)
{
	static const char *const oom[] = {
		"OutOfMemory", "MemoryError", NULL };
	static const char *const oom_text[] = {
		"out of memory", "can't allocate memory", NULL };
	static const char *const absent[] = {
		"not implemented for", "is not implemented",
		"Could not run 'aten::",
		"not currently implemented", "not supported on",
		"only supported on",
		"is not supported for", "not yet supported",
		"is not currently supported", "is not yet implemented",
		"doesn't support", "does not support", "unsupported", NULL };
	size_t i;

	for (i = 0; oom[i]; i++)
		if (strstr(type, oom[i]))
			return RAISED_OOM;
	for (i = 0; oom_text[i]; i++)
		if (strstr(message, oom_text[i]))
			return RAISED_OOM;
	if (!strcmp(type, "NotImplementedError"))
		return RAISED_UNSUPPORTED;
	for (i = 0; absent[i]; i++)
		if (strstr(message, absent[i]))
			return RAISED_UNSUPPORTED;
	return RAISED_ERROR;
}

void side_catch(struct side *s)
{
	PyObject *type, *value, *tb, *str;
	const char *p;

	PyErr_Fetch(&type, &value, &tb);
	PyErr_NormalizeException(&type, &value, &tb);
	str = value ? PyObject_Str(value) : NULL;
	p = str ? PyUnicode_AsUTF8(str) : NULL;
	s->raised = true;
	p = p ? p : "";
	s->type = xstrdup(type ? ((PyTypeObject *)type)->tp_name : "unknown");
	s->message = xstrndup(p, strnlen(p, 1000));
	s->kind = kind_of(s->type, s->message);
	PyErr_Clear();
	Py_XDECREF(str);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(tb);
}

void side_raise(struct side *s, const char *type, const char *message)
{
	s->raised = true;
	s->type = xstrdup(type);
	s->message = xstrndup(message, strnlen(message, 1000));
	s->kind = kind_of(type, message);
}

struct leaf *side_add_leaf(struct side *s)
{
	struct leaf *l;

	s->leaf = xgrow(s->leaf, &s->cap, s->n + 1, sizeof(*s->leaf));
	l = &s->leaf[s->n++];
	memset(l, 0, sizeof(*l));
	return l;
}

static char *hexf(double v)
{
	return isnan(v) ? xstrdup("nan") :
		isinf(v) ? xstrdup(v < 0 ? "-inf" : "inf") :
		xasprintf("%a", v);
}

/* A Python value that is no tensor and no container. */
static void leaf_py(struct leaf *l, PyObject *o)
{
	const char *type = Py_TYPE(o)->tp_name;
	PyObject *str;
	const char *p;
	char *re, *im;

	if (PyFloat_Check(o)) {
		l->py = "float";
		l->text = hexf(PyFloat_AS_DOUBLE(o));
		return;
	}
	if (PyComplex_Check(o)) {
		re = hexf(PyComplex_RealAsDouble(o));
		im = hexf(PyComplex_ImagAsDouble(o));
		l->py = "complex";
		l->text = xasprintf("%s,%s", re, im);
		free(re);
		free(im);
		return;
	}
	l->py = PyBool_Check(o) ? "bool" : PyLong_Check(o) ? "int" :
		PyUnicode_Check(o) ? "str" : o == Py_None ? "none" :
		!strcmp(type, "torch.dtype") ? "dtype" :
		!strcmp(type, "torch.device") ? "device" : "other";
	if (!strcmp(l->py, "other")) {
		/* Its repr may hold an address; its type is what counts. */
		l->text = xstrdup(type);
		return;
	}
	str = PyObject_Str(o);
	p = str ? PyUnicode_AsUTF8(str) : NULL;
	l->text = xstrndup(p ? p : "", p ? strnlen(p, 200) : 0);
	PyErr_Clear();
	Py_XDECREF(str);
}

/* Take a result apart; -1 where a tensor can't be looked at. */
static int flatten(struct side *s, const struct lab *lab, PyObject *o,
		   int depth)
{
	bool list = PyList_Check(o);
	PyObject *key, *value;
	Py_ssize_t i, pos = 0;
	struct leaf *l;

	if (s->n >= LEAVES_MAX || depth > 16)
		return 0;
	if (lab->api->is_tensor(o)) {
		buf_addch(&s->tree, '*');
		l = side_add_leaf(s);
		l->is_tensor = true;
		return lab->api->from_py(o, &l->t) ||
			lab->api->meta(l->t, &l->meta) ? -1 : 0;
	}
	if (list || PyTuple_Check(o)) {
		buf_addch(&s->tree, list ? '[' : '(');
		for (i = 0; i < PySequence_Fast_GET_SIZE(o); i++) {
			buf_addstr(&s->tree, i ? "," : "");
			if (flatten(s, lab, PySequence_Fast_GET_ITEM(o, i),
				    depth + 1))
				return -1;
		}
		buf_addch(&s->tree, list ? ']' : ')');
		return 0;
	}
	if (PyDict_Check(o)) {
		buf_addch(&s->tree, '{');
		while (PyDict_Next(o, &pos, &key, &value))
			if (flatten(s, lab, value, depth + 1))
				return -1;
		buf_addch(&s->tree, '}');
		return 0;
	}
	buf_addch(&s->tree, '.');
	leaf_py(side_add_leaf(s), o);
	return 0;
}

int side_flatten(struct side *s, const struct lab *lab, PyObject *o)
{
	return flatten(s, lab, o, 0);
}

int side_read_leaf(const struct lab *lab, struct leaf *l)
{
	if (l->meta.nested)
		return 0;
	if (l->meta.layout == CTT_STRIDED || l->meta.layout == CTT_JAGGED) {
		l->read = !lab->api->read(l->t, &l->bytes, &l->p, &l->n);
		return l->read ? 0 : -1;
	}
	l->nparts = lab->api->parts(l->t, l->parts, l->part_names);
	if (l->nparts < 0) {
		l->nparts = 0;
		return -1;
	}
	return 0;
}

int side_read(struct side *s, const struct lab *lab)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->leaf[i].is_tensor && side_read_leaf(lab, &s->leaf[i]))
			return -1;
	return 0;
}

static bool same_part(const struct lab *lab, ctt a, ctt b)
{
	struct ctt_meta x, y;
	const void *p, *q;
	ctt ca = NULL, cb = NULL;
	size_t n, m;
	bool same = false;

	if (lab->api->meta(a, &x) || lab->api->meta(b, &y) ||
	    x.scalar_type != y.scalar_type || x.ndim != y.ndim ||
	    memcmp(x.sizes, y.sizes, sizeof(*x.sizes) * (size_t)x.ndim))
		return false;
	if (!lab->api->read(a, &ca, &p, &n) && !lab->api->read(b, &cb, &q, &m))
		same = n == m && (n == 0 || !memcmp(p, q, n));
	if (ca)
		lab->api->free(ca);
	if (cb)
		lab->api->free(cb);
	return same;
}

static bool same_leaf(const struct lab *lab, const struct leaf *a,
		      const struct leaf *b)
{
	int i;

	if (a->is_tensor != b->is_tensor)
		return false;
	if (!a->is_tensor)
		return !strcmp(a->py, b->py) && !strcmp(a->text, b->text);
	if (a->meta.scalar_type != b->meta.scalar_type ||
	    a->meta.ndim != b->meta.ndim || a->meta.layout != b->meta.layout ||
	    memcmp(a->meta.sizes, b->meta.sizes,
		   sizeof(*a->meta.sizes) * (size_t)a->meta.ndim) ||
	    a->nparts != b->nparts)
		return false;
	for (i = 0; i < a->nparts; i++)
		if (!same_part(lab, a->parts[i], b->parts[i]))
			return false;
	if (a->nparts)
		return true;
	return a->read && b->read && a->n == b->n &&
		(a->n == 0 || !memcmp(a->p, b->p, a->n));
}

bool side_same(const struct lab *lab, const struct side *a,
		       const struct side *b)
{
	size_t i;

	if (a->raised || b->raised || a->n != b->n ||
	    strcmp(a->tree.p, b->tree.p))
		return false;
	for (i = 0; i < a->n; i++)
		if (!same_leaf(lab, &a->leaf[i], &b->leaf[i]))
			return false;
	return true;
}

void side_release(struct side *s, const struct lab *lab)
{
	size_t i;
	int k;

	for (i = 0; i < s->n; i++) {
		struct leaf *l = &s->leaf[i];

		for (k = 0; k < l->nparts; k++)
			lab->api->free(l->parts[k]);
		if (l->bytes)
			lab->api->free(l->bytes);
		if (l->t)
			lab->api->free(l->t);
		free(l->text);
		if (s->alias)
			free(s->alias[i]);
	}
	free(s->alias);
	free(s->moved);
	free(s->follows);
	free(s->leads);
	free(s->written);
	free(s->leaf);
	free(s->change);
	free(s->type);
	free(s->message);
	buf_release(&s->tree);
}
