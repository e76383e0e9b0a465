/* child: run a program and take what it prints. */
#ifndef CTS_CHILD_H
#define CTS_CHILD_H

#include <stddef.h>
#include "buf.h"
#include "err.h"

/*
 * Run argv[0] (a path) with stdin from /dev/null and this process's stderr.
 * Its stdout goes to out_fd or, when that is -1, is appended to out, at most
 * max bytes.  Returns its exit status (128 + N for signal N), or -1 with e set
 * (EX_ENVIRON) where it could not be run or printed more.
 */
int child_run(char *const argv[], int out_fd, struct buf *out, size_t max,
	      struct err *e);

#endif
