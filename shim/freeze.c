#include "freeze.h"

#include <string.h>
#include "wire.h"
#include "xalloc.h"

int freeze_types_init(struct freeze_types *t, struct err *e)
{
	memset(t, 0, sizeof(*t));
	t->torch = PyImport_ImportModule("torch");
	t->tensor = py_attr("torch", "Tensor", e);
	t->parameter = py_attr("torch.nn", "Parameter", e);
	t->size = py_attr("torch", "Size", e);
	return t->torch && t->tensor && t->parameter && t->size ? 0 : -1;
}

void freeze_types_release(struct freeze_types *t)
{
	Py_CLEAR(t->torch);
	Py_CLEAR(t->tensor);
	Py_CLEAR(t->parameter);
	Py_CLEAR(t->size);
}

int freeze_room_text(struct freeze_room *r, uint64_t n)
{
	if (n > r->text)
		return -1;
	r->text -= n;
	return 0;
}

int freeze_room_tensor(struct freeze_room *r, const struct ctt_meta *m)
{
	/* As a record says it: 20 digits a number, and names. */
	uint64_t text = 100 + 42 * (uint64_t)m->ndim;
	uint64_t dense = (uint64_t)m->itemsize, n;
	int i;

	/* A size of 0 hides the others, but not where strides are made. */
	for (i = 0; i < m->ndim; i++)
		if (m->sizes[i] > 1 && __builtin_mul_overflow(dense,
					(uint64_t)m->sizes[i], &dense))
			return -1;
	if (m->numel < 0 || __builtin_mul_overflow((uint64_t)m->numel,
				(uint64_t)m->itemsize, &n))
		return -1;
	dense = n > dense ? n : dense;
	if (dense > r->dense)
		return -1;
	r->dense -= dense;
	return freeze_room_text(r, text);
}

void freezer_init(struct freezer *f, const struct lab *lab,
		  const struct freeze_types *types, struct buf *out,
		  size_t max)
{
	memset(f, 0, sizeof(*f));
	f->api = lab->api;
	f->types = types;
	f->out = out;
	f->max = max;
	f->room = (struct freeze_room)FREEZE_ROOM;
}

void freezer_release(struct freezer *f)
{
	while (f->n > 0)
		if (f->tensor[--f->n])
			f->api->free(f->tensor[f->n]);
	free(f->tensor);
	free(f->storage);
	memset(f, 0, sizeof(*f));
}

void freeze_meta(struct buf *out, const struct ctt_meta *m)
{
	int i;

	wire_put_u32(out, (uint32_t)m->scalar_type);
	wire_put_u32(out, (uint32_t)m->layout);
	wire_put_u8(out, (uint8_t)(m->has_strides | m->conj << 1 |
		m->neg << 2 | m->requires_grad << 3 | m->quantized << 4 |
		m->nested << 5 | m->is_cpu << 6 | m->zerotensor << 7));
	wire_put_u64(out, m->itemsize);
	wire_put_str(out, m->device);
	wire_put_u8(out, (uint8_t)m->ndim);
	for (i = 0; i < m->ndim; i++)
		wire_put_u64(out, (uint64_t)m->sizes[i]);
	if (!m->has_strides)
		return;
	for (i = 0; i < m->ndim; i++)
		wire_put_u64(out, (uint64_t)m->strides[i]);
	wire_put_u64(out, (uint64_t)m->offset);
}

/* A storage: its number, and its bytes where it is new. */
static int put_storage(struct freezer *f, const struct ctt_body *b)
{
	size_t i;

	for (i = 0; i < f->nstorage; i++)
		if (f->storage[i] == b->storage)
			break;
	wire_put_u32(f->out, (uint32_t)i);
	if (i < f->nstorage)
		return 0;
	if (b->nbytes > f->max || f->out->len + b->nbytes > f->max)
		return -1;
	f->storage = xgrow(f->storage, &f->storage_cap, f->nstorage + 1,
			   sizeof(*f->storage));
	f->storage[f->nstorage++] = b->storage;
	wire_put_bytes(f->out, b->bytes, b->nbytes);
	return 0;
}

/* Keep a handle of its own; its number. */
static size_t remember(struct freezer *f, ctt t)
{
	f->tensor = xgrow(f->tensor, &f->cap, f->n + 1, sizeof(*f->tensor));
	f->tensor[f->n] = t;
	return f->n++;
}

/* Takes t over. */
static int put_tensor(struct freezer *f, ctt t)
{
	struct ctt_meta m, seen;
	struct ctt_body b;
	size_t i;
	int k, rc = 0;

	if (f->api->meta(t, &m)) {
		f->api->free(t);
		return -1;
	}
	for (i = 0; i < f->n; i++)
		if (!f->api->meta(f->tensor[i], &seen) && seen.impl == m.impl) {
			wire_put_u8(f->out, FROZEN_SAME);
			wire_put_u32(f->out, (uint32_t)i);
			f->api->free(t);
			return 0;
		}
	remember(f, t);
	if (freeze_room_tensor(&f->room, &m) || f->api->body(t, &b))
		return -1;
	wire_put_u8(f->out, FROZEN_TENSOR);
	freeze_meta(f->out, &m);
	wire_put_u8(f->out, (uint8_t)b.kind);
	wire_put_u8(f->out, b.coalesced);
	if (b.kind == CTT_BODY_STRIDED)
		return m.has_strides ? put_storage(f, &b) : -1;
	if (b.kind == CTT_BODY_OTHER)
		return -1;
	wire_put_u8(f->out, (uint8_t)b.nparts);
	for (k = 0; k < b.nparts; k++)
		if (rc)
			f->api->free(b.parts[k]);
		else
			rc = put_tensor(f, b.parts[k]);
	return rc;
}

int freezer_tensor(struct freezer *f, ctt t)
{
	ctt own;
	void *obj;
	int rc;

	if (f->api->to_py(t, &obj))
		return -1;
	rc = f->api->from_py(obj, &own);
	Py_DECREF((PyObject *)obj);
	return rc ? -1 : put_tensor(f, own);
}

static int put_text(struct freezer *f, enum frozen what, PyObject *o)
{
	Py_ssize_t n;
	const char *s = PyUnicode_AsUTF8AndSize(o, &n);

	if (!s || strlen(s) != (size_t)n) {
		PyErr_Clear();
		return -1;
	}
	wire_put_u8(f->out, (uint8_t)what);
	wire_put_bytes(f->out, s, (size_t)n);
	return 0;
}

/* str(o), less what it has to start with. */
static int put_name(struct freezer *f, enum frozen what, PyObject *o,
		    const char *prefix)
{
	PyObject *s = PyObject_Str(o), *rest = NULL;
	const char *p = s ? PyUnicode_AsUTF8(s) : NULL;
	int rc = -1;

	if (p && !strncmp(p, prefix, strlen(prefix)))
		rest = PyUnicode_FromString(p + strlen(prefix));
	if (rest)
		rc = put_text(f, what, rest);
	PyErr_Clear();
	Py_XDECREF(rest);
	Py_XDECREF(s);
	return rc;
}

static int put_int(struct freezer *f, PyObject *o)
{
	int over = 0, rc;
	long long v = PyLong_AsLongLongAndOverflow(o, &over);
	PyObject *s;

	if (!over) {
		wire_put_u8(f->out, FROZEN_INT);
		wire_put_u64(f->out, (uint64_t)v);
		return 0;
	}
	s = PyNumber_ToBase(o, 16);
	rc = s ? put_text(f, FROZEN_BIG, s) : -1;
	PyErr_Clear();
	Py_XDECREF(s);
	return rc;
}

static void put_double(struct buf *b, double v)
{
	buf_add(b, &v, sizeof(v));
}

static int value(struct freezer *f, PyObject *o, int depth);

static int put_items(struct freezer *f, enum frozen what, PyObject *o,
		     int depth)
{
	Py_ssize_t i, n = PySequence_Fast_GET_SIZE(o);

	wire_put_u8(f->out, (uint8_t)what);
	wire_put_u64(f->out, (uint64_t)n);
	for (i = 0; i < n; i++)
		if (value(f, PySequence_Fast_GET_ITEM(o, i), depth + 1))
			return -1;
	return 0;
}

static int put_dict(struct freezer *f, PyObject *o, int depth)
{
	PyObject *key, *val;
	Py_ssize_t pos = 0;

	wire_put_u8(f->out, FROZEN_DICT);
	wire_put_u64(f->out, (uint64_t)PyDict_GET_SIZE(o));
	while (PyDict_Next(o, &pos, &key, &val))
		if (value(f, key, depth + 1) || value(f, val, depth + 1))
			return -1;
	return 0;
}

static int put_slice(struct freezer *f, PyObject *o, int depth)
{
	PySliceObject *s = (PySliceObject *)o;

	wire_put_u8(f->out, FROZEN_SLICE);
	return value(f, s->start, depth + 1) || value(f, s->stop, depth + 1) ||
		value(f, s->step, depth + 1) ? -1 : 0;
}

/* Objects of which there is one each. */
static bool put_single(struct freezer *f, PyObject *o)
{
	const struct { PyObject *o; enum frozen what; } v[] = {
		{ Py_None, FROZEN_NONE }, { Py_True, FROZEN_TRUE },
		{ Py_False, FROZEN_FALSE }, { Py_Ellipsis, FROZEN_ELLIPSIS },
	};
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(*v); i++)
		if (o == v[i].o) {
			wire_put_u8(f->out, (uint8_t)v[i].what);
			return true;
		}
	return false;
}

bool freeze_is_named(PyObject *o)
{
	static const char *const named[] = {
		"torch.dtype", "torch.layout", "torch.memory_format",
	};
	size_t i;

	for (i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (!strcmp(Py_TYPE(o)->tp_name, named[i]))
			return true;
	return false;
}

static int put_of_torch(struct freezer *f, PyObject *o)
{
	if (freeze_is_named(o))
		return put_name(f, FROZEN_ATTR, o, "torch.");
	return strcmp(Py_TYPE(o)->tp_name, "torch.device") ? -1 :
		put_name(f, FROZEN_DEVICE, o, "");
}

/* A tensor with a history, a gradient or attributes is more than its bytes. */
static bool is_bare(PyObject *o)
{
	PyObject *fn = PyObject_GetAttrString(o, "grad_fn");
	PyObject *grad = fn == Py_None ? PyObject_GetAttrString(o, "grad") :
		NULL;
	PyObject *dict = PyObject_GenericGetDict(o, NULL);
	bool bare = grad == Py_None && dict && !PyDict_GET_SIZE(dict);

	PyErr_Clear();
	Py_XDECREF(fn);
	Py_XDECREF(grad);
	Py_XDECREF(dict);
	return bare;
}

static int put_object(struct freezer *f, PyObject *o)
{
	PyObject *t = (PyObject *)Py_TYPE(o);
	ctt own;

	if (t != f->types->tensor && t != f->types->parameter)
		return put_of_torch(f, o);
	if (!is_bare(o))
		return -1;
	if (t == f->types->parameter)
		wire_put_u8(f->out, FROZEN_PARAMETER);
	return f->api->from_py(o, &own) ? -1 : put_tensor(f, own);
}

static int value(struct freezer *f, PyObject *o, int depth)
{
	if (depth > FREEZE_DEPTH_MAX || f->out->len > f->max)
		return -1;
	if (put_single(f, o))
		return 0;
	if (PyLong_CheckExact(o))
		return put_int(f, o);
	if (PyUnicode_CheckExact(o))
		return put_text(f, FROZEN_STR, o);
	if (PyTuple_CheckExact(o))
		return put_items(f, FROZEN_TUPLE, o, depth);
	if (PyList_CheckExact(o))
		return put_items(f, FROZEN_LIST, o, depth);
	if (PyDict_CheckExact(o))
		return put_dict(f, o, depth);
	if (PySlice_Check(o))
		return put_slice(f, o, depth);
	if ((PyObject *)Py_TYPE(o) == f->types->size)
		return put_items(f, FROZEN_SIZE, o, depth);
	if (PyFloat_CheckExact(o)) {
		wire_put_u8(f->out, FROZEN_FLOAT);
		put_double(f->out, PyFloat_AS_DOUBLE(o));
	} else if (PyComplex_CheckExact(o)) {
		wire_put_u8(f->out, FROZEN_COMPLEX);
		put_double(f->out, PyComplex_RealAsDouble(o));
		put_double(f->out, PyComplex_ImagAsDouble(o));
	} else if (PyBytes_CheckExact(o)) {
		wire_put_u8(f->out, FROZEN_BYTES);
		wire_put_bytes(f->out, PyBytes_AS_STRING(o),
			       (size_t)PyBytes_GET_SIZE(o));
	} else {
		return put_object(f, o);
	}
	return 0;
}

int freezer_value(struct freezer *f, PyObject *o)
{
	return value(f, o, 0) || f->out->len > f->max ? -1 : 0;
}
