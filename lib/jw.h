/*
 * jw: a JSON writer over a buf, with no object model.  Commas are its business;
 * a value written in an object must follow jw_key().  Misuse is a BUG (abort).
 */
#ifndef CTS_JW_H
#define CTS_JW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "buf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JW_DEPTH 64

struct jw {
	struct buf *out;	/* borrowed */
	int depth;
	bool keyed;		/* a key waits for its value */
	bool comma[JW_DEPTH];
	bool in_obj[JW_DEPTH];
};

void jw_init(struct jw *w, struct buf *out);	/* does not empty out */
void jw_obj(struct jw *w);			/* '{' */
void jw_obj_end(struct jw *w);
void jw_arr(struct jw *w);			/* '[' */
void jw_arr_end(struct jw *w);
void jw_key(struct jw *w, const char *key);

/* Values.  Strings that are not UTF-8 have each bad byte made U+FFFD. */
void jw_str(struct jw *w, const char *s);
void jw_strn(struct jw *w, const char *s, size_t n);
void jw_int(struct jw *w, int64_t v);	/* a string beyond +-(2^53 - 1) */
void jw_uint(struct jw *w, uint64_t v);	/* likewise */
void jw_bool(struct jw *w, bool v);
void jw_hexf(struct jw *w, double v);	/* "0x1.8p+0", "nan", "inf", "-inf" */
void jw_num(struct jw *w, double v);	/* %.6g: for t_ keys and mb; finite */
void jw_b64(struct jw *w, const void *p, size_t n);	/* bytes as base64 */
void jw_raw(struct jw *w, const char *json, size_t n);	/* already JSON */

/* Key and value in one. */
void jw_kstr(struct jw *w, const char *key, const char *s);
void jw_kint(struct jw *w, const char *key, int64_t v);
void jw_kbool(struct jw *w, const char *key, bool v);
void jw_khexf(struct jw *w, const char *key, double v);
void jw_knum(struct jw *w, const char *key, double v);

/* Open a record: {"v":1,"kind":…,"id":…,"run":… ; jw_obj_end() closes it. */
void jw_record(struct jw *w, const char *kind, const char *id,
	       const char *run);

#ifdef __cplusplus
}
#endif

#endif
