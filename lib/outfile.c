#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "xalloc.h"

/* 0, or -1 with errno. */
static int put(const char *path, const struct buf *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	size_t at = 0;
	int errnum;

	if (fd < 0)
		return -1;
	while (at < b->len) {
		ssize_t n = write(fd, b->p + at, b->len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errnum = n ? errno : ENOSPC;
			close(fd);
			errno = errnum;
			return -1;
		}
		at += (size_t)n;
	}
	return close(fd);
}

int outfile_write(const char *path, const struct buf *b, struct err *e)
{
	struct stat st;
	char *tmp;
	int rc;

	if (!strcmp(path, "-")) {
		/* What stdio can't write, prog_finish() finds. */
		fwrite(b->p, 1, b->len, stdout);
		return 0;
	}
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		if (put(path, b) < 0)
			return err_sys(e, errno, "cannot write '%s'", path);
		return 0;
	}
	tmp = xasprintf("%s.%ld.tmp", path, (long)getpid());
	rc = put(tmp, b);
	if (rc == 0)
		rc = rename(tmp, path);
	if (rc < 0) {
		err_sys(e, errno, "cannot write '%s'", path);
		unlink(tmp);
	}
	free(tmp);
	return rc;
}
