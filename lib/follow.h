/*
 * follow: counts verdicts in a stream that still grows, without parsing the
 * records around them.
 */
#ifndef CTS_FOLLOW_H
#define CTS_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include "buf.h"
#include "err.h"
#include "vocab.h"

struct follow {
	int fd;
	struct buf line;	/* what is here of a line that is not whole */
	bool skip;		/* in a line that can't be a verdict */
	size_t done;		/* verdicts so far */
	size_t out[OUT_N];
};

void follow_init(struct follow *f, int fd);
void follow_release(struct follow *f);
/* Take what is there now; 0, or -1 with e set. */
int follow_read(struct follow *f, struct err *e);

/*
 * One line of progress: "123 of 4,567  2%  1 fail  ETA 12:34".  elapsed in
 * seconds; no ETA before it can be told.
 */
void follow_line(const struct follow *f, size_t total, double elapsed,
		 struct buf *out);

#endif
