/*
 * corpus: what was recorded of cases, by key: a folder of files that several
 * processes write at once, each one of its own, and that is read as one; or one
 * file, to be carried elsewhere.
 *
 * In a folder, corpus.cts is what earlier runs recorded, with an index, and
 * each *.seg what a process recorded since.  Whoever opens the folder next
 * merges them when they have become many.  A file whose identity is another's,
 * or that is damaged, is removed and said in note; it never counts.
 */
#ifndef CTS_CORPUS_H
#define CTS_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include "buf.h"
#include "corpusfile.h"
#include "err.h"

struct corpus {
	char *dir;		/* NULL: one file */
	char *identity;		/* of what is recorded and of what is read */
	struct corpusfile *file;	/* newer ones come later */
	size_t n, cap;
	struct corpuswriter w;
	bool writes;		/* w is open */
	bool full;		/* can't be written to any more */
	struct err why;		/* it can't, where a write failed */
	const struct corpusfile *found;	/* where the last one was found */
	char *note;		/* one line: what was wrong first; or NULL */
};

/*
 * A folder, made if it isn't there.  0, or -1 with e set (EX_ENVIRON) where it
 * can't be used.
 */
int corpus_open(struct corpus *c, const char *dir, const char *identity,
		struct err *e);

/* One whole file, to read.  0, or -1 with e set (EX_BADINPUT, EX_ENVIRON). */
int corpus_open_file(struct corpus *c, const char *path, struct err *e);

/* One file, to write; corpus_finish() puts it in its place. */
int corpus_create_file(struct corpus *c, const char *path,
		       const char *identity, struct err *e);
/* 0; -1 with e set, also where an entry before could not be added: no file. */
int corpus_finish(struct corpus *c, struct err *e);

void corpus_close(struct corpus *c);

/* How many entries it holds, of earlier runs. */
size_t corpus_entries(const struct corpus *c);

/*
 * Append what is recorded under key to out: 1; 0 where there is nothing, -1
 * where it is damaged, which note says (out may have grown).
 */
int corpus_find(struct corpus *c, const char *key, struct buf *out);

/* What was found last makes no sense: damaged, whatever its checksum says. */
void corpus_doubt(struct corpus *c);

/*
 * Record n bytes under key, for those who open the corpus later.  0; -1 with
 * e set where they can't be kept, and then nothing more will be.
 */
int corpus_add(struct corpus *c, const char *key, const void *p, size_t n,
	       struct err *e);

#endif
