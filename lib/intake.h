/*
 * intake: the stream that cts-isolate is given, files or stdin, read as it
 * comes and never waited for: cases to be run, and records that pass by.
 */
#ifndef CTS_INTAKE_H
#define CTS_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include "arena.h"
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
	double cost;		/* how many times the usual time it may need */
	bool solo;		/* a process of its own */
	int fork;		/* enum device_fork it asks for; -1: none */
	bool fresh;		/* and not a forked one */
	bool fed;		/* a worker was given it */
	int tries;		/* how often it was begun and not its fault */
};
void item_release(struct item *it);

struct intake {
	char *const *files;	/* still to be opened, NULL-terminated */
	const char *name;	/* of the present one, for messages */
	int fd;			/* to be polled; -1: nothing is open */
	bool eof;		/* nothing more comes */
	struct buf text;	/* from pos on */
	size_t pos, scanned;
	unsigned long lineno;
	struct idset *seen;
	struct arena arena;	/* of the record that is looked at */
};

/* files: NULL-terminated, borrowed; none or "-": stdin. */
void intake_init(struct intake *in, char *const *files);
void intake_release(struct intake *in);

/*
 * Take what can be read with one call; poll() fd first, where there is one.
 * 0, or -1 with e set where a file can't be read or ends amid a line.
 */
int intake_read(struct intake *in, struct err *e);

/*
 * The next record: 1 with *it filled (the caller releases it), 0 where no
 * whole one is here, -1 with e set ("FILE:LINE: ...") for what is not a
 * record, a case that is none, or one that was there before.
 */
int intake_next(struct intake *in, struct item *it, struct err *e);

#endif
