/*
 * manifest_cli: what the tools that take -m and -d have in common.  It prints
 * by way of prog, so it is for tools alone.
 */
#ifndef CTS_MANIFEST_CLI_H
#define CTS_MANIFEST_CLI_H

#include "manifest.h"

struct manifest_opts {
	const char *file;	/* -m, or NULL */
	const char *template;	/* without a file; NULL: complete */
	const char *device;	/* -d, or NULL */
	char **imports;		/* --import */
	size_t nimports;
	char **dtypes;		/* --dtype */
	size_t ndtypes;
	int level;		/* -l, or 0 */
};

/* Append to one of the lists. */
void manifest_opts_add(char ***list, size_t *n, char *value);
void manifest_opts_release(struct manifest_opts *o);

/* Print findings, one line each on stderr; true where one is no warning. */
bool manifest_report(const struct findings *f);

/*
 * The manifest that the options ask for, or NULL with *rc the exit status and
 * everything said on stderr.
 */
struct manifest *manifest_open(const struct manifest_opts *o, int *rc);

#endif
