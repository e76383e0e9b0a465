#define _GNU_SOURCE
#include "zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "proc.h"
#include "xalloc.h"
#include "banned.h"

#define ANSWER_S 60.0		/* a fork that takes longer: a dead zygote */
#define LOOK_US 5000		/* between attempts to connect */

/* A connected socket, or -1 with errno. */
static int connect_to(const char *path)
{
	struct sockaddr_un sa;
	int fd, dirfd, errnum;

	if (zygote_address(&sa, path, &dirfd) < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		errnum = errno;
		close(fd);
		fd = -1;
		errno = errnum;
	}
	if (dirfd >= 0) {
		errnum = errno;
		close(dirfd);
		errno = errnum;
	}
	return fd;
}

/* What the last line of text is, to be shown to people. */
static void last_line(const char *path, char out[512])
{
	struct buf b = BUF_INIT;
	char *nl;

	snprintf(out, 512, "no message");
	if (buf_read_file(&b, path, 1u << 20, NULL) == 0) {
		while (b.len && strchr("\n\r \t", b.p[b.len - 1]))
			b.p[--b.len] = '\0';
		nl = strrchr(b.p, '\n');
		if (b.len)
			snprintf(out, 512, "%s", nl ? nl + 1 : b.p);
	}
	buf_release(&b);
}

/* The command as given, with "--zygote PATH" behind it; new. */
static char **with_path(char *const argv[], const char *path)
{
	char **v;
	size_t n = 0;

	while (argv[n])
		n++;
	v = xcalloc(n + 3, sizeof(*v));
	memcpy(v, argv, n * sizeof(*v));
	v[n] = xstrdup("--zygote");
	v[n + 1] = xstrdup(path);
	return v;
}

static pid_t launch(const char *path, const char *errpath, char *const argv[],
		    bool own, struct err *e)
{
	struct proc_spec s = { .in = -1, .out = -1, .flags = PROC_NOCORE };
	char **v = with_path(argv, path);
	size_t n = 0;
	pid_t pid;

	while (v[n])
		n++;
	s.argv = v;
	/* A shared one outlives us, and a Ctrl-C that is meant for us. */
	s.flags |= PROC_SESSION | (own ? PROC_PDEATH : 0);
	s.err = open(errpath, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND |
		     O_CLOEXEC, 0600);
	if (s.err < 0) {
		pid = err_sys(e, errno, "cannot write '%s'", errpath);
	} else {
		pid = proc_spawn(&s, e);
		close(s.err);
	}
	free(v[n - 1]);
	free(v[n - 2]);
	free(v);
	return pid;
}

/* Wait for the one that we started: a socket, or -1 with e set. */
static int await(pid_t pid, const char *path, const char *errpath,
		 double wait_s, struct err *e)
{
	double end = proc_now() + wait_s;
	char line[512], how[32];
	int fd, status;

	for (;;) {
		fd = connect_to(path);
		if (fd >= 0)
			return fd;
		if (waitpid(pid, &status, WNOHANG) == pid)
			break;
		if (proc_now() > end) {
			proc_kill(pid, SIGKILL);
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
			last_line(errpath, line);
			return err_set(e, EX_ENVIRON, "no worker process after "
				       "%.0f seconds: %s", wait_s, line);
		}
		usleep(LOOK_US);
	}
	proc_status_text(status, how);
	last_line(errpath, line);
	err_set(e, EX_ENVIRON, "the command ended (%s): %s", how, line);
	if (e && WIFEXITED(status) && WEXITSTATUS(status) >= EX_BADUSE &&
	    WEXITSTATUS(status) <= EX_ENVIRON)
		e->code = WEXITSTATUS(status);
	return -1;
}

/* Start one under the lock, unless somebody has meanwhile. */
static int start_shared(const char *path, char *const argv[], double wait_s,
			struct err *e)
{
	char *lock = xasprintf("%s.lock", path);
	char *errpath = xasprintf("%s.err", path);
	int lockfd, fd = -1;
	pid_t pid;

	lockfd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lockfd < 0) {
		err_sys(e, errno, "cannot open '%s'", lock);
		goto out;
	}
	while (flock(lockfd, LOCK_EX) < 0)
		if (errno != EINTR) {
			err_sys(e, errno, "cannot lock '%s'", lock);
			goto out;
		}
	fd = connect_to(path);
	if (fd < 0) {
		pid = launch(path, errpath, argv, false, e);
		if (pid > 0)
			fd = await(pid, path, errpath, wait_s, e);
	}
out:
	if (lockfd >= 0)
		close(lockfd);
	free(lock);
	free(errpath);
	return fd;
}

static int start_private(struct zygote *z, char *const argv[], double wait_s,
			 struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf("%s/cts-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	char *path = NULL, *errpath = NULL;
	int fd = -1;

	if (!mkdtemp(dir)) {
		err_sys(e, errno, "cannot make a folder '%s'", dir);
		free(dir);
		return -1;
	}
	path = xasprintf("%s/z", dir);
	errpath = xasprintf("%s/z.err", dir);
	z->pid = launch(path, errpath, argv, true, e);
	if (z->pid > 0)
		fd = await(z->pid, path, errpath, wait_s, e);
	if (fd < 0)
		z->pid = 0;
	unlink(path);
	unlink(errpath);
	rmdir(dir);
	free(path);
	free(errpath);
	free(dir);
	return fd;
}

int zygote_open(struct zygote *z, const char *path, char *const argv[],
		double wait_s, struct err *e)
{
	memset(z, 0, sizeof(*z));
	z->sock = -1;
	if (!path) {
		z->sock = start_private(z, argv, wait_s, e);
		return z->sock < 0 ? -1 : 0;
	}
	z->sock = connect_to(path);
	if (z->sock < 0)
		z->sock = start_shared(path, argv, wait_s, e);
	return z->sock < 0 ? -1 : 0;
}

void zygote_close(struct zygote *z)
{
	if (z->sock >= 0)
		close(z->sock);
	z->sock = -1;
	z->npending = 0;
	if (z->pid > 0) {
		proc_kill(z->pid, SIGKILL);
		while (waitpid(z->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	z->pid = 0;
}

static int ask(int sock, const int fd[3])
{
	struct zygote_msg m = { ZYGOTE_MAGIC, ZYGOTE_FORK, 0, 0 };
	union {
		char space[CMSG_SPACE(3 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	ssize_t n;

	memset(&control, 0, sizeof(control));
	c = CMSG_FIRSTHDR(&h);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(3 * sizeof(int));
	memcpy(CMSG_DATA(c), fd, 3 * sizeof(int));
	do
		n = sendmsg(sock, &h, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(m) ? 0 : -1;
}

/* The next message: 1, 0 for none within ms, -1 at the zygote's end. */
static int get(int sock, struct zygote_msg *m, int ms)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	ssize_t n;
	int k;

	do
		k = poll(&p, 1, ms);
	while (k < 0 && errno == EINTR);
	if (k == 0)
		return 0;
	do
		n = recv(sock, m, sizeof(*m), 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*m) && m->magic == ZYGOTE_MAGIC ? 1 : -1;
}

static pid_t gone(struct zygote *z, struct err *e)
{
	zygote_close(z);
	return err_set(e, EX_ENVIRON, "the process that forks workers is gone");
}

pid_t zygote_fork(struct zygote *z, int in, int out, int err_fd,
		  struct err *e)
{
	int fd[3] = { in, out, err_fd };
	struct zygote_msg m;

	if (z->sock < 0 || ask(z->sock, fd) < 0)
		return gone(z, e);
	for (;;) {
		if (get(z->sock, &m, (int)(ANSWER_S * 1000)) <= 0)
			return gone(z, e);
		if (m.op == ZYGOTE_FORKED)
			return m.pid > 1 ? m.pid : gone(z, e);
		if (m.op == ZYGOTE_REFUSED)
			return 0;
		/* The end of an earlier worker, for zygote_next(). */
		if (z->npending == ZYGOTE_PENDING)
			return gone(z, e);
		z->pending[z->npending++] = m;
	}
}

bool zygote_pending(const struct zygote *z)
{
	return z->npending > 0;
}

int zygote_next(struct zygote *z, struct zygote_msg *m)
{
	int got;

	if (z->npending) {
		*m = z->pending[0];
		z->npending--;
		memmove(z->pending, z->pending + 1,
			(size_t)z->npending * sizeof(*m));
		return 1;
	}
	if (z->sock < 0)
		return -1;
	got = get(z->sock, m, 0);
	if (got < 0)
		zygote_close(z);
	return got;
}
