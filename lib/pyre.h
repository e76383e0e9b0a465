/*
 * pyre: regular expressions as Python users write them, searched anywhere in
 * the subject like re.search(), on top of POSIX extended ones.  The common
 * Python spellings are translated: (?:…), (?P<name>…), (?i) in front, \d \w
 * \s \b and their opposites, \A \Z, lazy quantifiers, escapes inside brackets,
 * and look-ahead at the very start, ^(?!…) and ^(?=…).  What only a
 * backtracking matcher can do (other look-around, back-references, possessive
 * and atomic groups) is refused, and so are repeats that multiply beyond
 * PYRE_REPEAT or add up to more than PYRE_TOTAL, since a manifest must not be
 * able to hang a tool.
 */
#ifndef CTS_PYRE_H
#define CTS_PYRE_H

#include <regex.h>
#include <stdbool.h>
#include "err.h"

#define PYRE_MAX 16384		/* bytes of a pattern */
#define PYRE_REPEAT 1000
#define PYRE_TOTAL 4000	/* what counted repeats may add up to */

#define PYRE_AHEAD 4

struct pyre {
	regex_t re;
	bool any;		/* the empty pattern: matches everything */
	regex_t ahead[PYRE_AHEAD];
	bool wanted[PYRE_AHEAD];	/* whether ahead[i] must match */
	size_t nahead;
};

/* 0, or -1 with e set (EX_BADUSE; the message has no pattern in it). */
int pyre_compile(struct pyre *p, const char *pattern, struct err *e);
bool pyre_search(const struct pyre *p, const char *subject);
void pyre_release(struct pyre *p);

/* Only whether it would compile: 0, or -1 with e set. */
int pyre_check(const char *pattern, struct err *e);

#endif
