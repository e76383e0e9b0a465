/*
 * worker: a process that runs cases, seen from outside: its pipes, its end,
 * and what it left on stderr.
 */
#ifndef CTS_WORKER_H
#define CTS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "buf.h"
#include "err.h"
#include "zygote.h"

#define WORKER_TAIL 16384	/* bytes of stderr that are kept */

enum worker_end {
	WORKER_RUNS,
	WORKER_EXITED,		/* status is as from waitpid() */
	WORKER_LOST,		/* its zygote died and took it along */
	WORKER_ABANDONED,	/* not even SIGKILL ended it */
};

struct worker {
	pid_t pid;		/* 0: there is no worker */
	bool forked;		/* by a zygote, which tells of its end */
	int in, out, err;	/* our ends of its pipes, -1: closed */
	int pidfd;		/* of our own child, or -1 */
	enum worker_end end;
	int status;
	struct buf feed;	/* for its stdin, from fed on */
	size_t fed;
	bool feed_ends;		/* close its stdin once feed is written */
	struct buf text;	/* of its stdout, from pos on */
	size_t pos, scanned;
	bool skipping;		/* amid an over-long line */
	bool drained;		/* nothing was left at the last reading */
	struct buf tail;	/* of its stderr */
	size_t heard;		/* bytes of stderr in all */
	size_t mark[2];		/* heard at the last two such readings */
	uint64_t oom_kills;	/* proc_oom_kills() at its start */
};

#define WORKER_INIT { .in = -1, .out = -1, .err = -1, .pidfd = -1, \
	.feed = BUF_INIT, .text = BUF_INIT, .tail = BUF_INIT }

/*
 * Start one with argv, forked by z where that is not NULL.  1; 0 where z
 * refuses to fork; -1 with e set (as proc_spawn(); a z that is gone has
 * z->sock -1).
 */
int worker_start(struct worker *w, char *const argv[], struct zygote *z,
		 struct err *e);
void worker_release(struct worker *w);	/* closes and frees; kills nothing */

/* Queue a line (without LF) for its stdin, or that stdin's end. */
void worker_feed(struct worker *w, const char *line, size_t len);
void worker_feed_end(struct worker *w);
bool worker_hungry(const struct worker *w);	/* poll in for POLLOUT */
void worker_write(struct worker *w);		/* as much as it takes */

/*
 * Take what there is on its stdout or stderr, without waiting, at most a few
 * hundred KB a call: 1, 0 where there is nothing now, -1 at its end.
 * worker_hear() copies what comes to echo, a fd, where that is not -1.
 */
int worker_read(struct worker *w);
void worker_quiet(struct worker *w);	/* poll() says stdout has nothing */
int worker_hear(struct worker *w, int echo);

/*
 * The next whole line of its stdout, without LF, borrowed until the next call:
 * 1; 0 where there is none; -1 for one too long to be a record, now dropped.
 */
int worker_line(struct worker *w, const char **line, size_t *len);

/* Look whether a child of our own has ended; sets end and status. */
void worker_check(struct worker *w);

/*
 * A line just read begins a case: forget what was on stderr before, as far as
 * that is certain.  Read stdout first and stderr second for this to hold.
 */
void worker_forget(struct worker *w);

/*
 * From the tail: the last max bytes; the last line; and from the first line on
 * that begins a report of a fatal error (NULL where there is none).  Borrowed.
 */
const char *worker_stderr(const struct worker *w, size_t max);
void worker_last_line(const struct worker *w, char out[512]);
const char *worker_stack(const struct worker *w);

#endif
