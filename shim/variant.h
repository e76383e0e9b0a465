/*
 * variant: the ways in which the engine sees one and the same op differently.
 */
#ifndef CTS_VARIANT_H
#define CTS_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include "cts_torch.h"

struct variant {
	const char *name;
	const char *mode;	/* of opinfo.samples: how it is called */
	struct ctt_lay lay;	/* of its operands, one at a time and all */
	bool must_raise;	/* inputs that the reference refuses */
	bool twice;		/* run on the device again and compare */
};

const struct variant *variant_find(const char *name);	/* NULL: unknown */
const struct variant *variant_at(size_t i);		/* NULL past the end */

/* Whether the variant lays operands out anew. */
bool variant_lays(const struct variant *v);

#endif
