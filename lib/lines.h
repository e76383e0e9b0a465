/*
 * lines: a stream's lines, plain or gzip, whatever they hold: for reading what
 * a run that was cut short left behind.  An error ends the file like its end.
 */
#ifndef CTS_LINES_H
#define CTS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include "buf.h"
#include "err.h"
#include "scan.h"

struct lines {
	void *gz;
	struct buf text;	/* from pos on */
	size_t pos, scanned;
	bool eof;
};

int lines_open(struct lines *l, const char *path, struct err *e);
void lines_close(struct lines *l);

/*
 * The next line, without LF and NUL-terminated, borrowed until the next call:
 * 1; 0 at the end; *cut: it has no LF.
 */
int lines_next(struct lines *l, char **line, size_t *len, bool *cut);

/*
 * The next line that is a record: 1, or 0 at the end.  Lines that are not, or
 * that have no LF, are counted in *broken; where a whole record stands
 * behind the half of another, it is taken.
 */
int lines_record(struct lines *l, struct scan *s, char **line, size_t *len,
		 size_t *broken);

#endif
