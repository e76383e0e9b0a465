/*
 * ledger: a reviewed file of JSON Lines whose every line is an object with a
 * fixed set of string keys.  Blank lines are skipped; anything else that is
 * not an object with these keys, each of its form, is refused.
 */
#ifndef CTS_LEDGER_H
#define CTS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>
#include "err.h"

struct ledger_key {
	const char *name;
	bool need;
	/* NULL where any text that is not empty will do. */
	bool (*ok)(const char *s);
	const char *form;	/* what it should be, for the message */
};

/*
 * Call line() for each entry with the values in the order of keys (NULL for
 * one that is absent).  0, or -1 with e set, "FILE:LINE: ..." in front; what
 * line() returns other than 0 ends the reading likewise.
 */
int ledger_read(const char *path, const struct ledger_key *keys, size_t nkeys,
		int (*line)(void *ctx, const char *const *value, int lineno,
			    struct err *e),
		void *ctx, struct err *e);

#define LEDGER_KEYS_MAX 16

#endif
