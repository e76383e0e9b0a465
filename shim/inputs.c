#include "inputs.h"

#include <stdlib.h>
#include <string.h>
#include "xalloc.h"

void inputs_mark(struct side *s, const struct lab *lab, const struct call *c)
{
	struct ctt_meta m;
	size_t i;

	s->moved = xcalloc(c->n + 1, sizeof(*s->moved));
	s->nmoved = c->n;
	for (i = 0; i < c->n; i++)
		if (!lab->api->meta(c->tensors[i], &m))
			s->moved[i] = m.version;
}

void inputs_count(struct side *s, const struct lab *lab, const struct call *c)
{
	struct ctt_meta m;
	size_t i;

	for (i = 0; i < c->n; i++)
		s->moved[i] = lab->api->meta(c->tensors[i], &m) ? 0 :
			m.version - s->moved[i];
}

void inputs_note_turned(struct side *s, const struct lab *lab,
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

void inputs_forgive_turned(struct side *dev, const struct side *ref)
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

static bool is_output(const struct side *s, const void *impl)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->leaf[i].is_tensor && s->leaf[i].meta.impl == impl)
			return true;
	return false;
}

void inputs_note_written(struct side *s, const struct lab *lab,
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

int inputs_add_written(struct side *s, const struct lab *lab,
		       const struct call *c, const struct side *model)
{
	size_t i;

	for (i = 0; i < model->nwritten; i++) {
		struct leaf *l;
		void *obj;

		/* What was recorded may say anything. */
		if (model->written[i] >= c->n)
			continue;
		l = side_add_leaf(s);
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
		    side_read_leaf(lab, l))
			return -1;
	}
	return 0;
}

/* By input and place: storages come in no order that lasts. */
static int by_input(const void *a, const void *b)
{
	const struct ctt_change *x = a, *y = b;

	return x->input != y->input ? (x->input > y->input) -
		(x->input < y->input) : (x->at > y->at) - (x->at < y->at);
}

void inputs_sort_changes(struct side *s)
{
	if (s->nchange)
		qsort(s->change, s->nchange, sizeof(*s->change), by_input);
}
