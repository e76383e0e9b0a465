/*
 * rules: the reviewed tables in coverage/ that say something of a case by the
 * op, dtype and variant that it is made of.  One JSON object a line; the first
 * that applies decides.  Every condition may be left out:
 *
 *	suite	"opinfo"
 *	ops	["add","sum"]: those ops, with or without an OpInfo variant
 *	op	"^linalg\\.": a regex
 *	flags	["random"]: facts of the item, all of them; see inventory.h
 *	variant	["plain"]
 *	dtypes	["float32"]
 *	device	"cpu": a run on that device
 *
 * and with them what is said: level, capability, oracle or others, and reason.
 */
#ifndef CTS_RULES_H
#define CTS_RULES_H

#include "err.h"
#include "inventory.h"

struct rules;

/*
 * Read coverage/NAME.jsonl below prog_root(); key is what every line must say.
 * NULL with e set (EX_ENVIRON) where it can't be read or is wrong.
 */
struct rules *rules_load(const char *name, const char *key, struct err *e);
struct rules *rules_parse(const char *text, size_t n, const char *file,
			  const char *key, struct err *e);
void rules_free(struct rules *r);

/*
 * Say which device ("cpu", "cuda:1") the cases are for; a line about a device
 * applies to none before that.
 */
void rules_device(struct rules *r, const char *device);

/* Look at one item: what follows is asked of it. */
void rules_item(struct rules *r, const struct item *it);

/*
 * The value for a dtype (index of dtype_at()) and variant of that item, as
 * text; NULL: no line applies.  reason (may be NULL) is set to the line's.
 */
const char *rules_find(const struct rules *r, const char *variant,
		       size_t dtype, const char **reason);

#endif
