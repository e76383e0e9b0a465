/*
 * hostargs: arguments that PyTorch wants on the CPU whatever the device, from
 * coverage/host-args.jsonl.
 */
#ifndef CTS_HOSTARGS_H
#define CTS_HOSTARGS_H

#include <stddef.h>
#include <stdint.h>
#include "err.h"

struct hostarg { char *op; int arg; };
struct hostargs { struct hostarg *v; size_t n, cap; };

/* Read the ledger at path.  0, or -1 with e set. */
int hostargs_read(struct hostargs *h, const char *path, struct err *e);
void hostargs_release(struct hostargs *h);

/* A bit for each positional argument of op that stays on the CPU. */
uint64_t hostargs_of(const struct hostargs *h, const char *op);

#endif
