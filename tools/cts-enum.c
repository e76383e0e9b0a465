/*
 * cts-enum: list what is to run on a device, and what is not and why.
 *
 * reads	a manifest, the tables in coverage/, the inventory of the
 *		installed PyTorch (asked once, then kept in a cache)
 * writes	one run record, then case and account records
 * exit		0 done, 1 nothing is left to run, 2 bad usage or a selection
 *		that matches nothing, 3 a wrong manifest, 4 environment
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "enumout.h"
#include "inventory.h"
#include "json.h"
#include "manifest_cli.h"
#include "opnames.h"
#include "prog.h"
#include "seed.h"
#include "select.h"
#include "vocab.h"

static const char usage_text[] =
"usage: cts-enum (-m FILE | -d DEVICE) [option...]\n"
"\n"
"List the cases that prove or disprove what a device claims, and account for\n"
"those that don't run.\n"
"\n"
"  -m, --manifest FILE       a manifest.json or manifest.py (- is stdin)\n"
"  -d, --device DEVICE       for that device; without -m, of the complete\n"
"                            template\n"
"      --import MODULE       what registers the device (repeatable)\n"
"      --dtype DTYPE         claim this dtype alone (repeatable)\n"
"\n"
"Levels (default: up to the manifest's semantic_level):\n"
"  -l, --level N             1 to N\n"
"      --level-exact N       N alone\n"
"      --level-range A:B     A to B\n"
"\n"
"Selection; what is given must all hold:\n"
"  -k, --pick KEY=GLOB       cases whose family, category, case, tier, cost,\n"
"                            role, runner or dtype-group matches (repeatable)\n"
"      --op REGEX            ops whose name matches\n"
"      --suite SUITE         this suite (repeatable)\n"
"      --case ID             exactly this case, at whatever level (repeatable)\n"
"      --start-at ID         go on from that case\n"
"      --start-after ID      go on after that case\n"
"      --limit N             no more than N cases\n"
"      --shard I/N           every Nth case, from the Ith\n"
"\n"
"  -s, --seed N              seed of the run (67)\n"
"      --max-samples N       samples a case, 0: all (default: the manifest's)\n"
"      --max-device-memory MB, --max-tensor-size MB\n"
"                            leave out cases that need more\n"
"      --memory-mode MODE    how often caches are emptied and the device is\n"
"                            synchronised: conservative, synchronize, balanced\n"
"                            or performance\n"
"      --skips               what does not run alone\n"
"      --each                account for other levels case by case, not op\n"
"                            by op\n"
"      --table               what does not run as a table for people\n"
"      --validate            note that the toolkit tests itself: the CPU alone\n"
"      --inventory FILE      what there is to run, from cts-exec --inventory,\n"
"                            in place of the installed PyTorch's\n"
"  -h, --help                print this and exit\n"
"  -V, --version             print the version and exit\n"
"\n"
"Exit status: 0 done, 1 nothing is left to run, 2 bad usage or a selection that\n"
"matches nothing, 3 wrong manifest, 4 environment.\n";

enum {
	OPT_DTYPE = 256, OPT_EXACT, OPT_RANGE, OPT_OP, OPT_SUITE, OPT_CASE,
	OPT_AT, OPT_AFTER, OPT_LIMIT, OPT_SHARD, OPT_SAMPLES, OPT_DEVMEM,
	OPT_TENSOR, OPT_MODE, OPT_SKIPS, OPT_IMPORT, OPT_TABLE, OPT_EACH,
	OPT_INVENTORY, OPT_VALIDATE,
};

static const struct option longs[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ "manifest", required_argument, NULL, 'm' },
	{ "device", required_argument, NULL, 'd' },
	{ "level", required_argument, NULL, 'l' },
	{ "seed", required_argument, NULL, 's' },
	{ "pick", required_argument, NULL, 'k' },
	{ "dtype", required_argument, NULL, OPT_DTYPE },
	{ "import", required_argument, NULL, OPT_IMPORT },
	{ "level-exact", required_argument, NULL, OPT_EXACT },
	{ "level-range", required_argument, NULL, OPT_RANGE },
	{ "op", required_argument, NULL, OPT_OP },
	{ "suite", required_argument, NULL, OPT_SUITE },
	{ "case", required_argument, NULL, OPT_CASE },
	{ "start-at", required_argument, NULL, OPT_AT },
	{ "start-after", required_argument, NULL, OPT_AFTER },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "shard", required_argument, NULL, OPT_SHARD },
	{ "max-samples", required_argument, NULL, OPT_SAMPLES },
	{ "max-device-memory", required_argument, NULL, OPT_DEVMEM },
	{ "max-tensor-size", required_argument, NULL, OPT_TENSOR },
	{ "memory-mode", required_argument, NULL, OPT_MODE },
	{ "skips", no_argument, NULL, OPT_SKIPS },
	{ "each", no_argument, NULL, OPT_EACH },
	{ "table", no_argument, NULL, OPT_TABLE },
	{ "inventory", required_argument, NULL, OPT_INVENTORY },
	{ "validate", no_argument, NULL, OPT_VALIDATE },
	{ 0 },
};

/* What the command line says. */
struct opts {
	struct manifest_opts m;
	struct selection sel;
	struct enumout out;
	const char *op, *inventory;
	const char *levels;	/* the option that said them, or NULL */
	bool table;
};

static void building(const char *torch)
{
	prog_warn("asking PyTorch %s what it has, once; this takes a while",
		  torch);
}

/* "A:B" into two numbers; exits on anything else. */
static void take_pair(const char *opt, char sep, int *a, int *b, int hi)
{
	char *copy = strdup(optarg), *at = copy ? strchr(copy, sep) : NULL;

	if (!at)
		exit(prog_usage("%s '%s' is not two numbers with '%c' between",
				opt, optarg, sep));
	*at = '\0';
	*a = (int)prog_int(opt, copy, 1, hi);
	*b = (int)prog_int(opt, at + 1, 1, hi);
	if (*a > *b)
		exit(prog_usage("%s '%s': the first number is above the "
				"second", opt, optarg));
	free(copy);
}

static void take_op(struct opts *o)
{
	struct err e = { 0 };

	if (o->sel.has_op)
		exit(prog_usage("--op twice: join the two with '|'"));
	if (pyre_compile(&o->sel.op, optarg, &e) < 0)
		exit(prog_usage("--op '%s': %s", optarg, e.msg));
	o->sel.has_op = true;
	o->op = optarg;
}

static void take_pick(struct opts *o)
{
	struct err e = { 0 };

	if (picks_add(&o->sel.picks, optarg, &e) < 0)
		exit(prog_usage("-k: %s", e.msg));
}

static void take_mode(struct opts *o)
{
	o->out.memory_mode = optarg;
	if (memory_mode_find(optarg) < 0)
		exit(prog_usage("--memory-mode '%s': expected conservative, "
				"synchronize, balanced or performance",
				optarg));
}

/* Nobody's claim, but an option's. */
static void take_mb(double *held, const char *opt)
{
	double mb = (double)prog_int(opt, optarg, 1, 1LL << 40);

	if (!*held || mb < *held)
		*held = mb;
}

/* The levels are said once, in one of three ways. */
static void one_of_levels(struct opts *o, const char *opt)
{
	if (o->levels)
		exit(prog_usage("%s beside %s", opt, o->levels));
	o->levels = opt;
}

static void take_selector(struct opts *o, int c)
{
	struct selection *s = &o->sel;

	switch (c) {
	case OPT_EXACT:
		one_of_levels(o, "--level-exact");
		s->lo = s->hi = (int)prog_int("--level-exact", optarg, 1, 8);
		break;
	case OPT_RANGE:
		one_of_levels(o, "--level-range");
		take_pair("--level-range", ':', &s->lo, &s->hi, 8);
		break;
	case 'k': take_pick(o); break;
	case OPT_OP: take_op(o); break;
	case OPT_SUITE:
		manifest_opts_add(&s->suites, &s->nsuites, optarg);
		break;
	case OPT_CASE:
		manifest_opts_add(&s->cases, &s->ncases, optarg);
		break;
	case OPT_AT: s->start_at = optarg; break;
	case OPT_AFTER: s->start_after = optarg; break;
	case OPT_LIMIT:
		s->limit = (size_t)prog_int("--limit", optarg, 1, 1 << 30);
		break;
	case OPT_SHARD:
		take_pair("--shard", '/', &s->shard, &s->nshards, 1 << 20);
		break;
	default: break;
	}
}

static void take_option(struct opts *o, int c)
{
	switch (c) {
	case 'm': o->m.file = optarg; break;
	case 'd': o->m.device = optarg; break;
	case 'l':
		one_of_levels(o, "--level");
		o->sel.lo = 1;
		o->sel.hi = (int)prog_int("--level", optarg, 1, 8);
		break;
	case 's':
		o->out.seeded = true;
		o->out.seed = (uint64_t)prog_int("--seed", optarg, 0,
						 9007199254740991LL);
		break;
	case OPT_DTYPE:
		manifest_opts_add(&o->m.dtypes, &o->m.ndtypes, optarg);
		break;
	case OPT_IMPORT:
		manifest_opts_add(&o->m.imports, &o->m.nimports, optarg);
		break;
	case OPT_SAMPLES:
		o->out.samples = (int)prog_int("--max-samples", optarg, 0,
					       1000000);
		break;
	case OPT_DEVMEM: take_mb(&o->sel.max_mb,
				      "--max-device-memory"); break;
	case OPT_TENSOR: take_mb(&o->sel.tensor_mb,
				      "--max-tensor-size"); break;
	case OPT_MODE: take_mode(o); break;
	case OPT_SKIPS: o->out.skips = true; break;
	case OPT_EACH: o->sel.each = true; break;
	case OPT_TABLE: o->table = o->sel.each = true; break;
	case OPT_INVENTORY: o->inventory = optarg; break;
	case OPT_VALIDATE: o->out.validate = true; break;
	default: take_selector(o, c); break;
	}
}

/* A selection that matches nothing is a slip of the pen. */
static int nothing(const struct opts *o, const struct inventory *inv)
{
	const char *p = o->op, *near = NULL;
	char *name;

	if (p) {
		p += *p == '^';
		name = strndup(p, strcspn(p, "$"));
		near = name ? inventory_nearest(inv, name) : NULL;
		free(name);
	}
	if (near)
		return prog_fail(EX_BADUSE, "the selection matches nothing: "
				 "--op '%s', did you mean '%s'?", o->op, near);
	return prog_fail(EX_BADUSE, "the selection matches nothing");
}

static int emit(struct opts *o, const struct plan *p, struct manifest *m,
		const struct inventory *inv)
{
	size_t n = p->n + p->others;
	struct err e = { 0 };

	if (!n && !p->cut && !p->sharded)
		return nothing(o, inv);
	enumout_manifest(&o->out, m);
	opnames_warn(m, inv);
	if (o->table) {
		enumout_table(p, stdout);
		return 0;
	}
	if (enumout_write(&o->out, p, &o->sel, m, inv, &e) < 0)
		return prog_fail_err(&e);
	if (!p->cases && !o->out.skips)
		return prog_fail(EX_NEGATIVE, "nothing is left to run: %zu "
				 "case%s accounted for", n,
				 n == 1 ? " is" : "s are");
	return 0;
}

/* The cases in the manifest's own folders. */
static int add_folders(struct inventory *inv, struct manifest *m,
		       struct err *e)
{
	const cJSON *x;
	size_t i;

	if (manifest_settle_dirs(m, e) < 0)
		return -1;
	cJSON_ArrayForEach(x, json_get(manifest_json(m), "custom_test_dirs"))
		if (inventory_add(inv, x->valuestring, e) < 0)
			return -1;
	for (i = 0; i < inv->nnotes; i++)
		prog_warn("%s", inv->notes[i]);
	return 0;
}

static int enumerate(struct opts *o, struct manifest *m)
{
	struct inventory inv = { 0 };
	struct plan p = { 0 };
	struct tables *t = NULL;
	struct err e = { 0 };
	int rc;

	if (!o->sel.lo) {
		o->sel.lo = 1;
		o->sel.hi = manifest_level(m);
	}
	select_limits(&o->sel, m);
	rc = o->inventory ? inventory_read(&inv, o->inventory, &e) :
	     inventory_load(&inv, building, &e);
	if (rc < 0 || add_folders(&inv, m, &e) < 0 || !(t = tables_load(&e)) ||
	    enumout_device(m, &inv, &e) < 0 ||
	    select_plan(&p, &o->sel, &inv, t, m, &e) < 0)
		rc = prog_fail_err(&e);
	else
		rc = emit(o, &p, m, &inv);
	plan_release(&p);
	tables_free(t);
	inventory_release(&inv);
	return rc;
}

int main(int argc, char **argv)
{
	struct opts o = {
		.sel = { .shard = 1, .nshards = 1 },
		.out = { .fd = STDOUT_FILENO, .argc = argc, .argv = argv,
			 .seed = SEED_DEFAULT, .samples = -1 },
	};
	struct manifest *m;
	int c, rc;

	prog_init("cts-enum", usage_text);
	while ((c = prog_getopt(argc, argv, "hVm:d:l:s:k:", longs)) != -1)
		take_option(&o, c);
	if (optind < argc)
		return prog_finish(prog_usage("unexpected operand '%s'",
					      argv[optind]));
	if (!o.m.file && !o.m.device)
		return prog_finish(prog_usage("say which manifest (-m) or "
					      "device (-d)"));
	o.out.op = o.op;
	m = manifest_open(&o.m, &rc);
	if (m && o.out.validate && strcmp(manifest_device(m), "cpu"))
		rc = prog_usage("--validate is for the device 'cpu' alone");
	else if (m)
		rc = enumerate(&o, m);
	manifest_free(m);
	manifest_opts_release(&o.m);
	if (o.sel.has_op)
		pyre_release(&o.sel.op);
	picks_release(&o.sel.picks);
	free(o.sel.suites);
	free(o.sel.cases);
	return prog_finish(rc);
}
