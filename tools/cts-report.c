/*
 * cts-report: what a run came to, and whether it proves the claim.
 *
 * reads	record streams, plain or gzip: files, run folders, references
 *		to a run, or stdin
 * writes	a scorecard on stdout; a JSON summary, Markdown, HTML, JUnit XML
 * exit		0 conformant: at least one case, all there, all pass;
 *		1 not; 2 bad usage; 3 bad input; 4 environment
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "baseline.h"
#include "follow.h"
#include "json.h"
#include "manifest.h"
#include "outfile.h"
#include "prog.h"
#include "report.h"
#include "rerun.h"
#include "run_read.h"
#include "summary.h"
#include "waiver.h"
#include "xalloc.h"

static const char usage_text[] =
"usage: cts-report [OPTION]... [RUN]...\n"
"       cts-report --failed [--records] [RUN]...\n"
"       cts-report --remaining CASES STREAM\n"
"       cts-report --follow TOTAL STREAM\n"
"\n"
"Count what a run came to and say whether it proves the device's claim.  RUN\n"
"is a run's folder, its stream, or a *_latest.json; without any, stdin.\n"
"Several are shards of one run.  With one folder and none of the options that\n"
"name an output, all four reports are also written into that folder.\n"
"\n"
"      --summary FILE     the summary as JSON\n"
"      --markdown FILE    a report as Markdown\n"
"      --html FILE        a report as one HTML page\n"
"      --junit FILE       JUnit XML\n"
"      --json             the summary on stdout, not the scorecard\n"
"      --baseline RUN     what got worse and better since RUN\n"
"      --waivers FILE     mark known failures; they count all the same\n"
"      --stages FILE      what the stages of the run measured, as JSON Lines\n"
"      --skips            list what did not run by reason, level and op\n"
"      --partial          the run was cut: say so, and pass over cut lines\n"
"      --note TEXT        state TEXT in every report\n"
"  -v, --verbose          list every failure on the terminal\n"
"      --failed           only print the ids of cases that do not pass\n"
"      --records          ... or rather their case records\n"
"      --remaining CASES  only print the case records of CASES that have no\n"
"                         verdict in STREAM\n"
"      --follow TOTAL     show progress on a terminal until TOTAL verdicts\n"
"                         are in STREAM\n"
"  -h, --help             print this and exit\n"
"  -V, --version          print the version and exit\n"
"\n"
"FILE may be -, for stdout.\n"
"\n"
"Exit status: 0 conformant, 1 not, 2 bad usage, 3 bad input, 4 environment.\n";

enum { OUT_SUMMARY, OUT_MARKDOWN, OUT_HTML, OUT_JUNIT, NOUTPUTS };

static const struct {
	const char *leaf;
	void (*make)(const struct report *r, struct buf *out);
} outputs[NOUTPUTS] = {
	{ "summary.json", report_json },
	{ "report.md", report_markdown },
	{ "report.html", report_html },
	{ "junit.xml", report_junit },
};

#define TOP_FAILURES 20		/* on a terminal, without -v */

struct opts {
	const char *path[NOUTPUTS];
	const char *baseline, *waivers, *stages, *note, *remaining;
	long long total;		/* --follow, or -1 */
	bool json, skips, partial, verbose, failed, records;
};

static void warn(const struct err *e)
{
	prog_warn("%s", e->msg);
}

static void today(char out[11])
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(out, 11, "%Y-%m-%d", &tm);
}

static int read_waivers(struct waivers *w, const char *path)
{
	struct err e;
	char day[11];

	today(day);
	if (waivers_read(w, path, day, &e) < 0)
		return prog_fail_err(&e);
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].expired)
			prog_warn("%s:%d: waiver for '%s' expired on %s and "
				  "marks nothing", path, w->v[i].line,
				  w->v[i].match, w->v[i].expires);
	return 0;
}

/* The earlier run, finished; 0 or an exit status. */
static int read_baseline(struct summary *s, const char *run)
{
	struct run_read how = { .partial = true, .warn = warn };
	char *const names[] = { (char *)run };
	struct err e;

	if (run_read(s, names, 1, &how, &e) < 0)
		return prog_fail_err(&e);
	summary_finish(s, NULL);
	if (!s->total.cases)
		return prog_fail(EX_BADINPUT, "%s: the baseline has no case",
				 run);
	return 0;
}

/* The folder that the reports belong in, new; NULL where there is none. */
static char *report_folder(const struct opts *o, char *const *runs, size_t n)
{
	struct stat st;

	for (int i = 0; i < NOUTPUTS; i++)
		if (o->path[i])
			return NULL;
	if (o->json || n != 1 || stat(runs[0], &st) < 0 ||
	    !S_ISDIR(st.st_mode))
		return NULL;
	return xstrdup(runs[0]);
}

static int write_to(const char *path, const struct buf *b)
{
	struct err e;

	return outfile_write(path, b, &e) < 0 ? prog_fail_err(&e) : 0;
}

/* DIR/LEAF with b, if there is something in it. */
static int write_leaf(const char *dir, const char *leaf, const struct buf *b)
{
	char *path = xasprintf("%s/%s", dir, leaf);
	int rc = b->len ? write_to(path, b) : 0;

	if (!b->len)
		unlink(path);
	free(path);
	return rc;
}

/* Every output that was asked for, and the scorecard; 0 or a status. */
static int write_reports(const struct report *r, const struct opts *o,
			 const char *dir)
{
	bool stdout_taken = o->json, colour;
	struct buf b = BUF_INIT;
	int rc = 0, one;

	for (int i = 0; i < NOUTPUTS; i++) {
		if (!o->path[i] && !dir)
			continue;
		buf_reset(&b);
		outputs[i].make(r, &b);
		one = dir ? write_leaf(dir, outputs[i].leaf, &b) :
			    write_to(o->path[i], &b);
		rc = one ? one : rc;
		stdout_taken |= o->path[i] && !strcmp(o->path[i], "-");
	}
	buf_reset(&b);
	if (o->json) {
		report_json(r, &b);
	} else if (!stdout_taken) {
		colour = isatty(1) && !getenv("NO_COLOR");
		report_scorecard(r, &b, colour,
				 o->verbose ? 0 : TOP_FAILURES);
	}
	fwrite(b.p, 1, b.len, stdout);
	buf_release(&b);
	return rc;
}

/* What measured the stages: the file named, else the folder's own. */
static int read_stages(struct summary *s, const struct opts *o,
		       const char *dir)
{
	char *path = o->stages ? xstrdup(o->stages) :
		     dir ? xasprintf("%s/stages.jsonl", dir) : NULL;
	struct err e;
	int rc = 0;

	if (path && (o->stages || !access(path, F_OK)) &&
	    summary_stages(s, path, &e) < 0)
		rc = prog_fail_err(&e);
	free(path);
	return rc;
}

/* The text of the device's template, narrowed as m says it was: in *b. */
static bool template_text(const struct manifest *m, struct buf *b)
{
	const cJSON *x, *only = json_get(manifest_json(m), "only_dtypes");
	struct manifest *t = manifest_for_device(manifest_device(m), NULL);
	char *names[64];
	size_t n = 0;

	cJSON_ArrayForEach(x, only)
		if (n < 64 && cJSON_IsString(x))
			names[n++] = x->valuestring;
	if (t && (!n || manifest_only_dtypes(t, names, n, NULL) == 0))
		manifest_write(t, b);
	manifest_free(t);
	return b->len;
}

/* A run with a manifest of its own is repeated with that. */
static void own_manifest(struct summary *s)
{
	char *path = xasprintf("%s/manifest.json", s->from);
	struct buf text = BUF_INIT, usual = BUF_INIT;
	struct findings f = { 0 };
	struct manifest *m = access(path, R_OK) ? NULL :
			     manifest_load(path, &f, NULL);

	if (m) {
		manifest_write(m, &text);
		if (!template_text(m, &usual) || strcmp(text.p, usual.p))
			s->own_manifest = xstrdup(path);
	}
	manifest_free(m);
	findings_release(&f);
	buf_release(&text);
	buf_release(&usual);
	free(path);
}

static int do_report(const struct opts *o, char *const *runs, size_t n)
{
	struct buf oracle = BUF_INIT, probes = BUF_INIT;
	struct run_read how = { .partial = o->partial, .warn = warn };
	char *dir = report_folder(o, runs, n);
	struct waivers w = { 0 };
	struct baseline base;
	struct summary s, then;
	struct report r = { .s = &s, .skips = o->skips };
	int rc = 0, one;
	struct err e;

	summary_init(&s);
	summary_init(&then);
	memset(&base, 0, sizeof(base));
	if (dir) {
		how.oracle_failures = &oracle;
		how.probe_failures = &probes;
	}
	if ((o->waivers && (rc = read_waivers(&w, o->waivers))) ||
	    (o->baseline && (rc = read_baseline(&then, o->baseline))) ||
	    (rc = read_stages(&s, o, dir)))
		goto out;
	s.note = o->note ? xstrdup(o->note) : NULL;
	s.partial |= o->partial;
	how.partial |= s.partial;
	if (run_read(&s, runs, n, &how, &e) < 0) {
		rc = prog_fail_err(&e);
		if (!s.input_error)
			goto out;
	}
	summary_finish(&s, &w);
	/* Where it is on this machine is nobody else's affair. */
	if (n == 1 && *runs[0] != '/' && strcmp(runs[0], "-"))
		s.from = runs[0];
	if (s.from)
		own_manifest(&s);
	r.waivers = o->waivers ? &w : NULL;
	if (o->baseline) {
		baseline_compare(&base, &s, &then);
		r.base = &base;
	}
	one = write_reports(&r, o, dir);
	if (dir && !one)
		one = write_leaf(dir, "oracle_failures.jsonl", &oracle);
	if (dir && !one)
		one = write_leaf(dir, "probe_failures.jsonl", &probes);
	rc = one ? one : rc;
	if (!rc && !s.total.cases)
		rc = prog_fail(EX_NEGATIVE, "nothing ran: no case and no "
			       "verdict in the input");
	else if (!rc && !summary_conformant(&s))
		rc = EX_NEGATIVE;
out:
	baseline_release(&base);
	waivers_release(&w);
	summary_release(&s);
	summary_release(&then);
	buf_release(&oracle);
	buf_release(&probes);
	free(dir);
	return rc;
}

/* --failed and --remaining: what is to run again, on stdout. */
static int do_rerun(const struct opts *o, char *const *runs, size_t n)
{
	struct run_read how = { .partial = o->partial, .warn = warn };
	struct buf b = BUF_INIT;
	struct err e;
	int rc;

	if (o->records && (!n || !strcmp(runs[0], "-")))
		return prog_usage("--records reads twice, and can't from "
				  "stdin");
	rc = o->failed ? rerun_failed(runs, n, o->records, &how, &b, &e) :
	     rerun_remaining(o->remaining, runs[0], &how, &b, &e);
	if (rc < 0)
		rc = prog_fail_err(&e);
	else
		fwrite(b.p, 1, b.len, stdout);
	buf_release(&b);
	return rc;
}

static volatile sig_atomic_t stopped;

static void on_term(int sig)
{
	(void)sig;
	stopped = 1;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One line that is drawn over itself until the end. */
static int show_progress(int fd, size_t total)
{
	struct sigaction sa = { .sa_handler = on_term };
	double began = seconds();
	pid_t parent = getppid();
	struct buf b = BUF_INIT;
	struct follow f;
	struct err e;
	int rc = 0;

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	follow_init(&f, fd);
	/* Nobody is left to tell us to end when the parent was killed. */
	do {
		if ((rc = follow_read(&f, &e)) < 0)
			break;
		buf_reset(&b);
		buf_addch(&b, '\r');
		follow_line(&f, total, seconds() - began, &b);
		buf_addstr(&b, "\033[K");
		fwrite(b.p, 1, b.len, stderr);
		if (f.done < total && !stopped)
			usleep(500000);
	} while (f.done < total && !stopped && getppid() == parent);
	fputc('\n', stderr);
	follow_release(&f);
	buf_release(&b);
	return rc < 0 ? prog_fail_err(&e) : 0;
}

static int do_follow(const struct opts *o, const char *stream)
{
	int fd, rc;

	if (!isatty(2))
		return 0;	/* a log wants no progress */
	fd = open(stream, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return prog_fail(EX_ENVIRON, "cannot open '%s': %s", stream,
				 strerror(errno));
	rc = show_progress(fd, (size_t)o->total);
	close(fd);
	return rc;
}

enum {
	OPT_OUTPUT = 256, OPT_JSON = OPT_OUTPUT + NOUTPUTS, OPT_BASELINE,
	OPT_WAIVERS, OPT_STAGES, OPT_SKIPS, OPT_PARTIAL, OPT_NOTE, OPT_FAILED,
	OPT_RECORDS, OPT_REMAINING, OPT_FOLLOW,
};

static const struct option longs[] = {
	{ "summary", required_argument, NULL, OPT_OUTPUT + OUT_SUMMARY },
	{ "markdown", required_argument, NULL, OPT_OUTPUT + OUT_MARKDOWN },
	{ "html", required_argument, NULL, OPT_OUTPUT + OUT_HTML },
	{ "junit", required_argument, NULL, OPT_OUTPUT + OUT_JUNIT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "baseline", required_argument, NULL, OPT_BASELINE },
	{ "waivers", required_argument, NULL, OPT_WAIVERS },
	{ "stages", required_argument, NULL, OPT_STAGES },
	{ "skips", no_argument, NULL, OPT_SKIPS },
	{ "partial", no_argument, NULL, OPT_PARTIAL },
	{ "note", required_argument, NULL, OPT_NOTE },
	{ "verbose", no_argument, NULL, 'v' },
	{ "failed", no_argument, NULL, OPT_FAILED },
	{ "records", no_argument, NULL, OPT_RECORDS },
	{ "remaining", required_argument, NULL, OPT_REMAINING },
	{ "follow", required_argument, NULL, OPT_FOLLOW },
	{ NULL, 0, NULL, 0 },
};

static void take_option(struct opts *o, int c)
{
	switch (c) {
	case OPT_JSON: o->json = true; break;
	case OPT_BASELINE: o->baseline = optarg; break;
	case OPT_WAIVERS: o->waivers = optarg; break;
	case OPT_STAGES: o->stages = optarg; break;
	case OPT_SKIPS: o->skips = true; break;
	case OPT_PARTIAL: o->partial = true; break;
	case OPT_NOTE: o->note = optarg; break;
	case 'v': o->verbose = true; break;
	case OPT_FAILED: o->failed = true; break;
	case OPT_RECORDS: o->records = true; break;
	case OPT_REMAINING: o->remaining = optarg; break;
	case OPT_FOLLOW:
		o->total = prog_int("--follow", optarg, 0, 1LL << 40);
		break;
	default: o->path[c - OPT_OUTPUT] = optarg;
	}
}

int main(int argc, char **argv)
{
	struct opts o = { .total = -1 };
	int c, rc;

	prog_init("cts-report", usage_text);
	while ((c = prog_getopt(argc, argv, "v", longs)) != -1)
		take_option(&o, c);
	argc -= optind;
	argv += optind;
	if (o.records && !o.failed)
		rc = prog_usage("--records goes with --failed");
	else if ((o.total >= 0 || o.remaining) && argc != 1)
		rc = prog_usage("--follow and --remaining need one stream");
	else if (o.total >= 0)
		rc = do_follow(&o, argv[0]);
	else if (o.failed || o.remaining)
		rc = do_rerun(&o, argv, (size_t)argc);
	else
		rc = do_report(&o, argv, (size_t)argc);
	return prog_finish(rc);
}
