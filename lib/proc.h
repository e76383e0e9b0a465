/*
 * proc: starting, watching and ending child processes.
 */
#ifndef CTS_PROC_H
#define CTS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "err.h"

/* Bits of proc_spec.flags. */
#define PROC_GROUP	1u	/* leads a process group of its own */
#define PROC_SESSION	2u	/* leads a session of its own (and a group) */
#define PROC_PDEATH	4u	/* SIGKILLed when its parent dies */
#define PROC_NOCORE	8u	/* leaves no core file */
#define PROC_OOM_FIRST	16u	/* the kernel's first choice when memory ends */

struct proc_spec {
	char *const *argv;	/* NULL-terminated, found by PATH */
	int in, out, err;	/* become 0, 1, 2; -1: /dev/null */
	unsigned flags;
};

/*
 * Fork and exec.  Every other fd of the caller stays closed in the child, all
 * signals have their default action and none is blocked.  The caller keeps its
 * own copies of in, out, err.  Returns the pid, or -1 with e set: EX_NOTFOUND
 * where the command is not found, EX_CANTRUN where it can't be run, EX_ENVIRON
 * for anything else.
 */
pid_t proc_spawn(const struct proc_spec *s, struct err *e);

/*
 * What a child does to itself between fork and its work: the flags, the fds
 * (moved to 0, 1, 2; all others closed).  parent is the pid of the process
 * that forked.  Async-signal-safe.  0, or -1 with errno.
 */
int proc_become(int in, int out, int err, unsigned flags, pid_t parent);

/* Kill pid and the group that it leads; a process that is gone is no error. */
void proc_kill(pid_t pid, int sig);

/* "SIGSEGV"; "SIG61" for one without a name.  Borrowed, static. */
const char *proc_signal_name(int sig);

/* "SIGSEGV", "exit 3" or "running" from a wait status. */
void proc_status_text(int status, char out[32]);

/* What /proc says of a process. */
struct proc_usage {
	uint64_t rss;		/* bytes resident */
	uint64_t cpu_us;	/* user and system time of all its threads */
	uint64_t wait_us;	/* its main thread, runnable but not running */
	char state;		/* of its main thread: R S D Z T, 0: gone */
};
int proc_usage(pid_t pid, struct proc_usage *u);	/* -1: gone */

/* Proportional set size in bytes, 0 where the kernel doesn't say.  Slow. */
uint64_t proc_pss(pid_t pid);

/* How many threads this process has, -1 where that can't be told. */
int proc_threads(void);

/* Processes that the kernel's OOM killer has ended so far, on this machine. */
uint64_t proc_oom_kills(void);

/* Memory of this machine, or what its control group may use, in bytes. */
uint64_t proc_memory_total(void);

/* Seconds on a clock that only runs forward. */
double proc_now(void);

/* A fd that becomes readable when pid ends, -1 where there is none. */
int proc_pidfd(pid_t pid);

#endif
