/*
 * cts-isolate: run cases in processes that may die.
 *
 * reads	case records from files or stdin; others pass through
 * writes	what the command writes, whole records only, and a death
 *		record for each case whose process died
 * exit		0 every case has an end or a death; 2 bad usage; 3 bad input;
 *		4 environment; 126, 127 the command can't be run, not be found
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "proc.h"
#include "prog.h"
#include "warden.h"
#include "xalloc.h"

static const char usage_text[] =
"usage: cts-isolate [OPTION]... [FILE]... -- COMMAND [ARG]...\n"
"\n"
"Run the case records of FILE (or stdin) through COMMAND, cts-exec with its\n"
"options.  A case whose process crashes, hangs, takes too long or too much\n"
"memory gets a death record; the others go on in a fresh process.\n"
"\n"
"  -t, --timeout SECONDS     a case's time, where it has none of its own (60)\n"
"      --silence SECONDS     ... in which it neither computes nor speaks (30)\n"
"      --start-limit SECONDS until a worker begins its first case (120)\n"
"      --max-memory MB       of one worker; 0: no limit (3/4 of the machine's)\n"
"      --mode MODE           batch: many cases a process (the default); case:\n"
"                            each has one of its own\n"
"  -b, --batch N             a fresh process after so many cases (no limit)\n"
"      --zygote PATH         fork workers from a process that serves there and\n"
"                            is started if need be; for runs side by side\n"
"      --plain               fork none: start the command for every worker\n"
"  -d, --device DEVICE       which device it is (that of the cases), since not\n"
"                            all can be used in a forked process\n"
"      --runlog FILE         keep the last 32 starts there\n"
"  -v, --verbose             show what the workers write on stderr\n"
"  -h, --help                print this and exit\n"
"  -V, --version             print the version and exit\n"
"\n"
"Exit status: 0 every case has its result, 2 bad usage, 3 bad input,\n"
"4 environment, 126 COMMAND can't be run, 127 it is not found.\n";

enum { OPT_SILENCE = 256, OPT_START, OPT_MEMORY, OPT_MODE, OPT_ZYGOTE,
	OPT_PLAIN, OPT_RUNLOG };

static const struct option longs[] = {
	{ "timeout", required_argument, NULL, 't' },
	{ "silence", required_argument, NULL, OPT_SILENCE },
	{ "start-limit", required_argument, NULL, OPT_START },
	{ "max-memory", required_argument, NULL, OPT_MEMORY },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "batch", required_argument, NULL, 'b' },
	{ "zygote", required_argument, NULL, OPT_ZYGOTE },
	{ "plain", no_argument, NULL, OPT_PLAIN },
	{ "device", required_argument, NULL, 'd' },
	{ "runlog", required_argument, NULL, OPT_RUNLOG },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

struct opts {
	struct warden wd;
	const char *device;	/* NULL: the cases' own */
	bool plain;
};

static void warn(const char *msg)
{
	prog_warn("%s", msg);
}

/* Seconds, with a fraction where wanted; 0: no limit. */
static double seconds(const char *opt, const char *text)
{
	char *end;
	double s;

	errno = 0;
	s = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(s) || s < 0 || s > 1e6)
		exit(prog_usage("%s '%s': seconds from 0 to 1000000 are "
				"needed", opt, text));
	return s;
}

static bool solo_mode(const char *text)
{
	if (!strcmp(text, "case"))
		return true;
	if (strcmp(text, "batch"))
		exit(prog_usage("--mode '%s': batch or case is needed", text));
	return false;
}

static void parse(struct opts *o, int argc, char **argv)
{
	int c;

	while ((c = prog_getopt(argc, argv, "t:b:d:vhV", longs)) >= 0) {
		switch (c) {
		case 't':
			o->wd.limit_s = seconds("--timeout", optarg);
			break;
		case OPT_SILENCE:
			o->wd.silence_s = seconds("--silence", optarg);
			break;
		case OPT_START:
			o->wd.start_s = seconds("--start-limit", optarg);
			break;
		case OPT_MEMORY:
			o->wd.max_rss = (uint64_t)prog_int("--max-memory",
						optarg, 0, 1 << 30) << 20;
			break;
		case OPT_MODE:
			o->wd.solo = solo_mode(optarg);
			break;
		case 'b':
			o->wd.batch = (size_t)prog_int("--batch", optarg, 0,
						       1 << 30);
			break;
		case OPT_ZYGOTE:
			o->wd.zygote_path = optarg;
			break;
		case OPT_PLAIN:
			o->plain = true;
			break;
		case 'd':
			o->device = optarg;
			break;
		case OPT_RUNLOG:
			o->wd.runlog = optarg;
			break;
		case 'v':
			o->wd.echo = 2;
			break;
		}
	}
}

/* The device that the command itself is told to use, or NULL. */
static const char *device_of(char *const *argv)
{
	for (; *argv; argv++) {
		if (!strncmp(*argv, "--device=", 9))
			return *argv + 9;
		if ((!strcmp(*argv, "--device") || !strcmp(*argv, "-d")) &&
		    argv[1])
			return argv[1];
	}
	return NULL;
}

/* Only cts-exec is known to fork workers; others do where it is asked for. */
static bool can_fork(const struct opts *o)
{
	const char *slash = strrchr(o->wd.argv[0], '/');

	if (o->plain)
		return false;
	return o->wd.zygote_path ||
	       !strcmp(slash ? slash + 1 : o->wd.argv[0], "cts-exec");
}

/* A device that can't be used in a forked process gets a fresh one. */
static void place(void *ctx, struct item *it)
{
	struct opts *o = ctx;
	const char *name = o->device ? o->device : it->device;
	struct device d;
	struct err e;

	/* Once: all cases of a stream are for one device. */
	if (!o->wd.fork || o->plain)
		return;
	o->plain = true;
	if (device_find(&d, prog_root(), name, &e) < 0) {
		warn(e.msg);
		o->wd.fork = false;
		return;
	}
	o->wd.fork = d.fork != DEVICE_FORK_NEVER;
	device_release(&d);
}

/* End as the signal asks that stopped us: whoever waits can tell. */
static int end_by(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
	return EX_ENVIRON;
}

int main(int argc, char **argv)
{
	struct opts o = { .wd = { .out = 1, .echo = -1, .limit_s = 60,
		.silence_s = 30, .start_s = 120, .warn = warn,
		.place = place, .max_rss = proc_memory_total() / 4 * 3 } };
	struct err e = { 0 };
	int rc, split;

	prog_init("cts-isolate", usage_text);
	/* What follows "--" is not ours to look at. */
	for (split = 1; split < argc && strcmp(argv[split], "--"); split++)
		;
	parse(&o, split, argv);
	if (split + 1 >= argc)
		return prog_usage("a command is needed, after --");
	argv[split] = NULL;
	o.wd.files = argv + optind;
	o.wd.argv = argv + split + 1;
	o.wd.ctx = &o;
	o.wd.fork = can_fork(&o);
	if (!o.device)
		o.device = device_of(o.wd.argv);
	rc = warden_run(&o.wd, &e);
	if (rc < 0 && e.code < 0)
		return end_by(-e.code);
	if (rc < 0)
		return prog_finish(prog_fail_err(&e));
	return prog_finish(0);
}
