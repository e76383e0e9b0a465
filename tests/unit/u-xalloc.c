/* xalloc: what it gives, and how it ends where there is no memory. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tap.h"
#include "xalloc.h"

static void huge_malloc(void *p)
{
	(void)p;
	xalloc_name = "u-xalloc";
	free(xmalloc(SIZE_MAX / 2 - 1));
}

static void huge_calloc(void *p)
{
	(void)p;
	free(xcalloc(SIZE_MAX / 4, 8));
}

static void huge_realloc(void *p)
{
	(void)p;
	free(xrealloc(NULL, SIZE_MAX / 2 - 1));
}

static void huge_grow(void *p)
{
	size_t cap = 0;

	(void)p;
	free(xgrow(NULL, &cap, SIZE_MAX / 4, 8));
}

static void a_bug(void *p)
{
	(void)p;
	BUG("it can't be");
}

int main(void)
{
	static const struct { void (*f)(void *); const char *name; } tries[] = {
		{ huge_malloc, "xmalloc" }, { huge_calloc, "xcalloc" },
		{ huge_realloc, "xrealloc" }, { huge_grow, "xgrow" },
	};
	char err[4096], *s;
	size_t cap = 0, i;
	int status, *v = NULL;

	/* AddressSanitizer would rather say it itself. */
	setenv("ASAN_OPTIONS", "allocator_may_return_null=1", 1);
	s = xstrdup("abc");
	is_str(s, "abc", "xstrdup copies");
	free(s);
	s = xstrndup("abcdef", 3);
	is_str(s, "abc", "xstrndup cuts");
	free(s);
	s = xstrndup("ab", 30);
	is_str(s, "ab", "xstrndup stops at the end");
	free(s);
	s = xasprintf("%d-%s-%0200d", 7, "x", 1);
	ok(strlen(s) == 204 && !strncmp(s, "7-x-000", 7), "xasprintf formats");
	free(s);
	s = xcalloc(3, 3);
	ok(!s[0] && !s[8], "xcalloc gives zeros");
	free(s);
	s = xmalloc(0);
	ok(s != NULL, "nothing is something");
	free(s);
	for (i = 0; i < 1000; i++) {
		v = xgrow(v, &cap, i + 1, sizeof(*v));
		v[i] = (int)i;
	}
	ok(cap >= 1000 && cap <= 2000 && v[0] == 0 && v[999] == 999,
	   "xgrow keeps what is there and grows by half");
	free(v);
#ifndef __SANITIZE_ADDRESS__
	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		status = tap_child(tries[i].f, NULL, err, sizeof(err));
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 4 &&
		   strstr(err, ": out of memory (") &&
		   strchr(err, '\n') == err + strlen(err) - 1,
		   "%s ends with status 4 and one line", tries[i].name);
	}
#else
	(void)tries;
#endif
	status = tap_child(a_bug, NULL, err, sizeof(err));
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
	   !strncmp(err, "BUG: ", 5) && strstr(err, "u-xalloc.c:") &&
	   strstr(err, ": it can't be\n"), "a BUG aborts and names its place");
	return done();
}
