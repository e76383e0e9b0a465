/*
 * inventory: what the installed PyTorch and a device have, as records.
 */
#ifndef CTS_INVENTORY_H
#define CTS_INVENTORY_H

#include "lab.h"

/* The operator database: a "torch" record, then an "opinfo" record an entry. */
int inventory_opinfo(struct lab *lab, int out, struct err *e);

/* The cases of the suites in a folder: "suite" records, or a "suite_error". */
int inventory_suites(const char *folder, int out, struct err *e);

/*
 * The dispatcher's aten overloads as the lab's device, which is open, sees
 * them: "aten" records.
 */
int inventory_aten(struct lab *lab, int out, struct err *e);

/* Small diagnostics of each dtype and capability of it: "probe" records. */
int inventory_probe(struct lab *lab, int out, struct err *e);

#endif
