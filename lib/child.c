#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc.h"

/* The child, until it has ended. */
struct running { pid_t pid; int status; bool ended; };

/* Wait a while for more to read; false where nothing comes any more. */
static bool more(int fd, struct running *c)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n = poll(&p, 1, 100);

	if (n)
		return true;
	/* Who inherited its stdout may live on: that is not waited for. */
	if (!c->ended && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->ended = true;
	return !c->ended || poll(&p, 1, 0);
}

/* 0; -1 with errno; 1 where there was more than max. */
static int drain(int fd, struct buf *out, size_t max, struct running *c)
{
	size_t had = out->len;
	ssize_t n = 0;

	while (more(fd, c)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (!poll(&p, 1, 0))
			continue;
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
	buf_grow(out, 1);
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
	int fd[2] = { -1, -1 }, rc, saved = 0;
	struct running c = { 0 };

	if (out_fd < 0 && pipe2(fd, O_CLOEXEC) < 0)
		return err_sys(e, errno, "unable to make a pipe");
	if (out_fd < 0)
		spec.out = fd[1];
	c.pid = proc_spawn(&spec, e);
	if (fd[1] >= 0)
		close(fd[1]);
	if (c.pid < 0) {
		if (fd[0] >= 0)
			close(fd[0]);
		if (e)
			e->code = EX_ENVIRON;
		return -1;
	}
	rc = 0;
	if (fd[0] >= 0) {
		rc = drain(fd[0], out, max, &c);
		saved = errno;
		close(fd[0]);
		if (rc && !c.ended)
			kill(c.pid, SIGKILL);
	}
	while (!c.ended && waitpid(c.pid, &c.status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, errno, "unable to wait for '%s'",
				       argv[0]);
	if (rc > 0)
		return err_set(e, EX_ENVIRON, "'%s' printed too much", argv[0]);
	if (rc < 0)
		return err_sys(e, saved, "unable to read from '%s'", argv[0]);
	return WIFSIGNALED(c.status) ? 128 + WTERMSIG(c.status) :
	       WEXITSTATUS(c.status);
}
