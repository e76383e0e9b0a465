#include "tidy.h"

#include "py.h"
#include "vocab.h"

static int mode_of(const struct case_rec *c)
{
	return c->memory_mode ? memory_mode_find(c->memory_mode) :
	       MEMORY_BALANCED;
}

void tidy_begin(struct lab *lab, const struct case_rec *c)
{
	lab->unsynced = mode_of(c) == MEMORY_PERFORMANCE;
}

void tidy_sample(const struct lab *lab, const struct case_rec *c)
{
	int mode = mode_of(c);

	if (mode != MEMORY_CONSERVATIVE && mode != MEMORY_SYNCHRONIZE)
		return;
	if (mode == MEMORY_CONSERVATIVE) {
		/* Python's own garbage may hold the device's memory. */
		py_gc("collect");
		adapter_empty(&lab->adapter);
	}
	/* What fails here has failed in the sample, too, and is on record. */
	if (adapter_sync(&lab->adapter))
		PyErr_Clear();
}

int tidy_case(const struct lab *lab, const struct case_rec *c,
	      struct err *why)
{
	double mb = c->cleanup_mb;

	/* The next case is not to answer for what this one left to be done. */
	if (mode_of(c) == MEMORY_PERFORMANCE && adapter_sync(&lab->adapter)) {
		py_error(why, EX_ENVIRON, NULL);
		err_prefix(why, "after its last sample");
		return 1;
	}
	if (mode_of(c) == MEMORY_BALANCED && mb > 0 &&
	    adapter_memory(&lab->adapter) > mb * 1024 * 1024) {
		/* Python's own garbage may hold the device's memory. */
		py_gc("collect");
		adapter_empty(&lab->adapter);
	}
	return 0;
}
