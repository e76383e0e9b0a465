#include "xalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"

const char *xalloc_name = "cts";

_Noreturn static void out_of_memory(size_t n)
{
	char line[128];
	int len;

	len = snprintf(line, sizeof(line), "%.32s: out of memory (%zu bytes)\n",
		       xalloc_name, n);
	if (write(2, line, len) < 0)
		_exit(EX_ENVIRON);	/* nothing is left to be tried */
	_exit(EX_ENVIRON);
}

_Noreturn void xbug(const char *file, int line, const char *what)
{
	char msg[512];
	int len;

	len = snprintf(msg, sizeof(msg), "BUG: %.200s:%d: %.200s\n", file,
		       line, what);
	if (write(2, msg, len) < 0)
		abort();
	abort();
}

void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		out_of_memory(n);
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory(size && n > SIZE_MAX / size ? SIZE_MAX :
			      n * size);
	return p;
}

void *xrealloc(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	if (!p)
		out_of_memory(n);
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = xmalloc(len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		BUG("vsnprintf");
	p = xmalloc((size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

void *xgrow(void *p, size_t *cap, size_t n, size_t size)
{
	size_t c = *cap;

	if (n <= c)
		return p;
	c += c / 2;
	if (c < 16)
		c = 16;
	if (c < n)
		c = n;
	if (c > SIZE_MAX / size)
		out_of_memory(SIZE_MAX);
	p = xrealloc(p, c * size);
	*cap = c;
	return p;
}
