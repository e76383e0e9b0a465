#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"
#include "rec.h"
#include "banned.h"

#define CHUNK 65536
#define CHUNKS 4		/* a call: the clock must be looked at, too */
#define PIPE_BYTES (1 << 20)

static const char *const reports[] = {
	"Fatal Python error", "native stack:", "==ERROR: ", "*** Aborted",
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Three pipes; ours[i] is non-blocking.  -1 with errno. */
static int make_pipes(int ours[3], int theirs[3])
{
	int i, p[2];

	for (i = 0; i < 3; i++)
		ours[i] = theirs[i] = -1;
	for (i = 0; i < 3; i++) {
		if (pipe2(p, O_CLOEXEC) < 0)
			return -1;
		ours[i] = p[i == 0];
		theirs[i] = p[i != 0];
		if (fcntl(ours[i], F_SETFL, O_NONBLOCK) < 0)
			return -1;
	}
	fcntl(ours[1], F_SETPIPE_SZ, PIPE_BYTES);	/* as may be */
	return 0;
}

static void reset(struct worker *w)
{
	buf_reset(&w->feed);
	buf_reset(&w->text);
	buf_reset(&w->tail);
	w->fed = w->pos = w->scanned = 0;
	w->heard = w->mark[0] = w->mark[1] = 0;
	w->feed_ends = w->skipping = w->drained = false;
	w->end = WORKER_RUNS;
	w->status = 0;
	w->pid = 0;
}

int worker_start(struct worker *w, char *const argv[], struct zygote *z,
		 struct err *e)
{
	struct proc_spec s = { .argv = argv, .flags = PROC_GROUP |
			PROC_PDEATH | PROC_NOCORE | PROC_OOM_FIRST };
	int ours[3], theirs[3], i;
	pid_t pid;

	reset(w);
	if (make_pipes(ours, theirs) < 0) {
		pid = err_sys(e, errno, "cannot make a pipe");
	} else if (z) {
		pid = zygote_fork(z, theirs[0], theirs[1], theirs[2], e);
	} else {
		s.in = theirs[0];
		s.out = theirs[1];
		s.err = theirs[2];
		pid = proc_spawn(&s, e);
	}
	for (i = 0; i < 3; i++) {
		close_fd(&theirs[i]);
		if (pid <= 0)
			close_fd(&ours[i]);
	}
	if (pid <= 0)
		return pid;
	w->pid = pid;
	w->forked = z != NULL;
	w->in = ours[0];
	w->out = ours[1];
	w->err = ours[2];
	w->pidfd = z ? -1 : proc_pidfd(pid);
	w->oom_kills = proc_oom_kills();
	return 1;
}

void worker_release(struct worker *w)
{
	close_fd(&w->in);
	close_fd(&w->out);
	close_fd(&w->err);
	close_fd(&w->pidfd);
	buf_release(&w->feed);
	buf_release(&w->text);
	buf_release(&w->tail);
	w->pid = 0;
}

void worker_feed(struct worker *w, const char *line, size_t len)
{
	buf_add(&w->feed, line, len);
	buf_addch(&w->feed, '\n');
}

void worker_feed_end(struct worker *w)
{
	w->feed_ends = true;
	if (w->fed == w->feed.len)
		close_fd(&w->in);
}

bool worker_hungry(const struct worker *w)
{
	return w->in >= 0 && w->fed < w->feed.len;
}

void worker_write(struct worker *w)
{
	ssize_t n;

	while (worker_hungry(w)) {
		n = write(w->in, w->feed.p + w->fed, w->feed.len - w->fed);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			close_fd(&w->in);	/* it reads no more */
			return;
		}
		w->fed += (size_t)n;
	}
	if (w->fed == w->feed.len) {
		buf_reset(&w->feed);
		w->fed = 0;
		if (w->feed_ends)
			close_fd(&w->in);
	}
}

/* One read into b: its length, 0 for nothing now, -1 at the end. */
static ssize_t take(int fd, struct buf *b)
{
	ssize_t n;

	buf_grow(b, CHUNK);
	do
		n = read(fd, b->p + b->len, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0)
		return -1;
	b->len += (size_t)n;
	b->p[b->len] = '\0';
	return n;
}

static void drop_front(struct buf *b, size_t n)
{
	memmove(b->p, b->p + n, b->len - n + 1);
	b->len -= n;
}

void worker_quiet(struct worker *w)
{
	w->drained = true;
	w->mark[1] = w->mark[0];
	w->mark[0] = w->heard;
}

int worker_read(struct worker *w)
{
	size_t had, heard = w->heard;
	ssize_t n = 1;
	int i;

	if (w->out < 0)
		return -1;
	if (w->pos) {
		drop_front(&w->text, w->pos);
		w->scanned -= w->pos;
		w->pos = 0;
	}
	had = w->text.len;
	w->drained = false;
	for (i = 0; i < CHUNKS && n > 0; i++) {
		n = take(w->out, &w->text);
		if (n > 0 && n < CHUNK) {
			i = CHUNKS;	/* a pipe gives all that it has */
			w->drained = true;
		}
	}
	if (n < 0)
		close_fd(&w->out);
	w->drained |= n <= 0;
	if (w->drained) {
		w->mark[1] = w->mark[0];
		w->mark[0] = heard;
	}
	return w->text.len > had ? 1 : (int)n;
}

/* Text of a chatty program is copied while the terminal takes it. */
static void copy_to(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return;
		p += k;
		n -= (size_t)k;
	}
}

int worker_hear(struct worker *w, int echo)
{
	size_t had = w->heard;
	ssize_t n = 1;
	int i;

	if (w->err < 0)
		return -1;
	for (i = 0; i < CHUNKS && n > 0; i++) {
		n = take(w->err, &w->tail);
		if (n > 0) {
			w->heard += (size_t)n;
			if (echo >= 0)
				copy_to(echo, w->tail.p + w->tail.len - n,
					(size_t)n);
		}
		if (w->tail.len > 2 * WORKER_TAIL)
			drop_front(&w->tail, w->tail.len - WORKER_TAIL);
	}
	if (n < 0)
		close_fd(&w->err);
	return w->heard > had ? 1 : (int)n;
}

int worker_line(struct worker *w, const char **line, size_t *len)
{
	char *nl;

	for (;;) {
		nl = memchr(w->text.p + w->scanned, '\n',
			    w->text.len - w->scanned);
		if (!nl)
			break;
		*line = w->text.p + w->pos;
		*len = (size_t)(nl - *line);
		w->pos += *len + 1;
		w->scanned = w->pos;
		if (w->skipping) {	/* the end of an over-long one */
			w->skipping = false;
			continue;
		}
		if (*len >= REC_MAX)
			return -1;
		*nl = '\0';
		return 1;
	}
	w->scanned = w->text.len;
	if (!w->skipping && w->text.len - w->pos < REC_MAX)
		return 0;
	/* Too long already: what is here goes, and so will the rest. */
	w->pos = w->text.len;
	if (w->skipping)
		return 0;
	w->skipping = true;
	return -1;
}

void worker_check(struct worker *w)
{
	siginfo_t info = { 0 };

	if (!w->pid || w->forked || w->end != WORKER_RUNS)
		return;
	if (waitid(P_PID, (id_t)w->pid, &info,
		   WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    !info.si_pid)
		return;
	/* Its number and its group's are still its own: kill what is left. */
	proc_kill(w->pid, SIGKILL);
	while (waitpid(w->pid, &w->status, 0) < 0 && errno == EINTR)
		;
	w->end = WORKER_EXITED;
}

void worker_forget(struct worker *w)
{
	/*
	 * What was heard before a reading that left nothing was written before
	 * whatever the next reading brought.
	 */
	size_t keep = w->heard - w->mark[w->drained ? 1 : 0];

	if (keep < w->tail.len)
		drop_front(&w->tail, w->tail.len - keep);
}

const char *worker_stderr(const struct worker *w, size_t max)
{
	return w->tail.p + (w->tail.len > max ? w->tail.len - max : 0);
}

void worker_last_line(const struct worker *w, char out[512])
{
	size_t end = w->tail.len, at;

	while (end && strchr("\n\r \t", w->tail.p[end - 1]))
		end--;
	for (at = end; at && w->tail.p[at - 1] != '\n'; at--)
		;
	if (at == end)
		snprintf(out, 512, "no message");
	else
		snprintf(out, 512, "%.*s", (int)(end - at > 500 ? 500 :
						 end - at), w->tail.p + at);
}

const char *worker_stack(const struct worker *w)
{
	const char *first = NULL, *p;
	size_t i;

	for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		p = memmem(w->tail.p, w->tail.len, reports[i],
			   strlen(reports[i]));
		if (p && (!first || p < first))
			first = p;
	}
	return first;
}
