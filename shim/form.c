#include "form.h"

#include <string.h>

/* An odd number of elements: no vector's width divides it. */
#define OFF 7

static const struct form forms[] = {
	{ "plain", "call", { 0 }, false, false },
	{ "repeat", "call", { 0 }, false, true },
	{ "offset", "call", { CTT_VIEW_DENSE, 0, OFF, 0 }, false, false },
	{ "transposed", "call", { CTT_VIEW_TRANSPOSED, 0, 0, 0 },
	  false, false },
	{ "reversed", "call", { CTT_VIEW_REVERSED, 0, 0, 0 }, false, false },
	{ "stepped", "call", { CTT_VIEW_STEPPED, 0, 0, 0 }, false, false },
	{ "expanded", "call", { CTT_VIEW_EXPANDED, 0, 0, 0 }, false, false },
	{ "channels_last", "call", { CTT_VIEW_CHANNELS_LAST, 0, 0, 0 },
	  false, false },
	{ "conj", "call", { CTT_VIEW_CONJ, 0, 0, 0 }, false, false },
	{ "neg", "call", { CTT_VIEW_NEG, 0, 0, 0 }, false, false },
	{ "offset_transposed", "call", { CTT_VIEW_TRANSPOSED, 0, OFF, 0 },
	  false, false },
	{ "offset_stepped", "call", { CTT_VIEW_STEPPED, 0, OFF, 0 },
	  false, false },
	{ "offset_expanded", "call", { CTT_VIEW_EXPANDED, 0, OFF, 0 },
	  false, false },
	{ "offset_channels_last", "call",
	  { CTT_VIEW_CHANNELS_LAST, 0, OFF, 0 }, false, false },
	{ "special", "call", { 0, CTT_VALUES_SPECIAL, 0, 0 }, false, false },
	{ "wide", "call", { 0, CTT_VALUES_WIDE, 0, 0 }, false, false },
	{ "errors", "errors", { 0 }, true, false },
	{ "out", "out", { 0 }, false, false },
	{ "out_stepped", "out_stepped", { CTT_VIEW_STEPPED, 0, 0, 0 },
	  false, false },
	{ "out_offset", "out_offset", { CTT_VIEW_DENSE, 0, OFF, 0 },
	  false, false },
	{ "out_transposed", "out", { CTT_VIEW_TRANSPOSED, 0, 0, 0 },
	  false, false },
	{ "out_expanded", "out", { CTT_VIEW_EXPANDED, 0, 0, 0 },
	  false, false },
	{ "out_resize", "out_resize", { 0 }, false, false },
	{ "inplace", "inplace", { 0 }, false, false },
	{ "inplace_offset", "inplace", { CTT_VIEW_DENSE, 0, OFF, 0 },
	  false, false },
	{ "inplace_stepped", "inplace", { CTT_VIEW_STEPPED, 0, 0, 0 },
	  false, false },
	{ "inplace_transposed", "inplace", { CTT_VIEW_TRANSPOSED, 0, 0, 0 },
	  false, false },
	{ "inplace_expanded", "inplace", { CTT_VIEW_EXPANDED, 0, 0, 0 },
	  false, false },
	{ "backward", "backward", { 0 }, false, false },
	{ "backward_expanded", "backward_expanded", { 0 }, false, false },
	{ "backward_stepped", "backward_stepped", { 0 }, false, false },
	{ "backward_transposed", "backward", { CTT_VIEW_TRANSPOSED, 0, 0, 0 },
	  false, false },
	{ "gradgrad", "gradgrad", { 0 }, false, false },
	{ "jvp", "jvp", { 0 }, false, false },
	{ "sensitivity", "sensitivity", { 0 }, false, false },
	{ "gradcheck", "gradcheck", { 0 }, false, false },
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
