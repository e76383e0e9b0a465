/*
 * case: the case record as a struct, and the grammar of a case's id,
 * "suite/op/dtype/variant".
 */
#ifndef CTS_CASE_H
#define CTS_CASE_H

#include <stdint.h>
#include "err.h"
#include "jw.h"
#include "rec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CASE_ID_MAX 512

struct case_rec {
	/* All strings are borrowed from the record (or the caller). */
	const char *id, *run;
	const char *suite, *op, *variant, *dtype, *device;
	const char *level_reason, *capability, *oracle;
	const char *cost;		/* the suite's word, as "high"; or "" */
	int level;
	int samples;			/* at most; 0: all */
	int only;			/* run just this sample; -1: all */
	double timeout_s;		/* 0: the caller's default */
	uint64_t seed;
	const cJSON *backend_import;	/* array of strings, or NULL */
	const cJSON *adapter;		/* how to reach the device, or NULL */
	const char *memory_mode;	/* see vocab.h; or NULL */
	int cleanup_mb;			/* in use: empty caches; 0: never */
	const char *suite_dir;		/* where its suite is; NULL: suites/ */
	const char *decoder;		/* "module:function", or NULL */
	const char *via;		/* entry whose samples call the op, an
					   overload; or NULL */
	const char *called;		/* what it is judged as; NULL: op */
	bool isolate;			/* a process of its own */
	const cJSON *edits;		/* strings, of docs/repro.md: how its
					   sample is made smaller; or NULL */
	int attempt;			/* which try of several; 0: the one */
	bool oom_ends;			/* out of memory is the process's end */
};

/*
 * Read a REC_CASE record.  0, or -1 with e set (EX_BADINPUT) naming the key.
 * id, suite, op, dtype and variant must be there; strings that are not become
 * "", oracle "cpu", level 1, seed SEED_DEFAULT.
 * Checks the id's grammar and that its parts equal suite, op, dtype, variant.
 */
int case_read(struct case_rec *c, const struct rec *r, struct err *e);

/* What no second case of a stream has: the id, and which attempt it is. */
#define CASE_KEY_MAX (CASE_ID_MAX + 16)
void case_key(char out[CASE_KEY_MAX], const struct case_rec *c);

/* Append c as a record (without LF). */
void case_write(struct jw *w, const struct case_rec *c);

/*
 * Build "suite/op/dtype/variant" into out.  0, or -1 with e set where a part
 * is empty, over-long, or holds a character other than letters, digits
 * and "._:+@-", or is "." or "..".
 */
int case_id(char out[CASE_ID_MAX], const char *suite, const char *op,
	    const char *dtype, const char *variant, struct err *e);

/*
 * Split an id into copies of its four parts, each CASE_ID_MAX long; -1 if it
 * is no case id.
 */
int case_id_split(const char *id, char suite[], char op[], char dtype[],
		  char variant[]);

#ifdef __cplusplus
}
#endif

#endif
