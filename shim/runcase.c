#include "runcase.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include "dtype.h"
#include "observe.h"
#include "obsw.h"
#include "prog.h"
#include "seed.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int runcase_init(struct runcase *r, struct lab *lab, int out,
		 const char *blobs, struct err *e)
{
	memset(r, 0, sizeof(*r));
	r->lab = lab;
	r->out = out;
	r->blobs = blobs;
	r->samples = py_attr("opinfo", "samples", e);
	return r->samples ? 0 : -1;
}

/* The worker's run record, once, when it knows which run it is part of. */
static int greet(struct runcase *r, const struct case_rec *c, struct err *e)
{
	struct buf b = BUF_INIT, ref = BUF_INIT;
	struct utsname u;
	struct jw w;
	int rc;

	if (r->greeted)
		return 0;
	r->greeted = true;
	if (uname(&u))
		return err_sys(e, errno, "unable to name this machine");
	buf_addf(&ref, "cpu %s torch %s", u.machine, r->lab->torch);
	jw_init(&w, &b);
	jw_record(&w, "run", "", c->run);
	jw_kstr(&w, "tool", "cts-exec " CTS_VERSION);
	jw_kstr(&w, "role", "worker");
	jw_kstr(&w, "device", r->lab->adapter.dev.string);
	jw_kstr(&w, "hardware", u.machine);
	jw_kstr(&w, "torch", r->lab->torch);
	jw_kstr(&w, "python", r->lab->python);
	jw_kstr(&w, "reference", ref.p);
	jw_knum(&w, "t_import_s", r->t_import_s);
	jw_obj_end(&w);
	rc = rec_write_buf(r->out, &b, e);
	buf_release(&b);
	buf_release(&ref);
	return rc;
}

static int write_start(struct runcase *r, const struct case_rec *c,
		       struct err *e)
{
	struct buf b = BUF_INIT;
	struct jw w;
	int rc;

	jw_init(&w, &b);
	jw_record(&w, "start", c->id, c->run);
	jw_kstr(&w, "device", r->lab->adapter.dev.string);
	jw_kstr(&w, "op", c->op);
	jw_kstr(&w, "dtype", c->dtype);
	jw_obj_end(&w);
	rc = rec_write_buf(r->out, &b, e);
	buf_release(&b);
	return rc;
}

/* why: NULL where the case could be set up. */
static int write_end(struct runcase *r, const struct case_rec *c, int samples,
		     const struct err *why, double t0, struct err *e)
{
	struct buf b = BUF_INIT;
	struct jw w;
	int rc;

	jw_init(&w, &b);
	jw_record(&w, "end", c->id, c->run);
	jw_kint(&w, "samples", samples);
	jw_kstr(&w, "status", why ? "error" : "ran");
	if (why) {
		jw_key(&w, "error");
		jw_obj(&w);
		jw_kstr(&w, "type", "set-up");
		jw_kstr(&w, "message", why->msg);
		jw_obj_end(&w);
	}
	jw_knum(&w, "t_s", now() - t0);
	jw_obj_end(&w);
	rc = rec_write_buf(r->out, &b, e);
	buf_release(&b);
	return rc;
}

/* The entry's callable and samples: a new (callable, list) tuple. */
static PyObject *make_samples(struct runcase *r, const struct case_rec *c,
			      struct err *e)
{
	PyObject *pair = PyObject_CallFunction(r->samples, "ssKi", c->op,
		c->dtype, (unsigned long long)seed_for_case(c->id, c->seed),
		c->samples);

	if (pair && PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2 &&
	    PyList_Check(PyTuple_GET_ITEM(pair, 1)))
		return pair;
	if (!pair)
		py_error(e, PyErr_ExceptionMatches(PyExc_LookupError) ?
			 EX_BADINPUT : EX_OK_, NULL);
	else
		err_set(e, EX_OK_, "samples of no use");
	Py_XDECREF(pair);
	return NULL;
}

static int one_sample(struct runcase *r, const struct case_rec *c, int i,
		      PyObject *fn, PyObject *sample, struct err *e)
{
	struct obsw ow = { .lab = r->lab, .blobs = r->blobs };
	PyObject *args = PyTuple_GetItem(sample, 0);
	PyObject *kwargs = PyTuple_GetItem(sample, 1);
	struct buf b = BUF_INIT;
	struct observation o;
	uint64_t seed = seed_for_case(c->id, c->seed) + (uint64_t)i;
	int rc;

	if (!args || !kwargs)
		return py_error(e, EX_ENVIRON, NULL);
	rc = observe(&o, r->lab, fn, args, kwargs, seed, e);
	if (!rc)
		rc = obsw_write(&b, &ow, c, i, &o, args, kwargs, e);
	if (!rc)
		rc = rec_write_buf(r->out, &b, e);
	observation_release(&o, r->lab);
	buf_release(&b);
	return rc;
}

static int check_case(const struct case_rec *c, struct err *e)
{
	if (strcmp(c->suite, "opinfo"))
		return err_set(e, EX_BADINPUT, "unknown suite '%s'", c->suite);
	if (!dtype_find(c->dtype))
		return err_set(e, EX_BADINPUT,
			       "unknown dtype '%s', the nearest is '%s'",
			       c->dtype, dtype_nearest(c->dtype));
	if (strcmp(c->variant, "plain"))
		return err_set(e, EX_BADINPUT, "unknown variant '%s'",
			       c->variant);
	return 0;
}

int runcase(struct runcase *r, const struct case_rec *c, struct err *e)
{
	double t0 = now();
	PyObject *pair, *list, *fn;
	struct err why;
	Py_ssize_t i;
	int done = 0, rc = -1;

	if (check_case(c, e) ||
	    lab_device(r->lab, c->device, c->backend_import, e) ||
	    greet(r, c, e))
		return -1;
	pair = make_samples(r, c, &why);
	if (!pair && why.code == EX_BADINPUT) {
		*e = why;
		return -1;
	}
	if (write_start(r, c, e))
		goto out;
	if (!pair)
		return write_end(r, c, 0, &why, t0, e);
	fn = PyTuple_GET_ITEM(pair, 0);
	list = PyTuple_GET_ITEM(pair, 1);
	for (i = 0; i < PyList_GET_SIZE(list); i++) {
		if (c->only >= 0 && i != c->only)
			continue;
		if (one_sample(r, c, (int)i, fn, PyList_GET_ITEM(list, i), e))
			goto out;
		done++;
	}
	rc = write_end(r, c, done, NULL, t0, e);
out:
	Py_XDECREF(pair);
	return rc;
}
