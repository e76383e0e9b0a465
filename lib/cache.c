#define _XOPEN_SOURCE 700	/* nftw() */
#include "cache.h"

#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "buf.h"
#include "prog.h"
#include "sha256.h"
#include "xalloc.h"

/* PyTorch's folder, known when the toolkit is built; "" without one. */
#ifndef CTS_SITE
#define CTS_SITE ""
#endif

/* The folder for caches: new. */
static char *cache_root(void)
{
	const char *s = getenv("CTS_CACHE");

	if (s && *s)
		return xstrdup(s);
	s = getenv("XDG_CACHE_HOME");
	if (s && *s == '/')
		return xasprintf("%s/cts", s);
	s = getenv("HOME");
	return xasprintf("%s/.cache/cts", s && *s ? s : "/tmp");
}

/* "…'2.13.0+cpu'…" after "__version__": new, or NULL. */
static char *version_of(const char *text)
{
	const char *p = strstr(text, "__version__ ="), *q;

	p = p ? strpbrk(p, "'\"") : NULL;
	q = p ? strpbrk(p + 1, "'\"\n") : NULL;
	return q && *q != '\n' ? xstrndup(p + 1, (size_t)(q - p - 1)) : NULL;
}

void cache_add_suites(struct buf *b, const char *folder)
{
	char *pattern = xasprintf("%s/*.py", folder);
	glob_t g;
	size_t i;

	if (!glob(pattern, 0, NULL, &g)) {
		for (i = 0; i < g.gl_pathc; i++) {
			buf_addstr(b, strrchr(g.gl_pathv[i], '/'));
			buf_read_file(b, g.gl_pathv[i], 8 << 20, NULL);
		}
		globfree(&g);
	}
	free(pattern);
}

char *cache_dir(char **torch, struct err *e)
{
	static const char *const asking[] = {
		"opinfo", "aten", "derive", "suite",
	};
	struct buf b = BUF_INIT;
	char *path, *root, *dir = NULL, hex[65], safe[80];
	size_t i;

	path = xasprintf("%s/torch/version.py", CTS_SITE);
	if (!*CTS_SITE || buf_read_file(&b, path, 1 << 20, NULL) < 0) {
		err_set(e, EX_ENVIRON, "there is no PyTorch where the toolkit "
			"was built for it; run make again");
		goto out;
	}
	*torch = version_of(b.p);
	if (!*torch) {
		err_set(e, EX_ENVIRON, "%s: no version in it", path);
		goto out;
	}
	buf_addstr(&b, CTS_VERSION);
	/* What asks PyTorch is part of the answer. */
	for (i = 0; i < sizeof(asking) / sizeof(*asking); i++) {
		free(path);
		path = xasprintf("%s/shim/%s.py", prog_root(), asking[i]);
		buf_read_file(&b, path, 1 << 20, NULL);
	}
	free(path);
	path = xasprintf("%s/suites", prog_root());
	cache_add_suites(&b, path);
	sha256_hex(b.p, b.len, hex);
	snprintf(safe, sizeof(safe), "%s", *torch);
	for (i = 0; safe[i]; i++)
		if (safe[i] == '/')
			safe[i] = '_';
	root = cache_root();
	dir = xasprintf("%s/%s-%.12s", root, safe, hex);
	free(root);
out:
	free(path);
	buf_release(&b);
	return dir;
}

int cache_make(const char *dir, struct err *e)
{
	char *path = xstrdup(dir), *p;
	int rc = 0;

	for (p = path + 1; ; p++) {
		char was = *p;

		if (was && was != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST) {
			rc = err_sys(e, errno, "unable to make '%s'", path);
			break;
		}
		*p = was;
		if (!was)
			break;
	}
	free(path);
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

int cache_forget(struct err *e)
{
	char *torch = NULL, *dir = cache_dir(&torch, e);
	int rc = dir ? 0 : -1;

	if (dir && nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS) &&
	    errno != ENOENT)
		rc = err_sys(e, errno, "unable to empty '%s'", dir);
	free(torch);
	free(dir);
	return rc;
}
