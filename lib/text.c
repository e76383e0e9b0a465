#include "text.h"

#include <stdio.h>
#include <string.h>

#include "utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Length of the UTF-8 character at s, or 0 where there is none. */
static size_t text_char(const char *s)
{
	return (size_t)utf8_len(s, strnlen(s, 4));
}

char *text_cut(const char *s, size_t max)
{
	struct buf b = BUF_INIT;

	if (!s)
		return NULL;
	buf_grow(&b, 1);
	while (*s) {
		size_t n = text_char(s);

		if (b.len + (n ? n : 3) > max) {
			buf_addstr(&b, "...");
			break;
		}
		if (n)
			buf_add(&b, s, n);
		else
			buf_addstr(&b, REPLACEMENT);
		s += n ? n : 1;
	}
	return buf_detach(&b);
}

/* C0, DEL and, as two bytes of UTF-8, C1; also the bidi overrides. */
static bool is_control(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;

	if (n == 1)
		return *p < 0x20 || *p == 0x7f;
	if (n == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	return n == 3 && p[0] == 0xe2 &&
	       ((p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) ||
		(p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

void text_plain(struct buf *out, const char *s)
{
	while (*s) {
		size_t n = text_char(s);

		if (!n || is_control(s, n))
			buf_addch(out, '?');
		else
			buf_add(out, s, n);
		s += n ? n : 1;
	}
}

void text_shell(struct buf *out, const char *s)
{
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789._:+@-/=,%";

	if (*s && s[strspn(s, safe)] == '\0') {
		buf_addstr(out, s);
		return;
	}
	buf_addch(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_addstr(out, "'\\''");
		else
			buf_addch(out, *s);
	}
	buf_addch(out, '\'');
}

void text_xml(struct buf *out, const char *s)
{
	while (*s) {
		size_t n = text_char(s);

		if (*s == '&')
			buf_addstr(out, "&amp;");
		else if (*s == '<')
			buf_addstr(out, "&lt;");
		else if (*s == '>')
			buf_addstr(out, "&gt;");
		else if (*s == '"')
			buf_addstr(out, "&quot;");
		else if (*s == '\'')
			buf_addstr(out, "&#39;");
		else if (*s == '\n' || *s == '\t')
			buf_addch(out, *s);
		else if (!n || is_control(s, n) ||
			 !strncmp(s, "\xef\xbf\xbe", 3) ||
			 !strncmp(s, "\xef\xbf\xbf", 3))
			buf_addstr(out, REPLACEMENT);
		else
			buf_add(out, s, n);
		s += n ? n : 1;
	}
}

bool text_is_url(const char *s)
{
	size_t n = !strncmp(s, "http://", 7) ? 7 :
		   !strncmp(s, "https://", 8) ? 8 : 0;

	if (!n || !s[n])
		return false;
	for (s += n; *s; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f || *s == '"' ||
		    *s == '<' || *s == '>' || *s == '\\')
			return false;
	return true;
}

void text_count(struct buf *out, size_t n)
{
	char s[32];
	int len = snprintf(s, sizeof(s), "%zu", n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_addch(out, ',');
		buf_addch(out, s[i]);
	}
}
