#include "scan.h"

#include <string.h>

#include "json.h"
#include "rec.h"
#include "utf8.h"
#include "xalloc.h"
#include "banned.h"

#define DEPTH 100	/* below what the reader of trees refuses */
#define KEYS_MAX 64	/* of a record itself */

struct at {
	const char *p, *end;
	struct slice key[KEYS_MAX];
	size_t nkeys;
};

bool slice_is(struct slice s, const char *text)
{
	return s.p && s.len == strlen(text) && !memcmp(s.p, text, s.len);
}

char *slice_dup(struct slice s)
{
	return xstrndup(s.p ? s.p : "", s.len);
}

static void space(struct at *a)
{
	while (a->p < a->end && (*a->p == ' ' || *a->p == '\t' ||
				 *a->p == '\r' || *a->p == '\n'))
		a->p++;
}

static int hex4(const char *p)
{
	int v = 0, i, c;

	for (i = 0; i < 4; i++) {
		c = p[i];
		if (c >= '0' && c <= '9')
			c -= '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			c = (c | 32) - 'a' + 10;
		else
			return -1;
		v = v * 16 + c;
	}
	return v;
}

/* Behind the backslash; what follows it, or NULL. */
static const char *escape(const char *p, const char *end)
{
	int v;

	if (p == end)
		return NULL;
	if (*p != 'u')
		return strchr("\"\\/bfnrt", *p) && *p ? p + 1 : NULL;
	if (end - p < 5)
		return NULL;
	v = hex4(p + 1);
	if (v <= 0 || (v >= 0xdc00 && v < 0xe000))
		return NULL;
	p += 5;
	if (v < 0xd800 || v >= 0xe000)
		return p;
	/* The first half of a pair. */
	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return NULL;
	v = hex4(p + 2);
	return v >= 0xdc00 && v < 0xe000 ? p + 6 : NULL;
}

static bool utf8_valid(const char *p, size_t n)
{
	int len;

	for (; n; p += len, n -= (size_t)len) {
		len = utf8_len(p, n);
		if (!len)
			return false;
	}
	return true;
}

/* At the opening quote.  out: what is inside, empty if any of it is escaped. */
static int string(struct at *a, struct slice *out)
{
	const char *start = ++a->p, *p = start;
	bool escaped = false, high = false;

	for (;;) {
		p = json_plain_end(p, a->end);
		if (p == a->end || (unsigned char)*p < 0x20)
			return -1;
		if (*p == '"')
			break;
		if (*p != '\\') {
			high = true;
			p++;
			continue;
		}
		escaped = true;
		p = escape(p + 1, a->end);
		if (!p)
			return -1;
	}
	if (high && !utf8_valid(start, (size_t)(p - start)))
		return -1;
	if (out) {
		out->p = start;
		out->len = escaped ? 0 : (size_t)(p - start);
	}
	a->p = p + 1;
	return 0;
}

static bool digits(struct at *a)
{
	const char *p = a->p;

	while (a->p < a->end && *a->p >= '0' && *a->p <= '9')
		a->p++;
	return a->p > p;
}

static bool skip(struct at *a, char c)
{
	if (a->p == a->end || *a->p != c)
		return false;
	a->p++;
	return true;
}

static int number(struct at *a)
{
	skip(a, '-');
	if (!skip(a, '0') && !digits(a))
		return -1;
	if (skip(a, '.') && !digits(a))
		return -1;
	if (skip(a, 'e') || skip(a, 'E')) {
		if (!skip(a, '+'))
			skip(a, '-');
		if (!digits(a))
			return -1;
	}
	return 0;
}

static int word(struct at *a, const char *w)
{
	size_t n = strlen(w);

	if ((size_t)(a->end - a->p) < n || memcmp(a->p, w, n))
		return -1;
	a->p += n;
	return 0;
}

static int scalar(struct at *a)
{
	switch (a->p < a->end ? *a->p : 0) {
	case '"':
		return string(a, NULL);
	case 't':
		return word(a, "true");
	case 'f':
		return word(a, "false");
	case 'n':
		return word(a, "null");
	default:
		return number(a);
	}
}

/* A key and its colon. */
static int member(struct at *a)
{
	space(a);
	if (a->p == a->end || *a->p != '"' || string(a, NULL) < 0)
		return -1;
	space(a);
	if (!skip(a, ':'))
		return -1;
	space(a);
	return 0;
}

/* Any value. */
static int value(struct at *a)
{
	char open[DEPTH];
	int depth = 0;

	for (;;) {
		space(a);
		if (a->p < a->end && (*a->p == '{' || *a->p == '[')) {
			char close = *a->p == '{' ? '}' : ']';

			a->p++;
			space(a);
			if (!(a->p < a->end && *a->p == close)) {
				if (depth == DEPTH)
					return -1;
				open[depth++] = close;
				if (close == '}' && member(a) < 0)
					return -1;
				continue;
			}
			a->p++;
		} else if (scalar(a) < 0) {
			return -1;
		}
		for (;;) {
			if (!depth)
				return 0;
			space(a);
			if (a->p == a->end)
				return -1;
			if (*a->p == ',')
				break;
			if (*a->p != open[depth - 1])
				return -1;
			a->p++;
			depth--;
		}
		a->p++;
		if (open[depth - 1] == '}' && member(a) < 0)
			return -1;
	}
}

/* A key that comes a second time makes it no record. */
static int new_key(struct at *a, struct slice key)
{
	size_t i;

	if (a->nkeys == KEYS_MAX)
		return -1;
	for (i = 0; i < a->nkeys; i++)
		if (a->key[i].len == key.len &&
		    !memcmp(a->key[i].p, key.p, key.len))
			return -1;
	a->key[a->nkeys++] = key;
	return 0;
}

static struct slice *wanted(struct scan *s, struct slice key)
{
	static const struct { const char *name; size_t len, at; } keys[] = {
#define KEY(x) { #x, sizeof(#x) - 1, offsetof(struct scan, x) }
		KEY(kind), KEY(id), KEY(run), KEY(outcome), KEY(device),
		KEY(hardware), KEY(torch),
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (key.len == keys[i].len &&
		    !memcmp(key.p, keys[i].name, key.len))
			return (struct slice *)((char *)s + keys[i].at);
	return NULL;
}

static long long small_number(const char *p, const char *end)
{
	long long v = 0;

	if (p == end || end - p > 9)
		return -1;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return -1;
		v = v * 10 + (*p - '0');
	}
	return v;
}

int scan_record(struct scan *s, const char *line, size_t len)
{
	struct at a = { .p = line, .end = line + len };
	struct slice key, *to;
	const char *start;
	long long v = -1;

	memset(s, 0, sizeof(*s));
	s->sample = -1;
	if (len >= REC_MAX)
		return -1;
	space(&a);
	if (!skip(&a, '{'))
		return -1;
	do {
		space(&a);
		if (a.p == a.end || *a.p != '"' || string(&a, &key) < 0 ||
		    new_key(&a, key) < 0)
			return -1;
		space(&a);
		if (!skip(&a, ':'))
			return -1;
		space(&a);
		start = a.p;
		to = wanted(s, key);
		if (to && a.p < a.end && *a.p == '"') {
			if (string(&a, to) < 0)
				return -1;
		} else if (value(&a) < 0) {
			return -1;
		} else if (slice_is(key, "sample")) {
			s->sample = small_number(start, a.p);
		} else if (slice_is(key, "v")) {
			v = small_number(start, a.p);
		} else if (slice_is(key, "order_dependent")) {
			s->order_dependent = *start == 't';
		}
		space(&a);
	} while (skip(&a, ','));
	if (!skip(&a, '}'))
		return -1;
	space(&a);
	if (a.p != a.end || v != REC_VERSION || !s->kind.p || !s->id.p ||
	    !s->run.p)
		return -1;
	return 0;
}
