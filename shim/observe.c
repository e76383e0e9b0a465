#include "observe.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "dtype.h"
#include "inputs.h"
#include "repeat.h"
#include "share.h"
#include "xalloc.h"


static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void note_change(void *ctx, const struct ctt_change *c)
{
	struct side *s = ctx;

	s->change = xgrow(s->change, &s->change_cap, s->nchange + 1,
			  sizeof(*s->change));
	s->change[s->nchange++] = *c;
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

/*
 * The call itself; on the device (o not NULL) with a trace of overloads.  What
 * the CPU gives doesn't hang on what was called before.
 */
static PyObject *invoke(const struct lab *lab, PyObject *fn,
			const struct call *c, struct observation *o)
{
	bool trace = o && lab->trace, cpu = !o || lab->adapter.reference;
	PyObject *ret;

	if (trace)
		lab->api->trace_begin(lab->adapter.dev.string);
	lab->api->zero_memory(cpu);
	ret = PyObject_Call(fn, c->args, c->kwargs);
	lab->api->zero_memory(false);
	if (trace)
		lab->api->trace_end(note_reached, o);
	return ret;
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

	inputs_mark(s, lab, c);
	t0 = now_us();
	ret = invoke(lab, fn, c, o);
	s->present = true;
	inputs_count(s, lab, c);
	if (!ret || (o && !lab->unsynced && adapter_sync(&lab->adapter))) {
		s->t_us = now_us() - t0;
		side_catch(s);
		Py_XDECREF(ret);
		return;
	}
	if (side_flatten(s, lab, ret) || side_read(s, lab))
		side_raise(s, lab->api->error_type(), lab->api->error());
	s->t_us = now_us() - t0;
	if (!s->raised)
		share_note_aliases(s, lab, c);
	Py_DECREF(ret);
	if (lab->api->copier_changes(c->copier, note_change, s) && !s->raised)
		side_raise(s, lab->api->error_type(), lab->api->error());
	if (o && s == &o->dev && !s->raised && (o->prove || share_any(s) ||
						share_any(model)))
		share_note(s, lab, c);
	inputs_sort_changes(s);
	if (!model)
		inputs_note_written(s, lab, c);
	if (!s->raised && inputs_add_written(s, lab, c, model ? model : s))
		side_raise(s, lab->api->error_type(), lab->api->error());
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
		side_raise(&o->ref, "set-up", e->msg);
		return 0;
	}
	lab->api->seed("cpu", seed_of(how));
	lab->api->rng_mark("cpu");
	run(&o->ref, lab, fn, &c, NULL, NULL);
	inputs_note_turned(&o->ref, lab, &c);
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
		side_raise(s, lab->api->error_type(), e->msg);
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

/* What run_dev() is to be called with. */
struct trial {
	struct observation *o;
	const struct lab *lab;
	PyObject *fn, *args, *kwargs;
	const struct how *how;
};

static int run_trial(void *ctx, struct side *s, struct err *e)
{
	struct trial *t = ctx;

	return run_dev(t->o, s, t->lab, t->fn, t->args, t->kwargs, t->how, e);
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
		side_raise(&o->ref, "set-up", "no result was recorded");
	return r->alone;
}

int observe(struct observation *o, const struct lab *lab, PyObject *fn,
	    PyObject *args, PyObject *kwargs, const struct how *how,
	    struct err *e)
{
	struct trial trial = { o, lab, fn, args, kwargs, how };
	struct repeat again = { lab, how->calls, run_trial, &trial };

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
	if (how->calls > 1 && !o->random) {
		o->repeated = true;
		if (repeat_calls(&again, &o->dev, &o->repeat_same, e))
			return -1;
	}
	inputs_forgive_turned(&o->dev, &o->ref);
	o->same = !how->no_values && side_same(lab, &o->ref, &o->dev);
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
