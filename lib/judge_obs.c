#include "judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "case.h"
#include "json.h"
#include "judge_state.h"
#include "rec.h"
#include "text.h"
#include "xalloc.h"
#include "banned.h"

/* Fewer elements than that may all be drawn again as they were. */
#define CHANCE_MAX 32

/* One sample under judgement. */
struct sample {
	const struct judge *j;
	struct seen *s;
	const struct obs *o;
	char suite[CASE_ID_MAX], variant[CASE_ID_MAX];
	struct scale scale;
	bool failed;
};

static void note(struct sample *p, enum check which, bool ok, const char *got,
		 const char *want)
{
	struct tally *t = &p->s->tally[which];

	if (ok)
		return;
	if (check_is_contract(p->j->checks, which, p->o->called))
		p->failed = true;
	if (!t->got) {
		t->got = text_cut(got, TEXT_MAX);
		t->want = text_cut(want, TEXT_MAX);
		t->sample = p->o->sample;
	}
	t->bad++;
}

/*
 * Checks are counted by sample, however many outputs break one: what was
 * looked at in this sample, and the first thing found wrong.
 */
struct marks {
	bool run[CHECK_N], bad[CHECK_N];
	char got[CHECK_N][TEXT_MAX], want[CHECK_N][TEXT_MAX];
};

static void mark(struct marks *m, enum check which, bool ok, const char *got,
		 const char *want)
{
	m->run[which] = true;
	if (ok || m->bad[which])
		return;
	m->bad[which] = true;
	snprintf(m->got[which], TEXT_MAX, "%s", got);
	snprintf(m->want[which], TEXT_MAX, "%s", want);
	one_line(m->got[which]);
	one_line(m->want[which]);
}

static void settle(struct sample *p, const struct marks *m)
{
	int i;

	for (i = 0; i < CHECK_N; i++) {
		if (!m->run[i])
			continue;
		p->s->tally[i].n++;
		note(p, (enum check)i, !m->bad[i], m->got[i], m->want[i]);
	}
}

static void dims_text(const int64_t *v, int n, char out[TEXT_MAX])
{
	size_t len = 0;
	int i;

	out[0] = '\0';
	if (!v) {
		snprintf(out, TEXT_MAX, "none");
		return;
	}
	for (i = 0; i < n && len < TEXT_MAX - 32; i++)
		len += (size_t)snprintf(out + len, TEXT_MAX - len, "%s%lld",
					i ? "," : "[", (long long)v[i]);
	snprintf(out + len, TEXT_MAX - len, "%s]",
		 n ? i < n ? ",..." : "" : "[");
}

static void mark_dims(struct marks *m, enum check which, bool ok,
		      const int64_t *dev, int ndev, const int64_t *ref,
		      int nref)
{
	char got[TEXT_MAX] = "", want[TEXT_MAX] = "";

	if (!ok) {
		dims_text(dev, ndev, got);
		dims_text(ref, nref, want);
	}
	mark(m, which, ok, got, want);
}

static bool same_dims(const struct tensor *a, const struct tensor *b)
{
	return a->ndim == b->ndim &&
		!memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(int64_t));
}

/* "lazy" and "lazy:0" may be one; "lazy:1" is another. */
static bool same_device(const char *a, const char *b)
{
	size_t n = strcspn(a, ":"), m = strcspn(b, ":");

	if (n != m || strncmp(a, b, n))
		return false;
	return !a[n] || !b[m] || !strcmp(a, b);
}

/* Strides of dimensions with one element, and of no elements, mean nothing. */
static bool same_strides(const struct tensor *a, const struct tensor *b)
{
	int i;

	for (i = 0; i < a->ndim && a->numel; i++)
		if (a->shape[i] > 1 && a->strides[i] != b->strides[i])
			return false;
	return true;
}

static void mark_meta(const struct sample *p, struct marks *m,
		      const struct tensor *dev, const struct tensor *ref)
{
	if (dev->data == TD_LOST && !*dev->dtype)
		return;
	mark(m, CHECK_DTYPE, dev->dt == ref->dt, dev->dtype, ref->dtype);
	if (dev->is_quantized != ref->is_quantized)
		mark(m, CHECK_DTYPE, false,
		     dev->is_quantized ? "quantized" : "not quantized",
		     ref->is_quantized ? "quantized" : "not quantized");
	mark_dims(m, CHECK_SHAPE, same_dims(dev, ref), dev->shape, dev->ndim,
		  ref->shape, ref->ndim);
	mark(m, CHECK_LAYOUT, !strcmp(dev->layout, ref->layout), dev->layout,
	     ref->layout);
	if (*dev->device && *p->o->device) {
		/* The reference's own place is the CPU, whatever the op. */
		mark(m, CHECK_DEVICE,
		     same_device(dev->device, *ref->device &&
				 strcmp(ref->device, "cpu") ? ref->device :
				 p->o->device), dev->device, p->o->device);
	}
	mark(m, CHECK_CONJ, dev->conj == ref->conj,
	     dev->conj ? "set" : "clear", ref->conj ? "set" : "clear");
	mark(m, CHECK_NEG, dev->neg == ref->neg,
	     dev->neg ? "set" : "clear", ref->neg ? "set" : "clear");
	if (dev->strides && ref->strides && same_dims(dev, ref))
		mark_dims(m, CHECK_STRIDES, same_strides(dev, ref),
			  dev->strides, dev->ndim, ref->strides, ref->ndim);
}

static void fig_merge(struct sample *p, const struct value_fig *v, size_t out)
{
	struct figures *f = &p->s->fig;
	const struct num_fig *n = &v->num;
	double worst = n->max_ulp;

	f->max_ulp = f->any && f->max_ulp > n->max_ulp ? f->max_ulp :
		n->max_ulp;
	f->max_abs = f->any && f->max_abs > n->max_abs ? f->max_abs :
		n->max_abs;
	f->max_rel = f->any && f->max_rel > n->max_rel ? f->max_rel :
		n->max_rel;
	if (!f->any || n->ref_ulp > f->ref_ulp)
		f->ref_ulp = n->ref_ulp;
	if (!f->any || (v->bad && !f->bad) ||
	    (v->bad == f->bad && worst > f->worst)) {
		f->worst = worst;
		f->bad = v->bad;
		f->at = n->at;
		f->allowed = n->allowed;
		f->out = out;
		f->sample = p->o->sample;
		f->budget = v->budget;
		value_show(v, f->got, f->want);
	}
	f->any = true;
}

/* The value check of one output, its parts included. */
struct vcheck {
	struct sample *p;
	struct marks *m;
	bool wrong;
	bool judged, usable;
	enum value_oracle oracle;
	size_t out;
	struct value_fig first;		/* the first wrong one, else the last */
};

/* The i-th part of a tensor that may be none, or have other parts. */
static const struct tensor *part_of(const struct tensor *t, size_t i)
{
	return t && t->data == TD_PARTS && i < t->nparts ? &t->parts[i] : NULL;
}

static void vcheck_tensor(struct vcheck *v, const struct tensor *dev,
			  const struct tensor *ref, struct others others)
{
	struct sample *p = v->p;
	struct budget_key key = {
		.suite = p->suite, .op = p->o->op,
		.called = p->o->called, .variant = p->variant,
		.args = p->o->args, .dt = ref->dt, .dtype = p->o->dtype,
	};
	struct value_fig f;
	size_t i;

	if (dev->data == TD_PARTS && ref->data == TD_PARTS) {
		mark(v->m, CHECK_OUTPUTS, dev->nparts == ref->nparts,
		     "other parts", "the reference's parts");
		for (i = 0; i < ref->nparts && i < dev->nparts; i++) {
			struct others o = { part_of(others.hp, i),
					    part_of(others.np, i) };

			if (dev != ref)
				mark_meta(p, v->m, &dev->parts[i],
					  &ref->parts[i]);
			vcheck_tensor(v, &dev->parts[i], &ref->parts[i], o);
		}
		return;
	}
	if (dev->data == TD_LOST || ref->data == TD_BYTES ||
	    ref->data == TD_SUM)
		mark(v->m, CHECK_READABLE, dev->data == TD_BYTES || dev->same,
		     dev->note ? dev->note : "no elements", "elements");
	if (dev->same && ref->data == TD_SUM) {
		v->judged = true;
		v->oracle = VO_REF;
		return;
	}
	if (dev->dt != ref->dt || !same_dims(dev, ref) ||
	    dev->data != TD_BYTES || ref->data != TD_BYTES)
		return;
	p->scale.out = ref->numel;
	value_judge(p->j, &key, &p->scale, dev, ref, others, &f);
	if (p->j->strict && f.usable)
		f.bad = true;
	v->judged = true;
	v->usable = v->usable || f.usable;
	p->s->dflt = p->s->dflt || f.budget.dflt;
	v->oracle = f.oracle;
	mark(v->m, CHECK_ZERO_SIGN, f.num.zero_sign == 0, "another sign",
	     "the reference's sign");
	if (f.oracle == VO_HP)
		mark(v->m, CHECK_REF_ERROR, f.num.ref_error == 0,
		     "not finite", "finite, in float64");
	if (!v->wrong)
		v->first = f;
	v->wrong = v->wrong || f.bad;
}

static void value_text(const struct value_fig *f, size_t out,
		       char got[TEXT_MAX], char want[TEXT_MAX])
{
	char element[VALUE_TEXT];

	value_show(f, element, want);
	snprintf(got, TEXT_MAX, "%s at [%zu] of output %zu (%.4g ulp off)",
		 element, f->num.at, out, f->num.max_ulp);
}

/* The i-th output, where it is there and a tensor. */
static const struct tensor *output_of(const struct result *r, size_t i)
{
	return r->present && !r->raised && i < r->n && r->outs[i].is_tensor ?
		&r->outs[i].t : NULL;
}

/* All outputs' values, and whether another answer than the reference's is
 * right too. */
static void judge_values(struct sample *p, struct marks *m)
{
	const struct result *dev = &p->o->dev, *ref = &p->o->ref;
	struct vcheck *v = xcalloc(dev->n + 1, sizeof(*v));
	bool *wrong = xcalloc(dev->n + 1, sizeof(*wrong)), any = false;
	bool same_form = true;
	enum legal_answer legal = LEGAL_NONE;
	const char *why = NULL;
	char got[TEXT_MAX], want[TEXT_MAX];
	size_t i;

	for (i = 0; i < dev->n; i++) {
		struct others o = { output_of(&p->o->hp, i),
				    output_of(&p->o->np, i) };

		if (!dev->outs[i].is_tensor || !ref->outs[i].is_tensor)
			continue;
		v[i].p = p;
		v[i].m = m;
		v[i].out = i;
		vcheck_tensor(&v[i], &dev->outs[i].t, &ref->outs[i].t, o);
		wrong[i] = v[i].wrong;
		any = any || wrong[i];
	}
	same_form = !m->bad[CHECK_DTYPE] && !m->bad[CHECK_SHAPE];
	if (any && same_form)
		legal = legal_check(p->j->legal, p->o, wrong, &why);
	for (i = 0; i < dev->n; i++) {
		if (!v[i].judged)
			continue;
		if (legal == LEGAL_YES && wrong[i]) {
			mark(m, CHECK_VALUE, true, "", "");
			p->s->by_oracle[VO_LEGAL]++;
			continue;
		}
		got[0] = want[0] = '\0';
		if (wrong[i])
			value_text(&v[i].first, i, got, want);
		if (wrong[i] && why) {
			size_t n = strlen(want);

			snprintf(want + n, sizeof(want) - n, "; %s", why);
		}
		mark(m, CHECK_VALUE, !wrong[i], got, want);
		v[i].first.bad = wrong[i];
		if (v[i].first.budget.cls)
			fig_merge(p, &v[i].first, i);
		p->s->usable = p->s->usable || v[i].usable;
		p->s->by_oracle[v[i].oracle]++;
	}
	free(v);
	free(wrong);
}

/* A Python float by the case's own budget; anything else as its text. */
static bool same_py(const struct sample *p, const struct value *dev,
		    const struct value *ref)
{
	struct budget_key key = {
		.suite = p->suite, .op = p->o->op,
		.called = p->o->called, .variant = p->variant,
		.args = p->o->args, .dtype = p->o->dtype,
		.dt = dtype_find(p->o->dtype),
	};
	struct value_fig f;
	struct tensor a = { .ndim = 0, .numel = 1, .data = TD_BYTES }, b;
	char *end;
	double x, y;
	bool low = key.dt && key.dt->cls == DT_FLOAT && key.dt->mantissa < 52;

	if (!strcmp(dev->py, "other") || !strcmp(dev->text, ref->text))
		return true;
	if (!strcmp(dev->py, "device"))
		return true;
	if (strcmp(dev->py, "float"))
		return false;
	x = strtod(dev->text, &end);
	if (end == dev->text || *end)
		return false;
	y = strtod(ref->text, &end);
	if (end == ref->text || *end)
		return false;
	a.dt = dtype_find("float64");
	b = a;
	a.p = (const unsigned char *)&x;
	b.p = (const unsigned char *)&y;
	if (low) {
		/* A float that came from a narrower type has its ulp. */
		struct num_tol tol = { .ulp = { 0 } };

		budget_find(p->j->budgets, &key, &f.budget);
		tol.abs[0] = tol.abs[1] = 2 * f.budget.ulp[1] *
			num_unit(key.dt, y);
		num_compare(a.dt, a.p, b.p, NULL, 1, &tol, &f.num);
		return !f.num.bad;
	}
	value_judge(p->j, &key, &p->scale, &a, &b, (struct others){ 0 }, &f);
	return !f.bad;
}

static void judge_outputs(struct sample *p, struct marks *m)
{
	const struct result *dev = &p->o->dev, *ref = &p->o->ref;
	char got[TEXT_MAX], want[TEXT_MAX];
	bool values = strcmp(p->o->oracle, "metadata") &&
		!legal_is_random(p->j->legal, p->o->op, p->o->args);
	size_t i;

	snprintf(got, sizeof(got), "%zu in %.100s", dev->n, dev->tree);
	snprintf(want, sizeof(want), "%zu in %.100s", ref->n, ref->tree);
	mark(m, CHECK_OUTPUTS, dev->n == ref->n &&
	     !strcmp(dev->tree, ref->tree), got, want);
	if (dev->n != ref->n)
		return;
	for (i = 0; i < dev->n; i++) {
		const struct value *d = &dev->outs[i], *r = &ref->outs[i];
		const char *dk = d->is_tensor ? "tensor" : d->py;
		const char *rk = r->is_tensor ? "tensor" : r->py;

		mark(m, CHECK_OUTPUTS, !strcmp(dk, rk), dk, rk);
		if (strcmp(dk, rk)) {
			values = false;
		} else if (d->is_tensor) {
			mark_meta(p, m, &d->t, &r->t);
		} else if (values) {
			mark(m, CHECK_VALUE, same_py(p, d, r), d->text,
			     r->text);
		}
	}
	if (values)
		judge_values(p, m);
	else
		p->s->by_oracle[VO_META]++;
}

static const char *item_text(const cJSON *a, int i)
{
	const cJSON *x = cJSON_GetArrayItem(a, i);

	return cJSON_IsString(x) ? x->valuestring : "";
}

/* Does the device hold an input with other strides than the reference does? */
static bool any_relaid(const struct obs *o)
{
	size_t i;

	for (i = 0; i < o->ninputs; i++)
		if (o->inputs[i].is_tensor && o->inputs[i].t.relaid)
			return true;
	return false;
}

/* Has the i-th result no element?  Then no write shows what it shares. */
static bool is_empty(const struct obs *o, int i)
{
	return (size_t)i < o->dev.n && o->dev.outs[i].is_tensor &&
	       !o->dev.outs[i].t.numel;
}

static bool holds(const cJSON *a, double x)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, a)
		if (cJSON_IsNumber(item) && item->valuedouble == x)
			return true;
	return false;
}

/* Results that a write to the inputs' memory changed: the reference's share. */
static void judge_follows(const struct obs *o, const cJSON *ref, bool relaid,
			  struct marks *m)
{
	size_t i;

	for (i = 0; o->follows && i < o->dev.n; i++) {
		const struct value *v = &o->dev.outs[i];
		const char *r = item_text(ref, (int)i);
		bool shares = !strncmp(r, "in", 2);

		if (!v->is_tensor || !v->t.numel || !v->t.strides ||
		    (relaid && !*r))
			continue;
		mark(m, CHECK_ALIASING, holds(o->follows, (double)i) == shares,
		     shares ? "memory of its own" : "memory of an input",
		     shares ? r : "fresh");
	}
}

/* And those that change the inputs' memory when they are written to. */
static void judge_leads(const struct obs *o, const cJSON *ref, bool relaid,
			struct marks *m)
{
	int i, n = cJSON_GetArraySize(o->leads);

	for (i = 0; i < n && (size_t)i < o->dev.n; i++) {
		const char *lead = item_text(o->leads, i);
		const char *r = item_text(ref, i);
		bool shares = !strncmp(r, "in", 2);

		if (!strcmp(lead, "untried") || (relaid && !*r) ||
		    is_empty(o, i))
			continue;
		mark(m, CHECK_ALIASING, !strcmp(lead, "in") == shares,
		     shares ? "a write to it that no input shows" :
		     "a write to it that an input shows",
		     shares ? r : "fresh");
	}
}

/* "in0=" shares with input 0 and is that very object. */
static void judge_alias(const struct obs *o, struct marks *m)
{
	const cJSON *dev = json_get(o->alias, "dev");
	const cJSON *ref = json_get(o->alias, "ref");
	bool relaid = any_relaid(o);
	int i, n = cJSON_GetArraySize(ref);

	/* Without a list nothing shares, or is known to. */
	mark(m, CHECK_ALIASING, cJSON_GetArraySize(dev) == n, "another count",
	     "one an output");
	for (i = 0; i < n; i++) {
		const char *d = item_text(dev, i), *r = item_text(ref, i);
		size_t dn = strcspn(d, "="), rn = strcspn(r, "=");

		/* The reference may have copied for its strides' sake. */
		if (relaid && !*r)
			continue;
		if (is_empty(o, i) && !d[dn] && !r[rn])
			continue;
		mark(m, CHECK_ALIASING, dn == rn && !strncmp(d, r, dn),
		     *d ? d : "fresh", *r ? r : "fresh");
		if (r[rn])
			mark(m, CHECK_OUT, !strcmp(d, r), *d ? d : "fresh", r);
	}
	judge_follows(o, ref, relaid, m);
	judge_leads(o, ref, relaid, m);
}

/*
 * Is input i where the call writes what it draws?  Then it may have held the
 * same by chance: what the device drew, or what the reference did.
 */
static bool drawn_into(const struct sample *p, int i)
{
	const struct obs *o = p->o;
	const cJSON *item;
	char name[32];

	if (o->drew || !legal_is_random(p->j->legal, o->called, o->args))
		return false;
	snprintf(name, sizeof(name), "in%d=", i);
	cJSON_ArrayForEach(item, json_get(o->alias, "ref"))
		if (cJSON_IsString(item) && !strcmp(item->valuestring, name))
			return true;
	return false;
}

/* So many elements don't all stay what they were by chance. */
static bool many(const struct obs *o, int i)
{
	return i >= 0 && (size_t)i < o->ninputs && o->inputs[i].is_tensor &&
	       o->inputs[i].t.numel >= CHANCE_MAX;
}

static void judge_mutation(const struct sample *p, struct marks *m)
{
	const struct obs *o = p->o;
	const cJSON *dev = json_get(o->mutated, "dev");
	const cJSON *ref = json_get(o->mutated, "ref");
	const cJSON *item;
	char what[TEXT_MAX];

	mark(m, CHECK_INPUTS_UNMODIFIED, true, "", "");
	cJSON_ArrayForEach(item, dev) {
		int i = cJSON_IsNumber(item) ? item->valueint : -1;

		snprintf(what, sizeof(what), "input %d changed", i);
		mark(m, CHECK_INPUTS_UNMODIFIED, holds(ref, i) ||
		     drawn_into(p, i), what, "unchanged");
	}
	/* A call that raised may not have come to it. */
	if (o->dev.raised)
		return;
	cJSON_ArrayForEach(item, ref) {
		int i = cJSON_IsNumber(item) ? item->valueint : -1;

		snprintf(what, sizeof(what), "input %d changed", i);
		mark(m, CHECK_MUTATION, holds(dev, i) ||
		     (drawn_into(p, i) && !many(o, i)), "unchanged", what);
	}
}

/* Did the reference change bytes at the same side of the same tensor? */
static bool its_habit(const cJSON *ref, const cJSON *g)
{
	const cJSON *t = json_get(g, "tensor"), *r;

	cJSON_ArrayForEach(r, ref)
		if (cJSON_Compare(json_get(r, "tensor"), t, true) &&
		    !strcmp(rec_str_opt(r, "where", ""),
			    rec_str_opt(g, "where", "?")))
			return true;
	return false;
}

static void judge_guard(const struct obs *o, struct marks *m)
{
	const cJSON *g;
	char what[TEXT_MAX];

	mark(m, CHECK_GUARD, true, "", "");
	cJSON_ArrayForEach(g, o->guard) {
		const cJSON *t = json_get(g, "tensor");
		char name[32];

		if (its_habit(o->guard_ref, g))
			continue;
		if (cJSON_IsString(t))
			snprintf(name, sizeof(name), "%.30s", t->valuestring);
		else
			snprintf(name, sizeof(name), "%d",
				 cJSON_IsNumber(t) ? t->valueint : -1);
		snprintf(what, sizeof(what), "bytes %.20s tensor %s changed at "
			 "%lld", rec_str_opt(g, "where", "?"), name,
			 rec_int_opt(g, "at", -1));
		mark(m, CHECK_GUARD, false, what, "untouched");
	}
}

static void judge_where(const struct obs *o, struct marks *m)
{
	const cJSON *w;
	char what[TEXT_MAX];

	if (!o->where)
		return;
	mark(m, CHECK_FALLBACK, true, "", "");
	cJSON_ArrayForEach(w, o->where) {
		if (!cJSON_IsString(w) || strcmp(w->valuestring, "fallback"))
			continue;
		snprintf(what, sizeof(what), "%.120s on the CPU", w->string);
		mark(m, CHECK_FALLBACK, false, what, "a kernel of the device");
	}
}

static void judge_version(const struct obs *o, struct marks *m)
{
	const cJSON *dev = json_get(o->version, "dev");
	const cJSON *ref = json_get(o->version, "ref");

	if (cJSON_IsArray(dev) && cJSON_IsArray(ref))
		mark(m, CHECK_VERSION, cJSON_Compare(dev, ref, 1),
		     "moved otherwise", "as the reference's");
}

static void judge_sensitivity(const struct obs *o, struct marks *m)
{
	const char *dev = rec_str_opt(o->sensitivity, "dev", "");
	const char *ref = rec_str_opt(o->sensitivity, "ref", "");
	char what[TEXT_MAX];

	if (!o->sensitivity || strcmp(ref, "differs"))
		return;
	snprintf(what, sizeof(what), "another result when %.100s changes",
		 rec_str_opt(o->sensitivity, "arg", "an argument"));
	mark(m, CHECK_SENSITIVITY, strcmp(dev, "same") != 0,
	     "the same result", what);
}

static void raised_text(const struct result *r, char out[TEXT_MAX])
{
	snprintf(out, TEXT_MAX, "%.60s: %.90s", r->type, r->message);
}

/*
 * Whether a matrix is found singular, or not positive definite, hangs on
 * rounding, but where the input is one that must be refused.
 */
static bool by_rounding(const struct result *r, const char *variant)
{
	return strstr(r->type, "LinAlgError") && strcmp(variant, "errors") &&
	       strcmp(variant, "refused");
}

/* Where one side or both raised.  False: nothing can be said of it. */
static bool judge_raised(struct sample *p, struct marks *m)
{
	const struct result *dev = &p->o->dev, *ref = &p->o->ref;
	char got[TEXT_MAX], want[TEXT_MAX];

	if (ref->raised && (!strcmp(ref->kind, "unsupported") ||
			    (!dev->raised && by_rounding(ref, p->variant))))
		return dev->raised;
	if (dev->raised)
		raised_text(dev, got);
	if (ref->raised && dev->raised) {
		mark(m, CHECK_ERROR_MISSING, true, "", "");
		mark(m, CHECK_ERROR_TYPE, !strcmp(dev->type, ref->type),
		     dev->type, ref->type);
	} else if (ref->raised) {
		raised_text(ref, want);
		mark(m, CHECK_ERROR_MISSING, false, "no error", want);
	} else {
		mark(m, CHECK_ERROR_UNEXPECTED, false, got, "no error");
		if (!strcmp(dev->kind, "unsupported"))
			p->s->unsupported++;
		else if (!strcmp(dev->kind, "oom"))
			p->s->ooms++;
		else
			p->s->errors++;
	}
	return true;
}

void judge_obs(const struct judge *j, struct jcase *c, const struct obs *o)
{
	struct marks m;
	struct sample p = { .j = j, .s = jcase_seen(c), .o = o };
	char op[CASE_ID_MAX], dtype[CASE_ID_MAX];

	memset(m.run, 0, sizeof(m.run));
	memset(m.bad, 0, sizeof(m.bad));
	if (case_id_split(c->id, p.suite, op, dtype, p.variant) < 0)
		p.suite[0] = p.variant[0] = '\0';
	jcase_keep(&p.s->op, o->op);
	jcase_keep(&p.s->dtype, o->dtype);
	jcase_keep(&p.s->device, o->device);
	p.s->obs++;
	if (o->dev.raised || o->ref.raised) {
		if (!judge_raised(&p, &m)) {
			p.s->unjudged++;
			return;
		}
	} else {
		mark(&m, CHECK_ERROR_UNEXPECTED, true, "", "");
		scale_of(o, &p.scale);
		judge_outputs(&p, &m);
		judge_alias(o, &m);
	}
	judge_mutation(&p, &m);
	judge_guard(o, &m);
	judge_where(o, &m);
	judge_version(o, &m);
	judge_sensitivity(o, &m);
	if (o->drew)
		mark(&m, CHECK_GENERATOR, !cJSON_IsTrue(o->drew),
		     "moved", "as it was: the reference draws nothing");
	if (o->repeat)
		mark(&m, CHECK_REPEAT, !strcmp(o->repeat, "same"),
		     "another result the second time", "the same");
	settle(&p, &m);
	p.s->judged++;
	if (!p.failed)
		return;
	p.s->failed++;
	if (p.s->first < 0) {
		p.s->first = o->sample;
		p.s->args = text_cut(o->args, 300);
	}
}
