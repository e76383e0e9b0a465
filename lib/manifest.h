/*
 * manifest: a backend's claim, and the questions that the tools ask of it.
 */
#ifndef CTS_MANIFEST_H
#define CTS_MANIFEST_H

#include <stdbool.h>
#include <cjson/cJSON.h>
#include "buf.h"
#include "err.h"

struct manifest;

/* One thing wrong with a manifest. */
struct finding {
	char *where;		/* "manifest.json:12: capabilities.generator" */
	char *what;		/* what is wrong and what would be right */
	int line;		/* 0: unknown */
	bool warn;		/* worth a look, but the manifest is usable */
};
struct findings { struct finding *v; size_t n, cap; };
void findings_release(struct findings *f);

/*
 * Read and check a JSON manifest (path for messages; "-" is stdin).  NULL with
 * every finding in f (then e's code is EX_BADINPUT and its message counts
 * them), or with e set alone where it can't be read at all.  A .py file is
 * evaluated by libexec/cts-manifest-py first.  Warnings don't make it NULL.
 * A manifest that is returned has been normalised: see manifest_write().
 */
struct manifest *manifest_load(const char *path, struct findings *f,
			       struct err *e);	/* new */
void manifest_free(struct manifest *m);

/* The complete template with that device's name and imports. */
struct manifest *manifest_for_device(const char *device, struct err *e);

/* As manifest_load(), from text; file is its name in the findings. */
struct manifest *manifest_parse(const char *text, size_t n, const char *file,
				struct findings *f, struct err *e); /* new */

/* A template by name ("smoke", …), its device and imports set if device. */
struct manifest *manifest_template(const char *name, const char *device,
				   struct err *e);		/* new */

/*
 * The manifest as canonical JSON on one line, with LF: keys in the documented
 * order, dtypes by their short names, imports as a list, no null.
 */
void manifest_write(const struct manifest *m, struct buf *out);
/* The same over several lines, for people. */
void manifest_write_pretty(const struct manifest *m, struct buf *out);
/* As Python source, for those who keep a manifest.py. */
void manifest_write_py(const struct manifest *m, struct buf *out);
/* "sha256:" and the digest of that; 72 bytes with the NUL. */
void manifest_digest(const struct manifest *m, char out[72]);
const cJSON *manifest_json(const struct manifest *m);	/* borrowed */
cJSON *manifest_json_mut(struct manifest *m);		/* borrowed */

/* Change it as -d and -l do, for one run. */
int manifest_set_device(struct manifest *m, const char *device,
			struct err *e);
int manifest_set_level(struct manifest *m, int level);
/* Set a top-level key to a value that is known to be right (taken). */
void manifest_set(struct manifest *m, const char *key, cJSON *value);

const char *manifest_device(const struct manifest *m);
int manifest_level(const struct manifest *m);
int manifest_max_samples(const struct manifest *m);	/* 0: no cap */
int manifest_max_samples_special(const struct manifest *m);	/* likewise */
const cJSON *manifest_imports(const struct manifest *m);  /* array or NULL */

/* "module:function" that decodes the container format, or NULL. */
const char *manifest_decoder(const struct manifest *m, const char *format);

/*
 * Make the paths in custom_test_dirs absolute; a relative one starts at the
 * manifest's folder and must stay below it.  0, or -1 with e set (EX_BADINPUT).
 */
int manifest_settle_dirs(struct manifest *m, struct err *e);

/* What a claim says about one op. */
enum claim {
	CLAIM_YES,
	CLAIM_NO,	/* false */
	CLAIM_ABSENT,	/* not listed */
	CLAIM_FILTERED,	/* a regex that doesn't match the op */
};
enum claim manifest_dtype(const struct manifest *m, const char *dtype,
			  const char *op);
/* The same by the dtype's index, for who asks often. */
enum claim manifest_dtype_at(const struct manifest *m, size_t dtype,
			     const char *op);
enum claim manifest_capability(const struct manifest *m, const char *cap,
			       const char *op);
/* CLAIM_YES unless supported_ops (FILTERED) or skip_ops (NO) exclude it. */
enum claim manifest_op(const struct manifest *m, const char *op);
bool manifest_must_not_fall_back(const struct manifest *m, const char *op);

/* Narrow the claim to the named dtypes, for one run ("--dtype"). */
int manifest_only_dtypes(struct manifest *m, char *const *dtypes, size_t n,
			 struct err *e);

/* Is there a container format of that name? */
bool manifest_container_known(const char *name);

#endif
