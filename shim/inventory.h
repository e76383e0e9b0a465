/*
 * inventory: what the installed PyTorch and a device have, as records.
 */
#ifndef CTS_INVENTORY_H
#define CTS_INVENTORY_H

#include "lab.h"

/* The operator database: a "torch" record, then an "opinfo" record an entry. */
int inventory_opinfo(struct lab *lab, int out, struct err *e);

/* The dispatcher's aten overloads as device sees them: "aten" records. */
int inventory_aten(struct lab *lab, const char *device, int out,
		   struct err *e);

/* Small diagnostics of each dtype and capability: "probe" records. */
int inventory_probe(struct lab *lab, const char *device, int out,
		    struct err *e);

#endif
