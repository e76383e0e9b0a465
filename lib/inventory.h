/*
 * inventory: what the installed PyTorch has to test, one item an op.  Asking
 * PyTorch takes seconds, so its answer is kept in a cache, in a folder named
 * after that PyTorch and this toolkit.
 */
#ifndef CTS_INVENTORY_H
#define CTS_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "arena.h"
#include "err.h"

/* Facts of an item that the tables in coverage/ can ask for, by name. */
enum item_flag {
	ITEM_OUT, ITEM_INPLACE, ITEM_AUTOGRAD, ITEM_FORWARD_AD, ITEM_GRADGRAD,
	ITEM_SPARSE, ITEM_FACTORY, ITEM_RANDOM, ITEM_REF, ITEM_ERRORS,
	ITEM_ARITHMETIC,	/* elementwise, or a reduction */
	/* The shapes of its samples: */
	ITEM_SOME, ITEM_MANY, ITEM_RANK2, ITEM_RANK3, ITEM_IMAGE,
	ITEM_ABSENT,
	ITEM_NFLAGS
};
int item_flag_find(const char *name);	/* "inplace"; -1 if unknown */

/* Sets of dtypes: for which a way of calling an op has samples on the CPU. */
enum item_set {
	ITEM_FORWARD, ITEM_BACKWARD, ITEM_INPLACE_DTYPES, ITEM_OUT_DTYPES,
	ITEM_ERROR_DTYPES,
	ITEM_TINY_DTYPES, ITEM_EDGE_DTYPES, ITEM_REFUSED_DTYPES,
	ITEM_PREFIX_DTYPES,
	ITEM_SCALAR_DTYPES, ITEM_SUBSET_DTYPES,
	ITEM_NSETS
};
int item_set_find(const char *name);	/* "backward"; -1 if unknown */

/* Words that cases are chosen by. */
enum item_tag {
	TAG_FAMILY, TAG_CATEGORY, TAG_TIER, TAG_COST, TAG_ROLE, TAG_RUNNER,
	ITEM_NTAGS
};

struct item {
	const char *suite, *op, *name, *aten;
	unsigned flags;		/* 1 << enum item_flag */
	uint64_t dtypes[ITEM_NSETS];	/* 1 << index of dtype_at() */
	int level;		/* 0: as coverage/levels.jsonl says */
	int devices;		/* that it needs */
	int mb;			/* memory that it says it needs, 0: nothing */
	/* Elements of the largest tensor, of all of the largest sample. */
	double largest, all;
	const char *capability;	/* NULL: as coverage/capabilities.jsonl says */
	const char *oracle;	/* NULL: as coverage/oracles.jsonl says */
	const char *tags[ITEM_NTAGS];	/* NULL: says nothing */
	bool written;		/* by hand, with all its samples meant */
	const char *container;	/* format that it needs, or NULL */
	const char *via;	/* entry on whose way an overload is, or NULL */
	const char *called;	/* what it is judged as, or NULL: by its op */
	const char *folder;	/* of its suite, NULL: suites/ */
};

struct inventory {
	struct item *v;
	size_t n, cap;
	struct arena text;	/* the items' words */
	char *torch;		/* "2.13.0+cpu" */
	char *python;
	uint64_t dtypes;	/* that it has, as bits; 0: doesn't say */
	char *accelerator;	/* the device that "auto" means, or NULL */
	char **folders;		/* that were added */
	size_t nfolders;
	char **notes;		/* what is odd about files, a line each */
	size_t nnotes;
};

/*
 * Fill inv from the cache, asking PyTorch first where that is missing or of
 * another PyTorch; building(torch) is called before that, if it is not NULL.
 * 0, or -1 with e set.
 */
int inventory_load(struct inventory *inv, void (*building)(const char *torch),
		   struct err *e);

/*
 * Add the cases of the suites in a folder of the user's own; kept in a cache as
 * the rest.  0, or -1 with e set (EX_BADINPUT where a suite is wrong).
 */
int inventory_add(struct inventory *inv, const char *folder, struct err *e);

/* From a file that cts-exec --inventory wrote.  0, or -1 with e set. */
int inventory_read(struct inventory *inv, const char *path, struct err *e);
/* From text; file is its name in messages. */
int inventory_parse(struct inventory *inv, const char *text, size_t n,
		    const char *file, struct err *e);
void inventory_release(struct inventory *inv);

/* The op nearest in name, for "did you mean"; NULL: none is near. */
const char *inventory_nearest(const struct inventory *inv, const char *op);
bool inventory_has(const struct inventory *inv, const char *op);

#endif
