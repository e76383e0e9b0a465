/*
 * store: the corpus that a process uses, as its options name it.
 */
#ifndef CTS_STORE_H
#define CTS_STORE_H

#include "corpus.h"
#include "lab.h"
#include "runcase.h"

struct store {
	const char *dir;	/* --corpus: a folder; "auto": in the cache */
	const char *record;	/* --record: a file to write */
	const char *golden;	/* --golden: a file of another machine */
	struct corpus corpus;
	bool open, finishes;
	struct runcase_corpus kept;	/* what runcase_init() wants */
	char *unusable;		/* why the folder can't be used; or NULL */
	const char *told;	/* what store_news() gave last; or NULL */
};

/*
 * Open what is named; PyTorch is loaded by then.  A folder that can't be used
 * is done without.  0, or -1 with e set.
 */
int store_open(struct store *s, const struct lab *lab, struct err *e);

/*
 * What was found wrong since this was last asked: a line that lasts until
 * store_close(), or NULL.
 */
const char *store_news(struct store *s);

/* Put a recorded file into its place.  0; -1 with e saying what went wrong. */
int store_finish(struct store *s, struct err *e);
void store_close(struct store *s);

#endif
