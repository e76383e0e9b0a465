/*
 * manifest_say: how the rules of a manifest report, and the little that they
 * have in common.
 */
#ifndef CTS_MANIFEST_SAY_H
#define CTS_MANIFEST_SAY_H

#include "manifest_impl.h"

struct check {
	const cJSON *top;
	const char *file;
	const struct jsonpos *pos;
	struct findings *f;
	int line;		/* of the finding, where pos can't tell; or 0 */
};

/* A finding about the key path; what is wrong and what would be right. */
void check_say(struct check *c, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same as a warning. */
void check_advise(struct check *c, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* "expected FORM, got …" */
void check_expected(struct check *c, const char *path, const char *form,
		    const cJSON *item);
/* "unknown WHAT 'name', did you mean 'near'?"; near may be NULL. */
void check_unknown(struct check *c, const char *path, const char *what,
		   const char *name, const char *near);

/* What an item is, for people; static, one at a time. */
const char *check_got(const cJSON *item);

/* "path.key": new. */
char *check_sub(const char *path, const char *key);

bool check_is_object(struct check *c, const char *path, const cJSON *item);
/* Whether s[0..n) is a dotted identifier: "pkg.mod". */
bool check_is_dotted(const char *s, size_t n);
/* Each element of a list, or the one item that stands for a list. */
void check_each(struct check *c, const char *path, const cJSON *item,
		void (*one)(struct check *, const char *, const cJSON *));
void check_bool(struct check *c, const char *path, const cJSON *item);

/* The fields of manifest_values.c. */
void check_tolerances(struct check *c, const char *path, const cJSON *item);
void check_formats(struct check *c, const char *path, const cJSON *item);
void check_decoders(struct check *c, const char *path, const cJSON *item);

#endif
