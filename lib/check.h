/*
 * check: the invariants by name, and whether breaking one fails the case
 * (contract) or is only reported (advice), from coverage/checks.jsonl and the
 * manifest, which may promote advice to contract, never the reverse.
 */
#ifndef CTS_CHECK_H
#define CTS_CHECK_H

#include <stdbool.h>
#include "err.h"
#include "manifest.h"

/* In the order in which a verdict lists and blames them. */
enum check {
	CHECK_ERROR_UNEXPECTED, CHECK_ERROR_MISSING, CHECK_OUTPUTS,
	CHECK_READABLE, CHECK_DTYPE, CHECK_SHAPE, CHECK_LAYOUT, CHECK_DEVICE,
	CHECK_VALUE, CHECK_ALIASING, CHECK_OUT, CHECK_MUTATION,
	CHECK_INPUTS_UNMODIFIED, CHECK_GUARD, CHECK_GENERATOR,
	CHECK_SENSITIVITY,
	CHECK_STRIDES, CHECK_CONJ, CHECK_NEG, CHECK_ZERO_SIGN, CHECK_REPEAT,
	CHECK_ERROR_TYPE, CHECK_VERSION, CHECK_FALLBACK, CHECK_REF_ERROR,
	CHECK_N
};
const char *check_name(enum check c);

struct checks;

/* Read the table, which must class every check; new.  NULL with e set. */
struct checks *checks_read(const char *path, struct err *e);
void checks_free(struct checks *c);

/* m, borrowed and possibly NULL, may promote; its "contract" lists names. */
int checks_manifest(struct checks *c, const struct manifest *m,
		    struct err *e);

bool check_is_contract(const struct checks *c, enum check which,
		       const char *op);

#endif
