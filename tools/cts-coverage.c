/*
 * cts-coverage: which of the dispatcher's overloads a device's runs have
 * proven, which they have not, and why.
 *
 * reads	an inventory ("aten" records, from cts-exec or a file), runs or
 *		evidence gathered from them, coverage/aten-excluded.jsonl
 * writes	records, a Markdown report, or the list of holes
 * exit		0 done, 1 check: there are holes, 2 bad usage, 3 bad input,
 *		4 environment
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "coverage.h"
#include "outfile.h"
#include "prog.h"
#include "rec.h"
#include "run_read.h"
#include "xalloc.h"

static const char usage_text[] =
"usage: cts-coverage inventory [-d DEVICE] [-o FILE] [INVENTORY]\n"
"       cts-coverage evidence [-o FILE] RUN...\n"
"       cts-coverage audit|check|report|materialize [OPTION]... RUN...\n"
"\n"
"Say which overloads of PyTorch's dispatcher a device's runs have proven.\n"
"RUN is a run's folder, its stream, a *_latest.json, or saved evidence.\n"
"\n"
"  inventory    the overloads, with the kernel that the device has for each:\n"
"               own, composite, composite_explicit, fallback or none\n"
"  evidence     the overloads that the cases of the runs reached, and how\n"
"  audit        a record for each overload: reached, failing, excluded,\n"
"               accounted, no_kernel, unreached; faults of the ledger\n"
"  check        list what is failing or unreached, and exit 1 if anything is\n"
"  report       all of it as Markdown\n"
"  materialize  account records for what no run reached\n"
"\n"
"  -d, --device DEVICE    whose overloads (default: the runs', else cpu)\n"
"  -i, --inventory FILE   the inventory, rather than ask cts-exec; - is stdin\n"
"  -x, --exclusions FILE  the ledger (default: coverage/aten-excluded.jsonl)\n"
"  -o, --output FILE      write there\n"
"  -h, --help             print this and exit\n"
"  -V, --version          print the version and exit\n"
"\n"
"Exit status: 0 done, 1 check found holes, 2 bad usage, 3 bad input,\n"
"4 environment.\n";

struct opts { const char *device, *inventory, *exclusions, *output; };

/*
 * Every record of n streams (0: stdin) into c, and those of an inventory also
 * into copy where that is not NULL; 0 or an exit status.
 */
static int read_streams(struct coverage *c, char *const *streams, size_t n,
			struct buf *copy)
{
	struct rec_reader *in = rec_open(streams, n);
	struct err e;
	struct rec r;
	int rc;

	while ((rc = rec_next(in, &r, &e)) > 0) {
		if (coverage_add(c, &r, &e) < 0) {
			err_prefix(&e, "%s", rec_where(in));
			rc = -1;
			break;
		}
		if (copy) {
			buf_add(copy, r.line, r.len);
			buf_addch(copy, '\n');
		}
	}
	rec_close(in);
	return rc < 0 ? prog_fail_err(&e) : 0;
}

static int read_runs(struct coverage *c, char *const *runs, size_t n)
{
	struct err e;
	char **streams = run_streams(runs, n, &e);
	int rc;

	if (!streams)
		return prog_fail_err(&e);
	rc = read_streams(c, streams, n, NULL);
	run_streams_free(streams, n);
	return rc;
}

/* What cts-exec says of the device, into the file out; 0 or a status. */
static int ask_exec(const char *device, FILE *out)
{
	char *exec = xasprintf("%s/bin/cts-exec", prog_root());
	char *argv[] = { exec, (char *)"--inventory", (char *)"aten",
			 (char *)"--device", (char *)device, NULL };
	struct err e;
	int rc = child_run(argv, fileno(out), NULL, 0, &e);

	free(exec);
	if (rc < 0)
		return prog_fail_err(&e);
	if (rc > 0)
		return prog_fail(rc <= EX_ENVIRON ? rc : EX_ENVIRON,
				 "cts-exec --inventory aten --device %s failed",
				 device);
	return 0;
}

/*
 * The inventory into c: from the file that was named, else from cts-exec.  Its
 * answer is never kept for later: a backend that is being developed changes
 * beneath its name.
 */
static int read_inventory(struct coverage *c, const struct opts *o,
			  struct buf *copy)
{
	const char *device = o->device ? o->device :
			     c->device ? c->device : "cpu";
	char path[64];
	char *const files[] = { o->inventory ? (char *)o->inventory : path };
	FILE *tmp = NULL;
	int rc = 0;

	if (!o->inventory) {
		tmp = tmpfile();
		if (!tmp)
			return prog_fail(EX_ENVIRON, "cannot make a temporary "
					 "file");
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(tmp));
		rc = ask_exec(device, tmp);
	}
	if (!rc)
		rc = read_streams(c, files, 1, copy);
	if (!rc && !c->listed)
		rc = prog_fail(EX_BADINPUT, "the inventory lists no overload");
	if (tmp)
		fclose(tmp);
	return rc;
}

static int read_ledger(struct coverage *c, const struct opts *o)
{
	char *path = o->exclusions ? xstrdup(o->exclusions) :
		     xasprintf("%s/coverage/aten-excluded.jsonl", prog_root());
	struct err e;
	int rc = 0;

	if (coverage_exclusions(c, path, &e) < 0)
		rc = prog_fail_err(&e);
	free(path);
	return rc;
}

/* The ledger's own faults: entries that exclude nothing, or needlessly. */
static void warn_of_ledger(const struct coverage *c)
{
	for (size_t i = 0; i < c->nexcl; i++) {
		const struct exclusion *x = &c->excl[i];

		if (!x->hits)
			prog_warn("exclusion %d '%s' matches no overload here",
				  x->line, x->match);
		else if (x->needless)
			prog_warn("exclusion %d '%s': passing cases reach %zu "
				  "of its %zu overloads", x->line, x->match,
				  x->needless, x->hits);
	}
}

/* What each command prints */

static void put_evidence(const struct coverage *c, struct buf *out)
{
	const struct overload *o;
	const char *name;

	for (size_t i = 0; (o = coverage_at(c, i, &name)); i++) {
		if (o->state != COVER_REACHED && !o->fail)
			continue;
		coverage_evidence(o, name, out);
		buf_addch(out, '\n');
	}
}

static void put_audit(const struct coverage *c, struct buf *out)
{
	const struct overload *o;
	const char *name;

	for (size_t i = 0; (o = coverage_at(c, i, &name)); i++) {
		coverage_record(o, name, out);
		buf_addch(out, '\n');
	}
	warn_of_ledger(c);
}

static void put_check(const struct coverage *c, struct buf *out)
{
	const struct overload *o;
	const char *name;
	size_t bad = 0;

	for (size_t i = 0; (o = coverage_at(c, i, &name)); i++) {
		if (!o->listed || cover_good(o->state))
			continue;
		buf_addf(out, "%s: %s, kernel %s\n", name,
			 cover_name(o->state), o->kernel);
		bad++;
	}
	buf_addf(out, "%zu of %zu overloads proven, %zu explained, %zu not\n",
		 c->by_state[COVER_REACHED], c->listed,
		 c->listed - c->by_state[COVER_REACHED] - bad, bad);
}

static void put_accounts(const struct coverage *c, struct buf *out)
{
	const struct overload *o;
	const char *name;

	for (size_t i = 0; (o = coverage_at(c, i, &name)); i++)
		if (coverage_account(o, name, out))
			buf_addch(out, '\n');
}

static const struct command {
	const char *name;
	bool surface;		/* needs the inventory and the ledger */
	bool verdict;		/* says by its exit status if all is well */
	void (*put)(const struct coverage *c, struct buf *out);
} commands[] = {
	{ "evidence", false, false, put_evidence },
	{ "audit", true, false, put_audit },
	{ "check", true, true, put_check },
	{ "report", true, false, coverage_markdown },
	{ "materialize", true, false, put_accounts },
};

static int write_out(const struct opts *o, const struct buf *b)
{
	struct err e;

	if (outfile_write(o->output ? o->output : "-", b, &e) < 0)
		return prog_fail_err(&e);
	return 0;
}

static int do_command(const struct command *cmd, const struct opts *o,
		      char *const *runs, size_t n)
{
	struct buf b = BUF_INIT;
	struct coverage c;
	int rc;

	if (!n)
		return prog_usage("%s needs at least one run", cmd->name);
	coverage_init(&c);
	rc = read_runs(&c, runs, n);
	if (!rc && cmd->surface)
		rc = read_inventory(&c, o, NULL);
	if (!rc && cmd->surface)
		rc = read_ledger(&c, o);
	if (!rc) {
		coverage_settle(&c, o->device);
		cmd->put(&c, &b);
		rc = write_out(o, &b);
	}
	if (!rc && cmd->verdict && !coverage_good(&c))
		rc = EX_NEGATIVE;
	coverage_release(&c);
	buf_release(&b);
	return rc;
}

/* The inventory as it is, once it is known to be one. */
static int do_inventory(struct opts *o, char *const *files, size_t n)
{
	struct buf b = BUF_INIT;
	struct coverage c;
	int rc;

	if (n > 1 || (n && o->inventory))
		return prog_usage("inventory takes one file");
	if (n)
		o->inventory = files[0];
	coverage_init(&c);
	rc = read_inventory(&c, o, &b);
	if (!rc)
		rc = write_out(o, &b);
	coverage_release(&c);
	buf_release(&b);
	return rc;
}

static int dispatch(struct opts *o, char *const *args, size_t n)
{
	if (!n)
		return prog_usage("which command?");
	if (!strcmp(args[0], "inventory"))
		return do_inventory(o, args + 1, n - 1);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(args[0], commands[i].name))
			return do_command(&commands[i], o, args + 1, n - 1);
	return prog_usage("unknown command '%s'", args[0]);
}

static const struct option longs[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "inventory", required_argument, NULL, 'i' },
	{ "exclusions", required_argument, NULL, 'x' },
	{ "output", required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 },
};

int main(int argc, char **argv)
{
	struct opts o = { 0 };
	int c, rc;

	prog_init("cts-coverage", usage_text);
	while ((c = prog_getopt(argc, argv, "d:i:x:o:", longs)) != -1) {
		switch (c) {
		case 'd': o.device = optarg; break;
		case 'i': o.inventory = optarg; break;
		case 'x': o.exclusions = optarg; break;
		case 'o': o.output = optarg; break;
		}
	}
	rc = dispatch(&o, argv + optind, (size_t)(argc - optind));
	return prog_finish(rc);
}
