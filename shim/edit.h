/*
 * edit: a sample as a case's "edits" make it, smaller or simpler, before its
 * operands are laid out.
 */
#ifndef CTS_EDIT_H
#define CTS_EDIT_H

#include "case.h"
#include "form.h"
#include "py.h"

/*
 * Check the words of c->edits: 0, or -1 with e set (EX_BADINPUT).
 */
int edit_check(const struct case_rec *c, struct err *e);

/*
 * Apply c->edits to sample, a tuple of opinfo.samples: a new tuple in *ret, or
 * NULL there where one of them is not for this sample.  v and *operand, how its
 * operands are to be laid out, are changed by the edit "lay".  0, or -1 with e
 * set where the toolkit itself failed.
 */
int edit_apply(const struct case_rec *c, PyObject *sample, struct form *v,
	       int *operand, PyObject **ret, struct err *e);

#endif
