/*
 * intake: the stream that cts-isolate is given, read as it comes and never
 * waited for: cases to be run, and records that pass by.
 */
#ifndef CTS_INTAKE_H
#define CTS_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include "buf.h"
#include "err.h"
#include "rec.h"

struct item {
	char *line;		/* without LF */
	size_t len;
	bool is_case;
	/* Of a case: */
	char *id, *run, *device;
	double limit_s;		/* its own time limit, 0: none */
	bool solo;		/* a process of its own */
	bool fresh;		/* and not a forked one */
	bool fed;		/* a worker was given it */
	int tries;		/* how often it was begun and not its fault */
};
void item_release(struct item *it);

struct intake {
	int fd;
	bool eof;		/* nothing more comes */
	struct buf text;	/* from pos on */
	size_t pos, scanned;
	unsigned long lineno;
	struct idset *seen;
};

void intake_init(struct intake *in, int fd);
void intake_release(struct intake *in);

/*
 * Take what can be read with one call; poll() fd first.  0, or -1 with e set
 * where it can't be read.
 */
int intake_read(struct intake *in, struct err *e);

/*
 * The next record: 1 with *it filled (the caller releases it), 0 where no
 * whole one is here, -1 with e set ("<stdin>:LINE: ...") for what is not a
 * record, a case that is none, or one that was there before.
 */
int intake_next(struct intake *in, struct item *it, struct err *e);

#endif
