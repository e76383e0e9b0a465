/* manifest_impl: what the parts of manifest share among themselves. */
#ifndef CTS_MANIFEST_IMPL_H
#define CTS_MANIFEST_IMPL_H

#include <cjson/cJSON.h>
#include "jsonpos.h"
#include "manifest.h"
#include "pyre.h"

#define MANIFEST_MAX (1u << 20)		/* bytes of its text */

/* true, false or some regexes, as compiled from a claim. */
struct rule {
	enum claim fixed;	/* CLAIM_FILTERED: ask the regexes */
	struct pyre *re;
	size_t nre;
};

/* A list of op names and of regexes. */
struct oplist {
	const char **names;	/* borrowed from the JSON */
	size_t nnames;
	struct pyre *re;
	size_t nre;
	bool set;		/* the key is there at all */
};

struct manifest {
	cJSON *json;
	char *folder;		/* where its file is, NULL: here */
	struct rule *dtypes;	/* by index of dtype_at() */
	struct rule *caps;	/* by index of capability_at() */
	struct oplist supported, skip, no_fallback;
};

/* The documented order of the top-level keys, NULL at the end. */
extern const char *const manifest_keys[];
extern const char *const manifest_limit_keys[];
extern const char *const manifest_hardware_keys[];
extern const char *const manifest_adapter_keys[];

/* Append every finding about json; file and pos for where. */
void manifest_check(const cJSON *json, const char *file,
		    const struct jsonpos *pos, struct findings *f);

/* Bring a checked manifest into canonical form; takes and returns json. */
cJSON *manifest_normalise(cJSON *json);

/* "op:torch.float32" or "op/float" cut into its parts (new); -1 if neither. */
int manifest_split_tolerance(const char *key, char **op, char **dtype);

/* (Re)compile the claims of m->json, which was checked. */
void manifest_compile(struct manifest *m);
void manifest_uncompile(struct manifest *m);

/* An entry of skip_ops and the like that is a regex and no plain name. */
bool manifest_is_regex(const char *entry);

/*
 * Evaluate a manifest.py: its JSON text, positions of its keys, findings about
 * values that JSON can't hold.  0, or -1 with e set.
 */
int manifest_eval_py(const char *path, struct buf *text, struct jsonpos *pos,
		     struct findings *f, struct err *e);

#endif
