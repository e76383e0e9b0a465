/* outfile: a file that is there whole or not at all. */
#ifndef CTS_OUTFILE_H
#define CTS_OUTFILE_H

#include "buf.h"
#include "err.h"

/*
 * Write b to path ("-" is stdout): beside it first, then renamed over it,
 * unless path is something other than a file.  0, or -1 with e set.
 */
int outfile_write(const char *path, const struct buf *b, struct err *e);

#endif
