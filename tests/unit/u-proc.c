/* proc: children begin as they should, and end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"
#include "tap.h"

static char *shell[] = { "sh", "-c", NULL, NULL };

/* Run a shell text; what it writes is in out, its wait status returned. */
static int run(const char *text, unsigned flags, char *out, size_t n)
{
	struct proc_spec s = { .argv = shell, .in = -1, .err = -1,
			       .flags = flags };
	int p[2], status = -1;
	struct err e;
	size_t len = 0;
	ssize_t got;
	pid_t pid;

	shell[2] = strdup(text);
	if (pipe2(p, O_CLOEXEC) < 0)
		return -1;
	s.out = p[1];
	pid = proc_spawn(&s, &e);
	close(p[1]);
	while (len + 1 < n && (got = read(p[0], out + len, n - 1 - len)) > 0)
		len += (size_t)got;
	out[len] = '\0';
	close(p[0]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	free(shell[2]);
	return status;
}

static void check_spawn(void)
{
	unsigned long long blocked, ignored;
	char out[4096], want[64];
	struct sigaction ign = { .sa_handler = SIG_IGN };
	sigset_t set;
	int fd = open("/dev/null", O_RDONLY);	/* without close-on-exec */

	sigaction(SIGPIPE, &ign, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	is_int(run("echo hi; exit 7", 0, out, sizeof(out)), 7 << 8,
	       "the exit status comes back");
	is_str(out, "hi\n", "and what it says");
	run("ls /proc/self/fd | tr '\\n' ' '", 0, out, sizeof(out));
	is_str(out, "0 1 2 3 ", "no fd but its own three (and ls's)");
	run("grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f 2", 0, out,
	    sizeof(out));
	/* 32 and 33 are the C library's own: no program can reset them. */
	ok(sscanf(out, "%llx %llx", &blocked, &ignored) == 2 &&
	   !blocked && !(ignored & ~0x180000000ull),
	   "no signal is blocked or ignored");
	is_int(run("kill -TERM $$; exit 1", 0, out, sizeof(out)), SIGTERM,
	       "so SIGTERM ends it");
	run("ulimit -c", PROC_NOCORE, out, sizeof(out));
	is_str(out, "0\n", "no core file");
	run("cat /proc/self/oom_score_adj", PROC_OOM_FIRST, out, sizeof(out));
	is_str(out, "700\n", "first to go when memory ends");
	run("[ $(ps -o pgid= -p $$) -eq $$ ] && echo leads", PROC_GROUP, out,
	    sizeof(out));
	is_str(out, "leads\n", "leads its group");
	run("echo $(ps -o pgid= -p $$)", 0, out, sizeof(out));
	snprintf(want, sizeof(want), "%d\n", (int)getpgrp());
	is_str(out, want, "or is in ours");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	close(fd);
}

static void check_cannot(void)
{
	static char *none[] = { "/no/such/program", NULL };
	static char *dir[] = { "/tmp", NULL };
	struct proc_spec s = { .argv = none, .in = -1, .out = -1, .err = -1 };
	struct err e;

	ok(proc_spawn(&s, &e) < 0, "no such program");
	is_int(e.code, EX_NOTFOUND, "is 127");
	ok(strstr(e.msg, "'/no/such/program'") != NULL, "and is named");
	s.argv = dir;
	ok(proc_spawn(&s, &e) < 0, "a folder is no program");
	is_int(e.code, EX_CANTRUN, "is 126");
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD,
	   "no child is left");
}

/* A child that starts one of its own and dies. */
static void check_pdeath(void)
{
	char out[64];
	pid_t mid, pid;
	int p[2], i;

	if (pipe(p) < 0)
		return;
	mid = fork();
	if (mid == 0) {
		static char *argv[] = { "sleep", "1000", NULL };
		struct proc_spec s = { .argv = argv, .in = -1, .out = -1,
				.err = -1, .flags = PROC_PDEATH | PROC_GROUP };

		pid = proc_spawn(&s, NULL);
		_exit(write(p[1], &pid, sizeof(pid)) != sizeof(pid));
	}
	waitpid(mid, NULL, 0);
	ok(read(p[0], &pid, sizeof(pid)) == sizeof(pid) && pid > 0,
	   "a grandchild");
	for (i = 0; i < 200; i++) {
		struct proc_usage u;

		if (proc_usage(pid, &u) < 0)
			break;
		usleep(10000);
	}
	ok(i < 200, "dies with its parent");
	snprintf(out, sizeof(out), "%s", proc_signal_name(SIGSEGV));
	is_str(out, "SIGSEGV", "signals have names");
}

static void check_usage(void)
{
	struct proc_usage u;
	char text[32];

	ok(proc_usage(getpid(), &u) == 0 && u.rss > 100000 && u.state == 'R',
	   "memory and state of a process");
	ok(proc_usage(1 << 30, &u) < 0, "of none");
	ok(proc_pss(getpid()) > 0, "its share of memory");
	is_int(proc_threads(), 1, "one thread");
	ok(proc_memory_total() > 1 << 20, "the machine has memory");
	proc_status_text(SIGBUS, text);
	is_str(text, "SIGBUS", "a signal as text");
	proc_status_text(3 << 8, text);
	is_str(text, "exit 3", "an exit as text");
}

int main(void)
{
	check_spawn();
	check_cannot();
	check_pdeath();
	check_usage();
	return done();
}
