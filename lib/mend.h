/*
 * mend: makes the stream of a run that was cut short one to go on from.
 *
 * A killed process, a full disk or a power cut leave half a line, bytes that
 * are no record, or the records of a case without its verdict.  All these go;
 * a verdict that is there stays, and the first where there are two.
 */
#ifndef CTS_MEND_H
#define CTS_MEND_H

#include <stddef.h>
#include "err.h"

struct mend {
	size_t verdicts;	/* that stay */
	size_t broken;		/* lines that were no records */
	size_t undone;		/* records of cases without a verdict */
	size_t twice;		/* further verdicts of a case */
	size_t left;		/* cases that want a verdict */
};

/*
 * Mend the stream at path, as a whole or not at all, and write the case
 * records that want a verdict to fd, one write each.  0, or -1 with e set.
 */
int mend_stream(const char *path, int fd, struct mend *m, struct err *e);

#endif
