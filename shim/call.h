/*
 * call: a Python call made ready for a device: its tensors copied there with
 * their aliasing and layout, its device and dtype arguments changed with them.
 */
#ifndef CTS_CALL_H
#define CTS_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include "buf.h"
#include "cts_torch.h"
#include "py.h"

/* What converting needs to know of torch's Python types. */
struct call_types {
	PyObject *device;	/* torch.device */
	PyObject *dtype;	/* torch.dtype */
	PyObject *hp_of;	/* dict: dtype to one of higher precision */
	PyObject *default_dtype;	/* torch.set_default_dtype */
	PyObject *float32, *float64;
};
int call_types_init(struct call_types *t, struct err *e);

struct call {
	PyObject *args;		/* tuple */
	PyObject *kwargs;	/* dict */
	ctt_copier copier;	/* NULL once released */
	ctt *tensors;		/* the copies, in the order met */
	struct ctt_meta *originals;	/* of what they are copies of */
	size_t n, cap, originals_cap;
};

/*
 * Convert args and kwargs for device; a bit of host keeps that positional
 * argument as it is.  0, or -1 with e set (a tensor that the
 * device can't take is the device's failure: EX_OK_ in e->code says so).
 */
int call_init(struct call *c, const struct ctt_api *api,
	      const struct call_types *types, PyObject *args,
	      PyObject *kwargs, const char *device, int copy_flags,
	      uint64_t host, struct err *e);
void call_release(struct call *c, const struct ctt_api *api);

/*
 * args and kwargs with their tensors laid out anew on the CPU: all of them, or
 * the operand-th alone (in the order of a walk) where operand is not -1.  New
 * references in *ret_args, *ret_kwargs; *applied: it made a difference.  0, or
 * -1 with e set.
 */
int call_lay(const struct ctt_api *api, const struct call_types *types,
	     PyObject *args, PyObject *kwargs, const struct ctt_lay *lay,
	     int operand, PyObject **ret_args, PyObject **ret_kwargs,
	     bool *applied, struct err *e);

/* The call as text for people, at most max bytes. */
void call_text(struct buf *out, const struct ctt_api *api, PyObject *args,
	       PyObject *kwargs, size_t max);

/* Append handles of all tensors of args and kwargs, in the order of a walk. */
int call_tensors(const struct ctt_api *api, PyObject *args, PyObject *kwargs,
		 ctt **v, size_t *n, size_t *cap);

#endif
