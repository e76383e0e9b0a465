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
	bool seeded;		/* on the command line */
	int samples;		/* a case; -1: the manifest's */
	const char *op;		/* the regex as it was given, or NULL */
	const char *memory_mode;	/* or NULL */
	const cJSON *adapter;	/* the manifest's, or NULL */
	int cleanup_mb;		/* its threshold in MB, 0: none */
	bool oom_ends;		/* a device is lost that runs out of memory */
	bool skips;		/* accounts alone */
	bool validate;		/* the toolkit against itself, on the CPU */
};

/*
 * Put a device in the place of "auto": that of the installed PyTorch, else the
 * CPU.  A manifest with imports of its own must name its device.
 */
int enumout_device(struct manifest *m, const struct inventory *inv,
		   struct err *e);

/* Take adapter, cleanup_mb and oom_ends from the manifest. */
void enumout_manifest(struct enumout *o, const struct manifest *m);

/* One run record, then the cases, then the accounts. */
int enumout_write(const struct enumout *o, const struct plan *p,
		  const struct selection *s, const struct manifest *m,
		  const struct inventory *inv, struct err *e);

/* The accounts for people: by reason, then by reason, level and op. */
void enumout_table(const struct plan *p, FILE *f);

#endif
