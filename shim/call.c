#include "call.h"

#include <string.h>
#include "buf.h"
#include "xalloc.h"

#define DEPTH_MAX 32

int call_types_init(struct call_types *t, struct err *e)
{
	static const char *const from[] = {
		"float16", "bfloat16", "float32", "complex32", "complex64",
	};
	size_t i;

	memset(t, 0, sizeof(*t));
	t->device = py_attr("torch", "device", e);
	t->dtype = py_attr("torch", "dtype", e);
	t->default_dtype = py_attr("torch", "set_default_dtype", e);
	t->float32 = py_attr("torch", "float32", e);
	t->float64 = py_attr("torch", "float64", e);
	t->hp_of = PyDict_New();
	if (!t->device || !t->dtype || !t->default_dtype || !t->float32 ||
	    !t->float64 || !t->hp_of)
		return -1;
	for (i = 0; i < sizeof(from) / sizeof(*from); i++) {
		const char *to = strncmp(from[i], "complex", 7) ?
			"float64" : "complex128";
		PyObject *a = py_attr("torch", from[i], e);
		PyObject *b = py_attr("torch", to, e);

		if (!a || !b || PyDict_SetItem(t->hp_of, a, b))
			return -1;
		Py_DECREF(a);
		Py_DECREF(b);
	}
	return 0;
}

/* Laying operands out anew instead of copying them to a device. */
struct relay {
	const struct ctt_lay *lay;
	int operand, n;
	bool applied;
	PyObject *made;		/* dict: id of an original → its new form */
};

struct walk {
	struct call *c;
	struct relay *relay;	/* NULL: copy to the device */
	uint64_t host;
	const struct ctt_api *api;
	const struct call_types *types;
	const char *device;
	bool hp;
	struct err *e;
};

static PyObject *convert(struct walk *w, PyObject *o, int depth);

static PyObject *lay_new(struct walk *w, PyObject *o)
{
	struct relay *r = w->relay;
	bool applied = false;
	void *out = NULL;
	ctt src, t;

	if (w->api->from_py(o, &src))
		goto fail;
	if (w->api->lay(src, r->lay, &t, &applied)) {
		w->api->free(src);
		goto fail;
	}
	w->api->free(src);
	r->applied |= applied;
	if (!applied)
		out = Py_NewRef(o);
	else if (w->api->to_py(t, &out))
		out = NULL;
	w->api->free(t);
	if (out)
		return out;
fail:
	err_set(w->e, EX_OK_, "%s", w->api->error());
	return NULL;
}

/* One operand of a call that is laid out anew; the same one stays the same. */
static PyObject *lay_tensor(struct walk *w, PyObject *o)
{
	struct relay *r = w->relay;
	PyObject *id, *made;

	if (r->operand >= 0 && r->n++ != r->operand)
		return Py_NewRef(o);
	id = PyLong_FromVoidPtr(o);
	made = id ? PyDict_GetItem(r->made, id) : NULL;
	if (made) {
		Py_INCREF(made);
	} else if ((made = lay_new(w, o))) {
		PyDict_SetItem(r->made, id, made);
	}
	Py_XDECREF(id);
	return made;
}

/* Count used, which stands for src in the call, as the next tensor. */
static void count_tensor(struct walk *w, ctt src, ctt used)
{
	struct call *c = w->c;

	c->originals = xgrow(c->originals, &c->originals_cap, c->n + 1,
			     sizeof(*c->originals));
	if (w->api->meta(src, &c->originals[c->n]))
		memset(&c->originals[c->n], 0, sizeof(*c->originals));
	c->tensors = xgrow(c->tensors, &c->cap, c->n + 1, sizeof(ctt));
	c->tensors[c->n++] = used;
}

/* What stays on the host is the same there and here, and counts as others. */
static PyObject *convert_host(struct walk *w, PyObject *o)
{
	ctt t;

	if (w->api->is_tensor(o) && !w->api->from_py(o, &t))
		count_tensor(w, t, t);
	return Py_NewRef(o);
}

static PyObject *convert_tensor(struct walk *w, PyObject *o)
{
	ctt src, copy;
	void *out = NULL;

	if (w->api->from_py(o, &src))
		goto fail;
	if (w->api->copier_tensor(w->c->copier, src, (int)w->c->n, &copy)) {
		w->api->free(src);
		goto fail;
	}
	count_tensor(w, src, copy);
	w->api->free(src);
	if (w->api->to_py(copy, &out))
		goto fail;
	return out;
fail:
	err_set(w->e, EX_OK_, "%s", w->api->error());
	return NULL;
}

static PyObject *convert_device(struct walk *w, PyObject *o)
{
	PyObject *type = PyObject_GetAttrString(o, "type");
	const char *s = type ? PyUnicode_AsUTF8(type) : NULL;
	PyObject *ret;

	if (s && !strcmp(s, "cpu"))
		ret = PyObject_CallFunction(w->types->device, "s", w->device);
	else
		ret = Py_NewRef(o);
	Py_XDECREF(type);
	if (!ret)
		py_error(w->e, EX_OK_, NULL);
	return ret;
}

/* A list or tuple: a new one with each element converted. */
static PyObject *convert_seq(struct walk *w, PyObject *o, int depth)
{
	bool list = PyList_CheckExact(o);
	Py_ssize_t i, n = list ? PyList_GET_SIZE(o) : PyTuple_GET_SIZE(o);
	PyObject *ret = list ? PyList_New(n) : PyTuple_New(n);

	for (i = 0; ret && i < n; i++) {
		PyObject *item = list ? PyList_GET_ITEM(o, i) :
			PyTuple_GET_ITEM(o, i);
		PyObject *made;

		if (depth == 0 && i < 64 && w->host >> i & 1)
			made = convert_host(w, item);
		else
			made = convert(w, item, depth + 1);
		if (!made)
			Py_CLEAR(ret);
		else if (list)
			PyList_SET_ITEM(ret, i, made);
		else
			PyTuple_SET_ITEM(ret, i, made);
	}
	return ret;
}

/* Nothing is promised of a write to a tensor with a stride of 0. */
static bool spared(const struct walk *w, PyObject *key, int depth)
{
	return w->relay && depth == 0 &&
		w->relay->lay->view == CTT_VIEW_EXPANDED &&
		PyUnicode_Check(key) &&
		!PyUnicode_CompareWithASCIIString(key, "out");
}

static PyObject *convert_dict(struct walk *w, PyObject *o, int depth)
{
	PyObject *ret = PyDict_New(), *key, *value;
	Py_ssize_t pos = 0;

	while (ret && PyDict_Next(o, &pos, &key, &value)) {
		PyObject *made = spared(w, key, depth) ? Py_NewRef(value) :
			convert(w, value, depth + 1);

		if (!made || PyDict_SetItem(ret, key, made))
			Py_CLEAR(ret);
		Py_XDECREF(made);
	}
	return ret;
}

/* A copy of o for the target; new reference, or NULL with w->e set. */
static PyObject *convert(struct walk *w, PyObject *o, int depth)
{
	const struct call_types *t = w->types;
	PyObject *hp;

	if (depth > DEPTH_MAX) {
		err_set(w->e, EX_OK_, "arguments nest too deep");
		return NULL;
	}
	if (w->api->is_tensor(o))
		return w->relay ? lay_tensor(w, o) : convert_tensor(w, o);
	if (PyList_CheckExact(o) || PyTuple_CheckExact(o))
		return convert_seq(w, o, depth);
	if (PyDict_CheckExact(o))
		return convert_dict(w, o, depth);
	if (w->relay)
		return Py_NewRef(o);
	if ((PyObject *)Py_TYPE(o) == t->device)
		return convert_device(w, o);
	if (PyUnicode_Check(o) &&
	    PyUnicode_CompareWithASCIIString(o, "cpu") == 0)
		return PyUnicode_FromString(w->device);
	if (w->hp && (PyObject *)Py_TYPE(o) == t->dtype) {
		hp = PyDict_GetItem(t->hp_of, o);
		return Py_NewRef(hp ? hp : o);
	}
	return Py_NewRef(o);
}

int call_init(struct call *c, const struct ctt_api *api,
	      const struct call_types *types, PyObject *args,
	      PyObject *kwargs, const char *device, int flags, uint64_t host,
	      struct err *e)
{
	struct walk w = { .c = c, .host = host, .api = api, .types = types,
			  .device = device, .hp = flags & CTT_COPY_HP,
			  .e = e };

	memset(c, 0, sizeof(*c));
	if (api->copier_new(device, flags, &c->copier))
		return err_set(e, EX_OK_, "%s", api->error());
	e->code = EX_ENVIRON;
	c->args = convert(&w, args, 0);
	w.host = 0;
	if (c->args)
		c->kwargs = convert(&w, kwargs, 0);
	if (c->kwargs)
		return 0;
	if (PyErr_Occurred())
		py_error(e, EX_ENVIRON, NULL);
	call_release(c, api);
	return -1;
}

int call_lay(const struct ctt_api *api, const struct call_types *types,
	     PyObject *args, PyObject *kwargs, const struct ctt_lay *lay,
	     int operand, PyObject **ret_args, PyObject **ret_kwargs,
	     bool *applied, struct err *e)
{
	struct relay r = { .lay = lay, .operand = operand,
			   .made = PyDict_New() };
	struct walk w = { .relay = &r, .api = api, .types = types, .e = e };

	e->code = EX_ENVIRON;
	*ret_kwargs = NULL;
	*ret_args = r.made ? convert(&w, args, 0) : NULL;
	if (*ret_args)
		*ret_kwargs = convert(&w, kwargs, 0);
	Py_XDECREF(r.made);
	*applied = r.applied;
	if (*ret_kwargs)
		return 0;
	Py_CLEAR(*ret_args);
	if (PyErr_Occurred())
		py_error(e, EX_ENVIRON, NULL);
	return -1;
}

void call_release(struct call *c, const struct ctt_api *api)
{
	while (c->n > 0)
		api->free(c->tensors[--c->n]);
	free(c->tensors);
	free(c->originals);
	Py_CLEAR(c->args);
	Py_CLEAR(c->kwargs);
	if (c->copier)
		api->copier_free(c->copier);
	memset(c, 0, sizeof(*c));
}

static int collect(const struct ctt_api *api, PyObject *o, ctt **v,
		   size_t *n, size_t *cap, int depth)
{
	Py_ssize_t i, len, pos = 0;
	PyObject *key, *value;

	if (depth > DEPTH_MAX)
		return -1;
	if (api->is_tensor(o)) {
		*v = xgrow(*v, cap, *n + 1, sizeof(ctt));
		return api->from_py(o, &(*v)[*n]) ? -1 : (++*n, 0);
	}
	if (PyList_CheckExact(o) || PyTuple_CheckExact(o)) {
		len = PySequence_Fast_GET_SIZE(o);
		for (i = 0; i < len; i++)
			if (collect(api, PySequence_Fast_GET_ITEM(o, i), v, n,
				    cap, depth + 1))
				return -1;
	} else if (PyDict_CheckExact(o)) {
		while (PyDict_Next(o, &pos, &key, &value))
			if (collect(api, value, v, n, cap, depth + 1))
				return -1;
	}
	return 0;
}

int call_tensors(const struct ctt_api *api, PyObject *args, PyObject *kwargs,
		 ctt **v, size_t *n, size_t *cap)
{
	return collect(api, args, v, n, cap, 0) ||
		collect(api, kwargs, v, n, cap, 0) ? -1 : 0;
}

static void text_of(struct buf *out, const struct ctt_api *api, PyObject *o,
		    size_t max, int depth);

static void text_tensor(struct buf *out, const struct ctt_api *api,
			PyObject *o)
{
	struct ctt_meta m;
	PyObject *dtype = PyObject_GetAttrString(o, "dtype");
	PyObject *s = dtype ? PyObject_Str(dtype) : NULL;
	const char *name = s ? PyUnicode_AsUTF8(s) : NULL;
	ctt t;
	int i;

	buf_addstr(out, name && !strncmp(name, "torch.", 6) ? name + 6 : "?");
	if (!api->from_py(o, &t)) {
		if (!api->meta(t, &m)) {
			for (i = 0; i < m.ndim; i++)
				buf_addf(out, "%c%lld", i ? 'x' : '(',
					 (long long)m.sizes[i]);
			buf_addstr(out, m.ndim ? ")" : "()");
		}
		api->free(t);
	}
	PyErr_Clear();
	Py_XDECREF(s);
	Py_XDECREF(dtype);
}

static void text_items(struct buf *out, const struct ctt_api *api,
		       PyObject *o, size_t max, int depth)
{
	Py_ssize_t i, n, pos = 0;
	PyObject *key, *value;
	bool first = true;

	if (!PyDict_CheckExact(o)) {
		n = PySequence_Fast_GET_SIZE(o);
		for (i = 0; i < n && out->len < max; i++) {
			buf_addstr(out, i ? ", " : "");
			text_of(out, api, PySequence_Fast_GET_ITEM(o, i), max,
				depth + 1);
		}
		return;
	}
	while (PyDict_Next(o, &pos, &key, &value) && out->len < max) {
		const char *k = PyUnicode_Check(key) ?
			PyUnicode_AsUTF8(key) : NULL;

		buf_addf(out, "%s%s=", first ? "" : ", ", k ? k : "?");
		text_of(out, api, value, max, depth + 1);
		first = false;
	}
}

/* An object's repr may hold its address, which differs from run to run. */
static void text_repr(struct buf *out, PyObject *o)
{
	PyObject *s = PyObject_Repr(o);
	const char *p = s ? PyUnicode_AsUTF8(s) : NULL;

	if (p && !strstr(p, " at 0x"))
		buf_addf(out, "%.80s", p);
	else
		buf_addf(out, "<%s>", Py_TYPE(o)->tp_name);
	PyErr_Clear();
	Py_XDECREF(s);
}

static void text_of(struct buf *out, const struct ctt_api *api, PyObject *o,
		    size_t max, int depth)
{
	bool list = PyList_CheckExact(o);

	if (api->is_tensor(o)) {
		text_tensor(out, api, o);
	} else if (depth < DEPTH_MAX && (list || PyTuple_CheckExact(o))) {
		buf_addch(out, list ? '[' : '(');
		text_items(out, api, o, max, depth);
		buf_addch(out, list ? ']' : ')');
	} else if (depth < DEPTH_MAX && PyDict_CheckExact(o)) {
		buf_addch(out, '{');
		text_items(out, api, o, max, depth);
		buf_addch(out, '}');
	} else {
		text_repr(out, o);
	}
}

void call_text(struct buf *out, const struct ctt_api *api, PyObject *args,
	       PyObject *kwargs, size_t max)
{
	text_items(out, api, args, max, 0);
	if (PyDict_Size(kwargs) > 0 && out->len < max) {
		buf_addstr(out, PyTuple_Size(args) ? ", " : "");
		text_items(out, api, kwargs, max, 0);
	}
	if (out->len > max) {
		out->len = max;
		/* Never cut inside a UTF-8 sequence. */
		while (out->len && (out->p[out->len] & 0xc0) == 0x80)
			out->len--;
		out->p[out->len] = '\0';
	}
}

