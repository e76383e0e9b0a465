/*
 * obs: an observation record as structs, its bytes decoded and checked.
 *
 * Everything in a struct obs lives until obs_release() or the next obs_read()
 * and is borrowed from it; strings may also be borrowed from the record.
 */
#ifndef CTS_OBS_H
#define CTS_OBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>
#include "dtype.h"
#include "err.h"

#define OBS_MAX_DIMS 64
#define OBS_MAX_OUTS 4096	/* values of one result, parts included */

enum tensor_data {
	TD_NONE,	/* metadata only was recorded */
	TD_BYTES,	/* p holds nbytes bytes, row-major, little-endian */
	TD_META,	/* values are not looked at */
	TD_SUM,		/* a checksum: the device's were the same */
	TD_LOST,	/* they can't be read; note says why */
	TD_PARTS,	/* sparse, nested: see parts */
};

struct tensor {
	const struct dtype *dt;
	const char *dtype, *layout, *device;
	int ndim;
	const int64_t *shape;
	const int64_t *strides;		/* NULL where the device has none */
	int64_t numel;
	bool conj, neg, requires_grad, is_quantized;
	bool relaid;			/* an input, not with its strides */
	enum tensor_data data;
	const unsigned char *p;
	size_t nbytes;
	bool same;			/* said to be the reference's bytes */
	const char *note;
	double amax;			/* largest finite |x|; -1: not said */
	const char *part;		/* name, where this is a part */
	struct tensor *parts;
	size_t nparts;
};

struct value {
	bool is_tensor;
	struct tensor t;
	const char *py, *text;		/* where it is a Python value */
};

struct result {
	bool present, raised;
	struct value *outs;
	size_t n;
	const char *tree;
	const char *type, *message, *kind;	/* where it raised */
};

struct obs {
	long long sample;
	const char *op, *dtype, *device, *oracle, *tier, *args;
	const char *called;		/* what op stands for, or op itself */
	struct value *inputs;
	size_t ninputs;
	struct result ref, dev, hp, np;	/* np: by NumPy */
	const cJSON *json;		/* the record, for the lists below */
	const cJSON *alias, *follows, *leads, *mutated, *guard, *guard_ref;
	const cJSON *where;
	const cJSON *version;
	const cJSON *sensitivity;
	const char *repeat;
	const cJSON *drew;
	void *mem;			/* private */
};

/*
 * Read an obs record.  blobs is the folder that holds blob files.  0, or -1
 * with e set (EX_BADINPUT): a wrong type, a size that doesn't fit the shape,
 * bad base64, a blob that is not there or whose digest is wrong.
 */
int obs_read(struct obs *o, const cJSON *rec, const char *blobs,
	     struct err *e);
void obs_release(struct obs *o);	/* o may be all zero */

#endif
