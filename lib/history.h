/*
 * history: which cases took their process along in earlier runs on the same
 * device, hardware and minor version of PyTorch.
 */
#ifndef CTS_HISTORY_H
#define CTS_HISTORY_H

#include "buf.h"
#include "err.h"

#define HISTORY_RUNS 5		/* the newest of them count */
#define HISTORY_NO_FORK "fork never"

/*
 * Look through the runs in the folder dir (a results/DEVICE_HARDWARE_history)
 * that ran on torch's minor version (NULL: on any), and append a line for each
 * id, sorted; and HISTORY_NO_FORK where workers could not be forked.  A folder
 * that is not there has no runs.  0, or -1 with e set.
 */
int history_list(const char *dir, const char *torch, struct buf *out,
		 struct err *e);

#endif
