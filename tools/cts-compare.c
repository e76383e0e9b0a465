/*
 * cts-compare: the judge.  Reads the stream of a run (run, case, start, obs,
 * oracle_failure, end, death), writes it unchanged and, after each end or
 * death, a verdict.  Verdicts in the input are dropped where it judges anew.
 * Exit: 0; 1 with -e when not all is pass; 2 usage; 3 bad input; 4 I/O.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judge.h"
#include "prog.h"
#include "rec.h"
#include "strmap.h"
#include "xalloc.h"
#include "banned.h"

static const char usage_text[] =
"usage: cts-compare [-eq] [-m MANIFEST] [-o FILE] [--budgets FILE]\n"
"                   [--blobs DIR] [--tier TIER] [FILE...]\n"
"\n"
"Judge the observations of a run.  Reads records from the files, or stdin,\n"
"plain or gzip; passes them on and adds a verdict for each case that ended.\n"
"A stream that was judged before is judged again.\n"
"\n"
"  -e, --exit-status      exit 1 unless every case passes and there is one\n"
"  -q, --only-verdicts    write verdicts only\n"
"  -m, --manifest FILE    its tolerance_overrides, deterministic and\n"
"                         must_not_fall_back claims take part\n"
"  -o, --output FILE      write there instead of stdout\n"
"      --budgets FILE     instead of coverage/budgets.jsonl\n"
"      --blobs DIR        where blob files lie; else blobs/ beside the input\n"
"      --tier TIER        strict: results in the usable tier fail; usable\n"
"                         (default): they pass, marked\n"
"  -h, --help             this text\n"
"  -V, --version          the version\n"
"\n"
"Exit status: 0 all judged; 1 with -e, a case is not pass or has no result;\n"
"2 bad usage; 3 bad input; 4 I/O or memory.\n";

enum { OPT_BUDGETS = 256, OPT_BLOBS, OPT_TIER };

struct app {
	struct judge judge;
	struct rec_reader *in;
	int out;
	const char *blobs;	/* NULL: beside the input */
	bool only;
	struct strmap ids;
	struct jcase **cases;	/* by the id's number; NULL: none open */
	bool *judged;		/* likewise */
	bool *listed;		/* a case record came, and no verdict yet */
	size_t cap, capj, capl;
	size_t verdicts, bad;
	struct obs obs;
	struct buf buf, ready;		/* ready: to be written */
	struct err e;
};

/* Verdicts wait for no input that isn't there, and for no more than this. */
#define READY_MAX (256u << 10)

/* The number of the record's id, with room made for it. */
static size_t number(struct app *a, const struct rec *r)
{
	size_t before = a->ids.n, n = strmap_add(&a->ids, r->id);

	if (n < before)
		return n;
	a->cases = xgrow(a->cases, &a->cap, n + 1, sizeof(*a->cases));
	a->judged = xgrow(a->judged, &a->capj, n + 1, sizeof(*a->judged));
	a->listed = xgrow(a->listed, &a->capl, n + 1, sizeof(*a->listed));
	a->cases[n] = NULL;
	a->judged[n] = a->listed[n] = false;
	return n;
}

static struct jcase *open_case(struct app *a, const struct rec *r)
{
	size_t n = number(a, r);

	if (!a->cases[n])
		a->cases[n] = jcase_new(r->id, r->run);
	return a->cases[n];
}

static int pass_on(struct app *a, const struct rec *r)
{
	if (a->only)
		return 0;
	return rec_add(&a->ready, r->line, r->len, &a->e);
}

/* blobs/ beside the file that the record came from. */
static char *blobs_of(const struct app *a)
{
	const char *where = rec_where(a->in), *slash = strrchr(where, '/');

	if (a->blobs)
		return xstrdup(a->blobs);
	if (!slash)
		return xstrdup("blobs");
	return xasprintf("%.*s/blobs", (int)(slash - where), where);
}

static int do_obs(struct app *a, const struct rec *r)
{
	char *blobs = blobs_of(a);
	int rc = obs_read(&a->obs, r->json, blobs, &a->e);

	free(blobs);
	if (rc < 0)
		return err_prefix(&a->e, "%s", rec_where(a->in));
	judge_obs(&a->judge, open_case(a, r), &a->obs);
	return 0;
}

static int do_verdict(struct app *a, const struct rec *r)
{
	struct jcase *c = open_case(a, r);
	size_t n = number(a, r);
	enum outcome o;

	buf_reset(&a->buf);
	if (r->kind == REC_END)
		o = judge_end(&a->judge, c, r->json, &a->buf);
	else
		o = judge_death(&a->judge, c, r->json, &a->buf);
	jcase_free(c);
	a->cases[n] = NULL;
	a->judged[n] = true;
	a->listed[n] = false;
	a->verdicts++;
	a->bad += o != OUT_PASS;
	return rec_add(&a->ready, a->buf.p, a->buf.len, &a->e);
}

/* An old verdict stays only where there is nothing to judge again. */
static int do_old_verdict(struct app *a, const struct rec *r)
{
	size_t n = number(a, r);

	if (a->judged[n])
		return 0;
	a->listed[n] = false;
	a->verdicts++;
	a->bad += strcmp(rec_str_opt(r->json, "outcome", ""), "pass") != 0;
	return rec_add(&a->ready, r->line, r->len, &a->e);
}

static int do_record(struct app *a, const struct rec *r)
{
	size_t n;

	/* Judge first: a record that is refused is not passed on. */
	switch (r->kind) {
	case REC_CASE:
		jcase_about(open_case(a, r), r->json);
		n = number(a, r);
		if (a->listed[n])
			return err_set(&a->e, EX_BADINPUT, "%s: case '%s' "
				       "comes twice", rec_where(a->in), r->id);
		a->listed[n] = true;
		a->judged[n] = false;
		break;
	case REC_START:
		jcase_start(open_case(a, r), r->run);
		jcase_about(open_case(a, r), r->json);
		break;
	case REC_OBS:
		if (do_obs(a, r) < 0)
			return -1;
		break;
	case REC_ORACLE_FAILURE:
		judge_oracle_failure(open_case(a, r));
		break;
	case REC_VERDICT:
		return do_old_verdict(a, r);
	default:
		break;
	}
	if (pass_on(a, r) < 0)
		return -1;
	if (r->kind == REC_END || r->kind == REC_DEATH)
		return do_verdict(a, r);
	return 0;
}

/* With -e: has every case a verdict, and is each pass? */
static bool all_pass(const struct app *a)
{
	size_t i;

	for (i = 0; i < a->ids.n; i++)
		if (a->listed[i] || (a->cases[i] && jcase_begun(a->cases[i])))
			return false;
	return a->verdicts && !a->bad;
}

static int judge_stream(struct app *a)
{
	struct err e;
	struct rec r;
	int rc;

	while ((rc = rec_next(a->in, &r, &a->e)) > 0) {
		rc = do_record(a, &r);
		if (rc < 0)
			break;
		if ((a->ready.len >= READY_MAX || !rec_pending(a->in)) &&
		    rec_flush(a->out, &a->ready, &a->e) < 0)
			return -1;
	}
	/* What was judged before something went wrong is said all the same. */
	if (rec_flush(a->out, &a->ready, &e) < 0 && !rc) {
		a->e = e;
		rc = -1;
	}
	return rc;
}

static struct manifest *load_manifest(const char *path)
{
	struct findings f = { .v = NULL };
	struct err e = { .code = 0 };
	struct manifest *m = manifest_load(path, &f, &e);
	size_t i;

	for (i = 0; !m && i < f.n; i++)
		prog_fail(EX_BADINPUT, "%s: %s", f.v[i].where, f.v[i].what);
	if (!m)
		exit(f.n ? EX_BADINPUT : prog_fail_err(&e));
	findings_release(&f);
	return m;
}

static int open_output(struct app *a, const char *path)
{
	if (!path)
		return 0;
	a->out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (a->out < 0)
		return err_sys(&a->e, errno, "cannot write '%s'", path);
	return 0;
}

static void app_release(struct app *a)
{
	size_t i;

	for (i = 0; i < a->ids.n; i++)
		jcase_free(a->cases[i]);
	strmap_release(&a->ids);
	free(a->cases);
	free(a->judged);
	free(a->listed);
	obs_release(&a->obs);
	buf_release(&a->buf);
	buf_release(&a->ready);
	rec_close(a->in);
	judge_release(&a->judge);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "exit-status", no_argument, NULL, 'e' },
		{ "only-verdicts", no_argument, NULL, 'q' },
		{ "manifest", required_argument, NULL, 'm' },
		{ "output", required_argument, NULL, 'o' },
		{ "budgets", required_argument, NULL, OPT_BUDGETS },
		{ "blobs", required_argument, NULL, OPT_BLOBS },
		{ "tier", required_argument, NULL, OPT_TIER },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	struct app a = { .out = STDOUT_FILENO, .buf = BUF_INIT,
		.ready = BUF_INIT };
	struct manifest *m = NULL;
	const char *budgets = NULL, *output = NULL;
	bool status = false, strict = false;
	int c, rc = EX_OK_;

	prog_init("cts-compare", usage_text);
	while ((c = prog_getopt(argc, argv, "eqm:o:hV", longs)) != -1) {
		switch (c) {
		case 'e': status = true; break;
		case 'q': a.only = true; break;
		case 'm': manifest_free(m); m = load_manifest(optarg); break;
		case 'o': output = optarg; break;
		case OPT_BUDGETS: budgets = optarg; break;
		case OPT_BLOBS: a.blobs = optarg; break;
		case OPT_TIER:
			strict = !strcmp(optarg, "strict");
			if (!strict && strcmp(optarg, "usable"))
				return prog_usage("--tier: '%s' is neither "
						  "strict nor usable", optarg);
			break;
		}
	}
	if (output)
		a.out = -1;
	strmap_init(&a.ids);
	a.in = rec_open(argv + optind, (size_t)(argc - optind));
	if (judge_init(&a.judge, prog_root(), budgets, m, &a.e) < 0 ||
	    open_output(&a, output) < 0)
		rc = prog_fail_err(&a.e);
	a.judge.strict = strict;
	if (!rc && judge_stream(&a) < 0)
		rc = prog_fail_err(&a.e);
	else if (!rc && status && !all_pass(&a))
		rc = EX_NEGATIVE;
	if (output && a.out >= 0 && close(a.out) < 0)
		rc = prog_fail(EX_ENVIRON, "cannot write '%s': %s", output,
			       strerror(errno));
	app_release(&a);
	manifest_free(m);
	return prog_finish(rc);
}
