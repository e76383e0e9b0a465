#include "form.h"

#include <string.h>

/* An odd number of elements: no vector's width divides it. */
#define OFF 7

/* The database's samples, called in one way. */
#define CALLED(n, m) { .name = n, .mode = m }
/* ... after the same with other values. */
#define PRIMED(n, m) { .name = n, .mode = m, .primed = true }
/* ... with operands laid out anew. */
#define LAID(n, m, v, o) \
	{ .name = n, .mode = m, .lay = { .view = CTT_VIEW_##v, .offset = o } }
/* ... with values of another kind. */
#define VALUED(n, m, v) \
	{ .name = n, .mode = m, .lay = { .values = CTT_VALUES_##v } }

static const struct form forms[] = {
	CALLED("plain", "call"),
	{ .name = "repeat", .mode = "call", .calls = FORM_OFTEN,
	  .primed = true },
	LAID("offset", "call", DENSE, OFF),
	LAID("transposed", "call", TRANSPOSED, 0),
	LAID("reversed", "call", REVERSED, 0),
	LAID("stepped", "call", STEPPED, 0),
	LAID("expanded", "call", EXPANDED, 0),
	LAID("channels_last", "call", CHANNELS_LAST, 0),
	LAID("conj", "call", CONJ, 0),
	LAID("neg", "call", NEG, 0),
	LAID("offset_transposed", "call", TRANSPOSED, OFF),
	LAID("offset_stepped", "call", STEPPED, OFF),
	LAID("offset_expanded", "call", EXPANDED, OFF),
	LAID("offset_channels_last", "call", CHANNELS_LAST, OFF),
	VALUED("special", "call", SPECIAL),
	VALUED("out_special", "out", SPECIAL),
	VALUED("inplace_special", "inplace", SPECIAL),
	VALUED("wide", "call", WIDE),
	VALUED("large", "call", LARGE),
	VALUED("out_large", "out", LARGE),
	VALUED("inplace_large", "inplace", LARGE),
	{ .name = "errors", .mode = "errors", .must_raise = true },
	{ .name = "refused", .mode = "refused", .must_raise = true },
	PRIMED("out", "out"),
	LAID("out_stepped", "out_stepped", STEPPED, 0),
	LAID("out_offset", "out_offset", DENSE, OFF),
	LAID("out_transposed", "out", TRANSPOSED, 0),
	LAID("out_expanded", "out", EXPANDED, 0),
	CALLED("out_resize", "out_resize"),
	PRIMED("inplace", "inplace"),
	LAID("inplace_offset", "inplace", DENSE, OFF),
	LAID("inplace_stepped", "inplace", STEPPED, 0),
	LAID("inplace_transposed", "inplace", TRANSPOSED, 0),
	LAID("inplace_expanded", "inplace", EXPANDED, 0),
	PRIMED("backward", "backward"),
	CALLED("backward_expanded", "backward_expanded"),
	CALLED("backward_stepped", "backward_stepped"),
	CALLED("backward_permuted", "backward_permuted"),
	CALLED("backward_offset", "backward_offset"),
	LAID("backward_transposed", "backward", TRANSPOSED, 0),
	CALLED("gradgrad", "gradgrad"),
	CALLED("jvp", "jvp"),
	CALLED("sensitivity", "sensitivity"),
	CALLED("tiny", "tiny"),
	CALLED("edges", "edges"),
	CALLED("prefix", "prefix"),
	{ .name = "host_scalar", .mode = "host_scalar", .host = 1 << 1 },
	{ .name = "host_scalar_first", .mode = "host_scalar_first",
	  .host = 1 << 0 },
	CALLED("backward_subsets", "backward_subsets"),
	CALLED("gradcheck", "gradcheck"),
};

const struct form *form_at(size_t i)
{
	return i < sizeof(forms) / sizeof(*forms) ? &forms[i] : NULL;
}

const struct form *form_find(const char *name)
{
	const struct form *v;
	size_t i;

	for (i = 0; (v = form_at(i)); i++)
		if (!strcmp(v->name, name))
			return v;
	return NULL;
}

bool form_lays(const struct form *v)
{
	return v->lay.view || v->lay.values || v->lay.offset;
}
