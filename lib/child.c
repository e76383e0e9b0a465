#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc.h"

/* 0; -1 with errno; 1 where there was more than max. */
static int drain(int fd, struct buf *out, size_t max)
{
	size_t had = out->len;
	ssize_t n;

	for (;;) {
		buf_grow(out, 65536);
		n = read(fd, out->p + out->len, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		out->len += (size_t)n;
		if (out->len - had > max)
			return 1;
	}
	out->p[out->len] = '\0';
	return n < 0 ? -1 : 0;
}

int child_run(char *const argv[], int out_fd, struct buf *out, size_t max,
	      struct err *e)
{
	struct proc_spec spec = {
		.argv = argv, .in = -1, .out = out_fd, .err = 2,
		.flags = PROC_PDEATH,
	};
	int fd[2] = { -1, -1 }, rc, status, saved = 0;
	pid_t pid;

	if (out_fd < 0 && pipe2(fd, O_CLOEXEC) < 0)
		return err_sys(e, errno, "unable to make a pipe");
	if (out_fd < 0)
		spec.out = fd[1];
	pid = proc_spawn(&spec, e);
	if (fd[1] >= 0)
		close(fd[1]);
	if (pid < 0) {
		if (fd[0] >= 0)
			close(fd[0]);
		if (e)
			e->code = EX_ENVIRON;
		return -1;
	}
	rc = 0;
	if (fd[0] >= 0) {
		rc = drain(fd[0], out, max);
		saved = errno;
		close(fd[0]);
		if (rc)
			kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, errno, "unable to wait for '%s'",
				       argv[0]);
	if (rc > 0)
		return err_set(e, EX_ENVIRON, "'%s' printed too much", argv[0]);
	if (rc < 0)
		return err_sys(e, saved, "unable to read from '%s'", argv[0]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
	       WEXITSTATUS(status);
}
