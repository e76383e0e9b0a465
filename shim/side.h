/*
 * side: what one call came to: its result taken apart, or what it raised.
 */
#ifndef CTS_SIDE_H
#define CTS_SIDE_H

#include <stdbool.h>
#include <stdint.h>
#include "buf.h"
#include "lab.h"

/* One value of a result: a tensor, or a Python object as text. */
struct leaf {
	bool is_tensor;
	ctt t;
	struct ctt_meta meta;		/* of t */
	bool read;			/* its elements are at p */
	ctt bytes;			/* owns p, or NULL: p is borrowed */
	const void *p;
	size_t n;
	ctt parts[3];			/* of a sparse tensor */
	const char *part_names[3];
	int nparts;
	const char *py;			/* "int", "float", …; static */
	char *text;
};

enum raised_kind { RAISED_ERROR, RAISED_UNSUPPORTED, RAISED_OOM };

struct side {
	bool present;			/* it was run at all */
	bool raised;
	enum raised_kind kind;
	char *type, *message;
	struct leaf *leaf;
	size_t n, cap;
	struct buf tree;
	int64_t t_us;
	/* Inputs that changed, and bytes outside of views that did. */
	struct ctt_change *change;
	size_t nchange, change_cap;
	uint64_t turned;		/* inputs with another geometry since */
	size_t *written;	/* inputs that are results, unreturned */
	size_t nwritten, written_cap;
	uint32_t *moved;	/* per input: its version counter's steps */
	size_t nmoved;
	char **alias;		/* per leaf: "in0", "in0=", "out1", "" */
	size_t *follows;	/* outputs that a write to inputs changes */
	size_t nfollows;
	bool followed;			/* that was looked at */
	enum ctt_lead *leads;	/* of the first nlead; NULL: not looked at */
	size_t nlead;
};

/* The pending Python exception, which is cleared, as what this side did. */
void side_catch(struct side *s);

/* It raised that, as if from Python; type and message are copied. */
void side_raise(struct side *s, const char *type, const char *message);

/* One more leaf, empty; borrowed, until the next one is added. */
struct leaf *side_add_leaf(struct side *s);

/*
 * Take a result apart, into tree and leaves; of a very large one no more than
 * the first leaves.  0; -1 where a tensor can't be looked at (api->error()).
 */
int side_flatten(struct side *s, const struct lab *lab, PyObject *o);

/*
 * Bring the values of a tensor, or of all of them, to the CPU: an error that
 * comes late comes out here.  0; -1 where it can't be (api->error()).
 */
int side_read_leaf(const struct lab *lab, struct leaf *l);
int side_read(struct side *s, const struct lab *lab);

/* Are two results the same, bit for bit?  One that raised is like none. */
bool side_same(const struct lab *lab, const struct side *a,
	       const struct side *b);

/* Free what s holds, which may be nothing but an empty tree. */
void side_release(struct side *s, const struct lab *lab);

#endif
