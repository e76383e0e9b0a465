/*
 * variants: the ways in which one op and dtype are looked at, as listed in
 * coverage/variants.jsonl.  A line more there is a variant more, once
 * cts-exec knows it ("engine":true).  A line's keys:
 *
 *	variant		its name in the case's id
 *	engine		whether cts-exec can run it; false: not enumerated yet
 *	level		the lowest level that it belongs to
 *	capability	what the manifest must claim (else: the op's own)
 *	oracle		where the truth comes from (else: the op's own)
 *	needs, without	flags of the item, see inventory.h
 *	dtypes_of	a set of the item's, see inventory.h: "backward", those
 *			that gradients are defined for; "inplace", "out",
 *			"errors", those with samples for it on the CPU
 *	classes		["float","complex"]: kinds of dtype that it makes
 *			sense for; bool uint int float complex
 *	one_of		["float32","int64"]: only the first of these that the op
 *			has, where dtypes make no difference
 *	op, except	regexes: only for those ops, not for those
 *	devices, mb	how many devices, how much memory it needs
 *	reason		why it is worth running
 */
#ifndef CTS_VARIANTS_H
#define CTS_VARIANTS_H

#include "err.h"
#include "inventory.h"

struct variant {
	const char *name, *capability, *oracle, *reason;
	int level, devices;
	long mb;
};

struct variants;

struct variants *variants_load(struct err *e);		/* new */
struct variants *variants_parse(const char *text, size_t n, const char *file,
				struct err *e);
void variants_free(struct variants *v);

/* The i-th that cts-exec can run; NULL past the last. */
const struct variant *variants_at(const struct variants *v, size_t i);

/* The dtypes of it that the i-th variant makes sense for; 0: none. */
uint64_t variants_dtypes(const struct variants *v, size_t i,
			 const struct item *it);

#endif
