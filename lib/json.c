#include "json.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "utf8.h"
#include "xalloc.h"

struct parse {
	const char *start, *p, *end;
	int depth;
	struct arena *arena;	/* NULL: all is the caller's to delete */
	struct err *e;
};

static bool value(struct parse *s, cJSON *v);

static bool fail(struct parse *s, const char *what)
{
	size_t line = 1;
	const char *q;

	for (q = s->start; q < s->p; q++)
		line += *q == '\n';
	if (line > 1 || (s->p < s->end && memchr(s->p, '\n',
						 (size_t)(s->end - s->p))))
		err_set(s->e, EX_BADINPUT, "line %zu: %s", line, what);
	else
		err_set(s->e, EX_BADINPUT, "byte %zu: %s",
			(size_t)(s->p - s->start) + 1, what);
	return false;
}

/* What stands where something else was wanted. */
static bool unexpected(struct parse *s, const char *wanted)
{
	struct err got;
	unsigned char c;

	if (s->p == s->end)
		err_set(&got, 0, "text ends where %s was expected", wanted);
	else if ((c = (unsigned char)*s->p) > 0x20 && c < 0x7f)
		err_set(&got, 0, "unexpected '%c' where %s was expected", c,
			wanted);
	else
		err_set(&got, 0, "unexpected byte 0x%02x where %s was expected",
			c, wanted);
	return fail(s, got.msg);
}

static void skip_space(struct parse *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' ||
				 *s->p == '\t' || *s->p == '\r'))
		s->p++;
}

static cJSON *new_item(struct parse *s)
{
	cJSON *v = s->arena ? arena_zero(s->arena, 1, sizeof(*v)) :
		xcalloc(1, sizeof(*v));

	v->type = cJSON_NULL;
	return v;
}

static char *new_text(struct parse *s, size_t n)
{
	return s->arena ? arena_take(s->arena, n) : xmalloc(n);
}

/* Four hex digits at p, or -1. */
static long hex4(const char *p, const char *end)
{
	long v = 0;
	int i;

	if (end - p < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		if (p[i] >= '0' && p[i] <= '9')
			v = v * 16 + p[i] - '0';
		else if (p[i] >= 'a' && p[i] <= 'f')
			v = v * 16 + p[i] - 'a' + 10;
		else if (p[i] >= 'A' && p[i] <= 'F')
			v = v * 16 + p[i] - 'A' + 10;
		else
			return -1;
	}
	return v;
}

static char *put_utf8(char *d, long c)
{
	if (c < 0x80) {
		*d++ = (char)c;
		return d;
	}
	if (c < 0x800) {
		*d++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*d++ = (char)(0xe0 | c >> 12);
		} else {
			*d++ = (char)(0xf0 | c >> 18);
			*d++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*d++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*d++ = (char)(0x80 | (c & 0x3f));
	return d;
}

/* s->p is behind the "\u". */
static bool unicode_escape(struct parse *s, char **d)
{
	long c = hex4(s->p, s->end), low;

	if (c < 0)
		return fail(s, "bad \\u escape");
	if (!c)
		return fail(s, "\\u0000 in a string");
	s->p += 4;
	if (c >= 0xdc00 && c < 0xe000)
		return fail(s, "half a surrogate pair");
	if (c >= 0xd800 && c < 0xdc00) {
		if (s->end - s->p < 6 || s->p[0] != '\\' || s->p[1] != 'u' ||
		    (low = hex4(s->p + 2, s->end)) < 0xdc00 || low >= 0xe000)
			return fail(s, "half a surrogate pair");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		s->p += 6;
	}
	*d = put_utf8(*d, c);
	return true;
}

static bool escape(struct parse *s, char **d)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *f;

	if (++s->p == s->end)
		return unexpected(s, "an escape");
	if (*s->p == 'u') {
		s->p++;
		return unicode_escape(s, d);
	}
	f = memchr(from, *s->p, sizeof(from) - 1);
	if (!f)
		return fail(s, "unknown escape in a string");
	*(*d)++ = to[f - from];
	s->p++;
	return true;
}

#define EACH(b) (UINT64_C(0x0101010101010101) * (b))

const char *json_plain_end(const char *p, const char *end)
{
	uint64_t w, q, b;

	/* Eight at a time: a high bit shows a byte that stops us. */
	for (; end - p >= 8; p += 8) {
		memcpy(&w, p, 8);
		q = w ^ EACH('"');
		b = w ^ EACH('\\');
		if ((((w - EACH(0x20)) | (q - EACH(1)) | (b - EACH(1)) | w) &
		     EACH(0x80)) != 0)
			break;
	}
	for (; p < end; p++)
		if (*p == '"' || *p == '\\' || (unsigned char)*p < 0x20 ||
		    (unsigned char)*p >= 0x80)
			break;
	return p;
}

/* s->p is at the opening quote.  *out is new. */
static bool string(struct parse *s, char **out)
{
	const char *from = ++s->p, *q;
	char *d;
	int k;

	s->p = json_plain_end(from, s->end);
	if (s->p < s->end && *s->p == '"') {
		*out = new_text(s, (size_t)(s->p - from) + 1);
		memcpy(*out, from, (size_t)(s->p - from));
		(*out)[s->p++ - from] = '\0';
		return true;
	}
	/* An escape never makes a string longer: find the end for its room. */
	for (q = s->p; q < s->end && *q != '"'; q++)
		if (*q == '\\' && q + 1 < s->end)
			q++;
	*out = d = new_text(s, (size_t)(q - from) + 1);
	s->p = from;
	while (s->p < s->end) {
		from = s->p;
		s->p = json_plain_end(from, s->end);
		memcpy(d, from, (size_t)(s->p - from));
		d += s->p - from;
		if (s->p == s->end)
			break;
		if (*s->p == '"') {
			*d = '\0';
			s->p++;
			return true;
		}
		if (*s->p == '\\') {
			if (!escape(s, &d))
				goto bad;
			continue;
		}
		k = utf8_len(s->p, (size_t)(s->end - s->p));
		if ((unsigned char)*s->p < 0x20) {
			fail(s, "control byte in a string");
			goto bad;
		}
		if (!k) {
			fail(s, "not UTF-8");
			goto bad;
		}
		memcpy(d, s->p, (size_t)k);
		d += k;
		s->p += k;
	}
	unexpected(s, "'\"'");
bad:
	if (!s->arena)
		free(*out);
	*out = NULL;
	return false;
}

static bool digits(struct parse *s)
{
	const char *from = s->p;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return s->p > from || unexpected(s, "a digit");
}

static bool number(struct parse *s, cJSON *v)
{
	const char *from = s->p;
	bool whole = true;
	char small[64], *text;
	int64_t i = 0;
	size_t n;

	if (*s->p == '-')
		s->p++;
	if (s->p < s->end && *s->p == '0')
		s->p++;
	else if (!digits(s))
		return false;
	if (s->p < s->end && *s->p == '.') {
		whole = false;
		s->p++;
		if (!digits(s))
			return false;
	}
	if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
		whole = false;
		s->p++;
		if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
			s->p++;
		if (!digits(s))
			return false;
	}
	n = (size_t)(s->p - from);
	if (whole && n <= 15 && *from != '-') {
		for (; from < s->p; from++)
			i = i * 10 + *from - '0';
		v->valuedouble = (double)i;
	} else {
		text = n < sizeof(small) ? small : xmalloc(n + 1);
		memcpy(text, from, n);
		text[n] = '\0';
		v->valuedouble = strtod(text, NULL);
		if (text != small)
			free(text);
		if (isinf(v->valuedouble))
			return fail(s, "number out of range");
	}
	v->valueint = v->valuedouble >= INT_MAX ? INT_MAX :
		      v->valuedouble <= INT_MIN ? INT_MIN :
		      (int)v->valuedouble;
	v->type = cJSON_Number;
	return true;
}

static bool word(struct parse *s, cJSON *v, const char *w, int type)
{
	size_t n = strlen(w);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, w, n))
		return unexpected(s, "a value");
	s->p += n;
	v->type = type;
	if (type == cJSON_True)
		v->valueint = 1;
	return true;
}

/* Add item at the end of v; cJSON keeps the last in the first one's prev. */
static void append(cJSON *v, cJSON *item)
{
	if (!v->child) {
		v->child = item;
		item->prev = item;
		return;
	}
	item->prev = v->child->prev;
	v->child->prev->next = item;
	v->child->prev = item;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* True where a quick look shows that no key of v comes twice. */
static bool differ(const cJSON *v)
{
	uint64_t seen[64] = { 0 };
	const cJSON *a;
	const char *p;

	for (a = v->child; a; a = a->next) {
		uint32_t h = 2166136261u, bit;	/* FNV-1a, of 12 bits */

		for (p = a->string; *p; p++)
			h = (h ^ (unsigned char)*p) * 16777619u;
		bit = (h ^ h >> 12) & 4095;
		if (seen[bit / 64] >> (bit % 64) & 1)
			return false;
		seen[bit / 64] |= UINT64_C(1) << (bit % 64);
	}
	return true;
}

/* A key that an object has twice, or NULL. */
static const char *twice(const cJSON *v, size_t n)
{
	const cJSON *a, *b;
	const char **keys, *found = NULL;
	size_t i = 0;

	if (n > 6 && differ(v))
		return NULL;
	if (n <= 24) {
		for (a = v->child; a; a = a->next)
			for (b = a->next; b; b = b->next)
				if (!strcmp(a->string, b->string))
					return a->string;
		return NULL;
	}
	keys = xcalloc(n, sizeof(*keys));
	for (a = v->child; a; a = a->next)
		keys[i++] = a->string;
	qsort(keys, n, sizeof(*keys), by_text);
	for (i = 1; i < n && !found; i++)
		if (!strcmp(keys[i - 1], keys[i]))
			found = keys[i];
	free(keys);
	return found;
}

static bool object(struct parse *s, cJSON *v)
{
	struct err msg;
	const char *dup;
	cJSON *item;
	size_t n = 0;

	s->p++;
	skip_space(s);
	if (s->p < s->end && *s->p == '}') {
		s->p++;
		return true;
	}
	for (;; s->p++) {
		skip_space(s);
		if (s->p == s->end || *s->p != '"')
			return unexpected(s, "a key");
		item = new_item(s);
		append(v, item);
		n++;
		if (!string(s, &item->string))
			return false;
		skip_space(s);
		if (s->p == s->end || *s->p != ':')
			return unexpected(s, "':'");
		s->p++;
		if (!value(s, item))
			return false;
		skip_space(s);
		if (s->p == s->end || (*s->p != ',' && *s->p != '}'))
			return unexpected(s, "',' or '}'");
		if (*s->p == '}')
			break;
	}
	dup = twice(v, n);
	if (dup) {
		err_set(&msg, 0, "key '%.100s' comes twice", dup);
		return fail(s, msg.msg);
	}
	s->p++;
	return true;
}

static bool array(struct parse *s, cJSON *v)
{
	cJSON *item;

	s->p++;
	skip_space(s);
	if (s->p < s->end && *s->p == ']') {
		s->p++;
		return true;
	}
	for (;; s->p++) {
		item = new_item(s);
		append(v, item);
		if (!value(s, item))
			return false;
		skip_space(s);
		if (s->p == s->end || (*s->p != ',' && *s->p != ']'))
			return unexpected(s, "',' or ']'");
		if (*s->p == ']')
			break;
	}
	s->p++;
	return true;
}

static bool value(struct parse *s, cJSON *v)
{
	bool ok;

	skip_space(s);
	if (s->p == s->end)
		return unexpected(s, "a value");
	switch (*s->p) {
	case '{':
	case '[':
		if (s->depth == JSON_DEPTH)
			return fail(s, "nested too deeply");
		s->depth++;
		v->type = *s->p == '{' ? cJSON_Object : cJSON_Array;
		ok = *s->p == '{' ? object(s, v) : array(s, v);
		s->depth--;
		return ok;
	case '"':
		v->type = cJSON_String;
		return string(s, &v->valuestring);
	case 't':
		return word(s, v, "true", cJSON_True);
	case 'f':
		return word(s, v, "false", cJSON_False);
	case 'n':
		return word(s, v, "null", cJSON_NULL);
	case '-': case '0': case '1': case '2': case '3': case '4':
	case '5': case '6': case '7': case '8': case '9':
		return number(s, v);
	default:
		return unexpected(s, "a value");
	}
}

/* Where there is an arena, what it holds of a text that was refused stays. */
static cJSON *parse(struct parse *s)
{
	cJSON *v = new_item(s);

	if (value(s, v)) {
		skip_space(s);
		if (s->p == s->end || unexpected(s, "the end"))
			return v;
	}
	if (!s->arena)
		cJSON_Delete(v);
	return NULL;
}

cJSON *json_parse(const char *text, size_t n, struct err *e)
{
	struct parse s = { .start = text, .p = text, .end = text + n, .e = e };

	return parse(&s);
}

cJSON *json_parse_in(struct arena *a, const char *text, size_t n,
		     struct err *e)
{
	struct parse s = { .start = text, .p = text, .end = text + n,
		.arena = a, .e = e };

	return parse(&s);
}

const cJSON *json_get(const cJSON *o, const char *key)
{
	const cJSON *v;
	const char *s;
	size_t i;

	/* Most keys differ in their first letters: a call costs more. */
	for (v = o ? o->child : NULL; v; v = v->next) {
		s = v->string;
		if (!s)
			return NULL;
		for (i = 0; s[i] == key[i]; i++)
			if (!s[i])
				return v;
	}
	return NULL;
}
