/*
 * thaw: what freeze.h wrote, made again.  The bytes come from a file: what they
 * say is checked before it is done.
 */
#ifndef CTS_THAW_H
#define CTS_THAW_H

#include "freeze.h"
#include "wire.h"

/* Values that share tensors and storages: those of one sample. */
struct thawer {
	const struct ctt_api *api;
	const struct freeze_types *types;
	struct wire *in;	/* borrowed */
	struct freeze_room room;
	ctt *tensor;
	size_t n, cap;
	ctt *storage;
	size_t nstorage, storage_cap;
};

void thawer_init(struct thawer *t, const struct lab *lab,
		 const struct freeze_types *types, struct wire *in);
void thawer_release(struct thawer *t);

/* The next value: new, or NULL, with no exception pending. */
PyObject *thawer_value(struct thawer *t);
/* The next tensor: a new handle in *ret_t.  0, or -1. */
int thawer_tensor(struct thawer *t, ctt *ret_t);

/* The facts that freeze_meta() wrote.  0, or -1. */
int thaw_meta(struct wire *in, struct ctt_meta *m);

#endif
