/*
 * boxed: overloads of the dispatcher as Python callables, for what handles
 * calls as such.  Calling one runs no Python code.
 */
#ifndef CTS_BOXED_H
#define CTS_BOXED_H

#include "cts_torch.h"
#include "py.h"

/*
 * Make the module "boxed":
 *
 *	find(name)		the overload "add.Tensor", or None
 *	record(fn, args, kwargs, only=None)
 *				call fn and list what overloads were called
 *				with on the way, as (name, args, kwargs), the
 *				first call of each; what fn raises ends it
 *
 * 0, or -1 with e set.
 */
int boxed_init(const struct ctt_api *api, struct err *e);

#endif
