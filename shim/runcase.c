#include "runcase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include "dtype.h"
#include "edit.h"
#include "observe.h"
#include "obsw.h"
#include "prog.h"
#include "seed.h"
#include "form.h"
#include "identity.h"
#include "script.h"
#include "tidy.h"
#include "xalloc.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int runcase_init(struct runcase *r, struct lab *lab, int out,
		 const char *blobs, const struct runcase_corpus *kept,
		 struct err *e)
{
	static const struct runcase_corpus none;
	char *path;
	int rc;

	kept = kept ? kept : &none;
	memset(r, 0, sizeof(*r));
	r->lab = lab;
	r->out = out;
	r->blobs = blobs;
	path = xasprintf("%s/coverage/host-args.jsonl", prog_root());
	rc = hostargs_read(&r->hostargs, path, e);
	free(path);
	if (rc)
		return -1;
	r->no_corpus = kept->note;
	py_importing();
	r->samples = py_attr("opinfo", "samples", e);
	py_imported();
	r->called = r->samples ? py_attr("opinfo", "called", e) : NULL;
	r->numpy = r->called ? py_attr("opinfo", "by_numpy", e) : NULL;
	return r->numpy ? replay_init(&r->replay, lab, kept->corpus,
		kept->golden, kept->all, e) : -1;
}

int runcase_load_jvp(struct err *e)
{
	PyObject *load = py_attr("opinfo", "load_forward_mode", e), *done;

	if (!load)
		return -1;
	py_importing();
	done = PyObject_CallNoArgs(load);
	py_imported();
	Py_DECREF(load);
	if (!done)
		return py_error(e, EX_ENVIRON, NULL);
	Py_DECREF(done);
	return 0;
}

void runcase_release(struct runcase *r)
{
	hostargs_release(&r->hostargs);
	Py_CLEAR(r->samples);
	Py_CLEAR(r->called);
	Py_CLEAR(r->numpy);
	Py_CLEAR(r->health);
	Py_CLEAR(r->kept);
	replay_release(&r->replay);
}

/* Whose results the device's are compared with. */
static void add_reference(const struct runcase *r, const struct utsname *u,
			  struct buf *out)
{
	char *theirs = r->replay.golden ?
		identity_line(r->replay.corpus->identity, "reference") : NULL;

	if (theirs)
		buf_addf(out, "golden: %s", theirs);
	else
		buf_addf(out, "cpu %s torch %s", u->machine, r->lab->torch);
	free(theirs);
}

/* What the corpus held at first, and what was wrong with it. */
static void add_corpus(const struct runcase *r, struct jw *w)
{
	const struct corpus *c = r->replay.corpus;
	const char *note = c ? c->note : r->no_corpus;

	if (!c && !note)
		return;
	jw_key(w, "corpus");
	jw_obj(w);
	jw_kint(w, "entries", c ? (int64_t)corpus_entries(c) : 0);
	if (note)
		jw_kstr(w, "note", note);
	jw_obj_end(w);
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
	add_reference(r, &u, &ref);
	jw_init(&w, &b);
	jw_record(&w, "run", "", c->run);
	jw_kstr(&w, "tool", "cts-exec " CTS_VERSION);
	jw_kstr(&w, "role", "worker");
	jw_kstr(&w, "device", r->lab->adapter.dev.string);
	jw_kstr(&w, "hardware", u.machine);
	jw_kstr(&w, "torch", r->lab->torch);
	jw_kstr(&w, "python", r->lab->python);
	jw_kstr(&w, "reference", ref.p);
	add_corpus(r, &w);
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
	/* For a device that misbehaves in one case, as fault plans ask. */
	setenv("CTS_CASE", c->id, 1);
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
	if (r->replay.state == REPLAY_LIVE)
		jw_kint(&w, "live", samples);
	if (why) {
		jw_key(&w, "error");
		jw_obj(&w);
		jw_kstr(&w, "type", why->code == EX_NEGATIVE ? "poisoned" :
			"set-up");
		jw_kstr(&w, "message", why->msg);
		jw_obj_end(&w);
	}
	jw_knum(&w, "t_s", now() - t0);
	jw_obj_end(&w);
	rc = rec_write_buf(r->out, &b, e);
	buf_release(&b);
	return rc;
}

/*
 * Samples with room for special values come after those of any size.  Two by
 * two, with these values, they are about one operand.
 */
static const enum ctt_values roomy[] = {
	CTT_VALUES_NAN, CTT_VALUES_INF, CTT_VALUES_NAN, CTT_VALUES_INF,
	CTT_VALUES_LONE_NAN, CTT_VALUES_LONE_INF,
};
#define ROOMY ((int)(sizeof(roomy) / sizeof(*roomy)))

/* Where all are taken, they are among them. */
static bool has_roomy(const struct case_rec *c)
{
	return c->samples > 0 && !strcmp(c->suite, "opinfo") &&
	       form_find(c->variant)->lay.values == CTT_VALUES_SPECIAL;
}

/* Is the i-th sample one of those? */
static bool is_roomy(const struct case_rec *c, int i)
{
	return has_roomy(c) && i >= c->samples;
}

/*
 * How the i-th sample is laid out.  Special values that are dense tell of
 * elements one by one; a reduction needs them sparse.
 */
static struct ctt_lay lay_of(const struct case_rec *c, const struct form *v,
			     int i)
{
	struct ctt_lay lay = v->lay;

	lay.seed = seed_for_case(c->id, c->seed) + (uint64_t)i;
	if (lay.values == CTT_VALUES_SPECIAL && is_roomy(c, i))
		lay.values = roomy[(i - c->samples) % ROOMY];
	return lay;
}

/*
 * The entry's samples in that mode, made: a new list of tuples.  Those of a
 * case that is tried several times in turn are kept.
 */
static PyObject *make_samples(struct runcase *r, const struct case_rec *c,
			      const char *mode, struct err *e)
{
	PyObject *list;

	if (c->attempt && r->kept && !strcmp(r->kept_id, c->id))
		return Py_NewRef(r->kept);
	list = PyObject_CallFunction(r->samples, "ssssKizzzis", c->suite, c->op,
		c->dtype, mode,
		(unsigned long long)seed_for_case(c->id, c->seed),
		c->samples, c->suite_dir, c->decoder, c->via,
		has_roomy(c) ? ROOMY : 0, c->variant);
	if (c->attempt && list) {
		Py_XSETREF(r->kept, Py_NewRef(list));
		snprintf(r->kept_id, sizeof(r->kept_id), "%s", c->id);
	}
	/* That itself says there is no such case; an IndexError is a slip. */
	if (!list)
		py_error(e, PyErr_Occurred() == PyExc_LookupError ?
			 EX_BADINPUT : EX_OK_, NULL);
	else if (!PyList_Check(list)) {
		err_set(e, EX_OK_, "samples of no use");
		Py_CLEAR(list);
	}
	return list;
}

/* The same, from the corpus where they are there. */
static PyObject *get_samples(struct runcase *r, const struct case_rec *c,
			     const char *mode, struct err *e)
{
	PyObject *list = NULL;
	int rc = replay_begin(&r->replay, c, mode, &list, e);

	if (rc)
		return list;
	list = make_samples(r, c, mode, e);
	if (list)
		replay_samples(&r->replay, list);
	return list;
}

/* A sample for which no expected result could be built. */
static int write_oracle_failure(struct runcase *r, const struct case_rec *c,
				int i, const struct side *ref, struct err *e)
{
	struct buf b = BUF_INIT, detail = BUF_INIT;
	struct jw w;
	int rc;

	buf_addf(&detail, "%s: %.*s", ref->type,
		 (int)strcspn(ref->message, "\n"), ref->message);
	jw_init(&w, &b);
	jw_record(&w, "oracle_failure", c->id, c->run);
	jw_kint(&w, "sample", i);
	jw_kstr(&w, "reason", "raised");
	jw_kstr(&w, "detail", detail.p);
	jw_obj_end(&w);
	rc = rec_write_buf(r->out, &b, e);
	buf_release(&detail);
	buf_release(&b);
	return rc;
}

/*
 * The database's name of what a case written by hand calls, which its budgets
 * and legal outputs are known by; NULL where it calls something else.
 */
static const char *called_name(struct runcase *r, const struct case_rec *c,
			       PyObject *sample)
{
	PyObject *name = NULL;

	if (c->called)
		return c->called;
	if (strcmp(c->suite, "opinfo"))
		name = PyDict_GetItemWithError(r->called,
					       PyTuple_GET_ITEM(sample, 0));
	PyErr_Clear();	/* not hashable */
	return name ? PyUnicode_AsUTF8(name) : NULL;
}

/* What is asked, should it be needed, for a reference in NumPy. */
struct numpy_query {
	struct runcase *r;
	const struct case_rec *c;
	const struct form *v;
	PyObject *sample;
};

/* The database's reference for the sample's call: new, or NULL. */
static PyObject *numpy_of(void *ctx)
{
	const struct numpy_query *q = ctx;
	const char *name = strcmp(q->c->suite, "opinfo") ?
		called_name(q->r, q->c, q->sample) : q->c->op;
	PyObject *fn = name ? PyObject_CallFunction(q->r->numpy, "ss", name,
						    q->v->mode) : NULL;

	PyErr_Clear();
	if (fn == Py_None)
		Py_CLEAR(fn);
	return fn;
}

/* By hand, and so with all that it calls meant to work? */
static bool written(const struct case_rec *c)
{
	return strcmp(c->suite, "opinfo") && strcmp(c->suite, "aten");
}

/*
 * What is to be written of a sample.  Where the reference refuses inputs that
 * are meant to be valid and the device doesn't, there is nothing to compare
 * with; nor is there where a case written by hand goes wrong on both alike,
 * which is a slip in the case.  Where the reference takes inputs that are meant
 * to be refused, there is no sample.
 */
static int write_sample(struct runcase *r, const struct case_rec *c,
			const struct form *v, int i,
			const struct observation *o, PyObject *sample,
			PyObject *args, PyObject *kwargs, struct err *e)
{
	struct obsw ow = {
		.lab = r->lab, .blobs = r->blobs,
		.called = called_name(r, c, sample),
	};
	struct buf b = BUF_INIT;
	int rc;

	if (v->must_raise && !o->ref.raised)
		return 0;
	if (!v->must_raise && o->ref.raised && (!o->dev.raised || written(c)))
		return write_oracle_failure(r, c, i, &o->ref, e);
	rc = obsw_write(&b, &ow, c, i, o, args, kwargs, e);
	if (!rc)
		rc = rec_write_buf(r->out, &b, e);
	buf_release(&b);
	return rc ? -1 : 1;
}

/*
 * How often the device is asked.  An overload may have no case but one, which
 * is then the one to show what comes rarely.
 */
static int calls_of(const struct case_rec *c, const struct form *v, int i)
{
	if (!strcmp(c->oracle, "metadata"))
		return 0;
	if (!strcmp(c->suite, "aten"))
		return i ? 0 : FORM_OFTEN;
	return i && v->calls ? 2 : v->calls;
}

/* One call observed: 1 with a record of it, 0 without one, -1 with e set. */
static int one_sample(struct runcase *r, const struct case_rec *c,
		      const struct form *v, int i, PyObject *sample,
		      PyObject *args, PyObject *kwargs, struct err *e)
{
	struct numpy_query query = { r, c, v, sample };
	struct how how = {
		.seed = seed_for_case(c->id, c->seed) + (uint64_t)i,
		.host = hostargs_of(&r->hostargs, c->op) | v->host,
		.random = PyTuple_GET_ITEM(sample, 3) == Py_True,
		/* A case written by hand says itself what not to compare. */
		.fixed = written(c),
		/* What has no cause to share is looked at once a case. */
		.prove = i == 0,
		.no_values = !strcmp(c->oracle, "metadata"),
		.calls = calls_of(c, v, i),
		.primed = v->primed && strcmp(c->oracle, "metadata"),
		/* What is known is of the sample as it was. */
		.recall = c->edits ? NULL : replay_recall(&r->replay, i),
		.numpy = numpy_of, .numpy_ctx = &query,
	};
	PyObject *fn = PyTuple_GET_ITEM(sample, 0);
	struct observation o;
	int rc;

	if (r->script)
		return script_write(r->script, r->lab, c, sample, args, kwargs,
				    &how, v, r->out, e);
	rc = observe(&o, r->lab, fn, args, kwargs, &how, e);
	if (!rc)
		rc = write_sample(r, c, v, i, &o, sample, args, kwargs, e);
	if (rc >= 0 && r->replay.all)
		observe_others(&o, r->lab, fn, args, kwargs, &how);
	if (rc >= 0 && !c->edits)
		replay_keep(&r->replay, i, &o);
	r->oom |= rc >= 0 && o.dev.raised && o.dev.kind == RAISED_OOM;
	observation_release(&o, r->lab);
	return rc;
}

/*
 * The i-th sample with its operands laid out as the variant has it, all of them
 * or one alone by turns; only when it makes a difference, unless must.
 */
static int one_laid(struct runcase *r, const struct case_rec *c,
		    const struct form *v, int i, int operand, bool must,
		    PyObject *sample, struct err *e)
{
	struct ctt_lay lay = lay_of(c, v, i);
	PyObject *args = PyTuple_GetItem(sample, 1);
	PyObject *kwargs = PyTuple_GetItem(sample, 2);
	PyObject *a, *k;
	bool applied;
	int rc = 0;

	if (!args || !kwargs || PyTuple_GET_SIZE(sample) < 4)
		return py_error(e, EX_ENVIRON, NULL);
	if (!form_lays(v))
		return one_sample(r, c, v, i, sample, args, kwargs, e);
	if (call_lay(r->lab->api, &r->lab->types, args, kwargs, &lay, operand,
		     &a, &k, &applied, e)) {
		e->code = EX_ENVIRON;
		return -1;
	}
	if (applied || must)
		rc = one_sample(r, c, v, i, sample, a, k, e);
	Py_DECREF(a);
	Py_DECREF(k);
	return rc;
}

/* The sample with the values that the variant puts into it: a new tuple. */
static PyObject *with_values(struct runcase *r, const struct case_rec *c,
			     const struct form *v, int i, int operand,
			     PyObject *sample, struct err *e)
{
	struct ctt_lay of = lay_of(c, v, i);
	struct ctt_lay lay = { .values = of.values, .seed = of.seed };
	PyObject *a, *k, *ret;
	bool applied;

	if (call_lay(r->lab->api, &r->lab->types, PyTuple_GET_ITEM(sample, 1),
		     PyTuple_GET_ITEM(sample, 2), &lay, operand, &a, &k,
		     &applied, e))
		return NULL;
	ret = PyTuple_Pack(4, PyTuple_GET_ITEM(sample, 0), a, k,
			   PyTuple_GET_ITEM(sample, 3));
	Py_DECREF(a);
	Py_DECREF(k);
	if (!ret)
		py_error(e, EX_ENVIRON, NULL);
	return ret;
}

/*
 * As one_laid(), of the sample as the case's edits make it: what is laid out is
 * the smaller one, but what is made smaller has the values of the larger one.
 */
static int one_edited(struct runcase *r, const struct case_rec *c,
		      const struct form *v, int i, int operand,
		      PyObject *sample, struct err *e)
{
	PyObject *full = Py_NewRef(sample), *edited = NULL;
	struct form f = *v;
	int rc = -1;

	if (f.lay.values) {
		Py_SETREF(full, with_values(r, c, v, i, operand, sample, e));
		f.lay.values = CTT_VALUES_AS_IS;
	}
	if (full && !edit_apply(c, full, &f, &operand, &edited, e))
		rc = edited ? one_laid(r, c, &f, i, operand, true, edited, e) :
		     0;
	Py_XDECREF(edited);
	Py_XDECREF(full);
	return rc;
}

/* How many tensors a sample has. */
static int operands_of(struct runcase *r, PyObject *sample)
{
	ctt *t = NULL;
	size_t n = 0, cap = 0, i;

	call_tensors(r->lab->api, PyTuple_GetItem(sample, 1),
		     PyTuple_GetItem(sample, 2), &t, &n, &cap);
	for (i = 0; i < n; i++)
		r->lab->api->free(t[i]);
	free(t);
	return (int)n;
}

/*
 * Which operand the i-th turn of several lays out, -1 for all.  In place, the
 * first is not given a stride of 0: nothing is promised of a write to that.
 */
static int turn_of(const struct case_rec *c, const struct form *v,
		   int operands, int i)
{
	if (v->lay.view == CTT_VIEW_EXPANDED && !strcmp(v->mode, "inplace"))
		return operands > 1 ? 1 + i % (operands - 1) : operands;
	/* One that hides what the others have is never alone to be seen. */
	if (is_roomy(c, i))
		return operands > 1 ? (i - c->samples) / 2 % operands : -1;
	return operands > 1 ? i % (operands + 1) - 1 : -1;
}

/*
 * All samples; where operands are laid out, by turns all of them and each one
 * alone, at least until each had its turn.  How many were observed, or -1.
 */
static int all_samples(struct runcase *r, const struct case_rec *c,
		       const struct form *v, PyObject *list, struct err *e)
{
	int n = (int)PyList_GET_SIZE(list), runs = n, turns, i, rc, done = 0;

	if (n && form_lays(v)) {
		turns = 1 + operands_of(r, PyList_GET_ITEM(list, 0));
		runs = n > turns ? n : turns;
	}
	for (i = 0; i < runs; i++) {
		PyObject *sample = PyList_GET_ITEM(list, i % n);
		int operand = -1;

		if (c->only >= 0 && i != c->only)
			continue;
		if (form_lays(v))
			operand = turn_of(c, v, operands_of(r, sample),
					  i);
		rc = c->edits ? one_edited(r, c, v, i, operand, sample, e) :
		     one_laid(r, c, v, i, operand, !done && i == runs - 1,
			      sample, e);
		if (rc < 0)
			return -1;
		done += rc;
		tidy_sample(r->lab, c);
	}
	return done;
}

/* Ask whether the device can be used: its complaint, new, or NULL. */
static char *complaint(struct runcase *r)
{
	PyObject *ret = PyObject_CallFunction(r->health, "s",
					      r->lab->adapter.dev.string);
	const char *s = ret && ret != Py_None ? PyUnicode_AsUTF8(ret) : NULL;
	char *text = s ? xstrdup(s) : NULL;

	PyErr_Clear();
	Py_XDECREF(ret);
	return text;
}

/* Before the first case: does the question make sense on this device? */
static void know_health(struct runcase *r)
{
	struct err e;
	char *text;

	if (r->health || r->no_health || r->lab->adapter.reference)
		return;
	r->health = py_attr("health", "check", &e);
	text = r->health ? complaint(r) : NULL;
	r->no_health = !r->health || text;
	free(text);
}

/* Tell cts-isolate that this process is spent. */
static int write_spent(struct runcase *r, const struct case_rec *c,
		       struct err *e)
{
	struct buf b = BUF_INIT;
	struct jw w;
	int rc;

	jw_init(&w, &b);
	jw_record(&w, "probe", "", c->run);
	jw_kstr(&w, "probe", "worker");
	jw_kstr(&w, "name", "poisoned");
	jw_kstr(&w, "status", "failed");
	jw_kstr(&w, "note", c->id);
	jw_obj_end(&w);
	rc = rec_write_buf(r->out, &b, e);
	buf_release(&b);
	return rc;
}

/*
 * A case may leave the device unfit for any other.  Then it has not ended well,
 * and a probe, which cts-isolate acts upon, says that this process is spent.
 * 1 with why set, 0 where all is well, -1 with e set.
 */
static int poisoned(struct runcase *r, const struct case_rec *c,
		    struct err *why, struct err *e)
{
	char *text = r->no_health || !r->health ? NULL : complaint(r);

	if (!text)
		return r->oom && c->oom_ends ? write_spent(r, c, e) : 0;
	err_set(why, EX_NEGATIVE, "the device can't be used any more: %s",
		text);
	free(text);
	return write_spent(r, c, e) < 0 ? -1 : 1;
}

static const struct form *check_case(const struct case_rec *c,
					struct err *e)
{
	const struct form *v = form_find(c->variant);

	if (!dtype_find(c->dtype))
		err_set(e, EX_BADINPUT,
			"unknown dtype '%s', the nearest is '%s'", c->dtype,
			dtype_nearest(c->dtype));
	else if (!v)
		err_set(e, EX_BADINPUT, "unknown variant '%s'", c->variant);
	else if (!edit_check(c, e))
		return v;
	return NULL;
}

int runcase(struct runcase *r, const struct case_rec *c, struct err *e)
{
	double t0 = now();
	const struct form *v = check_case(c, e);
	PyObject *list;
	struct err why;
	int done, rc = -1;

	if (!v || lab_device(r->lab, c->device, c->backend_import,
			     c->adapter, e) ||
	    adapter_there(&r->lab->adapter, e) || greet(r, c, e))
		return -1;
	know_health(r);
	tidy_begin(r->lab, c);
	r->oom = false;
	/* Making samples may run what the manifest names: it can end here. */
	if (write_start(r, c, e))
		return -1;
	list = get_samples(r, c, v->mode, &why);
	if (!list && why.code == EX_BADINPUT) {
		*e = why;
		return -1;
	}
	if (!list)
		return write_end(r, c, 0, &why, t0, e);
	done = all_samples(r, c, v, list, e);
	if (done >= 0)
		rc = tidy_case(r->lab, c, &why);
	/* What is asked from here on is no part of the case. */
	unsetenv("CTS_CASE");
	if (!rc)
		rc = poisoned(r, c, &why, e);
	if (rc >= 0)
		rc = write_end(r, c, done, rc ? &why : NULL, t0, e);
	/* A corpus that takes no more costs time, not results. */
	if (!rc)
		replay_end(&r->replay, c->only < 0, NULL);
	Py_DECREF(list);
	return rc;
}

int runcase_script(struct runcase *r, const struct case_rec *c,
		   struct err *e)
{
	const struct form *v = check_case(c, e);
	PyObject *list;
	int done;

	if (!v || lab_device(r->lab, c->device, c->backend_import,
			     c->adapter, e))
		return -1;
	list = make_samples(r, c, v->mode, e);
	if (!list)
		return -1;
	done = all_samples(r, c, v, list, e);
	Py_DECREF(list);
	return done ? done > 0 ? 0 : -1 :
		err_set(e, EX_BADINPUT, "case '%s' has no sample %d, or none "
			"for its edits", c->id, c->only);
}
