/*
 * zygote: the protocol between cts-isolate and a process that has imported
 * PyTorch and forks workers on request (cts-exec --zygote).
 *
 * Over a SOCK_SEQPACKET Unix socket: the client sends ZYGOTE_FORK with three
 * fds (the worker's stdin, stdout, stderr) as SCM_RIGHTS; the zygote answers
 * ZYGOTE_FORKED with the pid, and later ZYGOTE_EXITED with pid and wait status.
 * A client that disconnects has its workers killed.
 */
#ifndef CTS_ZYGOTE_H
#define CTS_ZYGOTE_H

#include <stdint.h>
#include <sys/types.h>
#include "err.h"

#define ZYGOTE_MAGIC 0x63747301u	/* "cts", version 1 */

enum zygote_op { ZYGOTE_FORK = 1, ZYGOTE_FORKED, ZYGOTE_EXITED, ZYGOTE_REFUSED };

struct zygote_msg {
	uint32_t magic;
	uint32_t op;
	int32_t pid;
	int32_t status;		/* as from waitpid(), or errno of a refusal */
};

/*
 * The zygote's side: serve on the socket path until no client is left and
 * none came for idle_s seconds.  For each request the child runs child(ctx)
 * with the client's fds as 0, 1, 2 and leaves with _exit(its result).
 * 0 at the end, -1 with e set on trouble.  Refuses to fork (ZYGOTE_REFUSED)
 * when /proc/self/task holds more than one thread.
 */
int zygote_serve(const char *path, int idle_s, int ready_fd,
		 int (*child)(void *ctx), void *ctx, struct err *e);

/* The client's side. */
int zygote_connect(const char *path, struct err *e);	/* fd, or -1 */
pid_t zygote_fork(int sock, int in, int out, int err_fd, struct err *e);

#endif
