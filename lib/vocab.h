/*
 * vocab: the closed lists of words that records are made of, with who may
 * write them.  Tables here are pinned to the enums by static asserts.
 */
#ifndef CTS_VOCAB_H
#define CTS_VOCAB_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum outcome {
	OUT_PASS, OUT_FAIL, OUT_ERROR, OUT_UNSUPPORTED, OUT_CRASH,
	OUT_TIMEOUT, OUT_HANG, OUT_OOM,
	OUT_MISSING, OUT_DUPLICATE,	/* written by cts-report only */
	OUT_N
};
const char *outcome_name(enum outcome o);
int outcome_find(const char *name);		/* -1 if unknown */

/* Reasons of account records, with one sentence each for the reports. */
struct account_reason { const char *name, *text; };
const struct account_reason *account_reason_at(size_t i);
const struct account_reason *account_reason_find(const char *name);

/* Capabilities of a manifest, in the documented order. */
struct capability { const char *name, *text; };
const struct capability *capability_at(size_t i);
const struct capability *capability_find(const char *name);

/* How often caches are emptied and the device is synchronised. */
enum memory_mode {
	MEMORY_CONSERVATIVE,	/* empty and synchronise after every sample */
	MEMORY_SYNCHRONIZE,	/* synchronise after every sample */
	MEMORY_BALANCED,	/* empty after a case that left much in use */
	MEMORY_PERFORMANCE,	/* as little as results allow */
	MEMORY_N
};
int memory_mode_find(const char *name);		/* -1 if unknown */

/* What the eight levels mean; 1 <= level <= 8. */
const char *level_text(int level);

/*
 * The element of names (NULL-terminated) nearest to word by edit distance, or
 * NULL where none is near enough to be a slip of the pen.
 */
const char *vocab_nearest(const char *word, const char *const *names);

#ifdef __cplusplus
}
#endif

#endif
