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
};
struct findings { struct finding *v; size_t n, cap; };
void findings_release(struct findings *f);

/*
 * Read and check a JSON manifest (path for messages; "-" is stdin).  NULL with
 * every finding in f, or with e set where it can't be read at all.  A .py file
 * is evaluated by libexec/cts-manifest-py first.
 */
struct manifest *manifest_load(const char *path, struct findings *f,
			       struct err *e);	/* new */
void manifest_free(struct manifest *m);

/* The complete template with that device's name and imports. */
struct manifest *manifest_for_device(const char *device, struct err *e);

/* The manifest as canonical JSON: keys in the documented order. */
void manifest_write(const struct manifest *m, struct buf *out);
/* "sha256:" and the digest of that; 72 bytes with the NUL. */
void manifest_digest(const struct manifest *m, char out[72]);
const cJSON *manifest_json(const struct manifest *m);	/* borrowed */
cJSON *manifest_json_mut(struct manifest *m);		/* borrowed */

const char *manifest_device(const struct manifest *m);
int manifest_level(const struct manifest *m);
int manifest_max_samples(const struct manifest *m);	/* 0: no cap */

/* What a claim says about one op. */
enum claim {
	CLAIM_YES,
	CLAIM_NO,	/* false */
	CLAIM_ABSENT,	/* not listed */
	CLAIM_FILTERED,	/* a regex that doesn't match the op */
};
enum claim manifest_dtype(const struct manifest *m, const char *dtype,
			  const char *op);
enum claim manifest_capability(const struct manifest *m, const char *cap,
			       const char *op);
/* CLAIM_YES unless supported_ops (FILTERED) or skip_ops (NO) exclude it. */
enum claim manifest_op(const struct manifest *m, const char *op);
bool manifest_must_not_fall_back(const struct manifest *m, const char *op);

/* Narrow the claim to the named dtypes, for one run ("--dtype"). */
int manifest_only_dtypes(struct manifest *m, char *const *dtypes, size_t n,
			 struct err *e);

#endif
