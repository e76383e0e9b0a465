/*
 * identity: what recorded results depend on beside the case, as lines "name
 * value": PyTorch, Python, this machine's CPU, and the code that makes samples
 * and observes.
 */
#ifndef CTS_IDENTITY_H
#define CTS_IDENTITY_H

#include "lab.h"

/* Ours: new. */
char *identity_new(const struct lab *lab);

/* The value of a line: new, "" where there is none. */
char *identity_line(const char *identity, const char *name);

/*
 * May what was recorded under that identity, maybe elsewhere, be compared with
 * here?  The PyTorch release, the toolkit and its samples have to be the same;
 * the machine doesn't.  0, or -1 with e set (EX_BADINPUT).
 */
int identity_match(const char *theirs, const char *ours, struct err *e);

#endif
