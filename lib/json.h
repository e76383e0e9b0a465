/*
 * json: a strict reader of RFC 8259 text into cJSON's tree, since cJSON's own
 * takes what is no JSON (control bytes in strings, "01", bytes that are not
 * UTF-8) and doesn't notice keys that come twice.
 */
#ifndef CTS_JSON_H
#define CTS_JSON_H

#include <stddef.h>
#include <cjson/cJSON.h>
#include "err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JSON_DEPTH 128

/*
 * The one value that s[0..n) holds, with white space around it: new, for
 * cJSON_Delete().  NULL with e set (EX_BADINPUT, "byte N: what" or, where the
 * text has several lines, "line L: what").  Refused too: a key twice in one
 * object, \u0000, a number that no double can hold, over JSON_DEPTH levels.
 */
cJSON *json_parse(const char *s, size_t n, struct err *e);

/* The same, but the arena's: nothing may be deleted or taken out of it. */
struct arena;
cJSON *json_parse_in(struct arena *a, const char *s, size_t n, struct err *e);

/*
 * The first byte in [p, end) that does not stand for itself in a string, that
 * is '"', '\\', a control byte or one that is not ASCII; end where there is
 * none.
 */
const char *json_plain_end(const char *p, const char *end);

/*
 * The value of o's key, letter for letter, or NULL; also where o is NULL or no
 * object.  Several times as fast as cJSON's own, which calls a function a key.
 */
const cJSON *json_get(const cJSON *o, const char *key);

#ifdef __cplusplus
}
#endif

#endif
