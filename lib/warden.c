#define _GNU_SOURCE
#include "warden.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"
#include "crew.h"
#include "ending.h"
#include "journal.h"
#include "json.h"
#include "jw.h"
#include "proc.h"
#include "queue.h"
#include "rec.h"
#include "scan.h"
#include "watch.h"
#include "xalloc.h"
#include "banned.h"

#define AHEAD 96		/* cases given to a worker beyond the present */
#define LOOK_S 0.1		/* between looks at a running case */
#define DEAF_S 1.0		/* a worker may outlive its stdout by this */
#define LINGER_S 10.0		/* and its last case by this */
/*
 * Records of a quick worker are read in bunches.  A pipe holds what it says in
 * the longer time; one that is our child may kill us, and what it began should
 * be in the runlog by then.
 */
#define BUNCH_US 8000
#define BUNCH_CHILD_US 500
#define OUT_MAX (1u << 20)	/* bytes that are kept for the end of a turn */
#define GAP_S 10.0		/* at least, from one case to the next */
#define DRAIN_MAX 64		/* calls, for what a dead one left */
#define BARREN_MAX 2		/* deaths in a row with nothing begun */

/* A call of warden_run(). */
struct watchman {
	struct warden *wd;
	struct err *e;
	struct intake intake;
	struct err bad;			/* what is wrong with the input */
	bool is_bad;

	struct queue queue;		/* its first is the case that is due */

	struct crew crew;
	enum crew_slot active;		/* whose case is at the head */
	struct journal journal;
	struct buf out;			/* for the end of the turn */
	struct watch watch;
	bool begun;			/* the case at the head has started */
	double looked;			/* last, at the running case */
	struct starts starts[CREW_N];
	unsigned barren;
	bool fork_proven, fork_doubted;
	size_t garbage;			/* lines that were no records */
	size_t garbage_before;		/* the running case began */
	long long nobs;			/* of the running case */
	struct idset *runs;		/* run records, without times */
	char *last_id, *last_run;	/* of the case that ended last */
	int sigfd;
};

static void warn(struct watchman *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void warn(struct watchman *m, const char *fmt, ...)
{
	char msg[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	if (m->wd->warn)
		m->wd->warn(msg);
}

/* What a worker is killed for that did nothing wrong. */
static const char retired[] = "retired";

/* Write what a turn brought at once; the wait is not the running case's. */
static int put_out(struct watchman *m)
{
	double before = proc_now();

	if (!m->out.len)
		return 0;
	if (rec_flush(m->wd->out, &m->out, m->e) < 0)
		return -1;
	watch_pause(&m->watch, proc_now() - before);
	return 0;
}

/* Whole lines, for the end of the turn. */
static int put(struct watchman *m, const char *p, size_t len)
{
	buf_add(&m->out, p, len);
	return m->out.len < OUT_MAX ? 0 : put_out(m);
}

static int put_line(struct watchman *m, const char *line, size_t len)
{
	buf_add(&m->out, line, len);
	return put(m, "\n", 1);
}

static int put_held(struct watchman *m)
{
	int rc = put(m, m->journal.held.p, m->journal.held.len);

	buf_reset(&m->journal.held);
	return rc;
}

/* A finding of our own that belongs to no case. */
static int put_probe(struct watchman *m, const char *name, const char *note)
{
	struct buf b = BUF_INIT;
	struct jw w;
	int rc;

	jw_init(&w, &b);
	jw_record(&w, "probe", "", m->last_run ? m->last_run : "");
	jw_kstr(&w, "probe", "worker");
	jw_kstr(&w, "name", name);
	jw_kstr(&w, "status", "failed");
	jw_kstr(&w, "note", note);
	jw_obj_end(&w);
	/* In front of a case that has begun, whose records are held. */
	rc = put_line(m, b.p, b.len);
	buf_release(&b);
	return rc;
}

/* Records that belong to no case go on when it is their turn. */
static int pass_on(struct watchman *m)
{
	struct item *it;

	while ((it = queue_first(&m->queue)) != NULL && !it->is_case) {
		if (put_line(m, it->line, it->len) < 0)
			return -1;
		queue_pop(&m->queue);
	}
	return 0;
}

/* The case at the head has its result. */
static int finish_case(struct watchman *m)
{
	struct item *it = queue_first(&m->queue);

	if (put_held(m) < 0)
		return -1;
	journal_drop(&m->journal);
	free(m->last_id);
	free(m->last_run);
	m->last_id = xstrdup(it->id);
	m->last_run = xstrdup(it->run);
	m->begun = false;
	m->barren = 0;
	m->wd->cases++;
	watch_end(&m->watch);
	queue_pop(&m->queue);
	return pass_on(m);
}

/* Every worker says what software it runs on: once is enough. */
static int put_run(struct watchman *m, const char *line, size_t len)
{
	cJSON *o = json_parse(line, len, NULL), *k, *next;
	char *text = NULL;
	bool fresh = true;

	for (k = o ? o->child : NULL; k; k = next) {
		next = k->next;
		if (!strncmp(k->string, "t_", 2))
			cJSON_Delete(cJSON_DetachItemViaPointer(o, k));
	}
	if (o)
		text = cJSON_PrintUnformatted(o);
	if (text)
		fresh = idset_add(m->runs, text);
	free(text);
	cJSON_Delete(o);
	return fresh ? put_line(m, line, len) : 0;
}

/* A case of ours can't be ended by anybody but its worker, and us. */
static bool ours_alone(struct slice kind)
{
	return slice_is(kind, "death") || slice_is(kind, "verdict");
}

static void begin_case(struct watchman *m, struct member *mb)
{
	struct item *it = queue_first(&m->queue);
	double limit = it->limit_s > 0 ? it->limit_s :
		       m->wd->limit_s * it->cost;

	m->begun = true;
	m->barren = 0;
	m->nobs = 0;
	m->garbage_before = m->garbage;
	mb->begun++;
	worker_forget(&mb->w);
	journal_start(&m->journal, &m->starts[m->active], it->id, mb->w.pid);
	watch_begin(&m->watch, mb->w.pid, limit);
	m->looked = m->watch.begun;
}

static int end_case(struct watchman *m, struct member *mb)
{
	struct item *it = queue_first(&m->queue);

	mb->ended++;
	watch_memory(&m->watch);
	if (mb->w.forked)
		m->fork_proven = true;
	if (it->fresh && m->fork_doubted) {
		m->crew.fork = false;
		m->fork_doubted = false;
		warn(m, "device '%s' hangs in a forked worker: each has a "
		     "process of its own now", it->device);
		if (m->wd->no_fork)
			m->wd->no_fork(m->wd->ctx, it);
		if (put_probe(m, "fork", "hangs in a forked worker, works in "
			      "a fresh process") < 0)
			return -1;
	}
	if (finish_case(m) < 0)
		return -1;
	/* One that is spent, or has grown so much, is replaced in time. */
	if (mb->spent || (m->wd->max_rss &&
			  m->watch.rss > m->wd->max_rss / 2))
		crew_doom(mb, retired, true);
	/* For the next one, which has its time from now. */
	watch_begin(&m->watch, mb->w.pid, m->wd->limit_s > GAP_S ?
		    m->wd->limit_s : GAP_S);
	return 0;
}

/* May a record of this case have been lost in what was no record? */
static bool lost_record(struct watchman *m, const char *line, size_t len)
{
	cJSON *o;
	bool lost;

	if (m->garbage == m->garbage_before)
		return false;
	o = json_parse(line, len, NULL);
	lost = rec_int_opt(o, "samples", m->nobs) != m->nobs;
	cJSON_Delete(o);
	return lost;
}

/* How a worker says that it is fit for nothing after the present case. */
static const char spent_text[] = "\"probe\":\"worker\",\"name\":\"poisoned\",";

/* A line of the worker whose turn it is. */
static int one_line(struct watchman *m, struct member *mb, const char *line,
		    size_t len)
{
	struct item *it = queue_first(&m->queue);
	struct scan s;
	bool mine;

	if (scan_record(&s, line, len) < 0 || ours_alone(s.kind)) {
		m->garbage++;
		return 0;
	}
	if (!s.id.len) {
		if (slice_is(s.kind, "run"))
			return put_run(m, line, len);
		mb->spent |= slice_is(s.kind, "probe") && m->begun &&
			     strstr(line, spent_text);
		return put_line(m, line, len);
	}
	mine = it && it->is_case && it->fed && slice_is(s.id, it->id);
	if (slice_is(s.kind, "start") && m->begun && !mine) {
		/* What the case before it ended with is lost. */
		crew_doom(mb, "crash", true);
		return 0;
	}
	if (!mine || (slice_is(s.kind, "start") ? m->begun : !m->begun)) {
		m->garbage++;
		return 0;
	}
	if (slice_is(s.kind, "end") && lost_record(m, line, len)) {
		crew_doom(mb, "crash", true);
		return 0;
	}
	if (slice_is(s.kind, "start"))
		begin_case(m, mb);
	m->nobs += slice_is(s.kind, "obs");
	watch_heard(&m->watch);
	journal_hold(&m->journal, line, len);
	if (s.sample > m->journal.sample)
		m->journal.sample = s.sample;
	if (slice_is(s.kind, "end"))
		return end_case(m, mb);
	if (m->journal.held.len > JOURNAL_HELD) {
		m->journal.spilled = true;
		return put_held(m);
	}
	return 0;
}

static int lines(struct watchman *m, enum crew_slot slot)
{
	struct member *mb = &m->crew.m[slot];
	const char *line;
	size_t len;
	int got;

	while ((got = worker_line(&mb->w, &line, &len)) != 0) {
		if (got < 0 || slot != m->active || mb->doom)
			m->garbage++;
		else if (one_line(m, mb, line, len) < 0)
			return -1;
	}
	return 0;
}

/*
 * Should the case at the head have another try?  Where it was not its own
 * fault, as far as can be told, once.
 */
static bool try_again(struct watchman *m, struct member *mb)
{
	struct item *it = queue_first(&m->queue);
	bool stuck = mb->doom && (!strcmp(mb->doom, "hang") ||
				  !strcmp(mb->doom, "timeout"));

	if (it->tries || m->journal.spilled)
		return false;
	if (stuck && mb->w.forked && !m->fork_proven) {
		m->fork_doubted = true;
		it->fresh = true;
	} else if (!ending_foreign(mb) &&
		   !(mb->doom && !strcmp(mb->doom, "crash"))) {
		return false;
	}
	it->tries++;
	it->solo = true;
	m->wd->again++;
	return true;
}

/* The case at the head ends here. */
static int put_death(struct watchman *m, struct member *mb)
{
	struct death d = ending_of(mb);

	d.t_s = m->begun ? watch_elapsed(&m->watch) : 0;
	journal_death(&m->journal, queue_first(&m->queue), &d, &mb->w,
		      &m->starts[m->active]);
	m->wd->deaths++;
	return finish_case(m);
}

/* The worker died before it began what it was given. */
static int died_barren(struct watchman *m, struct member *mb)
{
	char line[512], how[32];
	int code = EX_ENVIRON;

	if (++m->barren < BARREN_MAX)
		return 0;
	if (m->wd->cases) {	/* it can be done: so it is this case */
		m->barren = 0;
		return put_death(m, mb);
	}
	ending_text(mb, how);
	worker_last_line(&mb->w, line);
	if (mb->w.end == WORKER_EXITED && WIFEXITED(mb->w.status) &&
	    WEXITSTATUS(mb->w.status) >= EX_BADUSE &&
	    WEXITSTATUS(mb->w.status) <= EX_ENVIRON)
		code = WEXITSTATUS(mb->w.status);
	return err_set(m->e, code, "the command ends before its first case "
		       "(%s): %s", how, line);
}

/* It died, or was killed, with no case running. */
static int died_between(struct watchman *m, struct member *mb)
{
	char note[CASE_ID_MAX + 64], how[32];

	ending_text(mb, how);
	if (mb->doom == retired || !strcmp(how, "exit 0"))
		return 0;
	snprintf(note, sizeof(note), "%s after '%s'", how,
		 m->last_id ? m->last_id : "");
	return put_probe(m, "ended between cases", note);
}

/* What a dead worker still had to say.  Bounded: others may hold its pipes. */
static int read_out(struct watchman *m, enum crew_slot slot)
{
	struct member *mb = &m->crew.m[slot];
	int i;

	for (i = 0; i < DRAIN_MAX && worker_read(&mb->w) > 0; i++)
		if (lines(m, slot) < 0)
			return -1;
	for (i = 0; i < DRAIN_MAX && worker_hear(&mb->w, m->wd->echo) > 0; i++)
		;
	return 0;
}

/* What the death of the worker whose turn it is means for the cases. */
static int died(struct watchman *m, struct member *mb)
{
	struct item *it = queue_first(&m->queue);

	if (m->begun)
		return try_again(m, mb) ? 0 : put_death(m, mb);
	if (it && it->is_case && it->fed && !mb->begun)
		return died_barren(m, mb);
	return died_between(m, mb);
}

/* The worker of slot is no more. */
static int bury(struct watchman *m, enum crew_slot slot)
{
	struct member *mb = &m->crew.m[slot];
	size_t i;
	int rc;

	if (mb->w.end == WORKER_ABANDONED)
		warn(m, "process %d can't be killed and is left behind",
		     (int)mb->w.pid);
	rc = read_out(m, slot);
	if (rc == 0)
		rc = slot == m->active ? died(m, mb) : died_between(m, mb);
	if (slot == m->active) {
		for (i = 0; i < m->queue.n; i++)
			queue_nth(&m->queue, i)->fed = false;
		m->begun = false;
		journal_drop(&m->journal);
		watch_end(&m->watch);
	}
	starts_clear(&m->starts[slot]);
	crew_bury(mb);
	return rc;
}

/* True where the worker in slot, or a new one, can be given a case. */
static bool ready(struct watchman *m, enum crew_slot slot)
{
	struct member *mb = &m->crew.m[slot];

	return !mb->w.pid || (!mb->w.feed_ends && !mb->doom &&
			      mb->w.end == WORKER_RUNS && mb->w.out >= 0);
}

/* Give the worker in slot what it may have. */
static void hand_out(struct watchman *m, enum crew_slot slot)
{
	struct member *mb = &m->crew.m[slot];
	size_t i, ahead = 0, most = slot == CREW_SOLO ? 1 : AHEAD;
	size_t batch = slot == CREW_SOLO ? 1 : m->wd->batch;
	struct item *it;

	for (i = 0; i < m->queue.n && ahead < most && !mb->w.feed_ends; i++) {
		it = queue_nth(&m->queue, i);
		if (!it->is_case)
			continue;
		if (it->solo != (slot == CREW_SOLO))
			break;
		ahead++;
		if (it->fed)
			continue;
		worker_feed(&mb->w, it->line, it->len);
		it->fed = true;
		mb->given++;
		if (batch && mb->given >= batch)
			worker_feed_end(&mb->w);
	}
	worker_write(&mb->w);
}

/* See that the case at the head is somebody's, and others in good time. */
static int feed(struct watchman *m)
{
	struct item *it = queue_first(&m->queue);
	enum crew_slot slot;
	struct member *mb;

	if (!it)
		return 0;
	slot = it->solo ? CREW_SOLO : CREW_BATCH;
	mb = &m->crew.m[slot];
	if (it->fed) {
		hand_out(m, slot);
		return 0;
	}
	if (!ready(m, slot))
		return 0;	/* once it is buried */
	if (!mb->w.pid && crew_start(&m->crew, slot, it->fresh, m->e) < 0)
		return -1;
	m->active = slot;
	hand_out(m, slot);
	m->watch.silence_s = 0;
	watch_begin(&m->watch, mb->w.pid, m->wd->start_s);
	return 0;
}

/* No case will come for these: let them go. */
static void dismiss(struct watchman *m)
{
	bool wanted = !m->intake.eof && !m->is_bad;
	struct member *mb = &m->crew.m[CREW_BATCH];
	size_t i;

	for (i = 0; i < m->queue.n && !wanted; i++) {
		const struct item *it = queue_nth(&m->queue, i);

		wanted = it->is_case && !it->solo && !it->fed;
	}
	if (!wanted && mb->w.pid && !mb->w.feed_ends)
		worker_feed_end(&mb->w);
}

static int take_in(struct watchman *m)
{
	struct err e;
	struct item it;
	int got = 0;

	if (m->is_bad)
		return 0;
	while (!queue_full(&m->queue) &&
	       (got = intake_next(&m->intake, &it, &e)) > 0) {
		if (it.is_case) {
			it.solo |= m->wd->solo;
			if (m->wd->place)
				m->wd->place(m->wd->ctx, &it);
		}
		queue_push(&m->queue, &it);
	}
	if (got < 0) {		/* what came before it is still run */
		m->bad = e;
		m->is_bad = true;
	}
	return 0;
}

static bool room(const struct watchman *m)
{
	return !m->is_bad && !m->intake.eof && !queue_full(&m->queue);
}

/* Is this member's case, or its end, overdue? */
static void look(struct watchman *m, enum crew_slot slot, double now)
{
	static const char *const outcomes[] = {
		[WATCH_TIMEOUT] = "timeout", [WATCH_HANG] = "hang",
		[WATCH_OOM] = "oom",
	};
	struct member *mb = &m->crew.m[slot];
	struct item *it = queue_first(&m->queue);
	enum watch_say say;

	if (!mb->w.pid || mb->doom || mb->w.end != WORKER_RUNS)
		return;
	if (mb->deaf_at && now - mb->deaf_at > DEAF_S) {
		crew_doom(mb, "crash", true);
	} else if (slot == m->active && it && it->is_case && it->fed) {
		mb->idle_at = 0;
		say = watch_look(&m->watch);
		if (say != WATCH_FINE)
			crew_doom(mb, outcomes[say], say == WATCH_OOM);
	} else if (!mb->idle_at) {
		mb->idle_at = now;
	} else if (mb->w.feed_ends && now - mb->idle_at > LINGER_S) {
		crew_doom(mb, "hang", true);
	}
}

/* The fds of one turn; where an entry is not wanted its fd is -1. */
enum { FD_IN, FD_SIGNAL, FD_ZYGOTE, FD_WORKERS, FD_PER = 4,
	FD_N = FD_WORKERS + FD_PER * CREW_N };

static int wait_turn(struct watchman *m, struct pollfd fds[FD_N])
{
	bool alive = false, now;
	struct worker *w;
	int i, at;

	fds[FD_IN].fd = room(m) ? m->intake.fd : -1;
	fds[FD_SIGNAL].fd = m->sigfd;
	fds[FD_ZYGOTE].fd = m->crew.z.sock;
	for (i = 0; i < CREW_N; i++) {
		w = &m->crew.m[i].w;
		at = FD_WORKERS + i * FD_PER;
		fds[at].fd = worker_hungry(w) ? w->in : -1;
		fds[at + 1].fd = w->out;
		fds[at + 2].fd = w->err;
		fds[at + 3].fd = w->pidfd;
		alive |= w->pid != 0;
	}
	for (i = 0; i < FD_N; i++)
		fds[i].events = POLLIN;
	for (i = 0; i < CREW_N; i++)
		fds[FD_WORKERS + i * FD_PER].events = POLLOUT;
	now = zygote_pending(&m->crew.z) ||	/* or a file to open */
	      (room(m) && m->intake.fd < 0);
	return poll(fds, FD_N, now ? 0 :
		    alive ? (int)(LOOK_S * 1000) : -1);
}

/* What one worker does and says. */
static int attend_one(struct watchman *m, enum crew_slot slot,
		      const struct pollfd *fds)
{
	struct worker *w = &m->crew.m[slot].w;

	if (fds[0].revents)
		worker_write(w);
	/* stdout before stderr: see worker_forget(). */
	if (fds[1].revents)
		worker_read(w);
	else
		worker_quiet(w);
	if (fds[1].revents && lines(m, slot) < 0)
		return -1;
	if (fds[2].revents)
		worker_hear(w, m->wd->echo);
	return w->end == WORKER_RUNS ? 0 : bury(m, slot);
}

/* Hear the workers, learn of deaths, look after the time. */
static int attend(struct watchman *m, const struct pollfd fds[FD_N])
{
	double now = proc_now();
	bool due = now - m->looked >= LOOK_S / 2;
	bool news = due || fds[FD_ZYGOTE].revents;
	int i;

	for (i = 0; i < CREW_N; i++)
		news |= fds[FD_WORKERS + i * FD_PER + 3].revents ||
			(fds[FD_WORKERS + i * FD_PER + 1].revents & POLLHUP);
	if (news)
		crew_check(&m->crew);
	for (i = 0; i < CREW_N; i++)
		if (m->crew.m[i].w.pid &&
		    attend_one(m, (enum crew_slot)i,
			       fds + FD_WORKERS + i * FD_PER) < 0)
			return -1;
	if (!due)
		return 0;
	m->looked = now;
	m->watch.silence_s = m->begun ? m->wd->silence_s *
			     queue_first(&m->queue)->cost : 0;
	for (i = 0; i < CREW_N; i++)
		look(m, (enum crew_slot)i, now);
	return 0;
}

static bool over(const struct watchman *m)
{
	return (m->intake.eof || m->is_bad) && !m->queue.n &&
	       !m->crew.m[CREW_BATCH].w.pid && !m->crew.m[CREW_SOLO].w.pid;
}

/* Somebody wants us to stop: a clean end, then that signal for the caller. */
static int stopped(struct watchman *m)
{
	struct signalfd_siginfo info;

	if (read(m->sigfd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return 0;
	return err_set(m->e, -(int)info.ssi_signo, "stopped by %s",
		       proc_signal_name((int)info.ssi_signo));
}

/* What was read goes on, and is written down, before there is a wait. */
static int finish_turn(struct watchman *m)
{
	journal_log(&m->journal);
	return put_out(m);
}

/* Let a worker that has more to do go on, and say all of it at once. */
static void gather(struct watchman *m, short heard)
{
	size_t i, left = 0;

	for (i = 0; i < m->queue.n; i++)
		left += queue_nth(&m->queue, i)->fed;
	if ((heard & (POLLIN | POLLHUP)) == POLLIN && left > AHEAD / 2)
		usleep(m->crew.m[m->active].w.forked ? BUNCH_US :
		       BUNCH_CHILD_US);
}

static int run(struct watchman *m)
{
	struct pollfd fds[FD_N];

	for (;;) {
		take_in(m);
		if (pass_on(m) < 0 || feed(m) < 0)
			return -1;
		dismiss(m);
		if (finish_turn(m) < 0)
			return -1;
		if (over(m))
			break;
		if (wait_turn(m, fds) < 0)
			continue;	/* EINTR */
		if (fds[FD_SIGNAL].revents && stopped(m) < 0)
			return -1;
		if (room(m) && (fds[FD_IN].revents || m->intake.fd < 0) &&
		    intake_read(&m->intake, &m->bad) < 0)
			m->is_bad = true;
		if (attend(m, fds) < 0)
			return -1;
		if (finish_turn(m) < 0)
			return -1;
		gather(m, fds[FD_WORKERS + m->active * FD_PER + 1].revents);
	}
	if (m->is_bad) {
		*m->e = m->bad;
		return -1;
	}
	return 0;
}

/* The signals that ask to stop come by fd, unless they are ignored. */
static int catch_signals(sigset_t *before)
{
	static const int stop[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction sa;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(stop) / sizeof(stop[0]); i++)
		if (sigaction(stop[i], NULL, &sa) == 0 &&
		    sa.sa_handler != SIG_IGN)
			sigaddset(&set, stop[i]);
	sigprocmask(SIG_BLOCK, &set, before);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int warden_run(struct warden *wd, struct err *e)
{
	struct watchman m = { .wd = wd, .e = e, .out = BUF_INIT };
	struct err why;
	sigset_t before;
	int rc;

	if (journal_init(&m.journal, wd->runlog, e) < 0)
		return -1;
	intake_init(&m.intake, wd->files);
	m.runs = idset_new();
	crew_init(&m.crew);
	m.crew.argv = wd->argv;
	m.crew.zygote_path = wd->zygote_path;
	m.crew.fork = wd->fork;
	m.crew.start_s = wd->start_s;
	m.watch.max_rss = wd->max_rss;
	m.sigfd = catch_signals(&before);
	rc = run(&m);
	m.e = &why;
	if (rc < 0 && finish_turn(&m) < 0)	/* what can still be saved */
		buf_reset(&m.out);
	crew_release(&m.crew);
	if (m.garbage)
		warn(&m, "%zu lines of the command's output belong to no "
		     "running case and are left out", m.garbage);
	wd->workers = m.crew.started;
	wd->peak_rss = m.watch.peak_rss;
	queue_release(&m.queue);
	free(m.last_id);
	free(m.last_run);
	starts_clear(&m.starts[CREW_BATCH]);
	starts_clear(&m.starts[CREW_SOLO]);
	idset_free(m.runs);
	intake_release(&m.intake);
	journal_release(&m.journal);
	buf_release(&m.out);
	if (m.sigfd >= 0)
		close(m.sigfd);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
