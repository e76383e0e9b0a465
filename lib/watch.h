/*
 * watch: the clock over a running case.  Time that the machine didn't give it
 * (waiting for a processor, or for us to read) does not count.
 *
 * A case that uses up its time while it computes has a timeout; one that does
 * nothing, neither computing nor saying anything, hangs.
 */
#ifndef CTS_WATCH_H
#define CTS_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "proc.h"

enum watch_say {
	WATCH_FINE, WATCH_TIMEOUT, WATCH_HANG, WATCH_OOM,
};

struct watch {
	/* Set by the owner. */
	double silence_s;	/* a look is worth it after so long; 0: never */
	uint64_t max_rss;	/* 0: no limit */

	pid_t pid;		/* 0: nothing is watched */
	double limit_s;		/* 0: none */
	double begun, heard;	/* moved on by pauses */
	uint64_t wait_us;	/* that the process had waited at begun */
	uint64_t rss;		/* when last looked */
	uint64_t peak_rss;	/* the highest seen, of all processes */
	pid_t read_pid;		/* of the process that was read last, 0: none */
	double read_at;
	struct proc_usage read;
	/* While it is found out whether the process does anything: */
	bool probing;
	double probe_at, probe_s;
	uint64_t probe_cpu;
};

void watch_begin(struct watch *w, pid_t pid, double limit_s);
void watch_end(struct watch *w);
void watch_heard(struct watch *w);		/* it said something */
void watch_pause(struct watch *w, double s);	/* so long it was our fault */
double watch_elapsed(const struct watch *w);	/* since begun, on the wall */

void watch_memory(struct watch *w);		/* rss and peak_rss, now */

/* Look at the process; about ten times a second is often enough. */
enum watch_say watch_look(struct watch *w);

#endif
