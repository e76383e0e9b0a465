#include "sidefile.h"

#include <stdlib.h>
#include <string.h>
#include "thaw.h"
#include "xalloc.h"

/* Strings that a side only borrows: each is one of these. */
static const char *const words[] = {
	"", "before", "after", "gap",
	"float", "complex", "bool", "int", "str", "none", "dtype", "device",
	"other",
	"indices", "values", "crow_indices", "col_indices", "ccol_indices",
	"row_indices", "dense",
};
#define NWORDS (sizeof(words) / sizeof(*words))
/* Leaves of a result, and of what was written to beside it. */
#define LEAVES_MAX 4096
/* Characters in a record for a change, and for a count or a number. */
#define CHANGE_TEXT 64
#define COUNT_TEXT 12
/* And for each byte of a text, escaped. */
#define BYTE_TEXT 6

static int put_word(struct buf *out, const char *s)
{
	size_t i;

	for (i = 0; i < NWORDS && strcmp(words[i], s); i++)
		;
	wire_put_u8(out, (uint8_t)i);
	return i < NWORDS ? 0 : -1;
}

static const char *get_word(struct wire *in)
{
	uint8_t i = wire_u8(in);

	if (i < NWORDS)
		return words[i];
	in->bad = true;
	return "";
}

/* A text, where there is room for it. */
static int put_text(struct freezer *f, const char *s)
{
	wire_put_str(f->out, s);
	return freeze_room_text(&f->room, BYTE_TEXT * strlen(s));
}

static char *get_text(struct thawer *t)
{
	char *s = wire_str(t->in);

	if (freeze_room_text(&t->room, BYTE_TEXT * strlen(s)))
		t->in->bad = true;
	return s;
}

static int put_leaf(struct freezer *f, const struct leaf *l)
{
	int i;

	wire_put_u8(f->out, l->is_tensor);
	if (!l->is_tensor)
		return put_text(f, l->text) || put_word(f->out, l->py) ?
			-1 : 0;
	if (freeze_room_tensor(&f->room, &l->meta))
		return -1;
	freeze_meta(f->out, &l->meta);
	wire_put_u8(f->out, l->read);
	if (l->read) {
		if (l->n > f->max || f->out->len + l->n > f->max)
			return -1;
		wire_put_bytes(f->out, l->p, l->n);
	}
	wire_put_u8(f->out, (uint8_t)l->nparts);
	for (i = 0; i < l->nparts; i++)
		if (put_word(f->out, l->part_names[i]) ||
		    freezer_tensor(f, l->parts[i]))
			return -1;
	return 0;
}

static int put_changes(struct freezer *f, const struct side *s)
{
	struct buf *out = f->out;
	size_t i;
	int rc = freeze_room_text(&f->room, CHANGE_TEXT * s->nchange);

	wire_put_u64(out, s->nchange);
	for (i = 0; i < s->nchange; i++) {
		const struct ctt_change *c = &s->change[i];

		wire_put_u32(out, (uint32_t)c->input);
		wire_put_u8(out, (uint8_t)(c->inside | c->whole << 1));
		wire_put_u64(out, (uint64_t)c->at);
		rc |= put_word(out, c->where);
	}
	return rc;
}

static int put_inputs(struct freezer *f, const struct side *s)
{
	struct buf *out = f->out;
	size_t i;

	wire_put_u64(out, s->turned);
	wire_put_u64(out, s->nwritten);
	for (i = 0; i < s->nwritten; i++)
		wire_put_u64(out, s->written[i]);
	wire_put_u64(out, s->nmoved);
	for (i = 0; i < s->nmoved; i++)
		wire_put_u32(out, s->moved[i]);
	return freeze_room_text(&f->room, COUNT_TEXT *
				(s->nwritten + s->nmoved));
}

int sidefile_put(struct buf *out, const struct lab *lab,
		 const struct freeze_types *types, const struct side *s,
		 size_t max)
{
	struct freezer f;
	size_t i;
	int rc = 0;

	freezer_init(&f, lab, types, out, max);
	wire_put_u8(out, s->raised);
	wire_put_u64(out, (uint64_t)s->t_us);
	if (s->raised) {
		wire_put_u8(out, (uint8_t)s->kind);
		rc = put_text(&f, s->type) || put_text(&f, s->message);
	}
	rc = rc || put_text(&f, s->tree.p) || put_inputs(&f, s) ||
		s->n > LEAVES_MAX;
	wire_put_u64(out, s->n);
	wire_put_u8(out, s->alias != NULL);
	for (i = 0; !rc && i < s->n; i++)
		rc = put_leaf(&f, &s->leaf[i]) ||
			(s->alias && put_text(&f, s->alias[i]));
	rc = rc || put_changes(&f, s);
	freezer_release(&f);
	return rc ? -1 : 0;
}

static void get_leaf(struct thawer *t, struct leaf *l)
{
	struct wire *in = t->in;
	int i, n;

	l->is_tensor = wire_u8(in);
	if (!l->is_tensor) {
		l->text = get_text(t);
		l->py = get_word(in);
		return;
	}
	if (thaw_meta(in, &l->meta) ||
	    freeze_room_tensor(&t->room, &l->meta)) {
		in->bad = true;
		return;
	}
	l->read = wire_u8(in);
	if (l->read)
		l->p = wire_bytes(in, &l->n);
	if (l->read && !l->meta.quantized && (!l->meta.itemsize ||
	    l->n / l->meta.itemsize != (uint64_t)l->meta.numel ||
	    l->n % l->meta.itemsize))
		in->bad = true;
	n = wire_u8(in);
	if (n > 3)
		in->bad = true;
	for (i = 0; i < n && !in->bad; i++) {
		l->part_names[i] = get_word(in);
		if (thawer_tensor(t, &l->parts[i]))
			in->bad = true;
		else
			l->nparts++;
	}
}

static void get_leaves(struct thawer *t, struct side *s)
{
	size_t n = wire_count(t->in, 1);
	bool alias = wire_u8(t->in);

	if (n > LEAVES_MAX)
		t->in->bad = true;
	if (t->in->bad)
		return;
	s->leaf = xcalloc(n + 1, sizeof(*s->leaf));
	s->alias = alias ? xcalloc(n + 1, sizeof(*s->alias)) : NULL;
	for (s->n = 0; s->n < n && !t->in->bad; s->n++) {
		get_leaf(t, &s->leaf[s->n]);
		if (alias)
			s->alias[s->n] = get_text(t);
	}
}

static void get_changes(struct thawer *t, struct side *s)
{
	struct wire *in = t->in;
	size_t n = wire_count(in, 14), i;

	if (freeze_room_text(&t->room, CHANGE_TEXT * n))
		in->bad = true;
	if (in->bad)
		return;
	s->change = xcalloc(n + 1, sizeof(*s->change));
	s->nchange = n;
	for (i = 0; i < n; i++) {
		uint8_t bits;

		s->change[i].input = (int)wire_u32(in);
		bits = wire_u8(in);
		s->change[i].inside = bits & 1;
		s->change[i].whole = bits >> 1 & 1;
		s->change[i].at = (int64_t)wire_u64(in);
		s->change[i].where = get_word(in);
	}
}

static void get_inputs(struct thawer *t, struct side *s)
{
	struct wire *in = t->in;
	size_t i;

	s->turned = wire_u64(in);
	s->nwritten = wire_count(in, 8);
	s->written = xcalloc(s->nwritten + 1, sizeof(*s->written));
	for (i = 0; i < s->nwritten; i++)
		s->written[i] = (size_t)wire_u64(in);
	s->nmoved = wire_count(in, 4);
	s->moved = xcalloc(s->nmoved + 1, sizeof(*s->moved));
	for (i = 0; i < s->nmoved; i++)
		s->moved[i] = wire_u32(in);
	if (freeze_room_text(&t->room, COUNT_TEXT *
			     (s->nwritten + s->nmoved)))
		in->bad = true;
}

int sidefile_get(struct wire *in, const struct lab *lab,
		 const struct freeze_types *types, struct side *s)
{
	struct thawer t;
	char *tree;

	thawer_init(&t, lab, types, in);
	s->present = true;
	s->raised = wire_u8(in);
	s->t_us = (int64_t)wire_u64(in);
	if (s->raised) {
		s->kind = wire_u8(in);
		s->type = get_text(&t);
		s->message = get_text(&t);
		if (s->kind > RAISED_OOM)
			in->bad = true;
	}
	tree = get_text(&t);
	buf_addstr(&s->tree, tree);
	free(tree);
	get_inputs(&t, s);
	get_leaves(&t, s);
	get_changes(&t, s);
	thawer_release(&t);
	PyErr_Clear();
	if (!in->bad)
		return 0;
	side_release(s, lab);
	memset(s, 0, sizeof(*s));
	buf_init(&s->tree);
	return -1;
}
