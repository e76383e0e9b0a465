#include "manifest_say.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "xalloc.h"

static void vsay(struct check *c, bool warn, const char *path, const char *fmt,
		 va_list ap)
{
	struct buf b = BUF_INIT;
	struct finding *x;
	const char *p;

	c->f->v = xgrow(c->f->v, &c->f->cap, c->f->n + 1, sizeof(*c->f->v));
	x = &c->f->v[c->f->n++];
	x->line = c->line ? c->line : jsonpos_line(c->pos, path);
	x->warn = warn;
	buf_addstr(&b, c->file);
	if (x->line)
		buf_addf(&b, ":%d", x->line);
	if (*path)
		buf_addstr(&b, ": ");
	for (p = path; *p; p++)
		buf_addch(&b, iscntrl((unsigned char)*p) ? '?' : *p);
	x->where = buf_detach(&b);
	buf_init(&b);
	buf_vaddf(&b, fmt, ap);
	for (p = b.p; *p; p++)
		if (iscntrl((unsigned char)*p))
			b.p[p - b.p] = '?';
	x->what = buf_detach(&b);
}

void check_say(struct check *c, const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(c, false, path, fmt, ap);
	va_end(ap);
}

void check_advise(struct check *c, const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(c, true, path, fmt, ap);
	va_end(ap);
}

/* What an item is, for "expected X, got Y"; static, one at a time. */
const char *check_got(const cJSON *item)
{
	static char text[80];

	if (cJSON_IsString(item))
		snprintf(text, sizeof(text), "'%.60s'", item->valuestring);
	else if (cJSON_IsNumber(item))
		snprintf(text, sizeof(text), "%.15g", item->valuedouble);
	else if (cJSON_IsBool(item))
		return cJSON_IsTrue(item) ? "true" : "false";
	else if (cJSON_IsNull(item))
		return "null";
	else
		return cJSON_IsArray(item) ? "a list" : "an object";
	return text;
}

void check_expected(struct check *c, const char *path, const char *form,
		     const cJSON *item)
{
	check_say(c, path, "expected %s, got %s", form, check_got(item));
}

/* An unknown name, with the nearest known one where there is one. */
void check_unknown(struct check *c, const char *path, const char *what,
		    const char *name, const char *near)
{
	if (near)
		check_say(c, path, "unknown %s '%.80s', did you mean '%s'?",
			  what, name, near);
	else
		check_say(c, path, "unknown %s '%.80s'", what, name);
}

char *check_sub(const char *path, const char *key)
{
	return xasprintf("%s.%s", path, key);
}

bool check_is_object(struct check *c, const char *path, const cJSON *item)
{
	if (cJSON_IsObject(item))
		return true;
	check_expected(c, path, "an object", item);
	return false;
}

/* n letters of a dotted identifier: "pkg.mod". */
bool check_is_dotted(const char *s, size_t n)
{
	bool start = true;
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char ch = (unsigned char)s[i];

		if (start ? !(isalpha(ch) || ch == '_') :
		    !(isalnum(ch) || ch == '_' || ch == '.'))
			return false;
		start = ch == '.';
	}
	return n && !start;
}

/* Each element of a list, or the one item that stands for a list. */
void check_each(struct check *c, const char *path, const cJSON *item,
		 void (*one)(struct check *, const char *, const cJSON *))
{
	const cJSON *x;
	int i = 0;

	if (!cJSON_IsArray(item)) {
		one(c, path, item);
		return;
	}
	cJSON_ArrayForEach(x, item) {
		char *p = xasprintf("%s[%d]", path, i++);

		one(c, p, x);
		free(p);
	}
}

void check_bool(struct check *c, const char *path, const cJSON *item)
{
	if (!cJSON_IsBool(item))
		check_expected(c, path, "true or false", item);
}
