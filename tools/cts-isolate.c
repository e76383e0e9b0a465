/*
 * cts-isolate: run cases in processes that may die, and look after what such
 * a run leaves: its stream, its failures, the ledger of known crashes.
 *
 * reads	case records from files or stdin; others pass through
 * writes	what the command writes, whole records only, and a death
 *		record for each case whose process died
 * exit		0 every case has an end or a death; 1 the ledger has faults;
 *		2 bad usage; 3 bad input; 4 environment;
 *		126, 127 the command can't be run, not be found
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "history.h"
#include "intake.h"
#include "mend.h"
#include "outfile.h"
#include "place.h"
#include "proc.h"
#include "prog.h"
#include "settle.h"
#include "shrink.h"
#include "warden.h"
#include "xalloc.h"
#include "zygote.h"

static const char usage_text[] =
"usage: cts-isolate [OPTION]... [FILE]... -- COMMAND [ARG]...\n"
"       cts-isolate --warm-up --zygote PATH [OPTION]... [FILE]... -- COMMAND...\n"
"       cts-isolate --resume STREAM\n"
"       cts-isolate --settle AGAIN STREAM\n"
"       cts-isolate --triage [--candidates FILE] STREAM AGAIN...\n"
"       cts-isolate --shrink CASE [--sample N] STREAM -- COMMAND [ARG]...\n"
"       cts-isolate --list-history [--torch VERSION] DIR\n"
"       cts-isolate --audit [--ledger FILE] [FILE]...\n"
"\n"
"Run the case records of FILE (or stdin) through COMMAND, cts-exec with its\n"
"options.  A case whose process crashes, hangs, takes too long or too much\n"
"memory gets a death record; the others go on in a fresh process.\n"
"\n"
"  -t, --timeout SECONDS      a case's time, where it has none of its own (60; 0:\n"
"                             no limit); more where it has many samples, or a high level\n"
"      --silence SECONDS      ... in which it neither computes nor speaks (30)\n"
"      --start-limit SECONDS  until a worker begins its first case (120)\n"
"      --max-memory MB        of one worker; 0: no limit (3/4 of the machine's)\n"
"      --mode MODE            batch: many cases a process (the default); case:\n"
"                             each has one of its own\n"
"  -b, --batch N              a fresh process after so many cases (no limit)\n"
"      --zygote PATH          fork workers from a process that serves there and\n"
"                             is started if need be; for runs side by side\n"
"      --warm-up              have that process started where the first case of\n"
"                             FILE can use it, and run none\n"
"      --plain                fork none: start the command for every worker\n"
"  -d, --device DEVICE        which device it is (that of the cases), since not\n"
"                             all can be used in a forked process\n"
"      --known-crashes WORD   isolate: a process of its own for each case that\n"
"                             the ledger has (the default); off\n"
"      --ledger FILE          (coverage/known-crashes.jsonl)\n"
"      --history PATH         likewise for cases that died in the runs in that\n"
"                             folder, or that --list-history has listed there\n"
"      --torch VERSION        of the runs that count\n"
"      --runlog FILE          keep the last 32 starts there\n"
"  -v, --verbose              show what the workers write on stderr\n"
"\n"
"Instead of running cases:\n"
"      --resume               take out of STREAM what a run that was cut short\n"
"                             left half done, and print the cases it still owes\n"
"      --settle               mark the failures in STREAM by what a run of them\n"
"                             alone says, AGAIN\n"
"      --triage               class the failures in STREAM by several such runs\n"
"      --candidates FILE      ... and write rules for the ledger there\n"
"      --shrink CASE          find the smallest input with which CASE of STREAM\n"
"                             fails as it does, as COMMAND judges it, and print\n"
"                             the case and the verdict\n"
"      --sample N             ... in that sample (the first that fails)\n"
"      --attempts N           ... by at most so many attempts (300)\n"
"      --seconds SECONDS      ... in about that time (20)\n"
"      --list-history         print the ids that died in the runs in DIR\n"
"      --audit                check the ledger against the cases in FILE\n"
"      --today YYYY-MM-DD     ... as on that day\n"
"\n"
"  -h, --help                 print this and exit\n"
"  -V, --version              print the version and exit\n"
"\n"
"Exit status: 0 every case has its result, 1 --audit found a fault, or the case\n"
"to --shrink does not fail again, 2 bad usage, 3 bad input, 4 environment, 126\n"
"COMMAND can't be run, 127 not found.\n";

enum { OPT_SILENCE = 256, OPT_START, OPT_MEMORY, OPT_MODE, OPT_ZYGOTE,
	OPT_PLAIN, OPT_RUNLOG, OPT_KNOWN, OPT_LEDGER, OPT_HISTORY, OPT_TORCH,
	OPT_CANDIDATES, OPT_TODAY, OPT_RESUME, OPT_SETTLE, OPT_TRIAGE,
	OPT_LIST, OPT_AUDIT, OPT_WARM_UP, OPT_SHRINK, OPT_SAMPLE, OPT_ATTEMPTS,
	OPT_SECONDS };

static const struct option longs[] = {
	{ "timeout", required_argument, NULL, 't' },
	{ "silence", required_argument, NULL, OPT_SILENCE },
	{ "start-limit", required_argument, NULL, OPT_START },
	{ "max-memory", required_argument, NULL, OPT_MEMORY },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "batch", required_argument, NULL, 'b' },
	{ "zygote", required_argument, NULL, OPT_ZYGOTE },
	{ "warm-up", no_argument, NULL, OPT_WARM_UP },
	{ "plain", no_argument, NULL, OPT_PLAIN },
	{ "device", required_argument, NULL, 'd' },
	{ "runlog", required_argument, NULL, OPT_RUNLOG },
	{ "known-crashes", required_argument, NULL, OPT_KNOWN },
	{ "ledger", required_argument, NULL, OPT_LEDGER },
	{ "history", required_argument, NULL, OPT_HISTORY },
	{ "torch", required_argument, NULL, OPT_TORCH },
	{ "candidates", required_argument, NULL, OPT_CANDIDATES },
	{ "today", required_argument, NULL, OPT_TODAY },
	{ "resume", no_argument, NULL, OPT_RESUME },
	{ "settle", no_argument, NULL, OPT_SETTLE },
	{ "triage", no_argument, NULL, OPT_TRIAGE },
	{ "shrink", required_argument, NULL, OPT_SHRINK },
	{ "sample", required_argument, NULL, OPT_SAMPLE },
	{ "attempts", required_argument, NULL, OPT_ATTEMPTS },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "list-history", no_argument, NULL, OPT_LIST },
	{ "audit", no_argument, NULL, OPT_AUDIT },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

struct opts {
	struct warden wd;
	const char *device;	/* NULL: the cases' own */
	bool plain;
	bool looked_up;		/* the device's fork rule */
	struct place place;
	bool known;		/* heed the ledger */
	const char *ledger, *history, *torch, *candidates, *today;
	struct shrink shrink;
	int mode;		/* OPT_RESUME..., 0: run cases */
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

/* One of two words: true for the first. */
static bool word(const char *opt, const char *text, const char *yes,
		 const char *no)
{
	if (!strcmp(text, yes))
		return true;
	if (strcmp(text, no))
		exit(prog_usage("%s '%s': %s or %s is needed", opt, text, yes,
				no));
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
			o->wd.solo = word("--mode", optarg, "case", "batch");
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
		case OPT_KNOWN:
			o->known = word("--known-crashes", optarg, "isolate",
					"off");
			break;
		case OPT_LEDGER: o->ledger = optarg; break;
		case OPT_HISTORY: o->history = optarg; break;
		case OPT_TORCH: o->torch = optarg; break;
		case OPT_CANDIDATES: o->candidates = optarg; break;
		case OPT_TODAY: o->today = optarg; break;
		case OPT_SAMPLE:
			o->shrink.sample = prog_int("--sample", optarg, 0,
						    1000000);
			break;
		case OPT_ATTEMPTS:
			o->shrink.attempts = (int)prog_int("--attempts",
						optarg, 1, 1000000);
			break;
		case OPT_SECONDS:
			o->shrink.seconds = seconds("--seconds", optarg);
			break;
		case OPT_SHRINK:
			o->shrink.id = optarg;
			/* fall through */
		default:
			if (o->mode && o->mode != c)
				exit(prog_usage("one thing at a time"));
			o->mode = c;
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

/* May workers for this device be forked? */
static bool fork_rule(const char *device, int asked)
{
	struct device d;
	struct err e;
	bool may;

	if (asked >= 0)
		return asked != DEVICE_FORK_NEVER;
	if (device_find(&d, prog_root(), device, &e) < 0) {
		warn(e.msg);
		return false;
	}
	may = d.fork != DEVICE_FORK_NEVER;
	device_release(&d);
	return may;
}

/* A device that can't be used in a forked process gets a fresh one. */
static void place(void *ctx, struct item *it)
{
	struct opts *o = ctx;
	const char *name = o->device ? o->device : it->device;

	/* Once: all cases of a stream are for one device. */
	if (o->wd.fork && !o->looked_up && !fork_rule(name, it->fork))
		o->wd.fork = false;
	o->looked_up = true;
	place_item(&o->place, it, name, o->torch);
}

/* End as the signal asks that stopped us: whoever waits can tell. */
static int end_by(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
	return EX_ENVIRON;
}

/* The default ledger may be missing, one that was named may not. */
static char *ledger_path(const struct opts *o)
{
	char *path;

	if (o->ledger)
		return xstrdup(o->ledger);
	path = xasprintf("%s/coverage/known-crashes.jsonl", prog_root());
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* Start what the workers are forked from, before any of them asks for it. */
static int warm_up(struct opts *o, struct err *e)
{
	struct item it = { .id = NULL };
	struct intake in;
	struct zygote z = { .sock = -1 };
	int rc;

	intake_init(&in, o->wd.files);
	do {
		item_release(&it);
		rc = intake_next(&in, &it, e);
		if (rc == 0 && !in.eof)
			rc = intake_read(&in, e) < 0 ? -1 : 1;
	} while (rc > 0 && !it.is_case);
	if (rc > 0) {
		place(o, &it);
		rc = o->wd.fork ? zygote_open(&z, o->wd.zygote_path,
					      o->wd.argv, o->wd.start_s, e) : 0;
		zygote_close(&z);
	}
	item_release(&it);
	intake_release(&in);
	return rc;
}

/* Run the cases, or only make ready for it. */
static int run_cases(struct opts *o, struct err *e)
{
	char *ledger = o->known ? ledger_path(o) : NULL;
	int rc = 0;

	place_init(&o->place);
	if (ledger)
		rc = place_ledger(&o->place, ledger, e);
	if (rc == 0 && o->history)
		rc = place_history(&o->place, o->history, o->torch, e);
	o->wd.fork = can_fork(o) && !o->place.no_fork;
	if (rc == 0)
		rc = o->mode == OPT_WARM_UP ? warm_up(o, e) :
			warden_run(&o->wd, e);
	place_release(&o->place);
	free(ledger);
	return rc;
}

static int put(const struct buf *b, struct err *e)
{
	if (fwrite(b->p, 1, b->len, stdout) == b->len)
		return 0;
	return err_sys(e, errno, "cannot write");
}

static int resume(const char *stream, struct err *e)
{
	struct mend m;

	if (mend_stream(stream, 1, &m, e) < 0)
		return -1;
	if (m.broken || m.twice)
		prog_warn("%s: %zu broken lines and %zu second verdicts are "
			  "taken out", stream, m.broken, m.twice);
	return 0;
}

static int triage(const struct opts *o, char *const *files, size_t n,
		  struct err *e)
{
	struct buf out = BUF_INIT, rules = BUF_INIT;
	int rc = settle_triage(files[0], files + 1, n - 1, o->today, &out,
			       &rules, e);

	if (rc == 0)
		rc = put(&out, e);
	if (rc == 0 && o->candidates)
		rc = outfile_write(o->candidates, &rules, e);
	buf_release(&out);
	buf_release(&rules);
	return rc;
}

static int shrink(struct opts *o, const char *stream, struct err *e)
{
	struct buf out = BUF_INIT;
	int rc = shrink_case(&o->shrink, stream, &out, e);

	if (rc == 0)
		rc = put(&out, e);
	buf_release(&out);
	return rc;
}

/* How many findings, or -1 with e set. */
static int audit(const struct opts *o, char *const *files, struct err *e)
{
	struct buf out = BUF_INIT;
	char *path = ledger_path(o);
	int found = 0;

	if (path)
		found = knowncrash_audit(path, files, o->today, &out, e);
	if (found >= 0 && put(&out, e) < 0)
		found = -1;
	buf_release(&out);
	free(path);
	return found;
}

/* Everything but running cases. */
static int do_mode(struct opts *o, char *const *files, size_t n,
		   struct err *e)
{
	static const struct { int mode; size_t lo, hi; } needs[] = {
		{ OPT_RESUME, 1, 1 }, { OPT_SETTLE, 2, 2 },
		{ OPT_TRIAGE, 2, 1000 }, { OPT_LIST, 1, 1 },
		{ OPT_AUDIT, 0, 1000000 }, { OPT_SHRINK, 1, 1 },
	};
	struct buf b = BUF_INIT;
	struct settle s;
	size_t i = 0;
	int rc;

	while (needs[i].mode != o->mode)
		i++;
	if (n < needs[i].lo || n > needs[i].hi)
		exit(prog_usage("these are not the files that it needs"));
	switch (o->mode) {
	case OPT_RESUME:
		return resume(files[0], e);
	case OPT_SETTLE:
		return settle_stream(files[1], files[0], &s, e);
	case OPT_TRIAGE:
		return triage(o, files, n, e);
	case OPT_AUDIT:
		return audit(o, files, e);
	case OPT_SHRINK:
		return shrink(o, files[0], e);
	}
	rc = history_list(files[0], o->torch, &b, e);
	if (rc == 0)
		rc = put(&b, e);
	buf_release(&b);
	return rc;
}

static const char *today(char text[16])
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(text, 16, "%Y-%m-%d", &tm);
	return text;
}

int main(int argc, char **argv)
{
	struct opts o = { .wd = { .out = 1, .echo = -1, .limit_s = 60,
		.silence_s = 30, .start_s = 120, .warn = warn,
		.place = place, .max_rss = proc_memory_total() / 4 * 3 },
		.known = true, .shrink = { .sample = -1, .attempts = 300,
		.seconds = 20 } };
	struct err e = { 0 };
	bool command, runs;
	char day[16];
	int rc, split;

	prog_init("cts-isolate", usage_text);
	o.today = today(day);
	/* What follows "--" is not ours to look at. */
	for (split = 1; split < argc && strcmp(argv[split], "--"); split++)
		;
	parse(&o, split, argv);
	runs = !o.mode || o.mode == OPT_WARM_UP;
	command = runs || o.mode == OPT_SHRINK;
	if (command ? split + 1 >= argc : split < argc)
		return prog_usage(command ? "a command is needed, after --" :
				  "there is no command to run");
	if (o.mode == OPT_WARM_UP && !o.wd.zygote_path)
		return prog_usage("--warm-up needs --zygote");
	argv[split] = NULL;
	o.shrink.argv = command ? argv + split + 1 : NULL;
	o.wd.files = argv + optind;
	o.wd.ctx = &o;
	if (runs) {
		o.wd.argv = argv + split + 1;
		if (!o.device)
			o.device = device_of(o.wd.argv);
		rc = run_cases(&o, &e);
	} else {
		rc = do_mode(&o, o.wd.files, (size_t)(split - optind), &e);
	}
	if (rc < 0 && e.code < 0)
		return end_by(-e.code);
	if (rc < 0)
		return prog_finish(prog_fail_err(&e));
	return prog_finish(rc ? EX_NEGATIVE : 0);
}
