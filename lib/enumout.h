/* enumout: a plan as records. */
#ifndef CTS_ENUMOUT_H
#define CTS_ENUMOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "err.h"
#include "inventory.h"
#include "manifest.h"
#include "select.h"

struct enumout {
	int fd;
	int argc;
	char **argv;		/* the command, for the run record */
	uint64_t seed;
	int samples;		/* a case; -1: the manifest's */
	const char *op;		/* the regex as it was given, or NULL */
	const char *memory_mode;	/* or NULL */
	bool skips;		/* accounts alone */
	bool each;		/* other levels case by case, not op by op */
	bool validate;		/* the toolkit against itself, on the CPU */
};

/*
 * Put a device in the place of "auto": that of the installed PyTorch, else the
 * CPU.  A manifest with imports of its own must name its device.
 */
int enumout_device(struct manifest *m, const struct inventory *inv,
		   struct err *e);

/* Warn of ops that the manifest names and PyTorch does not have. */
void enumout_warn(const struct manifest *m, const struct inventory *inv);

/* One run record, then the cases, then the accounts. */
int enumout_write(const struct enumout *o, const struct plan *p,
		  const struct selection *s, const struct manifest *m,
		  const struct inventory *inv, struct err *e);

/* The accounts for people: by reason, then by reason, level and op. */
void enumout_table(const struct plan *p, FILE *f);

#endif
