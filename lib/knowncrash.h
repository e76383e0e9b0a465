/*
 * knowncrash: the reviewed ledger of cases known to take their process along.
 * A rule decides where a case runs, nothing else.
 *
 * A file of JSON Lines, each with these strings, all needed:
 *	id		names the rule
 *	match		glob over case ids
 *	device		glob over devices ("cuda", "refdev*")
 *	hardware	glob over hardware keys
 *	torch		range of versions, ">=2.9,<2.14", or "*"
 *	signal		what it dies of: a signal's name, "exit", "timeout",
 *			"hang" or "oom"
 *	reason		what is known of it, for people
 *	review		day by which somebody looks at it again, "YYYY-MM-DD"
 */
#ifndef CTS_KNOWNCRASH_H
#define CTS_KNOWNCRASH_H

#include <stdbool.h>
#include <stddef.h>
#include "buf.h"
#include "err.h"

struct knowncrash {
	char *id, *match, *device, *hardware, *torch, *signal, *reason,
	     *review;
	int line;
	size_t cases;		/* that it matched, for the audit */
};

struct knowncrashes { struct knowncrash *v; size_t n, cap; };

/* 0, or -1 with e set, "FILE:LINE: ..." in front. */
int knowncrash_read(struct knowncrashes *k, const char *path, struct err *e);
void knowncrash_release(struct knowncrashes *k);

/*
 * The first rule for this case, or NULL.  What is not known of hardware and
 * torch (NULL) is taken to match: being alone does a case no harm.
 */
struct knowncrash *knowncrash_find(struct knowncrashes *k, const char *id,
				   const char *device, const char *hardware,
				   const char *torch);

/* Is version in range?  -1: range is none. */
int knowncrash_in_range(const char *range, const char *version);

/*
 * Check the rules, read from path, against the cases of the streams in files
 * (NULL-terminated; none: stdin): append a line to out for each thing that is
 * wrong.  How many, or -1 with e set.  today: "YYYY-MM-DD".
 */
int knowncrash_audit(const char *path, char *const *files, const char *today,
		     struct buf *out, struct err *e);

#endif
