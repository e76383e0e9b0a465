/*
 * tidy: what is done to the device between samples and between cases, as the
 * run's memory mode asks.
 */
#ifndef CTS_TIDY_H
#define CTS_TIDY_H

#include "case.h"
#include "lab.h"

/* Before a case: take its mode. */
void tidy_begin(struct lab *lab, const struct case_rec *c);

/* After a sample, with all that it held released. */
void tidy_sample(const struct lab *lab, const struct case_rec *c);

/*
 * After a case.  1 with why set where the device shows only now that something
 * in it failed; else 0.
 */
int tidy_case(const struct lab *lab, const struct case_rec *c,
	      struct err *why);

#endif
