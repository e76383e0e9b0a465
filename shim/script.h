/*
 * script: a stand-alone Python program that makes the call of one sample on
 * the CPU and on the device, and says whether what was found still holds.
 */
#ifndef CTS_SCRIPT_H
#define CTS_SCRIPT_H

#include "case.h"
#include "form.h"
#include "lab.h"
#include "observe.h"

/* What it is to show. */
struct script {
	const char *record;	/* the case's, as text */
	const char *verdict;	/* likewise */
};

/*
 * Write the program for fn(*args, **kwargs) of sample (a tuple of
 * opinfo.samples) to the fd out.  1, or -1 with e set: EX_NEGATIVE where an
 * argument, or the check that failed, can't be put into a program.
 */
int script_write(const struct script *s, const struct lab *lab,
		 const struct case_rec *c, PyObject *sample, PyObject *args,
		 PyObject *kwargs, const struct how *how,
		 const struct form *v, int out, struct err *e);

#endif
