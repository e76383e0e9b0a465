/* The rules for tolerances and for container formats. */
#include "manifest_say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "dtype.h"
#include "json.h"
#include "vocab.h"
#include "xalloc.h"

/*
 * How wide a tolerance may be before the check says nothing: a relative one of
 * 1 accepts a zero for anything; the values that ops are given are of the
 * order of 1 to 10; and as many ulps as there are fractions accept any value
 * of the right exponent.
 */
static double widest(const struct dtype *t, const char *key)
{
	double atol = t->mantissa >= 23 ? 1 : 16, top;

	if (t->cls != DT_FLOAT && t->cls != DT_COMPLEX)
		return strcmp(key, "rtol") ? 2 : 0x1p-8;
	if (!strcmp(key, "ulp"))
		return ldexp(1, t->mantissa);
	/* A type of few values reaches them all with less. */
	top = ldexp(1, t->emax) / 4;
	return !strcmp(key, "rtol") ? 1 : atol < top ? atol : top;
}

static void check_bound(struct check *c, const char *path, const char *key,
			const struct dtype *t, const cJSON *item)
{
	if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) ||
	    item->valuedouble < 0)
		check_say(c, path, "%s: expected a finite number from 0, got "
			  "%s", key, check_got(item));
	else if (t && item->valuedouble >= widest(t, key))
		check_say(c, path, "%s of %s is so wide that the check is "
			  "void, expected less than %.15g for %s", key,
			  check_got(item), widest(t, key), t->name);
}

static void check_tolerance_value(struct check *c, const char *path,
				  const struct dtype *t, const cJSON *item)
{
	static const char *const keys[] = { "rtol", "atol", "ulp", NULL };
	const cJSON *x;
	size_t i;

	if (cJSON_IsArray(item) && cJSON_GetArraySize(item) == 2) {
		check_bound(c, path, "rtol", t, item->child);
		check_bound(c, path, "atol", t, item->child->next);
		return;
	}
	if (!cJSON_IsObject(item) || !item->child) {
		check_expected(c, path, "{\"rtol\": …, \"atol\": …}, "
			       "{\"ulp\": …} or [rtol, atol]", item);
		return;
	}
	cJSON_ArrayForEach(x, item) {
		char *p = check_sub(path, x->string);

		for (i = 0; keys[i] && strcmp(keys[i], x->string); i++)
			;
		if (keys[i])
			check_bound(c, p, x->string, t, x);
		else
			check_say(c, p, "unknown key, expected rtol, atol or "
				  "ulp");
		free(p);
	}
	if (json_get(item, "ulp") &&
	    item->child->next)
		check_say(c, path, "ulp stands alone, not beside rtol or atol");
}

/* s without the spaces around it: new. */
static char *trimmed(const char *s, size_t n)
{
	for (; n && *s == ' '; s++)
		n--;
	while (n && s[n - 1] == ' ')
		n--;
	return xstrndup(s, n);
}

int manifest_split_tolerance(const char *key, char **op, char **dtype)
{
	const char *at = strrchr(key, ':');

	if (!at)
		at = strrchr(key, '/');
	if (!at)
		return -1;
	*op = trimmed(key, (size_t)(at - key));
	*dtype = trimmed(at + 1, strlen(at + 1));
	if (**op && **dtype)
		return 0;
	free(*op);
	free(*dtype);
	return -1;
}

/* The same op and dtype under another name, before x in the list; or NULL. */
static const char *same_tolerance(const cJSON *list, const cJSON *x,
				  const char *op, const struct dtype *t)
{
	const cJSON *y;
	char *other, *name;

	for (y = list->child; t && y != x; y = y->next) {
		bool same;

		if (!strcmp(y->string, x->string) ||
		    manifest_split_tolerance(y->string, &other, &name) < 0)
			continue;
		same = !strcmp(other, op) && dtype_find(name) == t;
		free(other);
		free(name);
		if (same)
			return y->string;
	}
	return NULL;
}

void check_tolerances(struct check *c, const char *path,
			     const cJSON *item)
{
	const struct dtype *t;
	const char *same;
	const cJSON *x;
	char *op, *name;

	if (!check_is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		char *p = check_sub(path, x->string);

		if (manifest_split_tolerance(x->string, &op, &name) < 0) {
			check_say(c, p, "expected 'op:dtype' or "
				  "'category:dtype'");
			free(p);
			continue;
		}
		t = dtype_find(name);
		if (!t)
			check_unknown(c, p, "dtype", name, dtype_nearest(name));
		same = same_tolerance(item, x, op, t);
		if (same)
			check_say(c, p, "the same as '%s', which is already "
				  "listed", same);
		if (t && t->cls == DT_BOOL)
			check_say(c, p, "a bool is right or wrong, expected "
				  "no tolerance");
		else
			check_tolerance_value(c, p, t, x);
		free(op);
		free(name);
		free(p);
	}
}

static const char *const formats[] = {
	"int2_ternary", "int4_symmetric", "int4_asymmetric", "uint4", "nf4",
	"fp4_e2m1", "fp4_bnb", "af4", "mxfp4", "nvfp4", "fp6_e3m2",
	"fp6_e2m3", "mxfp6_e3m2", "mxfp6_e2m3", "fp8_e4m3fn", "fp8_e5m2",
	"fp8_e4m3fnuz", "fp8_e5m2fnuz", "int8_symmetric", "int8_asymmetric",
	"uint8", "e8m0fnu", "mxfp8_e4m3", "mxfp8_e5m2", "mxint8", NULL
};

static bool known_format(struct check *c, const char *path, const char *name)
{
	size_t i;

	for (i = 0; formats[i]; i++)
		if (!strcmp(formats[i], name))
			return true;
	check_unknown(c, path, "container format", name,
		      vocab_nearest(name, formats));
	return false;
}

bool manifest_container_known(const char *name)
{
	size_t i;

	for (i = 0; formats[i] && strcmp(formats[i], name); i++)
		;
	return formats[i];
}

void check_formats(struct check *c, const char *path, const cJSON *item)
{
	const cJSON *x;

	if (!check_is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		char *p = check_sub(path, x->string);

		known_format(c, p, x->string);
		check_bool(c, p, x);
		free(p);
	}
}

static bool is_decoder(const cJSON *item)
{
	const char *s = cJSON_IsString(item) ? item->valuestring : "";
	const char *at = strchr(s, ':');

	return at && check_is_dotted(s, (size_t)(at - s)) &&
	       check_is_dotted(at + 1, strlen(at + 1));
}

void check_decoders(struct check *c, const char *path,
			   const cJSON *item)
{
	const cJSON *claimed = json_get(c->top, "supported_container_formats");
	const cJSON *x;

	if (!check_is_object(c, path, item))
		return;
	cJSON_ArrayForEach(x, item) {
		char *p = check_sub(path, x->string);

		if (!is_decoder(x))
			check_expected(c, p, "'module:function'", x);
		if (known_format(c, p, x->string) &&
		    !cJSON_IsTrue(json_get(claimed, x->string)))
			check_say(c, p, "a decoder needs "
				  "supported_container_formats.%s to be true",
				  x->string);
		free(p);
	}
}
