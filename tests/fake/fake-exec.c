/*
 * fake-exec: a worker that needs no PyTorch and misbehaves as each case's id
 * says, in its op: "ok", or one of the words in the table below, with a
 * number behind a '.' where it takes one ("sleep.2").
 *
 * reads	case records from stdin
 * writes	start, obs, end; or whatever else the case wants
 *
 * --zygote PATH forks workers on request; --obs N writes N obs records a case
 * (2); --work US computes that long for each; --pad BYTES makes them so long.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "case.h"
#include "crash.h"
#include "jw.h"
#include "prog.h"
#include "rec.h"
#include "zygote.h"

static const char usage_text[] =
"usage: fake-exec [--zygote PATH] [--obs N] [--work US] [--pad BYTES]\n"
"Exit status: 0, 3, 4, or what a case wants.\n";

static long n_obs = 2, work_us, pad;
static bool forked;		/* by a zygote */
static bool poisoned;

static void say(const char *kind, const struct case_rec *c, long sample)
{
	struct buf b = BUF_INIT, padding = BUF_INIT;
	struct jw w;
	struct err e;
	long i;

	jw_init(&w, &b);
	jw_record(&w, kind, c->id, c->run);
	if (sample >= 0)
		jw_kint(&w, "sample", sample);
	if (sample >= 0 && pad) {
		for (i = 0; i < pad; i++)
			buf_addch(&padding, (char)('a' + i % 26));
		jw_kstr(&w, "pad", padding.p);
	}
	if (!strcmp(kind, "end")) {
		jw_kint(&w, "samples", n_obs);
		jw_kstr(&w, "status", poisoned ? "error" : "ran");
		jw_knum(&w, "t_s", 0);
	}
	jw_obj_end(&w);
	if (rec_write_buf(1, &b, &e) < 0)
		_exit(prog_fail_err(&e));
	buf_release(&b);
	buf_release(&padding);
}

static void raw(int fd, const char *s)
{
	if (write(fd, s, strlen(s)) < 0)
		_exit(EX_ENVIRON);
}

static void compute(long us)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000 +
	       (b.tv_nsec - a.tv_nsec) / 1000 < us);
}

static void do_kill(long sig)
{
	/* Not raise(): no handler may keep it from us. */
	if (!sig)
		sig = SIGKILL;
	signal((int)sig, SIG_DFL);
	kill(getpid(), (int)sig);
	for (;;)
		pause();
}

static void do_segv(long n)
{
	volatile uintptr_t where = (uintptr_t)n + 8;

	*(volatile int *)where = 1;
}

static void do_fpe(long n)
{
	volatile int zero = (int)(n - n);

	n /= zero;
	raise(SIGFPE);		/* where division by zero is no fault */
}

static void do_bus(long n)
{
	FILE *f = tmpfile();
	char *p;

	p = f ? mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fileno(f), 0) :
		MAP_FAILED;
	if (p != MAP_FAILED)
		p[n] = 1;
	raise(SIGBUS);
}

static int deep(volatile const char *p)
{
	volatile char space[4096];

	space[0] = *p;
	return *p < 2 ? deep(space) + space[0] : 0;
}

static void do_stack(long n)
{
	char c = (char)(n & 1);

	deep(&c);
}

static void do_abort(long n)
{
	(void)n;
	abort();
}

static void do_badalloc(long n)
{
	(void)n;
	raw(2, "terminate called after throwing an instance of "
	    "'std::bad_alloc'\n");
	abort();
}

static void do_exit(long n)
{
	_exit((int)n);
}

static void do_spin(long n)
{
	for (;;)
		compute(n + 100000);
}

static void do_sleep(long n)
{
	sleep(n ? (unsigned)n : 1000);
}

static void do_nap(long ms)
{
	usleep((useconds_t)ms * 1000);
}

static void do_busy(long ms)
{
	compute(ms * 1000);
}

static void do_deadlock(long n)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	(void)n;
	pthread_mutex_lock(&m);
	pthread_mutex_lock(&m);
}

static void do_forkhang(long n)
{
	if (forked)
		do_deadlock(n);
}

static void do_stubborn(long n)
{
	int sig;

	for (sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	do_sleep(n);
}

static void do_hog(long mb)
{
	char *p;
	long i;

	for (i = 0; !mb || i < mb; i++) {
		p = malloc(1 << 20);
		if (p)
			memset(p, 1, 1 << 20);
		usleep(200);
	}
}

static void do_garbage(long n)
{
	(void)n;
	raw(1, "hello from a library\n{\"v\":1,\"kind\":\"obs\"\n\n{}\n[1]\n"
	    "{\"v\":1,\"kind\":\"obs\",\"id\":\"x\",\"run\":\"r\",}\n"
	    "{\"v\":1,\"kind\":\"obs\",\"id\":\"x\",\"id\":\"y\",\"run\":\"\"}\n"
	    "\xff\xfe\n");
}

static void do_forge(long n)
{
	(void)n;
	raw(1, "{\"v\":1,\"kind\":\"end\",\"id\":\"fake/ok/float32/none\","
	    "\"run\":\"r\",\"samples\":9}\n"
	    "{\"v\":1,\"kind\":\"verdict\",\"id\":\"fake/forge/float32/v0\","
	    "\"run\":\"r\",\"outcome\":\"pass\"}\n"
	    "{\"v\":1,\"kind\":\"death\",\"id\":\"fake/forge/float32/v0\","
	    "\"run\":\"r\",\"outcome\":\"oom\"}\n");
}

static void do_long(long mb)
{
	char line[4096];
	long i;

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	for (i = 0; i < (mb ? mb : 3) * 256; i++)
		raw(1, line);
	raw(1, "\n");
}

/* Half a line that the record of the end then is glued to. */
static void do_glue(long n)
{
	(void)n;
	raw(1, "{\"half\":");
}

static void do_cut(long n)
{
	(void)n;
	raw(1, "{\"v\":1,\"kind\":\"obs\",\"id\":\"");
	_exit(0);
}

static void do_close(long n)
{
	(void)n;
	close(1);
	do_sleep(n);
}

static void do_stderr(long kb)
{
	char line[1025];
	long i;

	memset(line, 'e', 1023);
	line[1023] = '\n';
	line[1024] = '\0';
	for (i = 0; i < (kb ? kb : 1024); i++)
		raw(2, line);
	raw(2, "last words\n");
	abort();
}

static void do_python(long n)
{
	(void)n;
	raw(2, "noise\nFatal Python error: Segmentation fault\n\n"
	    "Current thread 0x1 (most recent call first):\n"
	    "  File \"x.py\", line 3 in f\n");
	do_kill(SIGSEGV);
}

static void do_parent(long n)
{
	kill(getppid(), SIGKILL);
	do_nap(n + 200);
}

static void do_child(long n)
{
	if (fork() == 0) {
		setpgid(0, 0);	/* gets away, and holds our pipes */
		sleep(n ? (unsigned)n : 20);
		_exit(0);
	}
	_exit(0);
}

/* From then on nothing works, which it says. */
static void do_poison(long n)
{
	poisoned = n >= 0;
	raw(1, "{\"v\":1,\"kind\":\"probe\",\"id\":\"\",\"run\":\"r\","
	    "\"probe\":\"worker\",\"name\":\"poisoned\","
	    "\"status\":\"failed\",\"note\":\"x\"}\n");
}

/* Dies after its end, when nothing runs. */
static volatile long late;
static void do_late(long sig)
{
	late = sig ? sig : SIGSEGV;
}

static const struct { const char *name; void (*run)(long n); } deeds[] = {
	{ "segv", do_segv }, { "fpe", do_fpe }, { "bus", do_bus },
	{ "stack", do_stack }, { "abort", do_abort }, { "kill", do_kill },
	{ "badalloc", do_badalloc }, { "exit", do_exit }, { "spin", do_spin },
	{ "sleep", do_sleep }, { "nap", do_nap }, { "busy", do_busy },
	{ "deadlock", do_deadlock }, { "forkhang", do_forkhang },
	{ "stubborn", do_stubborn }, { "hog", do_hog },
	{ "garbage", do_garbage }, { "forge", do_forge }, { "long", do_long },
	{ "glue", do_glue }, { "cut", do_cut }, { "close", do_close },
	{ "stderr", do_stderr }, { "python", do_python },
	{ "parent", do_parent }, { "child", do_child },
	{ "poison", do_poison }, { "late", do_late },
};

static void misbehave(const char *op)
{
	size_t i, n;

	for (i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++) {
		n = strlen(deeds[i].name);
		if (!strncmp(op, deeds[i].name, n) && (!op[n] || op[n] == '.'))
			deeds[i].run(op[n] ? strtol(op + n + 1, NULL, 10) : 0);
	}
}

/* The variants "early" and "last" misbehave before the start, or the end. */
static void run_case(const struct case_rec *c)
{
	bool early = !strcmp(c->variant, "early");
	bool last = !strcmp(c->variant, "last");
	long i;

	if (early)
		misbehave(c->op);
	say("start", c, -1);
	if (!early && !last)
		misbehave(c->op);
	for (i = 0; i < n_obs; i++) {
		compute(work_us);
		say("obs", c, i);
	}
	if (last)
		misbehave(c->op);
	say("end", c, -1);
	if (late) {
		usleep(1000);
		do_kill(late);
	}
}

static int run(void *ctx)
{
	struct rec_reader *r;
	struct case_rec c;
	struct rec rec;
	struct err e;
	int rc;

	forked = ctx != NULL;
	crash_install();
	r = rec_open(NULL, 0);
	while ((rc = rec_next(r, &rec, &e)) > 0) {
		if (rec.kind != REC_CASE)
			rc = rec_write(1, rec.line, rec.len, &e);
		else if ((rc = case_read(&c, &rec, &e)) == 0)
			run_case(&c);
		if (rc < 0)
			break;
	}
	rec_close(r);
	return rc < 0 ? prog_fail_err(&e) : 0;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "zygote", required_argument, NULL, 'z' },
		{ "obs", required_argument, NULL, 'o' },
		{ "work", required_argument, NULL, 'w' },
		{ "pad", required_argument, NULL, 'p' },
		{ "device", required_argument, NULL, 'd' },	/* ignored */
		{ "blobs", required_argument, NULL, 'd' },
		{ NULL, 0, NULL, 0 }
	};
	const char *zygote = NULL;
	struct err e;
	int c;

	prog_init("fake-exec", usage_text);
	while ((c = prog_getopt(argc, argv, "d:", longs)) >= 0) {
		if (c == 'z')
			zygote = optarg;
		else if (c == 'o')
			n_obs = (long)prog_int("--obs", optarg, 0, 1000000);
		else if (c == 'w')
			work_us = (long)prog_int("--work", optarg, 0, 1000000);
		else if (c == 'p')
			pad = (long)prog_int("--pad", optarg, 0, 1000000);
	}
	if (!zygote)
		return prog_finish(run(NULL));
	if (zygote_serve(zygote, 0, -1, run, &e, &e) < 0)
		return prog_finish(prog_fail_err(&e));
	return prog_finish(0);
}
