/*
 * probe: small questions to a live device, of a dtype or a capability each, and
 * how many devices there are.
 * cts-exec --probe asks them; the answers never change what runs.
 */
#ifndef CTS_PROBE_H
#define CTS_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "buf.h"
#include "err.h"
#include "manifest.h"

struct probe {
	char *kind;		/* "dtype", "capability", "device" */
	char *name;
	char *status;		/* "ok", "failed", "unavailable", "skipped" */
	char *note;
	char *line;		/* the record */
};

struct probes { struct probe *v; size_t n, cap; };
#define PROBES_INIT { .v = NULL }

/*
 * Ask the device of m, all there is to ask, or what m claims alone.  0, or -1
 * with e set where the device could not be asked at all.
 */
int probe_run(struct probes *p, const struct manifest *m, bool all,
	      struct err *e);

/* Append the records in text, one a line; those that are no probe are left. */
int probe_read(struct probes *p, const char *text, size_t n, struct err *e);

void probe_table(const struct probes *p, FILE *f);
/* The records, or those that say "failed" or "unavailable" alone. */
void probe_write(const struct probes *p, struct buf *out, bool failures);

/* Make m claim what answered "ok" and mark it as a draft. */
void probe_draft(const struct probes *p, struct manifest *m);

void probes_release(struct probes *p);

#endif
