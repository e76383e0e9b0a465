/*
 * obsw: an observation as an obs record.
 */
#ifndef CTS_OBSW_H
#define CTS_OBSW_H

#include "case.h"
#include "jw.h"
#include "observe.h"

struct obsw {
	const struct lab *lab;
	const char *blobs;	/* folder for tensors too big for a record */
	const char *called;	/* the database's name of the op, or NULL */
};

/*
 * Append the record of sample number sample (without LF).  args and kwargs are
 * the originals.  0, or -1 with e set (EX_ENVIRON: a blob can't be written).
 */
int obsw_write(struct buf *out, const struct obsw *w,
	       const struct case_rec *c, int sample,
	       const struct observation *o, PyObject *args, PyObject *kwargs,
	       struct err *e);

#endif
