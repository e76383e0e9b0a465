#include "jsonpos.h"

#include <stdlib.h>
#include <string.h>
#include "buf.h"
#include "xalloc.h"

struct scan {
	struct jsonpos *pos;
	const unsigned char *p, *end;
	int line, depth;
	struct buf path;
	struct err *e;
};

static int scan_value(struct scan *s);

static int fault(struct scan *s, const char *what)
{
	return err_set(s->e, EX_BADINPUT, "%d: not JSON: %s", s->line, what);
}

static void skip_space(struct scan *s)
{
	for (; s->p < s->end; s->p++) {
		if (*s->p == '\n')
			s->line++;
		else if (*s->p != ' ' && *s->p != '\t' && *s->p != '\r')
			return;
	}
}

/* Bytes of the UTF-8 sequence at p, 0 where there is none. */
static int utf8_len(const unsigned char *p, const unsigned char *end)
{
	static const unsigned long least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned long c;
	int n, i;

	if (*p < 0x80)
		return 1;
	n = *p >= 0xf0 && *p < 0xf8 ? 4 : *p >= 0xe0 && *p < 0xf0 ? 3 :
	    *p >= 0xc0 && *p < 0xe0 ? 2 : 0;
	if (!n || end - p < n)
		return 0;
	c = *p & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return n;
}

static int hex4(const unsigned char *p, const unsigned char *end, unsigned *out)
{
	char digits[5];
	char *stop;

	if (end - p < 4)
		return -1;
	memcpy(digits, p, 4);
	digits[4] = '\0';
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return -1;
	*out = (unsigned)strtoul(digits, &stop, 16);
	return 0;
}

static void add_utf8(struct buf *b, unsigned c)
{
	if (c < 0x80) {
		buf_addch(b, (char)c);
	} else if (c < 0x800) {
		buf_addch(b, (char)(0xc0 | c >> 6));
		buf_addch(b, (char)(0x80 | (c & 0x3f)));
	} else {
		if (c < 0x10000) {
			buf_addch(b, (char)(0xe0 | c >> 12));
		} else {
			buf_addch(b, (char)(0xf0 | c >> 18));
			buf_addch(b, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		buf_addch(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addch(b, (char)(0x80 | (c & 0x3f)));
	}
}

/* The u of an escape, and the second one where a pair makes a character. */
static int scan_unicode(struct scan *s, unsigned *c)
{
	unsigned low;

	if (hex4(s->p + 1, s->end, c) < 0)
		return fault(s, "\\u needs four hex digits");
	if (!*c)
		return fault(s, "a NUL character in a string");
	s->p += 5;
	if (*c < 0xd800 || *c >= 0xe000)
		return 0;
	if (*c >= 0xdc00 || s->end - s->p < 6 || s->p[0] != '\\' ||
	    s->p[1] != 'u' || hex4(s->p + 2, s->end, &low) < 0 ||
	    low < 0xdc00 || low >= 0xe000)
		return fault(s, "half a surrogate pair");
	*c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
	s->p += 6;
	return 0;
}

/* After the backslash. */
static int scan_escape(struct scan *s, struct buf *key)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;
	unsigned c = 0;

	if (s->p == s->end)
		return fault(s, "cut inside a string");
	if (*s->p == 'u') {
		if (scan_unicode(s, &c) < 0)
			return -1;
		if (key)
			add_utf8(key, c);
		return 0;
	}
	at = *s->p ? strchr(from, *s->p) : NULL;
	if (!at)
		return fault(s, "unknown escape in a string");
	s->p++;
	if (key)
		buf_addch(key, to[at - from]);
	return 0;
}

static int scan_string(struct scan *s, struct buf *key)
{
	int n;

	for (s->p++; s->p < s->end; ) {
		if (*s->p == '"') {
			s->p++;
			return 0;
		}
		if (*s->p == '\\') {
			s->p++;
			if (scan_escape(s, key) < 0)
				return -1;
			continue;
		}
		if (*s->p < 0x20)
			return fault(s, *s->p == '\n' ?
				     "a string without closing quote" :
				     "control character in a string");
		n = utf8_len(s->p, s->end);
		if (!n)
			return fault(s, "a string is not UTF-8");
		if (key)
			buf_add(key, s->p, (size_t)n);
		s->p += n;
	}
	return fault(s, "cut inside a string");
}

static size_t digits(struct scan *s)
{
	const unsigned char *from = s->p;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return (size_t)(s->p - from);
}

static int scan_number(struct scan *s)
{
	bool zero;

	if (*s->p == '-')
		s->p++;
	zero = s->p < s->end && *s->p == '0';
	if (zero)
		s->p++;
	else if (!digits(s))
		return fault(s, "a number without digits");
	if (s->p < s->end && *s->p == '.') {
		s->p++;
		if (!digits(s))
			return fault(s, "a number ends in '.'");
	}
	if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
		s->p++;
		if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
			s->p++;
		if (!digits(s))
			return fault(s, "an exponent without digits");
	}
	if (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		return fault(s, "a number begins with 0");
	return 0;
}

static int scan_word(struct scan *s)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t i, n;

	for (i = 0; i < 3; i++) {
		n = strlen(words[i]);
		if ((size_t)(s->end - s->p) >= n &&
		    !memcmp(s->p, words[i], n)) {
			s->p += n;
			return 0;
		}
	}
	return fault(s, *s->p == '#' || *s->p == '/' ?
		     "comments are not allowed" :
		     *s->p == '\'' ? "strings need double quotes" :
		     *s->p == 'T' || *s->p == 'F' || *s->p == 'N' ?
		     "expected true, false or null in lower case" :
		     "expected a value");
}

/* One member or element, its path being what was on s->path plus its own. */
static int scan_member(struct scan *s, bool object, size_t index)
{
	size_t was = s->path.len;
	int rc = -1;

	if (s->pos->n >= JSONPOS_KEYS)
		return fault(s, "too many keys");
	if (object) {
		if (*s->p != '"')
			return fault(s, *s->p == '}' ?
				     "a comma before '}'" :
				     "expected a key in double quotes");
		if (was)
			buf_addch(&s->path, '.');
		if (scan_string(s, &s->path) < 0)
			return -1;
		if (s->path.len - was > JSONPOS_KEY)
			return fault(s, "a key is too long");
		jsonpos_add(s->pos, s->path.p, s->line);
		skip_space(s);
		if (s->p == s->end || *s->p != ':')
			return fault(s, "expected ':' after a key");
		s->p++;
		skip_space(s);
	} else {
		if (*s->p == ']')
			return fault(s, "a comma before ']'");
		buf_addf(&s->path, "[%zu]", index);
		jsonpos_add(s->pos, s->path.p, s->line);
	}
	rc = scan_value(s);
	s->path.len = was;
	s->path.p[was] = '\0';
	return rc;
}

static int scan_list(struct scan *s, bool object)
{
	unsigned char close = object ? '}' : ']';
	size_t i;

	if (++s->depth > JSONPOS_DEPTH)
		return fault(s, "nested too deep");
	s->p++;
	skip_space(s);
	if (s->p < s->end && *s->p == close) {
		s->p++;
		s->depth--;
		return 0;
	}
	for (i = 0; s->p < s->end; i++) {
		if (scan_member(s, object, i) < 0)
			return -1;
		skip_space(s);
		if (s->p == s->end)
			break;
		if (*s->p == close) {
			s->p++;
			s->depth--;
			return 0;
		}
		if (*s->p != ',')
			return fault(s, object ? "expected ',' or '}'" :
				     "expected ',' or ']'");
		s->p++;
		skip_space(s);
	}
	return fault(s, "the text is cut short");
}

static int scan_value(struct scan *s)
{
	if (s->p == s->end)
		return fault(s, "the text is cut short");
	switch (*s->p) {
	case '{':
		return scan_list(s, true);
	case '[':
		return scan_list(s, false);
	case '"':
		return scan_string(s, NULL);
	case '-': case '0': case '1': case '2': case '3': case '4':
	case '5': case '6': case '7': case '8': case '9':
		return scan_number(s);
	default:
		return scan_word(s);
	}
}

void jsonpos_add(struct jsonpos *p, const char *path, int line)
{
	p->v = xgrow(p->v, &p->cap, p->n + 1, sizeof(*p->v));
	p->v[p->n].path = xstrdup(path);
	p->v[p->n].line = line;
	p->v[p->n].first = 0;
	p->n++;
}

static int by_path(const void *a, const void *b)
{
	const struct jsonpos_key *x = a, *y = b;
	int c = strcmp(x->path, y->path);

	return c ? c : x->line - y->line;
}

void jsonpos_sort(struct jsonpos *p)
{
	size_t i;

	if (!p->n)
		return;
	qsort(p->v, p->n, sizeof(*p->v), by_path);
	for (i = 1; i < p->n; i++)
		if (!strcmp(p->v[i].path, p->v[i - 1].path))
			p->v[i].first = p->v[i - 1].line;
}

int jsonpos_scan(struct jsonpos *p, const char *text, size_t n, struct err *e)
{
	struct scan s = {
		.pos = p, .p = (const unsigned char *)text,
		.end = (const unsigned char *)text + n,
		.line = 1, .path = BUF_INIT, .e = e,
	};
	int rc;

	buf_grow(&s.path, 64);
	skip_space(&s);
	rc = scan_value(&s);
	if (!rc) {
		skip_space(&s);
		if (s.p < s.end)
			rc = fault(&s, "more text after the end");
	}
	buf_release(&s.path);
	jsonpos_sort(p);
	return rc;
}

static int find(const struct jsonpos *p, const char *path)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(p->v[mid].path, path) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->n && !strcmp(p->v[lo].path, path) ? p->v[lo].line : 0;
}

int jsonpos_line(const struct jsonpos *p, const char *path)
{
	char *up = xstrdup(path);
	int line;
	size_t n;

	while (!(line = find(p, up)) && *up) {
		for (n = strlen(up); n && up[n - 1] != '.' && up[n - 1] != '[';
		     n--)
			;
		up[n ? n - 1 : 0] = '\0';
	}
	free(up);
	return line;
}

void jsonpos_release(struct jsonpos *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		free(p->v[i].path);
	free(p->v);
	memset(p, 0, sizeof(*p));
}
