#define _GNU_SOURCE
#include "zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"
#include "xalloc.h"
#include "banned.h"

#define POLL_MS 20		/* between looks where there are no pidfds */
#define FIRST_S 10		/* for the first worker to be asked for */

struct client {
	int sock;
};

struct child {
	pid_t pid;
	int pidfd;		/* -1: looked at every POLL_MS */
	int sock;		/* of its client, -1: that is gone */
};

struct server {
	const char *path;
	int listener;
	int (*run)(void *ctx);
	void *ctx;
	struct client *clients;
	size_t nclients, clients_cap;
	bool asked;			/* somebody has, for a worker */
	struct child *children;
	size_t nchildren, children_cap;
	struct pollfd *fds;
	size_t fds_cap;
};

int zygote_address(struct sockaddr_un *sa, const char *path, int *dirfd)
{
	const char *slash = strrchr(path, '/'), *base;
	char dir[PATH_MAX];
	int n;

	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	*dirfd = -1;
	if (strlen(path) < sizeof(sa->sun_path)) {
		memcpy(sa->sun_path, path, strlen(path) + 1);
		return 0;
	}
	base = slash ? slash + 1 : path;
	n = snprintf(dir, sizeof(dir), "%.*s",
		     slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	if (n < 0 || (size_t)n >= sizeof(dir)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	*dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*dirfd < 0)
		return -1;
	n = snprintf(sa->sun_path, sizeof(sa->sun_path), "/proc/self/fd/%d/%s",
		     *dirfd, base);
	if (n < 0 || (size_t)n >= sizeof(sa->sun_path)) {
		close(*dirfd);
		*dirfd = -1;
		errno = ENAMETOOLONG;
		return -1;
	}
	return 0;
}

static int listen_at(const char *path, struct err *e)
{
	struct sockaddr_un sa;
	int fd, dirfd, errnum = 0;
	mode_t mask;

	if (zygote_address(&sa, path, &dirfd) < 0)
		return err_sys(e, errno, "cannot serve at '%s'", path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		unlink(sa.sun_path);	/* left by one that was killed */
		mask = umask(077);
		if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
		    listen(fd, 128) < 0)
			errnum = errno;
		umask(mask);
	} else {
		errnum = errno;
	}
	if (dirfd >= 0)
		close(dirfd);
	if (errnum) {
		if (fd >= 0)
			close(fd);
		return err_sys(e, errnum, "cannot serve at '%s'", path);
	}
	return fd;
}

static int tell(int sock, enum zygote_op op, int pid, int status)
{
	struct zygote_msg m = { ZYGOTE_MAGIC, op, pid, status };

	/* A client that does not listen must not stop the others. */
	return send(sock, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       sizeof(m) ? 0 : -1;
}

/* A request and its three fds: 1, 0 at the client's end, -1 for nonsense. */
static int receive(int sock, struct zygote_msg *m, int fd[3])
{
	union {
		char space[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { m, sizeof(*m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	size_t nfd = 0, i, n;
	ssize_t got;

	do
		got = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return 0;
	for (c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			int one;

			memcpy(&one, CMSG_DATA(c) + i * sizeof(int),
			       sizeof(int));
			if (nfd < 3)
				fd[nfd++] = one;
			else
				close(one);
		}
	}
	if (nfd == 3 && got == (ssize_t)sizeof(*m) &&
	    m->magic == ZYGOTE_MAGIC && m->op == ZYGOTE_FORK)
		return 1;
	while (nfd)
		close(fd[--nfd]);
	return -1;
}

/* Fork a worker for the client.  -1: the client is gone. */
static int fork_worker(struct server *s, int sock, const int fd[3])
{
	pid_t pid, self = getpid();
	struct child *c;

	if (proc_threads() > 1)
		return tell(sock, ZYGOTE_REFUSED, 0, EBUSY);
	pid = fork();
	if (pid < 0)
		return tell(sock, ZYGOTE_REFUSED, 0, errno);
	if (pid == 0) {
		if (proc_become(fd[0], fd[1], fd[2], PROC_GROUP | PROC_PDEATH |
				PROC_NOCORE | PROC_OOM_FIRST, self) < 0)
			_exit(EX_ENVIRON);
		_exit(s->run(s->ctx));
	}
	setpgid(pid, pid);
	s->children = xgrow(s->children, &s->children_cap, s->nchildren + 1,
			    sizeof(*s->children));
	c = &s->children[s->nchildren++];
	c->pid = pid;
	c->pidfd = proc_pidfd(pid);
	c->sock = sock;
	return tell(sock, ZYGOTE_FORKED, pid, 0);
}

/* The i-th child if it has ended: true, and it is off the list. */
static bool reap(struct server *s, size_t i)
{
	struct child c = s->children[i];
	siginfo_t info = { 0 };
	int status = 0;

	if (waitid(P_PID, (id_t)c.pid, &info,
		   WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    !info.si_pid)
		return false;
	/* Its number and its group's are still its own: kill what is left. */
	proc_kill(c.pid, SIGKILL);
	while (waitpid(c.pid, &status, 0) < 0 && errno == EINTR)
		;
	if (c.pidfd >= 0)
		close(c.pidfd);
	s->children[i] = s->children[--s->nchildren];
	if (c.sock >= 0)
		tell(c.sock, ZYGOTE_EXITED, c.pid, status);
	return true;
}

static void drop_client(struct server *s, size_t i)
{
	int sock = s->clients[i].sock;
	size_t k;

	for (k = 0; k < s->nchildren; k++) {
		if (s->children[k].sock != sock)
			continue;
		proc_kill(s->children[k].pid, SIGKILL);
		s->children[k].sock = -1;
	}
	close(sock);
	s->clients[i] = s->clients[--s->nclients];
}

static void serve_client(struct server *s, size_t i)
{
	struct zygote_msg m;
	int fd[3], sock = s->clients[i].sock, k, got;

	got = receive(sock, &m, fd);
	if (got > 0) {
		s->asked = true;
		if (fork_worker(s, sock, fd) < 0)
			got = 0;
		for (k = 0; k < 3; k++)
			close(fd[k]);
	}
	if (got <= 0)
		drop_client(s, i);
}

static void accept_client(struct server *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	s->clients = xgrow(s->clients, &s->clients_cap, s->nclients + 1,
			   sizeof(*s->clients));
	s->clients[s->nclients++].sock = fd;
}

/* Fill s->fds: the listener, the clients, the children.  How many. */
static size_t gather(struct server *s)
{
	size_t n = 0, i;

	s->fds = xgrow(s->fds, &s->fds_cap, 1 + s->nclients + s->nchildren,
		       sizeof(*s->fds));
	s->fds[n++] = (struct pollfd){ .fd = s->listener, .events = POLLIN };
	for (i = 0; i < s->nclients; i++)
		s->fds[n++] = (struct pollfd){ .fd = s->clients[i].sock,
					       .events = POLLIN };
	for (i = 0; i < s->nchildren; i++)
		s->fds[n++] = (struct pollfd){ .fd = s->children[i].pidfd,
					       .events = POLLIN };
	return n;
}

static int wait_ms(const struct server *s, double leave)
{
	double left;
	size_t i;

	for (i = 0; i < s->nchildren; i++)
		if (s->children[i].pidfd < 0)
			return POLL_MS;
	if (s->nclients || s->nchildren)
		return -1;
	left = leave - proc_now();
	return left <= 0 ? 0 : (int)(left * 1000) + 1;
}

/* One turn of the loop: wait, then deal with whatever came. */
static void turn(struct server *s, int ms)
{
	size_t n = gather(s), nclients = s->nclients, i;

	if (poll(s->fds, n, ms) < 0)
		return;
	/* From the end: what is dropped is replaced by the last. */
	for (i = s->nchildren; i-- > 0; )
		if (s->children[i].pidfd < 0 ||
		    s->fds[1 + nclients + i].revents)
			reap(s, i);
	for (i = nclients; i-- > 0; )
		if (s->fds[1 + i].revents)
			serve_client(s, i);
	if (s->fds[0].revents)
		accept_client(s);
}

int zygote_serve(const char *path, int idle_s, int ready_fd,
		 int (*child)(void *ctx), void *ctx, struct err *e)
{
	struct server s = { .path = path, .run = child, .ctx = ctx };
	int first_s = FIRST_S, ms;
	double leave;

	s.listener = listen_at(path, e);
	if (s.listener < 0)
		return -1;
	if (ready_fd >= 0 && write(ready_fd, "\n", 1) < 0)
		ready_fd = -1;	/* whoever asked is gone; others may come */
	if (idle_s > first_s)
		first_s = idle_s;
	/* The first client is on its way, unless it was killed meanwhile. */
	leave = proc_now() + first_s;
	for (;;) {
		ms = wait_ms(&s, leave);
		if (ms == 0)
			break;
		turn(&s, ms);
		if (s.nclients || s.nchildren)
			leave = proc_now() + (s.asked ? idle_s : first_s);
	}
	unlink(path);		/* before the listener: see zygote_open() */
	close(s.listener);
	free(s.clients);
	free(s.children);
	free(s.fds);
	return 0;
}
