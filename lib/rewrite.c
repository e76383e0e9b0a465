#include "rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lines.h"
#include "xalloc.h"
#include "banned.h"

static int each(const char *path, rewrite_fn *fn, void *ctx, size_t *broken,
		struct rewrite_text *text, FILE *to, struct err *e)
{
	struct lines l;
	struct scan s;
	char *line;
	size_t len;
	int rc = 0;

	if (lines_open(&l, path, e) < 0)
		return -1;
	while (rc >= 0 && lines_record(&l, &s, &line, &len, broken) > 0) {
		struct rewrite_text as_is = { line, len };

		if (text)
			*text = as_is;
		rc = fn(ctx, &s, line, len, e);
		if (rc != REWRITE_KEEP || !to)
			continue;
		if (text)
			as_is = *text;
		if (fwrite(as_is.p, 1, as_is.len, to) != as_is.len ||
		    putc('\n', to) == EOF)
			rc = err_sys(e, errno, "cannot write");
	}
	lines_close(&l);
	return rc < 0 ? -1 : 0;
}

int rewrite_look(const char *path, rewrite_fn *fn, void *ctx, size_t *broken,
		 struct err *e)
{
	return each(path, fn, ctx, broken, NULL, NULL, e);
}

int rewrite_stream(const char *path, rewrite_fn *fn, void *ctx,
		   struct rewrite_text *text, struct err *e)
{
	char *tmp = xasprintf("%s.new", path);
	FILE *to = fopen(tmp, "we");
	size_t broken = 0;
	struct stat st;
	int rc;

	if (!to) {
		rc = err_sys(e, errno, "cannot write '%s'", tmp);
		free(tmp);
		return rc;
	}
	if (stat(path, &st) == 0 && fchmod(fileno(to), st.st_mode & 07777) < 0)
		errno = 0;	/* then it has another's mode */
	rc = each(path, fn, ctx, &broken, text, to, e);
	/* On the disk before it takes the other's place. */
	if ((fflush(to) == EOF || fsync(fileno(to)) < 0) && rc == 0)
		rc = err_sys(e, errno, "cannot write '%s'", tmp);
	if (fclose(to) == EOF && rc == 0)
		rc = err_sys(e, errno, "cannot write '%s'", tmp);
	if (rc == 0 && rename(tmp, path) < 0)
		rc = err_sys(e, errno, "cannot replace '%s'", path);
	if (rc < 0)
		unlink(tmp);
	free(tmp);
	return rc;
}
