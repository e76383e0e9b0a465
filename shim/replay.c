#include "replay.h"

#include <stdlib.h>
#include <string.h>
#include "sidefile.h"
#include "thaw.h"
#include "xalloc.h"

/* An entry's first byte. */
enum { ENTRY_LIVE = 'L', ENTRY_SAMPLES = 'S' };
static const struct { const char *key; uint8_t entry; } asides[ASIDES] = {
	[ASIDE_HP] = { " hp", 'H' }, [ASIDE_NP] = { " numpy", 'N' },
};

static bool recall_ref(void *ctx, struct observation *o);
static bool recall_hp(void *ctx, struct observation *o);
static bool recall_np(void *ctx, struct observation *o);

int replay_init(struct replay *p, const struct lab *lab,
		struct corpus *corpus, bool golden, bool all, struct err *e)
{
	int i;

	memset(p, 0, sizeof(*p));
	buf_init(&p->in);
	buf_init(&p->samples);
	buf_init(&p->refs);
	for (i = 0; i < ASIDES; i++) {
		buf_init(&p->aside[i].in);
		buf_init(&p->aside[i].out);
	}
	p->lab = lab;
	p->corpus = corpus;
	p->golden = golden;
	p->all = all;
	p->recall = (struct recall){ recall_ref, recall_hp, recall_np, golden,
				      p };
	if (freeze_types_init(&p->types, e))
		return -1;
	p->function = py_attr("opinfo", "function", e);
	p->overload = p->function ? py_attr("boxed", "find", e) : NULL;
	return p->overload ? 0 : -1;
}

/* What nobody took of v goes. */
static void drop_sides(struct replay *p, struct keeps *v)
{
	while (v->n > 0)
		if (!v->v[--v->n].taken)
			side_release(&v->v[v->n].side, p->lab);
}

void replay_release(struct replay *p)
{
	int i;

	freeze_types_release(&p->types);
	Py_CLEAR(p->function);
	Py_CLEAR(p->overload);
	buf_release(&p->in);
	buf_release(&p->samples);
	buf_release(&p->refs);
	drop_sides(p, &p->ref);
	free(p->ref.v);
	for (i = 0; i < ASIDES; i++) {
		buf_release(&p->aside[i].in);
		buf_release(&p->aside[i].out);
		drop_sides(p, &p->aside[i].had);
		free(p->aside[i].had.v);
	}
}

/* An entry is found by the case, and all else that its inputs come from. */
static char *key_of(const struct case_rec *c, const char *what)
{
	return xasprintf("%s seed=%llu samples=%d%s", c->id,
			 (unsigned long long)c->seed, c->samples, what);
}

/* As corpus_find(). */
static int look_up(struct replay *p, const char *what, struct buf *out)
{
	char *key = key_of(p->c, what);
	int rc;

	buf_recycle(out);
	rc = corpus_find(p->corpus, key, out);
	free(key);
	return rc;
}

/* The side that k's bytes tell of, whole.  0; -1 where they make no sense. */
static int read_side(struct replay *p, struct kept *k, bool ref)
{
	struct wire in = WIRE_INIT(k->p, k->n);

	k->random = ref && wire_u8(&in);
	memset(&k->side, 0, sizeof(k->side));
	buf_init(&k->side.tree);
	if (sidefile_get(&in, p->lab, &p->types, &k->side))
		return -1;
	if (!in.left)
		return 0;
	side_release(&k->side, p->lab);
	return -1;
}

/*
 * The sides that a count and then their bytes tell of; ref: the reference's.
 * 0; -1 where one of them makes no sense, and then there is none.
 */
static int read_sides(struct replay *p, struct wire *in, struct keeps *v,
		      bool ref)
{
	size_t left;

	for (left = wire_count(in, 12); left > 0 && !in->bad; left--) {
		struct kept k = { .run = wire_u32(in) };

		k.p = wire_bytes(in, &k.n);
		if (in->bad || read_side(p, &k, ref)) {
			in->bad = true;
			break;
		}
		v->v = xgrow(v->v, &v->cap, v->n + 1, sizeof(*v->v));
		v->v[v->n++] = k;
	}
	if (!in->bad && !in->left)
		return 0;
	drop_sides(p, v);
	return -1;
}

/* It is the caller's from now on, who has it once. */
static bool take_side(struct kept *k, struct side *s)
{
	if (!k || k->taken)
		return false;
	k->taken = true;
	*s = k->side;
	return true;
}

/* Sides of another reference, when they are first asked for. */
static int look_up_aside(struct replay *p, int which)
{
	struct aside *a = &p->aside[which];
	struct wire in;
	int rc;

	if (a->looked)
		return 0;
	a->looked = true;
	rc = look_up(p, asides[which].key, &a->in);
	if (rc <= 0)
		return rc;
	in = (struct wire)WIRE_INIT(a->in.p, a->in.len);
	if (wire_u8(&in) == asides[which].entry &&
	    !read_sides(p, &in, &a->had, false))
		return 0;
	corpus_doubt(p->corpus);
	return -1;
}

/* One sample as opinfo.samples() gives them: new, or NULL. */
static PyObject *get_sample(struct replay *p, struct wire *in, PyObject *fn)
{
	struct thawer t;
	PyObject *args, *kwargs, *ret = NULL;
	bool random = wire_u8(in);

	thawer_init(&t, p->lab, &p->types, in);
	args = thawer_value(&t);
	kwargs = args ? thawer_value(&t) : NULL;
	if (kwargs && PyTuple_CheckExact(args) && PyDict_CheckExact(kwargs))
		ret = PyTuple_Pack(5, fn, args, kwargs,
				   random ? Py_True : Py_False, Py_False);
	thawer_release(&t);
	Py_XDECREF(args);
	Py_XDECREF(kwargs);
	PyErr_Clear();
	return ret;
}

/* The samples that in tells of: a new list, or NULL. */
static PyObject *get_samples(struct replay *p, struct wire *in, PyObject *fn)
{
	size_t n = wire_count(in, 3), i;
	PyObject *list = PyList_New(0);

	for (i = 0; list && i < n; i++) {
		PyObject *s = get_sample(p, in, fn);

		if (!s || PyList_Append(list, s))
			Py_CLEAR(list);
		Py_XDECREF(s);
	}
	if (in->bad)
		Py_CLEAR(list);
	PyErr_Clear();
	return list;
}

static PyObject *play(struct replay *p, const char *mode, struct wire *in)
{
	PyObject *fn = p->c->via ?
		PyObject_CallFunction(p->overload, "s", p->c->op) :
		PyObject_CallFunction(p->function, "sss", p->c->op,
				      p->c->dtype, mode);
	PyObject *list = fn ? get_samples(p, in, fn) : NULL;

	PyErr_Clear();
	Py_XDECREF(fn);
	if (list && read_sides(p, in, &p->ref, true))
		Py_CLEAR(list);
	return list;
}

static int not_golden(const struct case_rec *c, const char *what,
		      struct err *e)
{
	return err_set(e, EX_OK_, "the golden corpus %s (seed %llu, at most "
		       "%d samples)", what, (unsigned long long)c->seed,
		       c->samples);
}

/* Nothing is known of the case to come. */
static void forget(struct replay *p)
{
	int i;

	p->state = REPLAY_OFF;
	p->made = false;
	p->nrefs = 0;
	drop_sides(p, &p->ref);
	buf_recycle(&p->samples);
	buf_recycle(&p->refs);
	for (i = 0; i < ASIDES; i++) {
		struct aside *a = &p->aside[i];

		a->looked = false;
		a->nout = 0;
		drop_sides(p, &a->had);
		buf_recycle(&a->out);
	}
}

int replay_begin(struct replay *p, const struct case_rec *c,
		 const char *mode, PyObject **ret, struct err *e)
{
	struct wire in;
	uint8_t what;
	int rc;

	forget(p);
	p->c = c;
	if (!p->corpus)
		return 0;
	p->state = REPLAY_LIVE;
	if (strcmp(c->suite, "opinfo") && strcmp(c->suite, "aten"))
		return 0;
	p->state = REPLAY_RECORDS;
	rc = look_up(p, "", &p->in);
	/* Half of what was recorded is no reference. */
	if (p->golden && (rc < 0 || (rc && (look_up_aside(p, ASIDE_HP) < 0 ||
					    look_up_aside(p, ASIDE_NP) < 0))))
		return not_golden(c, "is damaged at this case", e);
	if (rc <= 0)
		return p->golden ? not_golden(c, "has no such case", e) : 0;
	in = (struct wire)WIRE_INIT(p->in.p, p->in.len);
	what = wire_u8(&in);
	if (what == ENTRY_LIVE && !in.left) {
		p->state = REPLAY_LIVE;
		return 0;
	}
	*ret = what == ENTRY_SAMPLES ? play(p, mode, &in) : NULL;
	if (!*ret) {
		corpus_doubt(p->corpus);
		return p->golden ?
			not_golden(c, "is damaged at this case", e) : 0;
	}
	p->state = REPLAY_PLAYS;
	return 1;
}

/* -1: it can't be exact. */
static int put_sample(struct replay *p, PyObject *s)
{
	struct freezer f;
	int rc;

	if (!PyTuple_Check(s) || PyTuple_GET_SIZE(s) < 5 ||
	    PyTuple_GET_ITEM(s, 4) != Py_False ||
	    !PyTuple_CheckExact(PyTuple_GET_ITEM(s, 1)) ||
	    !PyDict_CheckExact(PyTuple_GET_ITEM(s, 2)))
		return -1;
	wire_put_u8(&p->samples, PyTuple_GET_ITEM(s, 3) == Py_True);
	freezer_init(&f, p->lab, &p->types, &p->samples, CORPUS_ENTRY_MAX);
	rc = freezer_value(&f, PyTuple_GET_ITEM(s, 1)) ||
		freezer_value(&f, PyTuple_GET_ITEM(s, 2)) ? -1 : 0;
	freezer_release(&f);
	PyErr_Clear();
	return rc;
}

/* Forget what there was of it: this case is made each time. */
static void go_live(struct replay *p)
{
	p->state = REPLAY_LIVE;
	buf_release(&p->samples);
	buf_release(&p->refs);
}

void replay_samples(struct replay *p, PyObject *list)
{
	Py_ssize_t i, n = PyList_GET_SIZE(list);

	if (p->state != REPLAY_RECORDS)
		return;
	p->made = true;
	wire_put_u8(&p->samples, ENTRY_SAMPLES);
	wire_put_u64(&p->samples, (uint64_t)n);
	for (i = 0; i < n; i++)
		if (put_sample(p, PyList_GET_ITEM(list, i))) {
			go_live(p);
			return;
		}
}

const struct recall *replay_recall(struct replay *p, int run)
{
	p->run = (uint32_t)run;
	return p->state == REPLAY_PLAYS ? &p->recall : NULL;
}

static struct kept *find_run(const struct keeps *v, uint32_t run)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (v->v[i].run == run)
			return &v->v[i];
	return NULL;
}

static bool recall_ref(void *ctx, struct observation *o)
{
	struct replay *p = ctx;
	struct kept *k = find_run(&p->ref, p->run);

	if (!take_side(k, &o->ref))
		return false;
	o->random = k->random;
	return true;
}

static bool recall_aside(struct replay *p, int which, struct side *s)
{
	look_up_aside(p, which);
	return take_side(find_run(&p->aside[which].had, p->run), s);
}

static bool recall_hp(void *ctx, struct observation *o)
{
	return recall_aside(ctx, ASIDE_HP, &o->hp);
}

static bool recall_np(void *ctx, struct observation *o)
{
	return recall_aside(ctx, ASIDE_NP, &o->np);
}

/* One more side, with its length before it; bits: a byte before that, or -1. */
static int put_side(struct replay *p, struct buf *out, int run, int bits,
		    const struct side *s)
{
	size_t at = out->len + sizeof(uint32_t);
	uint64_t n;

	wire_put_u32(out, (uint32_t)run);
	wire_put_u64(out, 0);
	if (bits >= 0)
		wire_put_u8(out, (uint8_t)bits);
	if (sidefile_put(out, p->lab, &p->types, s, CORPUS_ENTRY_MAX / 2) ||
	    out->len > CORPUS_ENTRY_MAX / 2) {
		PyErr_Clear();
		return -1;
	}
	n = out->len - at - sizeof(n);
	memcpy(out->p + at, &n, sizeof(n));
	return 0;
}

static void keep_aside(struct replay *p, int which, int run,
		       const struct side *s)
{
	struct aside *a = &p->aside[which];
	size_t len = a->out.len;

	if (!s->present || find_run(&a->had, (uint32_t)run))
		return;
	if (!put_side(p, &a->out, run, -1, s))
		a->nout++;
	else
		a->out.len = len;
}

void replay_keep(struct replay *p, int run, const struct observation *o)
{
	if (p->state == REPLAY_RECORDS) {
		if (!put_side(p, &p->refs, run, o->random, &o->ref) &&
		    p->samples.len + p->refs.len + 8 <= CORPUS_ENTRY_MAX)
			p->nrefs++;
		else
			go_live(p);
	}
	if (p->state == REPLAY_RECORDS || p->state == REPLAY_PLAYS) {
		keep_aside(p, ASIDE_HP, run, &o->hp);
		keep_aside(p, ASIDE_NP, run, &o->np);
	}
}

static int add(struct replay *p, const char *what, const struct buf *b,
	       struct err *e)
{
	char *key = key_of(p->c, what);
	int rc = corpus_add(p->corpus, key, b->p, b->len, e);

	free(key);
	return rc;
}

/* The new ones and those that were known. */
static int add_aside(struct replay *p, int which, struct err *e)
{
	const struct aside *a = &p->aside[which];
	struct buf b = BUF_INIT;
	size_t i;
	int rc;

	wire_put_u8(&b, asides[which].entry);
	wire_put_u64(&b, a->nout + a->had.n);
	buf_add(&b, a->out.p, a->out.len);
	for (i = 0; i < a->had.n; i++) {
		wire_put_u32(&b, a->had.v[i].run);
		wire_put_bytes(&b, a->had.v[i].p, a->had.v[i].n);
	}
	rc = b.len > CORPUS_ENTRY_MAX ? 0 : add(p, asides[which].key, &b, e);
	buf_release(&b);
	return rc;
}

/* A case that was made, with all that came of it. */
static int add_case(struct replay *p, struct err *e)
{
	if (p->state == REPLAY_LIVE) {
		wire_put_u8(&p->samples, ENTRY_LIVE);
	} else {
		wire_put_u64(&p->samples, p->nrefs);
		buf_add(&p->samples, p->refs.p, p->refs.len);
	}
	return add(p, "", &p->samples, e);
}

int replay_end(struct replay *p, bool all, struct err *e)
{
	int rc = 0, i;

	if (all && p->c && p->corpus && !p->corpus->full) {
		if (p->made)
			rc = add_case(p, e);
		for (i = 0; !rc && i < ASIDES; i++)
			if (p->aside[i].nout)
				rc = add_aside(p, i, e);
	}
	p->c = NULL;
	p->made = false;
	return rc;
}
