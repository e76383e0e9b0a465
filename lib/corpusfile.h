/*
 * corpusfile: a file of entries, each a key and bytes, that says whose it is.
 *
 *	head	magic, format, byte order, identity
 *	entry	lengths, checksums, key, bytes (zlib where that is shorter)
 *	…
 *	index	hash and place of each entry	} once the file is finished
 *	tail	where the index is		}
 *
 * An entry is appended by one write and is whole, or it isn't there: a file
 * without an index, as a writer leaves that was killed, is read up to its first
 * entry that isn't whole.  Nothing in a file is believed before its checksum
 * and its bounds were looked at.  docs/corpus.md has the layout.
 */
#ifndef CTS_CORPUSFILE_H
#define CTS_CORPUSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "buf.h"
#include "err.h"

/* Bounds that hold whatever a file says. */
#define CORPUS_ENTRY_MAX (64u << 20)	/* bytes of an entry */
#define CORPUS_KEY_MAX 1024
#define CORPUS_IDENTITY_MAX 4096

struct corpus_slot { uint64_t hash, at; };

/* A file that is read. */
struct corpusfile {
	char *path;
	char *identity;		/* what it says of itself */
	const unsigned char *map;	/* the whole of it, read-only */
	size_t size;
	size_t end;		/* of its last whole entry */
	struct corpus_slot *slot;	/* by hash; a later entry comes later */
	size_t n, cap;
	bool finished;		/* it has an index, and that is right */
	bool torn;		/* of a folder: it is cut, and nobody's */
};

/*
 * 0, or -1 with e set: EX_BADINPUT where it is no corpus, of another format or
 * byte order, or its head is damaged; EX_ENVIRON where it can't be read.
 */
int corpusfile_open(struct corpusfile *f, const char *path, struct err *e);
void corpusfile_close(struct corpusfile *f);

/*
 * Append the bytes of the newest entry with that key to out: 1; 0 where there
 * is none; -1 with e set (EX_BADINPUT) where it is damaged.
 */
int corpusfile_find(const struct corpusfile *f, const char *key,
		    struct buf *out, struct err *e);

bool corpusfile_has(const struct corpusfile *f, const char *key);

/* The i-th entry's key, of *n bytes: borrowed, or NULL if it is damaged. */
const char *corpusfile_key(const struct corpusfile *f, size_t i, size_t *n);

/* A file that is written. */
struct corpuswriter {
	char *path;		/* where it will be */
	char *tmp;		/* where it is until then; NULL: at path */
	int fd;
	uint64_t at;		/* its size */
	struct corpus_slot *slot;
	size_t n, cap;
	struct buf b;
};

/*
 * Begin a file: tmp false, at path itself, locked (see flock(2)) while it is
 * written, without an index at the end; true, beside it, to be renamed.  0, or
 * -1 with e set.
 */
int corpuswriter_open(struct corpuswriter *w, const char *path,
		      const char *identity, bool tmp, struct err *e);

/* Append an entry.  0; -1 with e set, and the file is as it was before. */
int corpuswriter_add(struct corpuswriter *w, const char *key, const void *p,
		     size_t n, struct err *e);

/* As it stands in f. */
int corpuswriter_copy(struct corpuswriter *w, const struct corpusfile *f,
		      size_t i, struct err *e);

/* Add the index and rename.  0, or -1 with e set; w is released. */
int corpuswriter_finish(struct corpuswriter *w, struct err *e);
/* Close it as it is; a file beside its path is removed. */
void corpuswriter_drop(struct corpuswriter *w);

#endif
