/*
 * zygote: the protocol between cts-isolate and a process that has imported
 * PyTorch, has touched no device, and forks workers on request
 * (cts-exec --zygote PATH).
 *
 * Over a SOCK_SEQPACKET Unix socket at PATH: a client sends ZYGOTE_FORK with
 * three fds (the worker's stdin, stdout, stderr) as SCM_RIGHTS; the zygote
 * answers ZYGOTE_FORKED with the pid or ZYGOTE_REFUSED with an errno, in the
 * order of the requests, and sends ZYGOTE_EXITED with pid and wait status when
 * that worker has ended and what was left of its process group is killed.
 *
 * Nothing outlives its user: a client that disconnects has its workers killed,
 * workers die with the zygote, and a zygote without clients leaves.
 */
#ifndef CTS_ZYGOTE_H
#define CTS_ZYGOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "err.h"

#define ZYGOTE_MAGIC 0x63747301u	/* "cts", version 1 */

enum zygote_op {
	ZYGOTE_FORK = 1, ZYGOTE_FORKED, ZYGOTE_EXITED, ZYGOTE_REFUSED
};

struct zygote_msg {
	uint32_t magic;
	uint32_t op;
	int32_t pid;
	int32_t status;		/* as from waitpid(), or errno of a refusal */
};

/*
 * The zygote's side: serve on the socket path until no client is left and
 * none came for idle_s seconds, then remove path.  Until somebody has asked for
 * a worker that is ten seconds at least.
 * One byte goes to ready_fd (-1: none) when a client can connect.
 *
 * For each request the child runs child(ctx), with the client's fds as 0, 1,
 * 2, every other fd closed, leading its own process group; it leaves with
 * _exit(child's result), so child flushes what it wrote.
 * A child in an embedded Python calls PyOS_AfterFork_Child() first.
 *
 * Refuses to fork (EBUSY) while this process has more than one thread.
 * 0 at the end, -1 with e set on trouble.
 */
int zygote_serve(const char *path, int idle_s, int ready_fd,
		 int (*child)(void *ctx), void *ctx, struct err *e);

/*
 * An address for path, however long it is; *dirfd (-1: none) is for the caller
 * to close once it has used the address.  0, or -1 with errno.
 */
struct sockaddr_un;
int zygote_address(struct sockaddr_un *sa, const char *path, int *dirfd);

/* The client's side. */
#define ZYGOTE_PENDING 8

struct zygote {
	int sock;		/* readable: call zygote_next(); -1: none */
	pid_t pid;		/* of a private zygote, 0: a shared one */
	struct zygote_msg pending[ZYGOTE_PENDING];
	int npending;
};

/*
 * Connect to the zygote at path and start one there with argv plus "--zygote
 * path" where none answers; clients that come at the same moment start one
 * between them.  path NULL: a private one in a temporary folder, which leaves
 * no file behind.  Waits at most wait_s seconds for it to be ready.  What the
 * zygote says on stderr goes to path plus ".err"; its last line is in e
 * when it can't start.  0, or -1 with e set (its code is the zygote's own exit
 * status where that is one of enum cts_exit's).
 */
int zygote_open(struct zygote *z, const char *path, char *const argv[],
		double wait_s, struct err *e);
void zygote_close(struct zygote *z);

/*
 * Have a worker forked with these fds (the caller keeps and closes its own).
 * Its pid; 0 where the zygote refuses to fork; -1 with e set where the zygote
 * is gone (z is closed then).
 */
pid_t zygote_fork(struct zygote *z, int in, int out, int err_fd,
		  struct err *e);

/*
 * The next end of a worker, without waiting: 1 with m filled, 0 where there
 * is none now, -1 where the zygote is gone (z is closed then).
 */
int zygote_next(struct zygote *z, struct zygote_msg *m);

/* True when zygote_next() has something that no poll() will tell of. */
bool zygote_pending(const struct zygote *z);

#endif
