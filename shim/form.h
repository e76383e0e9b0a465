/*
 * form: what a variant of coverage/variants.jsonl means to the engine: how the
 * op is called, and how its operands are laid out.
 */
#ifndef CTS_FORM_H
#define CTS_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cts_torch.h"

/* Enough for what goes wrong in one of ten calls: it is missed once in 30. */
#define FORM_OFTEN 32

struct form {
	const char *name;
	const char *mode;	/* of opinfo.samples: how it is called */
	struct ctt_lay lay;	/* of its operands, one at a time and all */
	bool must_raise;	/* inputs that the reference refuses */
	int calls;		/* on the device, of the first sample; 0: one */
	bool primed;		/* first with other values of the same shapes */
	uint64_t host;		/* positional arguments that stay on the CPU */
};

const struct form *form_find(const char *name);	/* NULL: unknown */
const struct form *form_at(size_t i);		/* NULL past the end */

/* Whether the variant lays operands out anew. */
bool form_lays(const struct form *v);

#endif
