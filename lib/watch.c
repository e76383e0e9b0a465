#define _GNU_SOURCE
#include "watch.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"
#include "banned.h"

#define PROBE_S 1.0
#define FRESH_S 0.001		/* what was read of a process holds so long */
#define BUSY 0.05		/* of the probe's time on a processor */

/* What the process uses; records of quick cases come many at a time. */
static int usage(struct watch *w, struct proc_usage *u)
{
	double now = proc_now();

	if (w->read_pid != w->pid || now - w->read_at >= FRESH_S) {
		if (proc_usage(w->pid, &w->read) < 0) {
			w->read_pid = 0;
			return -1;
		}
		w->read_pid = w->pid;
		w->read_at = now;
	}
	*u = w->read;
	return 0;
}

void watch_begin(struct watch *w, pid_t pid, double limit_s)
{
	struct proc_usage u;

	w->pid = pid;
	w->limit_s = limit_s;
	w->begun = w->heard = proc_now();
	w->probing = false;
	w->wait_us = usage(w, &u) == 0 ? u.wait_us : 0;
}

void watch_end(struct watch *w)
{
	w->pid = 0;
}

void watch_heard(struct watch *w)
{
	w->heard = proc_now();
	w->probing = false;
}

void watch_pause(struct watch *w, double s)
{
	w->begun += s;
	w->heard += s;
	w->probing = false;
}

double watch_elapsed(const struct watch *w)
{
	return proc_now() - w->begun;
}

/* Processor time of all processes in the group of pid; *running: one is. */
static uint64_t group_cpu(pid_t pid, bool *running)
{
	DIR *d = opendir("/proc");
	char path[300], text[512], *p, state;
	struct dirent *de;
	uint64_t sum = 0;
	struct proc_usage u;
	int pgrp, fd;
	ssize_t n;

	*running = false;
	while (d && (de = readdir(d)) != NULL) {
		if (!isdigit((unsigned char)de->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", de->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (n <= 0)
			continue;
		text[n] = '\0';
		p = strrchr(text, ')');
		if (!p || sscanf(p + 1, " %c %*d %d", &state, &pgrp) != 2 ||
		    pgrp != pid ||
		    proc_usage((pid_t)strtol(de->d_name, NULL, 10), &u) < 0)
			continue;
		sum += u.cpu_us;
		*running |= state == 'R';
	}
	if (d)
		closedir(d);
	return sum;
}

/* Begin, or finish, to find out: 1 busy, 0 idle, -1 not known yet. */
static int probe(struct watch *w, double now)
{
	bool running;
	uint64_t cpu;

	if (!w->probing) {
		w->probing = true;
		w->probe_at = now;
		w->probe_s = PROBE_S;
		if (w->limit_s > 0 && w->limit_s / 2 < w->probe_s)
			w->probe_s = w->limit_s / 2;
		w->probe_cpu = group_cpu(w->pid, &running);
		return running ? 1 : -1;
	}
	if (now - w->probe_at < w->probe_s)
		return -1;
	w->probing = false;
	cpu = group_cpu(w->pid, &running);
	return running || (double)(cpu - w->probe_cpu) >
	       BUSY * 1e6 * (now - w->probe_at);
}

static void note_rss(struct watch *w, uint64_t rss)
{
	w->rss = rss;
	if (rss > w->peak_rss)
		w->peak_rss = rss;
}

void watch_memory(struct watch *w)
{
	struct proc_usage u;

	if (w->pid && usage(w, &u) == 0)
		note_rss(w, u.rss);
}

enum watch_say watch_look(struct watch *w)
{
	double now = proc_now(), waited;
	struct proc_usage u;
	int busy;

	if (!w->pid || usage(w, &u) < 0)
		return WATCH_FINE;	/* its end will be told */
	note_rss(w, u.rss);
	if (w->max_rss && u.rss > w->max_rss)
		return WATCH_OOM;
	waited = u.wait_us > w->wait_us ?
		 (double)(u.wait_us - w->wait_us) * 1e-6 : 0;
	if (w->limit_s > 0 && now - w->begun - waited >= w->limit_s) {
		busy = probe(w, now);
		return busy < 0 ? WATCH_FINE :
		       busy ? WATCH_TIMEOUT : WATCH_HANG;
	}
	if (w->silence_s > 0 && now - w->heard - waited >= w->silence_s) {
		busy = probe(w, now);
		if (busy == 0)
			return WATCH_HANG;
		if (busy > 0)
			watch_heard(w);
	}
	return WATCH_FINE;
}
