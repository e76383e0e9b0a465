/*
 * observe: one sample, run on the reference and on the device, and everything
 * that was seen.  Nothing here judges.
 */
#ifndef CTS_OBSERVE_H
#define CTS_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>
#include "side.h"

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

/* Free what o holds; o itself is the caller's. */
void observation_release(struct observation *o, const struct lab *lab);

#endif
