/*
 * observe: one sample, run on the reference and on the device, and everything
 * that was seen.  Nothing here judges.
 */
#ifndef CTS_OBSERVE_H
#define CTS_OBSERVE_H

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

/* An overload that was reached, and what served it. */
struct reached { char *overload; const char *where; };

/* A tensor as the device was given it. */
struct given {
	struct ctt_meta meta;
	bool relaid;			/* not with the strides it had */
};

struct observation {
	struct side ref, dev, hp, np;
	struct given *given;
	size_t ngiven;
	struct reached *reached;
	size_t nreached, reached_cap;
	bool prove;			/* by writes, what shares memory */
	bool random;			/* the reference drew random numbers */
	int drew;	/* device's generator: 1 moved, 0 not, -1 not looked */
	bool same;			/* dev is ref, bit for bit */
	bool repeated, repeat_same;
};

/*
 * Where results of the reference are kept.  ref fills o->ref and o->random,
 * hp fills o->hp, np fills o->np; false where nothing is known, and then o is
 * as it was.
 */
struct recall {
	bool (*ref)(void *ctx, struct observation *o);
	bool (*hp)(void *ctx, struct observation *o);
	bool (*np)(void *ctx, struct observation *o);
	bool alone;		/* what they don't know is not to be computed */
	void *ctx;
};

/* How a sample is to be run. */
struct how {
	uint64_t seed;
	uint64_t host;		/* positional arguments that stay on the CPU */
	bool random;		/* known to draw random numbers */
	bool prove;		/* write to inputs to see what shares memory */
	bool fixed;		/* its results are known, whatever it draws */
	bool no_values;		/* its results hold whatever memory held */
	/* On the device, to see whether it repeats; fewer where it is slow. */
	int calls;
	bool primed;		/* there after a call with other values */
	const struct recall *recall;	/* or NULL */
	/* The op by NumPy, of the same arguments: new, or NULL; or NULL. */
	PyObject *(*numpy)(void *ctx);
	void *numpy_ctx;
};

/*
 * Run fn(*args, **kwargs) on copies of the arguments, on the CPU and on the
 * lab's device.  0, or -1 with e set where the toolkit itself failed.
 */
int observe(struct observation *o, const struct lab *lab, PyObject *fn,
	    PyObject *args, PyObject *kwargs, const struct how *how,
	    struct err *e);

/*
 * Fill o->hp and o->np where they aren't there yet, and can be and are of use:
 * np says nothing that hp doesn't of floats of less than 64 bits.
 */
void observe_others(struct observation *o, const struct lab *lab,
		    PyObject *fn, PyObject *args, PyObject *kwargs,
		    const struct how *how);
void side_release(struct side *s, const struct lab *lab);
void observation_release(struct observation *o, const struct lab *lab);

#endif
