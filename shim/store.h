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
};

/*
 * Open what is named; PyTorch is loaded by then.  A folder that can't be used
 * is said in *warn, and done without.  0, or -1 with e set.
 */
int store_open(struct store *s, const struct lab *lab, struct err *warn,
	       struct err *e);

/* Put a recorded file into its place.  0, or -1 with e set. */
int store_finish(struct store *s, struct err *e);
void store_close(struct store *s);

#endif
