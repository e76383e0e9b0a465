/*
 * freeze: Python values and tensors as bytes, such that thaw.h makes of them
 * what nobody can tell from the original; or not at all.
 */
#ifndef CTS_FREEZE_H
#define CTS_FREEZE_H

#include "buf.h"
#include "lab.h"

/* What a value is, as its first byte. */
enum frozen {
	FROZEN_NONE = 'N', FROZEN_TRUE = 'T', FROZEN_FALSE = 'F',
	FROZEN_ELLIPSIS = '.',
	FROZEN_INT = 'i',	/* 8 bytes */
	FROZEN_BIG = 'I',	/* its digits in base 16, as text */
	FROZEN_FLOAT = 'f', FROZEN_COMPLEX = 'c',	/* their bits */
	FROZEN_STR = 's', FROZEN_BYTES = 'b',
	FROZEN_ATTR = 'a',	/* a name in torch: a dtype, layout, … */
	FROZEN_DEVICE = 'v',
	FROZEN_SLICE = ':',	/* three values */
	FROZEN_TUPLE = '(', FROZEN_LIST = '[', FROZEN_SIZE = 'z',
	FROZEN_DICT = '{',
	FROZEN_TENSOR = 't',	/* a new one */
	FROZEN_PARAMETER = 'p',	/* before it where it is a torch.nn.Parameter */
	FROZEN_SAME = '=',	/* the number of one that came before */
};

#define FREEZE_DEPTH_MAX 32

/*
 * What a sample, or a side, may come to beside its bytes: an entry of a few
 * bytes could else tell of a tensor, or a record, of any size.
 */
struct freeze_room {
	uint64_t dense;		/* bytes of tensors, were each laid out anew */
	uint64_t text;		/* characters that a record has of it */
};
#define FREEZE_ROOM { .dense = 64u << 20, .text = 80u << 10 }

/* Take what m, or n characters, come to.  0; -1 where that is too much. */
int freeze_room_tensor(struct freeze_room *r, const struct ctt_meta *m);
int freeze_room_text(struct freeze_room *r, uint64_t n);

/* The types that count, looked up once. */
struct freeze_types { PyObject *torch, *tensor, *parameter, *size; };
int freeze_types_init(struct freeze_types *t, struct err *e);
void freeze_types_release(struct freeze_types *t);

/* Values that may share tensors and storages: those of one sample. */
struct freezer {
	const struct ctt_api *api;
	const struct freeze_types *types;
	struct buf *out;	/* borrowed */
	size_t max;		/* bytes that out may come to */
	struct freeze_room room;
	ctt *tensor;		/* seen so far, kept so that none moves */
	size_t n, cap;
	const void **storage;
	size_t nstorage, storage_cap;
};

void freezer_init(struct freezer *f, const struct lab *lab,
		  const struct freeze_types *types, struct buf *out,
		  size_t max);
void freezer_release(struct freezer *f);

/* Append o, or a tensor: 0; -1 where that can't be exact, or is too much. */
int freezer_value(struct freezer *f, PyObject *o);
int freezer_tensor(struct freezer *f, ctt t);

/* Is o kept as a name in torch: a dtype, a layout, a memory format? */
bool freeze_is_named(PyObject *o);

/* Append the facts of m that are more than addresses. */
void freeze_meta(struct buf *out, const struct ctt_meta *m);

#endif
