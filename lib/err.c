#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Make msg one clean line, marking it where vsnprintf() wanted more room. */
static void tidy(struct err *e, int wanted)
{
	unsigned char *p;
	size_t end;

	if (wanted < 0) {
		e->msg[0] = '\0';
	} else if ((size_t)wanted >= sizeof(e->msg)) {
		/* Cut in front of a whole UTF-8 character. */
		end = sizeof(e->msg) - 4;
		while (end && ((unsigned char)e->msg[end] & 0xc0) == 0x80)
			end--;
		memcpy(e->msg + end, "...", 4);
	}
	for (p = (unsigned char *)e->msg; *p; p++)
		if (*p < 0x20 || *p == 0x7f)
			*p = '?';
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	char msg[sizeof(e->msg)];	/* an argument may be e->msg itself */
	va_list ap;
	int n;

	if (!e)
		return -1;
	va_start(ap, fmt);
	n = vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	e->code = code;
	memcpy(e->msg, msg, sizeof(msg));
	tidy(e, n);
	return -1;
}

int err_sys(struct err *e, int errnum, const char *fmt, ...)
{
	char what[sizeof(e->msg)];
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	if (vsnprintf(what, sizeof(what), fmt, ap) < 0)
		what[0] = '\0';
	va_end(ap);
	return err_set(e, EX_ENVIRON, "%s: %s", what, strerror(errnum));
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	char prefix[sizeof(e->msg)];
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	if (vsnprintf(prefix, sizeof(prefix), fmt, ap) < 0)
		prefix[0] = '\0';
	va_end(ap);
	return err_set(e, e->code, "%s: %s", prefix, e->msg);
}
