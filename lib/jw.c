#include "jw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "b64.h"
#include "json.h"
#include "utf8.h"
#include "xalloc.h"

#define INT_SAFE ((INT64_C(1) << 53) - 1)

void jw_init(struct jw *w, struct buf *out)
{
	memset(w, 0, sizeof(*w));
	w->out = out;
}

/* What must stand in front of a value, and what is wrong about it. */
static void before_value(struct jw *w)
{
	if (!w->depth)
		return;
	if (w->in_obj[w->depth - 1]) {
		if (!w->keyed)
			BUG("JSON value in an object without its key");
		w->keyed = false;
		return;
	}
	if (w->comma[w->depth - 1])
		buf_addch(w->out, ',');
	w->comma[w->depth - 1] = true;
}

static void open_(struct jw *w, char c)
{
	before_value(w);
	if (w->depth == JW_DEPTH)
		BUG("JSON nested too deeply");
	w->comma[w->depth] = false;
	w->in_obj[w->depth++] = c == '{';
	buf_addch(w->out, c);
}

static void close_(struct jw *w, char c)
{
	if (!w->depth || w->in_obj[w->depth - 1] != (c == '}') || w->keyed)
		BUG("JSON closed where it was not open");
	w->depth--;
	buf_addch(w->out, c);
}

void jw_obj(struct jw *w)
{
	open_(w, '{');
}

void jw_obj_end(struct jw *w)
{
	close_(w, '}');
}

void jw_arr(struct jw *w)
{
	open_(w, '[');
}

void jw_arr_end(struct jw *w)
{
	close_(w, ']');
}

static void add_escaped(struct buf *b, unsigned char c)
{
	switch (c) {
	case '"':	buf_add(b, "\\\"", 2); break;
	case '\\':	buf_add(b, "\\\\", 2); break;
	case '\n':	buf_add(b, "\\n", 2); break;
	case '\r':	buf_add(b, "\\r", 2); break;
	case '\t':	buf_add(b, "\\t", 2); break;
	default:	buf_addf(b, "\\u%04x", c); break;
	}
}

static void quote(struct buf *b, const char *s, size_t n)
{
	const char *end = s + n, *from;
	int k;

	buf_grow(b, n + 2);
	buf_addch(b, '"');
	while (s < end) {
		from = s;
		s = json_plain_end(s, end);
		buf_add(b, from, (size_t)(s - from));
		if (s == end)
			break;
		if ((unsigned char)*s < 0x80) {
			add_escaped(b, (unsigned char)*s++);
			continue;
		}
		k = utf8_len(s, (size_t)(end - s));
		if (k) {
			buf_add(b, s, (size_t)k);
			s += k;
		} else {
			buf_add(b, "\xef\xbf\xbd", 3);
			s++;
		}
	}
	buf_addch(b, '"');
}

void jw_key(struct jw *w, const char *key)
{
	if (!w->depth || !w->in_obj[w->depth - 1] || w->keyed)
		BUG("JSON key outside of an object");
	if (w->comma[w->depth - 1])
		buf_addch(w->out, ',');
	w->comma[w->depth - 1] = true;
	quote(w->out, key, strlen(key));
	buf_addch(w->out, ':');
	w->keyed = true;
}

void jw_str(struct jw *w, const char *s)
{
	jw_strn(w, s, strlen(s));
}

void jw_strn(struct jw *w, const char *s, size_t n)
{
	before_value(w);
	quote(w->out, s, n);
}

void jw_int(struct jw *w, int64_t v)
{
	char text[24], *p = text + sizeof(text);
	bool quoted = v > INT_SAFE || v < -INT_SAFE;
	uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;

	before_value(w);
	if (quoted)
		*--p = '"';
	do {
		*--p = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (v < 0)
		*--p = '-';
	if (quoted)
		*--p = '"';
	buf_add(w->out, p, (size_t)(text + sizeof(text) - p));
}

void jw_uint(struct jw *w, uint64_t v)
{
	if (v <= INT64_MAX) {
		jw_int(w, (int64_t)v);
		return;
	}
	before_value(w);
	buf_addf(w->out, "\"%llu\"", (unsigned long long)v);
}

void jw_bool(struct jw *w, bool v)
{
	before_value(w);
	buf_addstr(w->out, v ? "true" : "false");
}

void jw_hexf(struct jw *w, double v)
{
	before_value(w);
	if (isnan(v))
		buf_addstr(w->out, "\"nan\"");
	else if (isinf(v))
		buf_addstr(w->out, v < 0 ? "\"-inf\"" : "\"inf\"");
	else
		buf_addf(w->out, "\"%a\"", v);
}

void jw_num(struct jw *w, double v)
{
	if (!isfinite(v))
		BUG("JSON number that is not finite");
	before_value(w);
	buf_addf(w->out, "%.6g", v);
}

void jw_b64(struct jw *w, const void *p, size_t n)
{
	before_value(w);
	buf_addch(w->out, '"');
	b64_encode(w->out, p, n);
	buf_addch(w->out, '"');
}

void jw_raw(struct jw *w, const char *json, size_t n)
{
	before_value(w);
	buf_add(w->out, json, n);
}

void jw_kstr(struct jw *w, const char *key, const char *s)
{
	jw_key(w, key);
	jw_str(w, s);
}

void jw_kint(struct jw *w, const char *key, int64_t v)
{
	jw_key(w, key);
	jw_int(w, v);
}

void jw_kbool(struct jw *w, const char *key, bool v)
{
	jw_key(w, key);
	jw_bool(w, v);
}

void jw_khexf(struct jw *w, const char *key, double v)
{
	jw_key(w, key);
	jw_hexf(w, v);
}

void jw_knum(struct jw *w, const char *key, double v)
{
	jw_key(w, key);
	jw_num(w, v);
}

void jw_record(struct jw *w, const char *kind, const char *id, const char *run)
{
	jw_obj(w);
	jw_kint(w, "v", 1);
	jw_kstr(w, "kind", kind);
	jw_kstr(w, "id", id);
	jw_kstr(w, "run", run);
}
