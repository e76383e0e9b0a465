/*
 * cts-manifest: write, check and resolve the manifest that says what a device
 * claims.
 *
 * reads	manifest.json or a TorchCTS-style manifest.py; templates/
 * writes	a manifest, a table for people, or probe records
 * exit		0 done, 1 a probed claim does not hold (with -e), 2 bad usage,
 *		3 a wrong manifest, 4 environment
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "manifest_cli.h"
#include "probe.h"
#include "prog.h"

static const char usage_text[] =
"usage: cts-manifest check FILE...\n"
"       cts-manifest resolve [-d DEVICE] [-l LEVEL] [--dtype D]... [FILE]\n"
"       cts-manifest show [-d DEVICE] [FILE]\n"
"       cts-manifest init [--template T] [-d DEVICE] [--format json|py]\n"
"                         [--probe] [--force] [-o FILE]\n"
"       cts-manifest probe [-d DEVICE] [-e] [-o FILE] [FILE]\n"
"\n"
"A manifest is what a PyTorch device claims to support.\n"
"\n"
"  check      report everything that is wrong, a line each, on stderr\n"
"  resolve    print the effective manifest as canonical JSON\n"
"  show       print what is claimed as a table\n"
"  init       write a first manifest; never over a file that is there\n"
"  probe      ask the device about every dtype and capability that is claimed\n"
"\n"
"  -m, --manifest FILE    a manifest.json or manifest.py (- is stdin)\n"
"  -d, --device DEVICE    for that device; without -m, the complete template\n"
"  -l, --level LEVEL      set semantic_level\n"
"      --dtype DTYPE      only this dtype (repeatable)\n"
"      --import MODULE    what registers the device (repeatable)\n"
"      --template T       smoke, minimal, inference, training or complete\n"
"      --format json|py   what init writes (default: as FILE's name says)\n"
"      --probe            claim what the live device seems to have: a draft\n"
"      --force            let init overwrite\n"
"  -e, --exit-status      probe: exit 1 where a claim does not hold\n"
"      --failures FILE    probe: the records of those claims alone\n"
"  -o, --output FILE      write there (probe: the records)\n"
"  -h, --help             print this and exit\n"
"  -V, --version          print the version and exit\n"
"\n"
"Exit status: 0 done, 1 a probed claim does not hold (with -e), 2 bad usage,\n"
"3 wrong manifest, 4 environment.\n";

enum { OPT_TEMPLATE = 256, OPT_FORMAT, OPT_PROBE, OPT_FORCE, OPT_DTYPE,
       OPT_FAILURES, OPT_IMPORT };

struct opts {
	struct manifest_opts m;
	const char *format, *output, *failures;
	bool probe, force, verdict;
};

static int do_check(char **files, size_t n)
{
	struct findings f;
	struct manifest *m;
	struct err e;
	int rc = 0, one;
	size_t i;

	for (i = 0; i < n; i++) {
		memset(&f, 0, sizeof(f));
		memset(&e, 0, sizeof(e));
		m = manifest_load(files[i], &f, &e);
		one = manifest_report(&f) ? EX_BADINPUT : m ? 0 :
		      prog_fail_err(&e);
		if (one > rc)
			rc = one;
		manifest_free(m);
		findings_release(&f);
	}
	return rc;
}

/* Write b to path, or to stdout; only a forced write goes over a file. */
static int put(const struct buf *b, const char *path, bool over)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (over ? O_TRUNC : O_EXCL);
	const char *p = b->p;
	size_t left = b->len;
	ssize_t n = 0;
	int fd;

	if (!path || !strcmp(path, "-")) {
		fwrite(b->p, 1, b->len, stdout);
		return 0;
	}
	fd = open(path, flags, 0666);
	if (fd < 0 && errno == EEXIST)
		return prog_fail(EX_BADUSE, "'%s' is there already; --force "
				 "overwrites it", path);
	if (fd < 0)
		return prog_fail(EX_ENVIRON, "unable to create '%s': %s",
				 path, strerror(errno));
	for (; left; p += n, left -= (size_t)n) {
		n = write(fd, p, left);
		if (n < 0)
			break;
	}
	if (close(fd) < 0 || n < 0)
		return prog_fail(EX_ENVIRON, "unable to write '%s': %s", path,
				 strerror(errno));
	return 0;
}

static int do_resolve(const struct opts *o)
{
	struct err e = { 0 };
	struct buf b = BUF_INIT;
	struct manifest *m;
	int rc;

	m = manifest_open(&o->m, &rc);
	if (!m)
		return rc;
	if (manifest_settle_dirs(m, &e) < 0) {
		manifest_free(m);
		return prog_fail_err(&e);
	}
	manifest_write_pretty(m, &b);
	rc = put(&b, o->output, true);
	buf_release(&b);
	manifest_free(m);
	return rc;
}

static void show_value(const char *kind, const cJSON *x)
{
	char *text = cJSON_IsBool(x) || cJSON_IsString(x) ? NULL :
		     cJSON_PrintUnformatted(x);

	printf("%-28s %-28s %s\n", kind, x->string,
	       text ? text : cJSON_IsString(x) ? x->valuestring :
	       cJSON_IsTrue(x) ? "yes" : "no");
	cJSON_free(text);
}

/* Two levels, a line each: what of, which, claim. */
static int do_show(const struct opts *o)
{
	const cJSON *x, *y;
	struct manifest *m;
	int rc;

	m = manifest_open(&o->m, &rc);
	if (!m)
		return rc;
	cJSON_ArrayForEach(x, manifest_json(m)) {
		if (!cJSON_IsObject(x)) {
			show_value("manifest", x);
			continue;
		}
		cJSON_ArrayForEach(y, x)
			show_value(x->string, y);
	}
	manifest_free(m);
	return rc;
}

static bool has_end(const char *path, const char *end)
{
	size_t n = path ? strlen(path) : 0, k = strlen(end);

	return n > k && !strcmp(path + n - k, end);
}

static bool is_py(const char *path) { return has_end(path, ".py"); }
static bool is_json(const char *path) { return has_end(path, ".json"); }

static bool wants_py(const struct opts *o)
{
	return o->format ? !strcmp(o->format, "py") : is_py(o->output);
}

static int do_init(const struct opts *o)
{
	const char *path = o->output ? o->output :
		wants_py(o) ? "manifest.py" : "manifest.json";
	struct buf b = BUF_INIT;
	struct probes p = { 0 };
	struct manifest *m;
	struct err e = { 0 };
	struct stat st;
	int rc;

	/* Said before a probe takes its time, not after. */
	if (!o->force && strcmp(path, "-") && !stat(path, &st))
		return prog_fail(EX_BADUSE, "'%s' is there already; --force "
				 "overwrites it", path);
	m = manifest_open(&o->m, &rc);
	if (!m)
		return rc;
	if (o->probe) {
		rc = probe_run(&p, m, true, &e) < 0 ? prog_fail_err(&e) : 0;
		if (!rc) {
			probe_table(&p, stderr);
			probe_draft(&p, m);
		}
	}
	if (!rc) {
		if (wants_py(o))
			manifest_write_py(m, &b);
		else
			manifest_write_pretty(m, &b);
		rc = put(&b, path, o->force);
	}
	probes_release(&p);
	buf_release(&b);
	manifest_free(m);
	return rc;
}

static int do_probe(const struct opts *o)
{
	struct buf all = BUF_INIT, bad = BUF_INIT;
	struct probes p = { 0 };
	struct manifest *m;
	struct err e = { 0 };
	int rc;

	m = manifest_open(&o->m, &rc);
	if (!m)
		return rc;
	if (probe_run(&p, m, false, &e) < 0) {
		rc = prog_fail_err(&e);
	} else {
		probe_table(&p, stdout);
		probe_write(&p, &all, false);
		probe_write(&p, &bad, true);
		if (o->output)
			rc = put(&all, o->output, true);
		if (!rc && o->failures)
			rc = put(&bad, o->failures, true);
		if (!rc && o->verdict && bad.len)
			rc = EX_NEGATIVE;
	}
	probes_release(&p);
	buf_release(&all);
	buf_release(&bad);
	manifest_free(m);
	return rc;
}

static int run(const char *what, const struct opts *o, char **args, int n)
{
	if (!strcmp(what, "check")) {
		char *one[] = { (char *)o->m.file };

		if (o->m.device || o->m.level || o->m.ndtypes ||
		    o->m.nimports || o->probe || (n && o->m.file))
			return prog_usage("check takes files alone");
		if (n || o->m.file)
			return do_check(n ? args : one, n ? (size_t)n : 1);
		return prog_usage("check needs a file");
	}
	if (n > 1 || (n && o->m.file))
		return prog_usage("unexpected operand '%s'", args[n - 1]);
	if (!strcmp(what, "init") && (n || o->m.file))
		return prog_usage("init reads no manifest");
	if (o->format && strcmp(o->format, "json") && strcmp(o->format, "py"))
		return prog_usage("--format is json or py, not '%s'",
				  o->format);
	if (o->format && is_py(o->output) != !strcmp(o->format, "py") &&
	    (is_py(o->output) || is_json(o->output)))
		return prog_usage("--format %s into '%s', which would be read "
				  "as the other", o->format, o->output);
	if (!strcmp(what, "resolve"))
		return do_resolve(o);
	if (!strcmp(what, "show"))
		return do_show(o);
	if (!strcmp(what, "init"))
		return do_init(o);
	if (!strcmp(what, "probe"))
		return do_probe(o);
	return prog_usage("unknown command '%s'", what);
}

static const struct option longs[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ "manifest", required_argument, NULL, 'm' },
	{ "device", required_argument, NULL, 'd' },
	{ "level", required_argument, NULL, 'l' },
	{ "dtype", required_argument, NULL, OPT_DTYPE },
	{ "import", required_argument, NULL, OPT_IMPORT },
	{ "template", required_argument, NULL, OPT_TEMPLATE },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "probe", no_argument, NULL, OPT_PROBE },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "exit-status", no_argument, NULL, 'e' },
	{ "failures", required_argument, NULL, OPT_FAILURES },
	{ "output", required_argument, NULL, 'o' },
	{ 0 },
};

static void take_template(struct opts *o)
{
	static const char *const names[] = {
		"smoke", "minimal", "inference", "training", "complete", NULL
	};
	size_t i;

	for (i = 0; names[i] && strcmp(names[i], optarg); i++)
		;
	if (!names[i])
		exit(prog_usage("no template '%.80s', expected smoke, minimal, "
				"inference, training or complete", optarg));
	o->m.template = names[i];
}

static void take_option(struct opts *o, int c)
{
	switch (c) {
	case 'm': o->m.file = optarg; break;
	case 'd': o->m.device = optarg; break;
	case 'l': o->m.level = (int)prog_int("--level", optarg, 1, 8); break;
	case 'e': o->verdict = true; break;
	case 'o': o->output = optarg; break;
	case OPT_TEMPLATE: take_template(o); break;
	case OPT_FORMAT: o->format = optarg; break;
	case OPT_PROBE: o->probe = true; break;
	case OPT_FORCE: o->force = true; break;
	case OPT_FAILURES: o->failures = optarg; break;
	case OPT_DTYPE:
		manifest_opts_add(&o->m.dtypes, &o->m.ndtypes, optarg);
		break;
	case OPT_IMPORT:
		manifest_opts_add(&o->m.imports, &o->m.nimports, optarg);
		break;
	default: break;
	}
}

int main(int argc, char **argv)
{
	struct opts o = { 0 };
	const char *what;
	int c, rc;

	prog_init("cts-manifest", usage_text);
	while ((c = prog_getopt(argc, argv, "hVm:d:l:eo:", longs)) != -1)
		take_option(&o, c);
	if (optind == argc)
		return prog_finish(prog_usage("expected a command: check, "
			"resolve, show, init or probe"));
	what = argv[optind++];
	if (strcmp(what, "check") && optind < argc && !o.m.file)
		o.m.file = argv[optind++];
	rc = run(what, &o, argv + optind, argc - optind);
	manifest_opts_release(&o.m);
	return prog_finish(rc);
}
