#include "thaw.h"

#include <stdlib.h>
#include <string.h>
#include "xalloc.h"

void thawer_init(struct thawer *t, const struct lab *lab,
		 const struct freeze_types *types, struct wire *in)
{
	memset(t, 0, sizeof(*t));
	t->api = lab->api;
	t->types = types;
	t->in = in;
	t->room = (struct freeze_room)FREEZE_ROOM;
}

static void free_all(struct thawer *t, ctt *v, size_t n)
{
	while (n > 0)
		if (v[--n])
			t->api->free(v[n]);
	free(v);
}

void thawer_release(struct thawer *t)
{
	free_all(t, t->tensor, t->n);
	free_all(t, t->storage, t->nstorage);
	memset(t, 0, sizeof(*t));
}

int thaw_meta(struct wire *in, struct ctt_meta *m)
{
	uint8_t bits;
	char *device;
	int i;

	memset(m, 0, sizeof(*m));
	m->scalar_type = (int)wire_u32(in);
	m->layout = wire_u32(in);
	bits = wire_u8(in);
	m->has_strides = bits & 1;
	m->conj = bits >> 1 & 1;
	m->neg = bits >> 2 & 1;
	m->requires_grad = bits >> 3 & 1;
	m->quantized = bits >> 4 & 1;
	m->nested = bits >> 5 & 1;
	m->is_cpu = bits >> 6 & 1;
	m->zerotensor = bits >> 7;
	m->itemsize = (size_t)wire_u64(in);
	device = wire_str(in);
	snprintf(m->device, sizeof(m->device), "%s", device);
	free(device);
	m->ndim = wire_u8(in);
	if (m->ndim > CTT_MAX_DIM || m->layout > CTT_LAYOUT_OTHER)
		in->bad = true;
	if (in->bad)
		return -1;
	m->numel = 1;
	for (i = 0; i < m->ndim; i++) {
		m->sizes[i] = (int64_t)wire_u64(in);
		if (m->sizes[i] < 0 || __builtin_mul_overflow(m->numel,
					m->sizes[i], &m->numel))
			in->bad = true;
	}
	for (i = 0; m->has_strides && i < m->ndim; i++)
		m->strides[i] = (int64_t)wire_u64(in);
	if (m->has_strides)
		m->offset = (int64_t)wire_u64(in);
	return in->bad ? -1 : 0;
}

/* The storage of the next tensor: one that is there, or a new one; or NULL. */
static ctt get_storage(struct thawer *t)
{
	uint32_t i = wire_u32(t->in);
	const void *p;
	size_t n;
	ctt s;

	if (t->in->bad || i > t->nstorage)
		return NULL;
	if (i < t->nstorage)
		return t->storage[i];
	p = wire_bytes(t->in, &n);
	if (!p || t->api->storage(p, n, &s))
		return NULL;
	t->storage = xgrow(t->storage, &t->storage_cap, t->nstorage + 1,
			   sizeof(*t->storage));
	return t->storage[t->nstorage++] = s;
}

static int get_tensor(struct thawer *t, int depth, ctt *ret_t);

/* The parts of b; borrowed from t. */
static int get_parts(struct thawer *t, struct ctt_body *b, int depth)
{
	int n = wire_u8(t->in);

	if (n > 4 || depth > 2)
		return -1;
	while (b->nparts < n)
		if (get_tensor(t, depth + 1, &b->parts[b->nparts++]))
			return -1;
	return 0;
}

/* A tensor anew, into its place among those that came; borrowed. */
static int get_new(struct thawer *t, int depth, ctt *ret_t)
{
	struct ctt_body b = { .nparts = 0 };
	struct ctt_meta m, is;
	size_t at = t->n;
	ctt made;

	t->tensor = xgrow(t->tensor, &t->cap, t->n + 1, sizeof(*t->tensor));
	t->tensor[t->n++] = NULL;
	if (thaw_meta(t->in, &m))
		return -1;
	b.kind = wire_u8(t->in);
	b.coalesced = wire_u8(t->in);
	if (b.kind == CTT_BODY_STRIDED) {
		b.parts[0] = get_storage(t);
		b.nparts = 1;
		if (!b.parts[0])
			return -1;
	} else if (get_parts(t, &b, depth)) {
		return -1;
	}
	if (t->in->bad || t->api->build(&m, &b, &made))
		return -1;
	*ret_t = t->tensor[at] = made;
	/* What it is, not what was said of it. */
	return t->api->meta(made, &is) || freeze_room_tensor(&t->room, &is) ?
		-1 : 0;
}

static int get_tensor(struct thawer *t, int depth, ctt *ret_t)
{
	uint8_t what = wire_u8(t->in);
	uint32_t i;

	if (what == FROZEN_TENSOR)
		return get_new(t, depth, ret_t);
	i = wire_u32(t->in);
	if (what != FROZEN_SAME || i >= t->n || !t->tensor[i])
		return -1;
	*ret_t = t->tensor[i];
	return 0;
}

int thawer_tensor(struct thawer *t, ctt *ret_t)
{
	void *obj;
	ctt c;
	int rc;

	if (get_tensor(t, 0, &c) || t->api->to_py(c, &obj))
		return -1;
	rc = t->api->from_py(obj, ret_t);
	Py_DECREF((PyObject *)obj);
	return rc;
}

static PyObject *get(struct thawer *t, int depth);

static PyObject *get_items(struct thawer *t, enum frozen what, int depth)
{
	size_t n = wire_count(t->in, 1), i;
	PyObject *v = PyList_New(0), *ret;

	/* It grows with what there is, whatever number was said. */
	for (i = 0; v && i < n; i++) {
		PyObject *x = get(t, depth + 1);

		if (!x || PyList_Append(v, x))
			Py_CLEAR(v);
		Py_XDECREF(x);
	}
	if (!v || what == FROZEN_LIST)
		return v;
	ret = what == FROZEN_TUPLE ? PyList_AsTuple(v) :
		PyObject_CallOneArg(t->types->size, v);
	Py_DECREF(v);
	return ret;
}

static PyObject *get_dict(struct thawer *t, int depth)
{
	size_t n = wire_count(t->in, 2), i;
	PyObject *ret = PyDict_New();

	for (i = 0; ret && i < n; i++) {
		PyObject *key = get(t, depth + 1);
		PyObject *val = key ? get(t, depth + 1) : NULL;

		if (!val || PyDict_SetItem(ret, key, val))
			Py_CLEAR(ret);
		Py_XDECREF(key);
		Py_XDECREF(val);
	}
	return ret;
}

static PyObject *get_slice(struct thawer *t, int depth)
{
	PyObject *v[3] = { NULL, NULL, NULL }, *ret = NULL;
	int i;

	for (i = 0; i < 3; i++)
		if (!(v[i] = get(t, depth + 1)))
			break;
	if (i == 3)
		ret = PySlice_New(v[0], v[1], v[2]);
	for (i = 0; i < 3; i++)
		Py_XDECREF(v[i]);
	return ret;
}

static double get_double(struct wire *w)
{
	uint64_t bits = wire_u64(w);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* A plain word: nothing but the name of an attribute. */
static bool is_word(const char *s)
{
	return *s && strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789") ==
		strlen(s);
}

/* What is written as a text of one kind or another. */
static PyObject *get_text(struct thawer *t, enum frozen what)
{
	char *s = wire_str(t->in);
	PyObject *ret = NULL;

	if (t->in->bad)
		goto out;
	if (what == FROZEN_STR)
		ret = PyUnicode_FromString(s);
	else if (what == FROZEN_BIG)
		ret = PyLong_FromString(s, NULL, 16);
	else if (what == FROZEN_DEVICE)
		ret = PyObject_CallMethod(t->types->torch, "device", "s", s);
	else if (is_word(s))
		ret = PyObject_GetAttrString(t->types->torch, s);
	/* Nothing else in torch is a value. */
	if (ret && what == FROZEN_ATTR && !freeze_is_named(ret))
		Py_CLEAR(ret);
out:
	free(s);
	return ret;
}

static PyObject *get_bytes(struct wire *w)
{
	size_t n;
	const char *p = wire_bytes(w, &n);

	return p ? PyBytes_FromStringAndSize(p, (Py_ssize_t)n) : NULL;
}

static PyObject *get_object(struct thawer *t)
{
	void *obj;
	ctt c;

	return get_tensor(t, 0, &c) || t->api->to_py(c, &obj) ? NULL : obj;
}

/* The object that Python has of it is made what it was, and stays it. */
static PyObject *get_parameter(struct thawer *t)
{
	PyObject *o = get_object(t);

	if (o && PyObject_SetAttrString(o, "__class__", t->types->parameter))
		Py_CLEAR(o);
	return o;
}

static PyObject *get(struct thawer *t, int depth)
{
	struct wire *w = t->in;
	enum frozen what;
	double re;

	if (depth > FREEZE_DEPTH_MAX || w->bad || !w->left)
		return NULL;
	what = (unsigned char)*w->p;
	/* A tensor's first byte is its own to read. */
	if (what == FROZEN_TENSOR || what == FROZEN_SAME)
		return get_object(t);
	wire_u8(w);
	switch (what) {
	case FROZEN_NONE: return Py_NewRef(Py_None);
	case FROZEN_TRUE: return Py_NewRef(Py_True);
	case FROZEN_FALSE: return Py_NewRef(Py_False);
	case FROZEN_ELLIPSIS: return Py_NewRef(Py_Ellipsis);
	case FROZEN_INT: return PyLong_FromLongLong((int64_t)wire_u64(w));
	case FROZEN_FLOAT: return PyFloat_FromDouble(get_double(w));
	case FROZEN_COMPLEX:
		re = get_double(w);
		return PyComplex_FromDoubles(re, get_double(w));
	case FROZEN_BYTES: return get_bytes(w);
	case FROZEN_BIG: case FROZEN_STR: case FROZEN_ATTR:
	case FROZEN_DEVICE:
		return get_text(t, what);
	case FROZEN_PARAMETER: return get_parameter(t);
	case FROZEN_SLICE: return get_slice(t, depth);
	case FROZEN_TUPLE: case FROZEN_LIST: case FROZEN_SIZE:
		return get_items(t, what, depth);
	case FROZEN_DICT: return get_dict(t, depth);
	default: return NULL;
	}
}

PyObject *thawer_value(struct thawer *t)
{
	PyObject *o = get(t, 0);

	if (o && t->in->bad)
		Py_CLEAR(o);
	PyErr_Clear();
	return o;
}
