/*
 * cts-exec: run cases on the reference and on a device, and write what was
 * seen.  Reads case records; writes start, obs, end; passes others through.
 * Exit: 0 all run (however they went), 2 usage, 3 bad input, 4 no torch, no
 * device, a lost write.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cache.h"
#include "inventory.h"
#include "json.h"
#include "prog.h"
#include "rec.h"
#include "runcase.h"
#include "store.h"
#include "xalloc.h"
#include "zygote.h"

/* Seconds that suites may take to say what they have. */
#define SUITES_PATIENCE 120

static const char usage_text[] =
"usage: cts-exec [-d DEVICE] [--blobs DIR] [--no-trace] [--corpus DIR |\n"
"                --record FILE | --golden FILE] [FILE...]\n"
"       cts-exec --inventory opinfo|aten [-d DEVICE]\n"
"       cts-exec --suites DIR\n"
"       cts-exec --forget\n"
"       cts-exec --probe -d DEVICE [--import MODULE]... [--adapter JSON]\n"
"       cts-exec --script [-d DEVICE] [FILE...]\n"
"       cts-exec --zygote PATH [--ready-fd FD] [--load jvp] [option...]\n"
"\n"
"Run each case record of the FILEs (default: standard input) on the CPU and on\n"
"its device, and write start, obs and end records.\n"
"\n"
"  -d, --device DEVICE   run on DEVICE, whatever the case says\n"
"      --blobs DIR       folder for tensors too big for a record (blobs)\n"
"      --no-trace        don't record which overloads were reached\n"
"      --corpus DIR      take samples and what the reference made of them\n"
"                        from DIR where they are recorded, record them there\n"
"                        where not; auto: a folder in the cache, off: none\n"
"      --record FILE     make samples and references, and record them in\n"
"                        FILE, to be carried to another machine\n"
"      --golden FILE     take them from FILE, and from nowhere else\n"
"      --forget          remove all that is kept of the installed PyTorch\n"
"      --inventory WHAT  print what the installed PyTorch has: opinfo, its\n"
"                        operator database; aten, the dispatcher's overloads\n"
"                        and what serves each on DEVICE (cpu)\n"
"      --suites DIR      print the cases of the suites (*.py) in DIR\n"
"      --script          print, for a case that runs one sample and its verdict,\n"
"                        a Python program that shows the failure by itself\n"
"      --probe           print which dtypes and capabilities DEVICE shows\n"
"      --import MODULE   what registers DEVICE, for --probe and --inventory\n"
"                        aten (repeatable; cases say it themselves)\n"
"      --adapter JSON    likewise, a manifest's \"adapter\"\n"
"      --zygote PATH     import PyTorch, then fork workers on request from\n"
"                        the socket PATH\n"
"      --ready-fd FD     write a byte to FD when the zygote can be reached\n"
"      --load jvp        have the zygote load what forward-mode derivatives\n"
"                        take: it does so once, each worker's first case of\n"
"                        the variant jvp otherwise\n"
"  -h, --help            print this text\n"
"  -V, --version         print the version\n"
"\n"
"Exit status: 0 done, 1 there can be no such program, 2 bad usage, 3 bad input,\n"
"4 environment.\n";

enum { OPT_BLOBS = 256, OPT_TRACE, OPT_INVENTORY, OPT_PROBE, OPT_ZYGOTE,
       OPT_READY, OPT_SUITES, OPT_IMPORT, OPT_ADAPTER, OPT_CORPUS,
       OPT_RECORD, OPT_GOLDEN, OPT_FORGET, OPT_SCRIPT, OPT_LOAD };

static const struct option options[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "blobs", required_argument, NULL, OPT_BLOBS },
	{ "no-trace", no_argument, NULL, OPT_TRACE },
	{ "corpus", required_argument, NULL, OPT_CORPUS },
	{ "record", required_argument, NULL, OPT_RECORD },
	{ "golden", required_argument, NULL, OPT_GOLDEN },
	{ "forget", no_argument, NULL, OPT_FORGET },
	{ "inventory", required_argument, NULL, OPT_INVENTORY },
	{ "probe", no_argument, NULL, OPT_PROBE },
	{ "script", no_argument, NULL, OPT_SCRIPT },
	{ "suites", required_argument, NULL, OPT_SUITES },
	{ "import", required_argument, NULL, OPT_IMPORT },
	{ "adapter", required_argument, NULL, OPT_ADAPTER },
	{ "zygote", required_argument, NULL, OPT_ZYGOTE },
	{ "ready-fd", required_argument, NULL, OPT_READY },
	{ "load", required_argument, NULL, OPT_LOAD },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

struct exec {
	const char *device, *blobs, *inventory, *suites, *zygote;
	cJSON *imports, *adapter;	/* of the device, or NULL */
	enum device_fork fork;		/* its rule */
	bool probe, no_trace, forget, script, load_jvp;
	int ready_fd;
	int out;		/* fd for records */
	char **files;
	size_t nfiles;
	double t0;
	double t_zygote_s;	/* what the zygote's imports took */
	struct lab lab;
	struct store store;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void take_adapter(struct exec *x)
{
	struct err e;

	cJSON_Delete(x->adapter);
	x->adapter = json_parse(optarg, strlen(optarg), &e);
	if (!cJSON_IsObject(x->adapter))
		exit(prog_usage("--adapter '%s' is no JSON object", optarg));
}

static void parse(struct exec *x, int argc, char **argv)
{
	int c;

	while ((c = prog_getopt(argc, argv, "d:hV", options)) != -1) {
		switch (c) {
		case 'd': x->device = optarg; break;
		case OPT_BLOBS: x->blobs = optarg; break;
		case OPT_TRACE: x->no_trace = true; break;
		case OPT_CORPUS:
			x->store.dir = strcmp(optarg, "off") ? optarg : NULL;
			break;
		case OPT_RECORD: x->store.record = optarg; break;
		case OPT_GOLDEN: x->store.golden = optarg; break;
		case OPT_FORGET: x->forget = true; break;
		case OPT_INVENTORY: x->inventory = optarg; break;
		case OPT_PROBE: x->probe = true; break;
		case OPT_SCRIPT: x->script = true; break;
		case OPT_SUITES: x->suites = optarg; break;
		case OPT_IMPORT:
			if (!x->imports)
				x->imports = cJSON_CreateArray();
			cJSON_AddItemToArray(x->imports,
					     cJSON_CreateString(optarg));
			break;
		case OPT_ADAPTER: take_adapter(x); break;
		case OPT_ZYGOTE: x->zygote = optarg; break;
		case OPT_READY:
			x->ready_fd = (int)prog_int("ready-fd", optarg, 0,
						    1 << 20);
			break;
		case OPT_LOAD:
			if (strcmp(optarg, "jvp"))
				exit(prog_usage("--load takes jvp, not '%s'",
						optarg));
			x->load_jvp = true;
			break;
		}
	}
	x->files = argv + optind;
	x->nfiles = (size_t)(argc - optind);
	if (x->inventory && strcmp(x->inventory, "opinfo") &&
	    strcmp(x->inventory, "aten"))
		exit(prog_usage("--inventory takes opinfo or aten, not '%s'",
				x->inventory));
	if (!!x->store.dir + !!x->store.record + !!x->store.golden > 1)
		exit(prog_usage("--corpus, --record and --golden exclude each "
				"other"));
	if (x->store.record && x->zygote)
		exit(prog_usage("--record is not for --zygote: a file has one "
				"writer"));
	if (x->load_jvp && !x->zygote)
		exit(prog_usage("--load needs --zygote"));
	if (x->probe && !x->device)
		exit(prog_usage("--probe needs --device"));
}

static int one_case(struct exec *x, struct runcase *r, struct idset *seen,
		    const struct rec *rec, struct err *e)
{
	struct case_rec c;
	char key[CASE_KEY_MAX];

	if (rec->kind != REC_CASE)
		return rec_write(x->out, rec->line, rec->len, e);
	if (case_read(&c, rec, e))
		return -1;
	case_key(key, &c);
	if (!idset_add(seen, key))
		return err_set(e, EX_BADINPUT, "case '%s' comes twice", c.id);
	if (x->device)
		c.device = x->device;
	return runcase(r, &c, e);
}

/* The corpus is one line worse at most. */
static void warn_of_store(struct exec *x)
{
	const char *news = store_news(&x->store);

	if (news)
		prog_warn("%s", news);
}

static int open_store(struct exec *x, struct err *e)
{
	if (store_open(&x->store, &x->lab, e))
		return -1;
	warn_of_store(x);
	return 0;
}

/* A case and then its verdict: the program that shows it. */
static int script(struct exec *x, struct rec_reader *in, struct rec *first,
		  struct err *e)
{
	struct rec rec = *first, verdict;
	char *line = xstrndup(rec.line, rec.len);
	cJSON *o = json_parse(line, rec.len, e);
	struct script s = { .record = line };
	struct runcase r;
	struct case_rec c;
	int rc = -1;

	/* The reader forgets the case when it comes to the verdict. */
	rec.json = o;
	rec.id = rec_str_opt(o, "id", "");
	rec.run = rec_str_opt(o, "run", "");
	if (case_read(&c, &rec, e) || runcase_init(&r, &x->lab, x->out,
						   x->blobs, NULL, e))
		goto out;
	if (x->device)
		c.device = x->device;
	while ((rc = rec_next(in, &verdict, e)) > 0)
		if (verdict.kind == REC_VERDICT && !strcmp(verdict.id, c.id))
			break;
	if (rc == 0)
		rc = err_set(e, EX_BADINPUT, "no verdict follows on case '%s'",
			     c.id);
	if (rc > 0 && c.only < 0)
		rc = err_set(e, EX_BADINPUT, "case '%s' has no 'sample' to "
			     "show", c.id);
	if (rc > 0) {
		s.verdict = verdict.line;
		r.script = &s;
		rc = runcase_script(&r, &c, e);
	}
	runcase_release(&r);
out:
	cJSON_Delete(o);
	free(line);
	return rc;
}

/* Filter records from in to out, with torch and the lab there. */
static int filter(struct exec *x, struct rec_reader *in, struct rec *first)
{
	struct idset *seen = idset_new();
	struct runcase r;
	struct err e;
	struct rec rec;
	int rc;

	if (runcase_init(&r, &x->lab, x->out, x->blobs, &x->store.kept, &e))
		return prog_fail_err(&e);
	r.t_import_s = x->t_zygote_s + now() - x->t0;
	for (rc = first ? 1 : rec_next(in, &rec, &e); rc > 0;
	     rc = rec_next(in, &rec, &e)) {
		if (first)
			rec = *first;
		first = NULL;
		rc = one_case(x, &r, seen, &rec, &e);
		warn_of_store(x);
		if (rc) {
			if (e.code == EX_BADINPUT)
				err_prefix(&e, "%s", rec_where(in));
			rc = -1;
			break;
		}
	}
	idset_free(seen);
	runcase_release(&r);
	return rc < 0 ? prog_fail_err(&e) : 0;
}

/* A worker that the zygote forked: its records come from fd 0. */
static int zygote_child(void *ctx)
{
	struct exec *x = ctx;
	struct rec_reader *in;
	int rc;

	PyOS_AfterFork_Child();
	x->t0 = now();
	x->out = prog_private_stdout();
	if (x->out < 0)
		return prog_fail(EX_ENVIRON, "unable to keep stdout");
	in = rec_open(NULL, 0);
	rc = filter(x, in, NULL);
	rec_close(in);
	/* Not exit(): what was loaded may not survive its own end. */
	quick_exit(rc);
}

static int serve(struct exec *x)
{
	struct runcase warm;
	struct err e;

	/* Import what every worker needs, so that they share its memory. */
	if (runcase_init(&warm, &x->lab, -1, x->blobs, NULL, &e) ||
	    open_store(x, &e))
		return prog_fail_err(&e);
	runcase_release(&warm);
	if (x->load_jvp && runcase_load_jvp(&e))
		prog_warn("%s", e.msg);	/* as the cases will tell */
	if (x->device && x->fork == DEVICE_FORK_OK &&
	    lab_device(&x->lab, x->device, x->imports, x->adapter, &e))
		return prog_fail_err(&e);
	x->t_zygote_s = now() - x->t0;
	if (zygote_serve(x->zygote, 0, x->ready_fd, zygote_child, x, &e))
		return prog_fail_err(&e);
	return 0;
}

/* The same, from and to a corpus where one is asked for. */
static int filter_kept(struct exec *x, struct rec_reader *in,
		       struct rec *first)
{
	struct err e;
	int rc;

	if (open_store(x, &e))
		return prog_fail_err(&e);
	rc = filter(x, in, first);
	if (!rc && store_finish(&x->store, &e))
		rc = prog_fail_err(&e);
	store_close(&x->store);
	return rc;
}

/*
 * Input is looked at before PyTorch is loaded: its first case names the device
 * whose environment must be set by then, and no input needs no PyTorch.
 */
static int filter_files(struct exec *x)
{
	struct rec_reader *in = rec_open(x->files, x->nfiles);
	struct device d, *known = NULL;
	struct case_rec c;
	struct err e;
	struct rec rec;
	int rc;

	while ((rc = rec_next(in, &rec, &e)) > 0 && rec.kind != REC_CASE)
		if (rec_write(x->out, rec.line, rec.len, &e)) {
			rc = -1;
			break;
		}
	if (rc > 0 && case_read(&c, &rec, &e)) {
		err_prefix(&e, "%s", rec_where(in));
		rc = -1;
	}
	if (rc > 0 && device_find(&d, prog_root(), x->device ? x->device :
				  c.device, &e) == 0)
		known = &d;
	if (known && c.adapter && device_override(&d, c.adapter, &e))
		rc = -1;
	if (rc > 0 && (!known || lab_open(&x->lab, known, &e)))
		rc = -1;
	if (known)
		device_release(known);
	if (rc > 0) {
		x->lab.trace = !x->no_trace;
		if (x->script)
			rc = script(x, in, &rec, &e) ? prog_fail_err(&e) : 0;
		else
			rc = filter_kept(x, in, &rec);
		lab_close(&x->lab);
	} else if (rc < 0) {
		rc = prog_fail_err(&e);
	}
	rec_close(in);
	return rc;
}

/* "auto" is what PyTorch says it is. */
static void settle_auto(struct exec *x)
{
	if (!x->device || strcmp(x->device, "auto"))
		return;
	x->device = adapter_accelerator();
	if (x->device)
		return;
	prog_warn("PyTorch %s has no accelerator: taking 'cpu' for 'auto'",
		  x->lab.torch);
	x->device = "cpu";
}

/* Everything but running cases. */
static int tell(struct exec *x, struct err *e)
{
	if (x->suites)
		alarm(SUITES_PATIENCE);
	settle_auto(x);
	if (x->suites)
		return inventory_suites(x->suites, x->out, e);
	if (!x->probe && !strcmp(x->inventory, "opinfo"))
		return inventory_opinfo(&x->lab, x->out, e);
	if (lab_device(&x->lab, x->device ? x->device : "cpu", x->imports,
		       x->adapter, e) || adapter_there(&x->lab.adapter, e))
		return -1;
	return x->probe ? inventory_probe(&x->lab, x->out, e) :
	       inventory_aten(&x->lab, x->out, e);
}

int main(int argc, char **argv)
{
	struct exec x = { .blobs = "blobs", .ready_fd = -1, .t0 = now() };
	struct device d;
	struct err e;
	int rc;

	prog_init("cts-exec", usage_text);
	parse(&x, argc, argv);
	x.out = prog_private_stdout();
	if (x.out < 0)
		return prog_fail(EX_ENVIRON, "unable to keep stdout");
	if (x.forget)
		return prog_finish(cache_forget(&e) ? prog_fail_err(&e) : 0);
	if (!x.inventory && !x.suites && !x.probe && !x.zygote)
		return prog_finish(filter_files(&x));
	if (device_find(&d, prog_root(), x.device ? x.device : "cpu", &e) ||
	    (x.adapter && device_override(&d, x.adapter, &e)) ||
	    lab_open(&x.lab, &d, &e))
		return prog_fail_err(&e);
	x.lab.trace = !x.no_trace;
	x.fork = d.fork;
	device_release(&d);
	if (x.zygote)
		return prog_finish(serve(&x));
	rc = tell(&x, &e);
	lab_close(&x.lab);
	cJSON_Delete(x.imports);
	cJSON_Delete(x.adapter);
	return prog_finish(rc ? prog_fail_err(&e) : 0);
}
