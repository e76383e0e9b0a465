/*
 * device: how a backend is reached.  One line a backend in
 * templates/devices.jsonl; one that is not listed gets the generic adapter.
 * Nothing else in the toolkit names a backend.
 *
 * A call is text, "module:attr.function" or "module:attr.function(arg)", where
 * arg is passed as a string.  Who makes the call imports the module.
 *
 * A device string is a name of letters, digits and _ (a letter first), and an
 * optional ":" and index of up to three digits.
 */
#ifndef CTS_DEVICE_H
#define CTS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <cjson/cJSON.h>
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
	/*
	 * Module names or .so paths, NULL-terminated.  One that ends in '?' may
	 * be missing (the '?' is not part of it).
	 */
	char **imports;
	char **init;		/* calls, after the imports; NULL-terminated */
	char *sync;		/* a call that shows late errors, or NULL */
	char *seed;		/* a call, given the seed; or NULL */
	char *count;		/* a call that gives how many, or NULL */
	char *memory;		/* a call that gives bytes in use, or NULL */
	char *empty;		/* one that gives cached memory back, or NULL */
	char **path;		/* folders below root for sys.path, or empty */
	/*
	 * "NAME=value", NULL-terminated, to be set before torch is imported,
	 * where the user has not set NAME.  A value that begins "@package/"
	 * stands for a path inside the folder of that installed package; the
	 * one who sets it finds the folder (without importing the package), and
	 * leaves NAME alone where there is none.
	 */
	char **env;
	enum device_fork fork;
	char *note;		/* a caveat for people, or NULL */
	bool known;		/* listed in the table */
};

/*
 * Fill d for the device string name ("cuda", "cuda:1", "refdev").  root is
 * prog_root().  0, or -1 with e set where the table can't be read or the name
 * is no device string.  An unlisted name gives the generic adapter: import
 * "torch_NAME?", the rest NULL or empty, fork DEVICE_FORK_NEVER.  d is set to
 * nothing first, so device_release() is right after a failure too.
 */
int device_find(struct device *d, const char *root, const char *name,
		struct err *e);
void device_release(struct device *d);

/*
 * Put what a manifest's "adapter" says in the place of what d has: keys sync,
 * seed, count, memory, empty, init, env, fork.  0, or -1 with e set.
 */
int device_override(struct device *d, const cJSON *adapter, struct err *e);

/* Is s "module:function", with "(arg)" or without? */
bool device_is_call(const char *s);
/* The rule of that name, -1 if there is none. */
int device_fork_find(const char *name);
/* Is s a device string: a name and an index without leading zeros? */
bool device_is_string(const char *s);
/* The index in a device string, 0 where it has none. */
int device_index(const char *s);

/* The names that the table lists, NULL-terminated: new, all of it. */
char **device_names(const char *root, struct err *e);
void device_names_free(char **names);

#ifdef __cplusplus
}
#endif

#endif
