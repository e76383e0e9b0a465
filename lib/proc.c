#define _GNU_SOURCE
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"

static const struct { int sig; const char *name; } signals[] = {
	{ SIGHUP, "SIGHUP" }, { SIGINT, "SIGINT" }, { SIGQUIT, "SIGQUIT" },
	{ SIGILL, "SIGILL" }, { SIGTRAP, "SIGTRAP" }, { SIGABRT, "SIGABRT" },
	{ SIGBUS, "SIGBUS" }, { SIGFPE, "SIGFPE" }, { SIGKILL, "SIGKILL" },
	{ SIGUSR1, "SIGUSR1" }, { SIGSEGV, "SIGSEGV" }, { SIGUSR2, "SIGUSR2" },
	{ SIGPIPE, "SIGPIPE" }, { SIGALRM, "SIGALRM" }, { SIGTERM, "SIGTERM" },
	{ SIGSTKFLT, "SIGSTKFLT" }, { SIGCHLD, "SIGCHLD" },
	{ SIGCONT, "SIGCONT" }, { SIGSTOP, "SIGSTOP" }, { SIGTSTP, "SIGTSTP" },
	{ SIGTTIN, "SIGTTIN" }, { SIGTTOU, "SIGTTOU" }, { SIGURG, "SIGURG" },
	{ SIGXCPU, "SIGXCPU" }, { SIGXFSZ, "SIGXFSZ" },
	{ SIGVTALRM, "SIGVTALRM" }, { SIGPROF, "SIGPROF" },
	{ SIGWINCH, "SIGWINCH" }, { SIGIO, "SIGIO" }, { SIGPWR, "SIGPWR" },
	{ SIGSYS, "SIGSYS" },
};

const char *proc_signal_name(int sig)
{
	static char other[16];
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (signals[i].sig == sig)
			return signals[i].name;
	snprintf(other, sizeof(other), "SIG%d", sig);
	return other;
}

void proc_status_text(int status, char out[32])
{
	if (WIFSIGNALED(status))
		snprintf(out, 32, "%s", proc_signal_name(WTERMSIG(status)));
	else if (WIFEXITED(status))
		snprintf(out, 32, "exit %d", WEXITSTATUS(status));
	else
		snprintf(out, 32, "running");
}

/* Close everything above stderr but keep. */
static void close_others(int keep)
{
	unsigned lo = 3;

	if (keep >= 3) {
		if (keep > 3)
			syscall(SYS_close_range, 3u, (unsigned)keep - 1, 0u);
		lo = (unsigned)keep + 1;
	}
	if (syscall(SYS_close_range, lo, ~0u, 0u) < 0) {
		unsigned fd;

		for (fd = lo; fd < 4096; fd++)
			close((int)fd);
	}
}

/* Signals as a fresh program expects them. */
static void signals_default(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int fd_or_null(int fd, int mode)
{
	return fd >= 0 ? fd : open("/dev/null", mode);
}

/* Move the three out of the way of 0 to 2 first: they may be crossed. */
static int place_fds(int in, int out, int err)
{
	int from[3], i;

	from[0] = fd_or_null(in, O_RDONLY);
	from[1] = fd_or_null(out, O_WRONLY);
	from[2] = fd_or_null(err, O_WRONLY);
	for (i = 0; i < 3; i++) {
		if (from[i] < 0)
			return -1;
		if (from[i] < 3) {
			from[i] = fcntl(from[i], F_DUPFD, 3);
			if (from[i] < 0)
				return -1;
		}
	}
	for (i = 0; i < 3; i++)
		if (dup2(from[i], i) < 0)
			return -1;
	return 0;
}

static void oom_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "700", 3) < 0)
		errno = 0;	/* a nicety, no more */
	close(fd);
}

static int become(int in, int out, int err, unsigned flags, pid_t parent,
		  int keep)
{
	static const struct rlimit no_core;

	if (flags & PROC_SESSION)
		setsid();
	else if (flags & PROC_GROUP)
		setpgid(0, 0);
	if (flags & PROC_PDEATH) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			return -1;
		/* It may have died before we asked. */
		if (getppid() != parent)
			_exit(0);
	}
	if (flags & PROC_NOCORE)
		setrlimit(RLIMIT_CORE, &no_core);
	if (flags & PROC_OOM_FIRST)
		oom_first();
	if (place_fds(in, out, err) < 0)
		return -1;
	close_others(keep);
	return 0;
}

int proc_become(int in, int out, int err, unsigned flags, pid_t parent)
{
	return become(in, out, err, flags, parent, -1);
}

/* The child's side: tell the parent why through fd, which exec closes. */
static void exec_child(const struct proc_spec *s, int fd, pid_t parent)
{
	int errnum;

	if (become(s->in, s->out, s->err, s->flags, parent, fd) == 0) {
		signals_default();
		execvp(s->argv[0], s->argv);
	}
	errnum = errno;
	if (write(fd, &errnum, sizeof(errnum)) < 0)
		_exit(125);
	_exit(127);
}

static int cant_exec(const char *name, int errnum, struct err *e)
{
	err_sys(e, errnum, "cannot run '%s'", name);
	if (e)
		e->code = errnum == ENOENT || errnum == ENOTDIR ?
			  EX_NOTFOUND : EX_CANTRUN;
	return -1;
}

pid_t proc_spawn(const struct proc_spec *s, struct err *e)
{
	sigset_t all, before;
	int p[2], errnum = 0, saved;
	pid_t pid, parent = getpid();
	ssize_t n;

	if (pipe2(p, O_CLOEXEC) < 0)
		return err_sys(e, errno, "cannot make a pipe");
	if (p[1] < 3) {		/* not where the child's own will be */
		int up = fcntl(p[1], F_DUPFD_CLOEXEC, 3);

		close(p[1]);
		p[1] = up;
	}
	/* No handler of ours may run in the child. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = p[1] < 0 ? -1 : fork();
	if (pid == 0)
		exec_child(s, p[1], parent);
	saved = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (p[1] >= 0)
		close(p[1]);
	if (pid < 0) {
		close(p[0]);
		return err_sys(e, saved, "cannot fork");
	}
	if (s->flags & (PROC_GROUP | PROC_SESSION))
		setpgid(pid, pid);	/* whoever is first */
	do
		n = read(p[0], &errnum, sizeof(errnum));
	while (n < 0 && errno == EINTR);
	close(p[0]);
	if (n == (ssize_t)sizeof(errnum)) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return cant_exec(s->argv[0], errnum, e);
	}
	return pid;
}

void proc_kill(pid_t pid, int sig)
{
	if (pid <= 1)
		return;
	kill(-pid, sig);
	kill(pid, sig);
}

/* A small file of /proc as text; its length, -1 where it can't be read. */
static ssize_t slurp(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -1;
	text[n] = '\0';
	return n;
}

static uint64_t ticks_us(unsigned long long ticks)
{
	static long hz;

	if (!hz)
		hz = sysconf(_SC_CLK_TCK);
	return ticks * 1000000u / (uint64_t)(hz > 0 ? hz : 100);
}

int proc_usage(pid_t pid, struct proc_usage *u)
{
	unsigned long long ut, st, wait;
	char path[64], text[1024], *p;
	long rss;

	memset(u, 0, sizeof(*u));
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (slurp(path, text, sizeof(text)) <= 0)
		return -1;
	/* The name in parentheses may hold anything, ')' too. */
	p = strrchr(text, ')');
	if (!p || sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u"
			 " %llu %llu %*d %*d %*d %*d %*d %*d %*u %*u %ld",
			 &u->state, &ut, &st, &rss) != 4)
		return -1;
	u->rss = rss > 0 ? (uint64_t)rss * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
	u->cpu_us = ticks_us(ut + st);
	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	if (slurp(path, text, sizeof(text)) > 0 &&
	    sscanf(text, "%*u %llu", &wait) == 1)
		u->wait_us = wait / 1000;
	return u->state == 'Z' || u->state == 'X' ? -1 : 0;
}

/* The number after key in a "Key:  123" or "key 123" file. */
static int file_number(const char *path, const char *key, uint64_t *out)
{
	char line[256];
	FILE *f = fopen(path, "re");
	size_t n = strlen(key);
	int rc = -1;

	if (!f)
		return -1;
	while (rc < 0 && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, n) || !strchr(": \t", line[n]))
			continue;
		*out = strtoull(line + n + 1, NULL, 10);
		rc = 0;
	}
	fclose(f);
	return rc;
}

uint64_t proc_pss(pid_t pid)
{
	char path[64];
	uint64_t kb;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	return file_number(path, "Pss", &kb) < 0 ? 0 : kb * 1024;
}

int proc_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *de;
	int n = 0;

	if (!d)
		return -1;
	while ((de = readdir(d)) != NULL)
		n += de->d_name[0] != '.';
	closedir(d);
	return n;
}

uint64_t proc_oom_kills(void)
{
	uint64_t n, cg;

	if (file_number("/proc/vmstat", "oom_kill", &n) < 0)
		n = 0;
	if (file_number("/sys/fs/cgroup/memory.events", "oom_kill", &cg) == 0)
		n += cg;
	return n;
}

uint64_t proc_memory_total(void)
{
	uint64_t kb = 0, limit;
	char text[64], *end;

	if (file_number("/proc/meminfo", "MemTotal", &kb) < 0)
		kb = 0;
	if (slurp("/sys/fs/cgroup/memory.max", text, sizeof(text)) > 0) {
		limit = strtoull(text, &end, 10);
		if (end != text && limit / 1024 < kb)
			kb = limit / 1024;
	}
	return kb * 1024;
}

double proc_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int proc_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0u);
}
