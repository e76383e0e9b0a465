/*
 * device: how a backend is reached.  One line a backend in
 * templates/devices.jsonl; one that is not listed gets the generic adapter.
 * Nothing else in the toolkit names a backend.
 */
#ifndef CTS_DEVICE_H
#define CTS_DEVICE_H

#include <stddef.h>
#include "err.h"

#ifdef __cplusplus
extern "C" {
#endif

enum device_fork {
	DEVICE_FORK_OK,		/* fork after import, before first use */
	DEVICE_FORK_BARE,	/* fork before the backend's import */
	DEVICE_FORK_NEVER,	/* a fresh process for every worker */
};

struct device {
	char *name;		/* "lazy": what DEVICE= says, no index */
	char *string;		/* what torch.device() is given, with index */
	char **imports;		/* NULL-terminated module names or .so paths */
	char **init;		/* "module:function" or "module:function(arg)" */
	char *sync;		/* likewise, or NULL: torch.accelerator's */
	char *seed;		/* called with the seed, or NULL: manual_seed */
	char *count;		/* or NULL */
	char *memory;		/* bytes allocated, or NULL */
	char **path;		/* folders below root for sys.path, or empty */
	char **env;		/* "NAME=value", NULL-terminated */
	enum device_fork fork;
	char *note;		/* a caveat for people, or NULL */
};

/*
 * Fill d for the device string name ("cuda", "cuda:1", "refdev").  root is
 * prog_root().  0, or -1 with e set where the table can't be read or the name
 * is no device string.  An unlisted name gives the generic adapter: import
 * "torch_NAME" if it is there, the rest NULL, fork DEVICE_FORK_NEVER.
 */
int device_find(struct device *d, const char *root, const char *name,
		struct err *e);
void device_release(struct device *d);

#ifdef __cplusplus
}
#endif

#endif
