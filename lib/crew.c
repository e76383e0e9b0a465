#define _GNU_SOURCE
#include "crew.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"
#include "banned.h"

#define STACK_S 1.0		/* for a stack, after SIGABRT */
#define DEATH_S 5.0		/* for the kernel, after SIGKILL */
#define ZYGOTE_TRIES 3

void crew_init(struct crew *c)
{
	static const struct worker fresh = WORKER_INIT;
	int i;

	memset(c, 0, sizeof(*c));
	c->z.sock = -1;
	for (i = 0; i < CREW_N; i++)
		c->m[i].w = fresh;
}

/* A worker of the zygote: 1, 0 where it refuses, -1 with e set. */
static int start_forked(struct crew *c, struct worker *w, struct err *e)
{
	int i, rc = -1;

	/* One that was killed, or is about to leave, is started again. */
	for (i = 0; i < ZYGOTE_TRIES && rc < 0; i++) {
		if (c->z.sock < 0 && zygote_open(&c->z, c->zygote_path,
						 c->argv, c->start_s, e) < 0) {
			if (e->code != EX_ENVIRON)
				return -1;
			continue;
		}
		rc = worker_start(w, c->argv, &c->z, e);
	}
	return rc;
}

int crew_start(struct crew *c, enum crew_slot slot, bool fresh, struct err *e)
{
	struct member *m = &c->m[slot];
	struct worker w = m->w;
	int rc = 0;

	memset(m, 0, sizeof(*m));
	m->w = w;
	if (c->fork && !fresh) {
		rc = start_forked(c, &m->w, e);
		if (rc == 0)
			c->fork = false;
	}
	if (rc == 0)
		rc = worker_start(&m->w, c->argv, NULL, e);
	if (rc < 0)
		return -1;
	c->started++;
	return 0;
}

void crew_doom(struct member *m, const char *outcome, bool hard)
{
	if (m->doom)
		return;
	m->doom = outcome;
	if (m->w.end != WORKER_RUNS)
		return;
	m->kill_at = proc_now();
	m->kill_hard = hard;
	if (hard)
		proc_kill(m->w.pid, SIGKILL);
	else
		kill(m->w.pid, SIGABRT);
}

static void escalate(struct member *m, double now)
{
	if (!m->doom || m->w.end != WORKER_RUNS)
		return;
	if (!m->kill_hard && now - m->kill_at >= STACK_S) {
		proc_kill(m->w.pid, SIGKILL);
		m->kill_hard = true;
		m->kill_at = now;
	} else if (m->kill_hard && now - m->kill_at >= DEATH_S) {
		m->w.end = WORKER_ABANDONED;
	}
}

static struct member *by_pid(struct crew *c, pid_t pid)
{
	int i;

	for (i = 0; i < CREW_N; i++)
		if (c->m[i].w.pid == pid && c->m[i].w.forked)
			return &c->m[i];
	return NULL;
}

void crew_check(struct crew *c)
{
	double now = proc_now();
	struct zygote_msg msg;
	struct member *m;
	int i, got = 0;

	while (c->z.sock >= 0 && (got = zygote_next(&c->z, &msg)) > 0) {
		m = msg.op == ZYGOTE_EXITED ? by_pid(c, msg.pid) : NULL;
		if (!m)
			continue;	/* of one that was given up */
		m->w.end = WORKER_EXITED;
		m->w.status = msg.status;
	}
	for (i = 0; i < CREW_N; i++) {
		m = &c->m[i];
		if (!m->w.pid)
			continue;
		worker_check(&m->w);
		if (m->w.forked && c->z.sock < 0 && m->w.end == WORKER_RUNS) {
			proc_kill(m->w.pid, SIGKILL);	/* if it still lives */
			m->w.end = WORKER_LOST;
		}
		if (m->w.out < 0 && !m->deaf_at)
			m->deaf_at = now;
		escalate(m, now);
	}
}

void crew_bury(struct member *m)
{
	static const struct worker fresh = WORKER_INIT;

	worker_release(&m->w);
	memset(m, 0, sizeof(*m));
	m->w = fresh;
}

void crew_release(struct crew *c)
{
	double until = proc_now() + DEATH_S;
	int i, alive;

	for (i = 0; i < CREW_N; i++)
		if (c->m[i].w.pid && c->m[i].w.end == WORKER_RUNS)
			proc_kill(c->m[i].w.pid, SIGKILL);
	do {
		crew_check(c);
		for (i = alive = 0; i < CREW_N; i++)
			alive += c->m[i].w.pid &&
				 c->m[i].w.end == WORKER_RUNS;
	} while (alive && proc_now() < until && usleep(2000) == 0);
	for (i = 0; i < CREW_N; i++)
		crew_bury(&c->m[i]);
	zygote_close(&c->z);
}
