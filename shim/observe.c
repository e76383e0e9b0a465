#include "observe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "dtype.h"
#include "xalloc.h"

#define LEAVES_MAX 1024
/* Memory is not written to and looked at again beyond so many bytes. */
#define FOLLOW_MAX (256 << 10)
/* Nor where looking once for each output would come to so many. */
#define LEAD_MAX (16 * FOLLOW_MAX)
/* Nor is a call made again when so much time went into that. */
#define AGAIN_US 50000

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

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

/* Keep the pending Python exception as what this side did. */
static void catch(struct side *s)
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

static void raise_text(struct side *s, const char *type, const char *message)
{
	s->raised = true;
	s->type = xstrdup(type);
	s->message = xstrndup(message, strnlen(message, 1000));
	s->kind = kind_of(type, message);
}

static struct leaf *add_leaf(struct side *s)
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
		l = add_leaf(s);
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
	leaf_py(add_leaf(s), o);
	return 0;
}

static int read_leaf(const struct lab *lab, struct leaf *l)
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

/* Bring the outputs' values to the CPU: a late error comes out here. */
static int read_all(struct side *s, const struct lab *lab)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->leaf[i].is_tensor && read_leaf(lab, &s->leaf[i]))
			return -1;
	return 0;
}

static void note_change(void *ctx, const struct ctt_change *c)
{
	struct side *s = ctx;

	s->change = xgrow(s->change, &s->change_cap, s->nchange + 1,
			  sizeof(*s->change));
	s->change[s->nchange++] = *c;
}

/* Which input or earlier output leaf i shares its storage with. */
static char *alias_of(const struct side *s, size_t i, const struct lab *lab,
		      const struct call *c)
{
	const struct ctt_meta *m = &s->leaf[i].meta;
	struct ctt_meta in;
	size_t k;

	if (!s->leaf[i].is_tensor || !m->storage)
		return xstrdup("");
	for (k = 0; k < c->n; k++) {
		if (lab->api->meta(c->tensors[k], &in) ||
		    in.storage != m->storage)
			continue;
		return xasprintf("in%zu%s", k, in.impl == m->impl ? "=" : "");
	}
	for (k = 0; k < i; k++)
		if (s->leaf[k].is_tensor && s->leaf[k].meta.storage ==
		    m->storage)
			return xasprintf("out%zu%s", k, s->leaf[k].meta.impl ==
					 m->impl ? "=" : "");
	return xstrdup("");
}

static void note_aliases(struct side *s, const struct lab *lab,
			 const struct call *c)
{
	size_t i;

	s->alias = xcalloc(s->n + 1, sizeof(*s->alias));
	for (i = 0; i < s->n; i++)
		s->alias[i] = alias_of(s, i, lab, c);
}

/* Whether an output is said to share memory. */
static bool any_shared(const struct side *s)
{
	size_t i;

	for (i = 0; s->alias && i < s->n; i++)
		if (*s->alias[i])
			return true;
	return false;
}

/* Whether a write to the memory below it would show in the leaf. */
static bool shows_writes(const struct leaf *l)
{
	return l->is_tensor && l->read && l->n && !l->meta.nested &&
		!l->meta.zerotensor && !l->meta.quantized &&
		l->meta.layout == CTT_STRIDED && l->meta.storage;
}

/* The outputs in which a write would show: how many, at which leaves. */
static size_t writable(const struct side *s, ctt *t, size_t *at)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		if (shows_writes(&s->leaf[i])) {
			t[n] = s->leaf[i].t;
			at[n++] = i;
		}
	return n;
}

/* Which of the outputs t, the leaves at, change with the inputs' memory. */
static void note_follows(struct side *s, const struct lab *lab,
			 const struct call *c, const ctt *t, const size_t *at,
			 size_t n)
{
	bool *follow = xcalloc(n, sizeof(*follow));
	size_t i;

	s->followed = !lab->api->copier_follow(c->copier, t, n, follow);
	s->follows = xcalloc(n, sizeof(*s->follows));
	for (i = 0; s->followed && i < n; i++)
		if (follow[i])
			s->follows[s->nfollows++] = at[i];
	free(follow);
}

/* With which of them the inputs' memory changes. */
static void note_leads(struct side *s, const struct lab *lab,
		       const struct call *c, const ctt *t, const size_t *at,
		       size_t n)
{
	enum ctt_lead *lead = xcalloc(n, sizeof(*lead));
	size_t i;

	if (!lab->api->copier_lead(c->copier, t, n, lead)) {
		s->nlead = s->n;
		s->leads = xcalloc(s->n, sizeof(*s->leads));
		for (i = 0; i < n; i++)
			s->leads[at[i]] = lead[i];
	}
	free(lead);
}

/*
 * Write to the inputs' memory and see which outputs change with it, and the
 * other way round: whether they share it is then no matter of what the device
 * says of its storages.  On a device that makes a view by reading its base
 * anew, or copies on the first write, one of the two may be right alone.
 */
static void note_shared(struct side *s, const struct lab *lab,
			const struct call *c)
{
	int64_t inputs = lab->api->copier_bytes(c->copier), bytes = inputs;
	size_t *at, i, n;
	ctt *t;

	for (i = 0; i < s->n; i++)
		bytes += (int64_t)s->leaf[i].n;
	if (!c->n || inputs < 0 || bytes > FOLLOW_MAX)
		return;
	t = xcalloc(s->n + 1, sizeof(*t));
	at = xcalloc(s->n + 1, sizeof(*at));
	n = writable(s, t, at);
	if (n)
		note_follows(s, lab, c, t, at, n);
	if (s->followed && inputs * (int64_t)n <= LEAD_MAX)
		note_leads(s, lab, c, t, at, n);
	free(t);
	free(at);
}

static void note_reached(void *ctx, const char *overload, const char *where)
{
	struct observation *o = ctx;
	size_t i;

	for (i = 0; i < o->nreached; i++)
		if (!strcmp(o->reached[i].overload, overload))
			return;
	o->reached = xgrow(o->reached, &o->reached_cap, o->nreached + 1,
			   sizeof(*o->reached));
	o->reached[o->nreached].overload = xstrdup(overload);
	o->reached[o->nreached++].where = where;
}

/* The call itself; on the device (o not NULL) with a trace of overloads. */
static PyObject *invoke(const struct lab *lab, PyObject *fn,
			const struct call *c, struct observation *o)
{
	PyObject *ret;

	if (!o || !lab->trace)
		return PyObject_Call(fn, c->args, c->kwargs);
	lab->api->trace_begin(lab->adapter.dev.string);
	ret = PyObject_Call(fn, c->args, c->kwargs);
	lab->api->trace_end(note_reached, o);
	return ret;
}

/* The version counters of the inputs, into s->moved. */
static void note_versions(struct side *s, const struct lab *lab,
			  const struct call *c)
{
	struct ctt_meta m;
	size_t i;

	s->moved = xcalloc(c->n + 1, sizeof(*s->moved));
	s->nmoved = c->n;
	for (i = 0; i < c->n; i++)
		if (!lab->api->meta(c->tensors[i], &m))
			s->moved[i] = m.version;
}

/* Make s->moved the steps that the counters went since. */
static void count_versions(struct side *s, const struct lab *lab,
			   const struct call *c)
{
	struct ctt_meta m;
	size_t i;

	for (i = 0; i < c->n; i++)
		s->moved[i] = lab->api->meta(c->tensors[i], &m) ? 0 :
			m.version - s->moved[i];
}

/* Inputs that the call gave other sizes or strides, as transpose_() does. */
static void note_turned(struct side *s, const struct lab *lab,
			const struct call *c)
{
	struct ctt_meta now;
	size_t i;

	for (i = 0; i < c->n && i < 64; i++) {
		const struct ctt_meta *was = &c->originals[i];
		size_t len = sizeof(*was->sizes) * (size_t)was->ndim;

		if (!lab->api->meta(c->tensors[i], &now) &&
		    (now.ndim != was->ndim || now.offset != was->offset ||
		     memcmp(now.sizes, was->sizes, len) ||
		     memcmp(now.strides, was->strides, len)))
			s->turned |= UINT64_C(1) << i;
	}
}

static bool has_changed(const struct side *s, int input)
{
	size_t i;

	for (i = 0; i < s->nchange; i++)
		if (s->change[i].inside && s->change[i].input == input)
			return true;
	return false;
}

/*
 * A tensor without storage is compared in its logical order, which a call that
 * turns it changes without a write: there the reference's bytes decide.
 */
static void forgive_turned(struct side *dev, const struct side *ref)
{
	size_t i, n = 0;

	for (i = 0; i < dev->nchange; i++) {
		const struct ctt_change *c = &dev->change[i];

		if (!c->whole || c->input < 0 || c->input >= 64 ||
		    !(ref->turned >> c->input & 1) ||
		    has_changed(ref, c->input))
			dev->change[n++] = *c;
	}
	dev->nchange = n;
}

/* By input and place: storages come in no order that lasts. */
static int by_input(const void *a, const void *b)
{
	const struct ctt_change *x = a, *y = b;

	return x->input != y->input ? (x->input > y->input) -
		(x->input < y->input) : (x->at > y->at) - (x->at < y->at);
}

static bool is_output(const struct side *s, const void *impl)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->leaf[i].is_tensor && s->leaf[i].meta.impl == impl)
			return true;
	return false;
}

/* The inputs that the reference wrote to and does not return. */
static void note_written(struct side *s, const struct lab *lab,
			 const struct call *c)
{
	struct ctt_meta m;
	size_t i, k;

	for (i = 0; i < s->nchange; i++) {
		size_t in = (size_t)s->change[i].input;

		for (k = 0; k < s->nwritten; k++)
			if (s->written[k] == in)
				break;
		if (!s->change[i].inside || k < s->nwritten || in >= c->n ||
		    lab->api->meta(c->tensors[in], &m) ||
		    is_output(s, m.impl))
			continue;
		s->written = xgrow(s->written, &s->written_cap,
				   s->nwritten + 1, sizeof(*s->written));
		s->written[s->nwritten++] = in;
	}
}

/*
 * What was written to an input is a result too, returned or not: running
 * statistics, a buffer.  model says which inputs.  -1: one can't be read.
 */
static int add_written(struct side *s, const struct lab *lab,
		       const struct call *c, const struct side *model)
{
	size_t i;

	for (i = 0; i < model->nwritten; i++) {
		struct leaf *l;
		void *obj;

		/* What was recorded may say anything. */
		if (model->written[i] >= c->n)
			continue;
		l = add_leaf(s);
		buf_addf(&s->tree, ";in%zu", model->written[i]);
		s->alias = xrealloc(s->alias, (s->n + 1) * sizeof(*s->alias));
		s->alias[s->n - 1] = xstrdup("");
		l->is_tensor = true;
		if (lab->api->to_py(c->tensors[model->written[i]], &obj))
			return -1;
		if (lab->api->from_py(obj, &l->t))
			l->t = NULL;
		Py_DECREF((PyObject *)obj);
		if (!l->t || lab->api->meta(l->t, &l->meta) ||
		    read_leaf(lab, l))
			return -1;
	}
	return 0;
}

/*
 * Make the call and look at what came of it; o: on the device; model: the
 * reference's side, where this is another.
 */
static void run(struct side *s, const struct lab *lab, PyObject *fn,
		const struct call *c, struct observation *o,
		const struct side *model)
{
	PyObject *ret;
	int64_t t0;

	note_versions(s, lab, c);
	t0 = now_us();
	ret = invoke(lab, fn, c, o);
	s->present = true;
	count_versions(s, lab, c);
	if (!ret || (o && !lab->unsynced && adapter_sync(&lab->adapter))) {
		s->t_us = now_us() - t0;
		catch(s);
		Py_XDECREF(ret);
		return;
	}
	if (flatten(s, lab, ret, 0) || read_all(s, lab))
		raise_text(s, lab->api->error_type(), lab->api->error());
	s->t_us = now_us() - t0;
	if (!s->raised)
		note_aliases(s, lab, c);
	Py_DECREF(ret);
	if (lab->api->copier_changes(c->copier, note_change, s) && !s->raised)
		raise_text(s, lab->api->error_type(), lab->api->error());
	if (o && s == &o->dev && !s->raised && (o->prove || any_shared(s) ||
						any_shared(model)))
		note_shared(s, lab, c);
	if (s->nchange)
		qsort(s->change, s->nchange, sizeof(*s->change), by_input);
	if (!model)
		note_written(s, lab, c);
	if (!s->raised && add_written(s, lab, c, model ? model : s))
		raise_text(s, lab->api->error_type(), lab->api->error());
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

static bool same_sides(const struct lab *lab, const struct side *a,
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

/* Some generators take no more than 63 bits. */
static uint64_t seed_of(const struct how *how)
{
	return how->seed >> 1;
}

static int run_ref(struct observation *o, const struct lab *lab, PyObject *fn,
		   PyObject *args, PyObject *kwargs, const struct how *how,
		   struct err *e)
{
	struct call c;

	if (call_init(&c, lab->api, &lab->types, args, kwargs, "cpu", 0,
		      how->host, e)) {
		if (e->code != EX_OK_)
			return -1;
		o->ref.present = true;
		raise_text(&o->ref, "set-up", e->msg);
		return 0;
	}
	lab->api->seed("cpu", seed_of(how));
	lab->api->rng_mark("cpu");
	run(&o->ref, lab, fn, &c, NULL, NULL);
	note_turned(&o->ref, lab, &c);
	o->random = how->random ||
		(!how->fixed && lab->api->rng_moved("cpu") != 0);
	call_release(&c, lab->api);
	return 0;
}

/* Note how the device holds the inputs, beside how the reference did. */
static void note_given(struct observation *o, const struct lab *lab,
		       const struct call *c)
{
	size_t i;

	if (o->given)
		return;
	o->given = xcalloc(c->n + 1, sizeof(*o->given));
	for (i = 0; i < c->n; i++) {
		struct given *g = &o->given[i];
		struct ctt_meta *m = &g->meta;
		const struct ctt_meta *was = &c->originals[i];

		if (lab->api->meta(c->tensors[i], m))
			*m = *was;
		g->relaid = m->has_strides != was->has_strides ||
			m->offset != was->offset || memcmp(m->strides,
			was->strides, sizeof(*m->strides) * (size_t)m->ndim);
	}
	o->ngiven = c->n;
}

/*
 * A backend that defers its work may raise an error of this sample in the next
 * one's place: call until it is quiet.
 */
static void settle(const struct lab *lab)
{
	int i;

	for (i = 0; i < 4 && adapter_sync(&lab->adapter); i++)
		PyErr_Clear();
}

static int run_dev(struct observation *o, struct side *s,
		   const struct lab *lab, PyObject *fn,
		   PyObject *args, PyObject *kwargs, const struct how *how,
		   struct err *e)
{
	const char *device = lab->adapter.dev.string;
	struct call c;
	bool mark;

	if (call_init(&c, lab->api, &lab->types, args, kwargs, device,
		      CTT_COPY_GUARD, how->host, e)) {
		if (e->code != EX_OK_)
			return -1;
		s->present = true;
		raise_text(s, lab->api->error_type(), e->msg);
		settle(lab);
		return 0;
	}
	note_given(o, lab, &c);
	lab->api->seed("cpu", seed_of(how));
	/* A case written by hand may do other things on a device. */
	mark = !lab->api->seed(device, seed_of(how)) && !o->random &&
		!how->fixed && !lab->api->rng_mark(device);
	if (o->random)
		adapter_seed(&lab->adapter, seed_of(how));
	run(s, lab, fn, &c, o, &o->ref);
	if (s == &o->dev)
		o->drew = mark ? lab->api->rng_moved(device) : -1;
	call_release(&c, lab->api);
	if (s->raised)
		settle(lab);
	return 0;
}

/* The same call in float64 and complex128; silently absent where it can't. */
static void run_hp(struct observation *o, const struct lab *lab, PyObject *fn,
		   PyObject *args, PyObject *kwargs, const struct how *how)
{
	PyObject *ret;
	struct err e;
	struct call c;

	if (call_init(&c, lab->api, &lab->types, args, kwargs, "cpu",
		      CTT_COPY_HP, how->host, &e)) {
		PyErr_Clear();
		return;
	}
	ret = PyObject_CallOneArg(lab->types.default_dtype,
				  lab->types.float64);
	Py_XDECREF(ret);
	lab->api->seed("cpu", seed_of(how));
	run(&o->hp, lab, fn, &c, NULL, &o->ref);
	ret = PyObject_CallOneArg(lab->types.default_dtype,
				  lab->types.float32);
	Py_XDECREF(ret);
	PyErr_Clear();
	call_release(&c, lab->api);
}

/* The same call by NumPy, which may have no such function. */
static void run_np(struct observation *o, const struct lab *lab,
		   PyObject *args, PyObject *kwargs, const struct how *how)
{
	PyObject *fn = how->numpy(how->numpy_ctx);
	struct err e;
	struct call c;

	if (fn && !call_init(&c, lab->api, &lab->types, args, kwargs, "cpu", 0,
			     how->host, &e)) {
		run(&o->np, lab, fn, &c, NULL, NULL);
		call_release(&c, lab->api);
	}
	PyErr_Clear();
	Py_XDECREF(fn);
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

/* The call on copies for a device, for what it leaves behind alone. */
static bool call_once(const struct lab *lab, PyObject *fn, PyObject *args,
		      PyObject *kwargs, const char *device,
		      const struct how *how)
{
	PyObject *ret = NULL;
	struct call c;
	struct err e;

	if (!call_init(&c, lab->api, &lab->types, args, kwargs, device, 0,
		       how->host, &e)) {
		lab->api->seed("cpu", seed_of(how));
		ret = PyObject_Call(fn, c.args, c.kwargs);
		call_release(&c, lab->api);
	}
	PyErr_Clear();
	Py_XDECREF(ret);
	return ret;
}

/*
 * The device has the call once with other values in the same places, so that
 * what it remembers of a call is not right by chance.
 */
static void run_others(const struct lab *lab, PyObject *fn, PyObject *args,
		       PyObject *kwargs, const struct how *how)
{
	struct ctt_lay lay = { .values = CTT_VALUES_OTHER };
	PyObject *a, *k;
	bool applied;
	struct err e;

	if (call_lay(lab->api, &lab->types, args, kwargs, &lay, -1, &a, &k,
		     &applied, &e))
		goto fail;
	/* Whole numbers beside floats may be lengths and offsets. */
	if (!applied) {
		Py_DECREF(a);
		Py_DECREF(k);
		lay.values = CTT_VALUES_REVERSED;
		if (call_lay(lab->api, &lab->types, args, kwargs, &lay, -1,
			     &a, &k, &applied, &e))
			goto fail;
	}
	/* What the CPU refuses is nothing to ask a device. */
	if (applied && call_once(lab, fn, a, k, "cpu", how) &&
	    !call_once(lab, fn, a, k, lab->adapter.dev.string, how))
		settle(lab);
	Py_DECREF(a);
	Py_DECREF(k);
	return;
fail:
	PyErr_Clear();
}

/* Once more on the device, with nothing changed; *same: with the same bits. */
static int once_more(struct observation *o, struct side *again,
		     const struct lab *lab, PyObject *fn, PyObject *args,
		     PyObject *kwargs, const struct how *how, bool *same,
		     struct err *e)
{
	memset(again, 0, sizeof(*again));
	buf_init(&again->tree);
	if (run_dev(o, again, lab, fn, args, kwargs, how, e))
		return -1;
	*same = o->dev.raised ? again->raised :
		same_sides(lab, &o->dev, again);
	return 0;
}

/*
 * Again and again, until a call gives other bits or there were enough.  The
 * call that is then judged is the odd one, since a race that is rare is in that
 * one: the new one, unless the first was alone with its bits so far.
 */
static int run_again(struct observation *o, const struct lab *lab,
		     PyObject *fn, PyObject *args, PyObject *kwargs,
		     const struct how *how, struct err *e)
{
	int64_t until = now_us() + AGAIN_US;
	struct side again, third;
	bool same = true, odd;
	int i, rc;

	for (i = 1;; i++) {
		rc = once_more(o, &again, lab, fn, args, kwargs, how, &same,
			       e);
		if (rc || !same || i + 1 >= how->calls || now_us() > until)
			break;
		side_release(&again, lab);
	}
	odd = i > 1;
	if (!rc && !same && !odd) {
		rc = once_more(o, &third, lab, fn, args, kwargs, how, &odd,
			       e);
		side_release(&third, lab);
	}
	o->repeated = !rc;
	o->repeat_same = same;
	if (!rc && !same && odd) {
		third = o->dev;
		o->dev = again;
		again = third;
	}
	side_release(&again, lab);
	return rc;
}

/* Has the reference a result that float64 is no better for? */
static bool any_unrounded(const struct side *ref)
{
	const struct dtype *t;
	size_t i;

	for (i = 0; i < ref->n; i++) {
		t = ref->leaf[i].is_tensor && ref->leaf[i].read ?
			dtype_by_scalar_type(ref->leaf[i].meta.scalar_type) :
			NULL;
		if (t && (t->cls == DT_INT || t->cls == DT_UINT ||
			  t->cls == DT_BOOL || t->mantissa == 52))
			return true;
	}
	return false;
}

void observe_others(struct observation *o, const struct lab *lab,
		    PyObject *fn, PyObject *args, PyObject *kwargs,
		    const struct how *how)
{
	const struct recall *r = how->recall;

	if (o->ref.raised || o->random || how->no_values)
		return;
	if (!o->hp.present && !(r && (r->hp(r->ctx, o) || r->alone)))
		run_hp(o, lab, fn, args, kwargs, how);
	if (!o->np.present && how->numpy && any_unrounded(&o->ref) &&
	    !(r && (r->np(r->ctx, o) || r->alone)))
		run_np(o, lab, args, kwargs, how);
}

/* The reference's side as it was seen before; false: it has to be run. */
static bool recall_ref(struct observation *o, const struct how *how)
{
	const struct recall *r = how->recall;

	if (!r)
		return false;
	if (r->ref(r->ctx, o))
		return true;
	if (r->alone)
		raise_text(&o->ref, "set-up", "no result was recorded");
	return r->alone;
}

int observe(struct observation *o, const struct lab *lab, PyObject *fn,
	    PyObject *args, PyObject *kwargs, const struct how *how,
	    struct err *e)
{
	memset(o, 0, sizeof(*o));
	o->prove = how->prove;
	o->drew = -1;
	buf_init(&o->ref.tree);
	buf_init(&o->dev.tree);
	buf_init(&o->hp.tree);
	buf_init(&o->np.tree);
	if (!recall_ref(o, how) &&
	    run_ref(o, lab, fn, args, kwargs, how, e))
		return -1;
	/* What the reference can't even be given is no test of a device. */
	if (o->ref.raised && !strcmp(o->ref.type, "set-up"))
		return 0;
	if (how->primed && !o->random && !o->ref.raised)
		run_others(lab, fn, args, kwargs, how);
	if (run_dev(o, &o->dev, lab, fn, args, kwargs, how, e))
		return -1;
	if (how->calls > 1 && !o->random &&
	    run_again(o, lab, fn, args, kwargs, how, e))
		return -1;
	forgive_turned(&o->dev, &o->ref);
	o->same = !how->no_values && same_sides(lab, &o->ref, &o->dev);
	if (!o->same && !o->dev.raised)
		observe_others(o, lab, fn, args, kwargs, how);
	return 0;
}

void observation_release(struct observation *o, const struct lab *lab)
{
	size_t i;

	side_release(&o->ref, lab);
	side_release(&o->dev, lab);
	side_release(&o->hp, lab);
	side_release(&o->np, lab);
	for (i = 0; i < o->nreached; i++)
		free(o->reached[i].overload);
	free(o->reached);
	free(o->given);
}
