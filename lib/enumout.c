#include "enumout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "case.h"
#include "dtype.h"
#include "json.h"
#include "jw.h"
#include "prog.h"
#include "sha256.h"
#include "vocab.h"
#include "xalloc.h"

#define CHUNK 65536		/* whole records, about as much a write */

struct sink {
	struct buf b;
	int fd;
	/* The last case as it was written, and where its dtype stands in it. */
	const struct planned *last;
	struct buf text;
	size_t at[2];
};

static int flush(struct sink *s, struct err *e)
{
	size_t done = 0;
	ssize_t n;

	while (done < s->b.len) {
		n = write(s->fd, s->b.p + done, s->b.len - done);
		if (n < 0 && errno != EINTR)
			return err_sys(e, errno, "unable to write");
		if (n > 0)
			done += (size_t)n;
	}
	buf_reset(&s->b);
	return 0;
}

static int end_record(struct sink *s, struct err *e)
{
	buf_addch(&s->b, '\n');
	return s->b.len >= CHUNK ? flush(s, e) : 0;
}

int enumout_device(struct manifest *m, const struct inventory *inv,
		   struct err *e)
{
	if (strcmp(manifest_device(m), "auto"))
		return 0;
	if (manifest_imports(m))
		return err_set(e, EX_BADINPUT, "device_name is 'auto' beside "
			       "backend_import: name the device, or use -d");
	if (!inv->accelerator)
		prog_warn("device_name is 'auto' and PyTorch %s has no "
			  "accelerator: taking 'cpu'", inv->torch);
	return manifest_set_device(m, inv->accelerator ? inv->accelerator :
				   "cpu", e);
}

void enumout_manifest(struct enumout *o, const struct manifest *m)
{
	const cJSON *top = manifest_json(m), *limits, *hardware;
	const cJSON *pct, *mb, *gb;
	double least;

	o->adapter = json_get(top, "adapter");
	limits = json_get(top, "resource_limits");
	pct = json_get(limits, "cleanup_threshold_pct");
	mb = json_get(limits, "max_device_memory_mb");
	hardware = json_get(top, "hardware");
	gb = json_get(hardware, "device_memory_gb");
	o->oom_ends = cJSON_IsFalse(json_get(hardware, "oom_recoverable"));
	if (!pct || (!cJSON_IsNumber(mb) && !cJSON_IsNumber(gb)))
		return;
	least = cJSON_IsNumber(mb) ? mb->valuedouble : gb->valuedouble * 1024;
	least *= pct->valuedouble / 100;
	o->cleanup_mb = least < 1 ? 1 : least < 1 << 30 ? (int)least : 1 << 30;
}

/* Whatever decides the results, as text: its digest names the run. */
static void run_name(char out[13], const struct enumout *o,
		     const struct selection *s, const struct manifest *m,
		     const struct inventory *inv)
{
	struct buf b = BUF_INIT;
	char hex[65];
	size_t i;

	manifest_write(m, &b);
	buf_addf(&b, "level %d %d\nseed %llu\nsamples %d\nlimit %zu\n"
		 "shard %d/%d\nmb %.6g %.6g\nop %s\nat %s\nafter %s\nmode %s\n",
		 s->lo, s->hi, (unsigned long long)o->seed, o->samples,
		 s->limit, s->shard, s->nshards, s->max_mb, s->tensor_mb,
		 o->op ? o->op : "", s->start_at ? s->start_at : "",
		 s->start_after ? s->start_after : "",
		 o->memory_mode ? o->memory_mode : "");
	for (i = 0; i < s->nsuites; i++)
		buf_addf(&b, "suite %s\n", s->suites[i]);
	for (i = 0; i < s->ncases; i++)
		buf_addf(&b, "case %s\n", s->cases[i]);
	for (i = 0; i < s->picks.n; i++)
		buf_addf(&b, "pick %s\n", s->picks.v[i].text);
	buf_addf(&b, "torch %s\nengine %s\n", inv->torch, CTS_VERSION);
	sha256_hex(b.p, b.len, hex);
	memcpy(out, hex, 12);
	out[12] = '\0';
	buf_release(&b);
}

/* A path says where things lie on this machine: its last part must do. */
static void write_command(struct jw *w, const struct enumout *o)
{
	const char *arg, *slash;
	int i;

	jw_key(w, "command");
	jw_arr(w);
	for (i = 0; i < o->argc; i++) {
		arg = o->argv[i];
		slash = strrchr(arg, '/');
		/* An id is no path, nor is a shard. */
		if (slash && (i == 0 || *arg == '/' || *arg == '.' ||
			      !strcmp(o->argv[i - 1], "-m") ||
			      !strcmp(o->argv[i - 1], "--manifest") ||
			      !strncmp(arg, "--manifest=", 11) ||
			      !strncmp(arg, "-m", 2)))
			arg = slash + 1;
		jw_str(w, arg);
	}
	jw_arr_end(w);
}

#define REASONS 64		/* more than there are */

/* How many do not run for each reason, by account_reason_at()'s index. */
static void count_reasons(const struct plan *p, size_t counts[REASONS])
{
	const char *last = NULL;
	size_t i, k = 0;

	memset(counts, 0, REASONS * sizeof(*counts));
	for (i = 0; i < p->n; i++) {
		const char *reason = p->v[i].reason;

		if (!reason)
			continue;
		if (reason != last)
			for (k = 0; account_reason_at(k) && k < REASONS - 1 &&
			     strcmp(account_reason_at(k)->name, reason); k++)
				;
		last = reason;
		counts[k]++;
	}
}

static void write_accounts(struct jw *w, const struct plan *p)
{
	size_t counts[REASONS], k, n;

	count_reasons(p, counts);

	jw_key(w, "accounts");
	jw_obj(w);
	for (k = 0; account_reason_at(k); k++) {
		const char *name = account_reason_at(k)->name;

		n = !strcmp(name, "deselected") ? p->deselected + p->cut :
		    !strcmp(name, "sharded") ? p->sharded :
		    !strcmp(name, "level_filtered") ? p->others : 0;
		n += counts[k];
		if (n)
			jw_kint(w, name, (int64_t)n);
	}
	jw_obj_end(w);
}

static void write_run(struct jw *w, const struct enumout *o,
		      const struct plan *p, const struct selection *s,
		      const struct manifest *m, const struct inventory *inv,
		      const char *run)
{
	const cJSON *only = json_get(manifest_json(m), "only_dtypes"), *x;
	struct utsname u;
	char digest[72];

	jw_record(w, "run", "", run);
	jw_kstr(w, "tool", "cts-enum " CTS_VERSION);
	jw_kstr(w, "role", "selection");
	jw_kstr(w, "device", manifest_device(m));
	jw_kstr(w, "hardware", uname(&u) ? "unknown" : u.machine);
	jw_kstr(w, "torch", inv->torch);
	jw_kstr(w, "python", inv->python ? inv->python : "");
	manifest_digest(m, digest);
	jw_kstr(w, "manifest", digest);
	jw_key(w, "level");
	jw_arr(w);
	jw_int(w, s->lo);
	jw_int(w, s->hi);
	jw_arr_end(w);
	jw_key(w, "seed");
	jw_uint(w, o->seed);
	jw_kint(w, "cases", (int64_t)(o->skips ? 0 : p->cases));
	write_accounts(w, p);
	if (o->validate)
		jw_kstr(w, "mode", "validate");
	if (only) {
		jw_key(w, "dtypes");
		jw_arr(w);
		cJSON_ArrayForEach(x, only)
			jw_str(w, x->valuestring);
		jw_arr_end(w);
	}
	if (o->memory_mode)
		jw_kstr(w, "memory_mode", o->memory_mode);
	write_command(w, o);
	jw_obj_end(w);
}

/* "special", "out_special", "inplace_special" */
static bool is_special(const char *variant)
{
	size_t n = strlen(variant), m = strlen("special");

	return n >= m && !strcmp(variant + n - m, "special");
}

/* Special values have a seed and a number of samples of their own. */
static void special(struct case_rec *c, const struct enumout *o,
		    const struct manifest *m)
{
	const cJSON *seed = json_get(manifest_json(m), "ieee754_seed");

	if (seed && !o->seeded)
		c->seed = (uint64_t)seed->valuedouble;
	if (o->samples < 0)
		c->samples = manifest_max_samples_special(m);
}

/*
 * The cases of an op mostly differ in their dtype alone, and there are tens of
 * thousands of them.
 */
static bool alike(const struct planned *a, const struct planned *b)
{
	return a && a->item == b->item && a->variant == b->variant &&
	       a->level == b->level && a->level_reason == b->level_reason &&
	       a->capability == b->capability && a->oracle == b->oracle;
}

static void remember(struct sink *out, const struct planned *x, size_t start)
{
	static const char head[] = "{\"v\":1,\"kind\":\"case\",\"id\":\"";
	static const char key[] = "\"dtype\":\"";
	const char *text = out->b.p + start, *p = strstr(text, key);

	out->last = p ? x : NULL;
	if (!p)
		return;
	buf_reset(&out->text);
	buf_add(&out->text, text, out->b.len - start);
	out->at[0] = strlen(head) + strlen(x->item->suite) + 1 +
		     strlen(x->item->op) + 1;
	out->at[1] = (size_t)(p - text) + strlen(key);
}

static void write_alike(struct sink *out, const struct planned *x)
{
	const char *p = out->text.p, *now = dtype_at(x->dtype)->name;
	size_t n = strlen(dtype_at(out->last->dtype)->name);

	buf_add(&out->b, p, out->at[0]);
	buf_addstr(&out->b, now);
	buf_add(&out->b, p + out->at[0] + n, out->at[1] - out->at[0] - n);
	buf_addstr(&out->b, now);
	buf_addstr(&out->b, p + out->at[1] + n);
}

static int write_fresh(struct sink *out, const struct enumout *o,
		       const struct planned *x, const struct manifest *m,
		       const char *run, struct err *e)
{
	const char *cost = x->item->tags[TAG_COST];
	char id[CASE_ID_MAX];
	struct case_rec c = {
		.id = id, .run = run, .suite = x->item->suite,
		.op = x->item->op, .variant = x->variant,
		.dtype = dtype_at(x->dtype)->name,
		.device = manifest_device(m), .adapter = o->adapter,
		.memory_mode = o->memory_mode, .cleanup_mb = o->cleanup_mb,
		.oom_ends = o->oom_ends,
		.suite_dir = x->item->folder, .level = x->level,
		.level_reason = x->level_reason, .capability = x->capability,
		.oracle = x->oracle, .cost = cost, .only = -1, .seed = o->seed,
		.samples = o->samples >= 0 ? o->samples :
			   x->item->written ? 0 : manifest_max_samples(m),
		.backend_import = manifest_imports(m),
		.via = x->item->via, .called = x->item->called,
	};
	size_t start = out->b.len;
	struct jw w;

	if (planned_id(x, id, e) < 0)
		return -1;
	if (x->item->container)
		c.decoder = manifest_decoder(m, x->item->container);
	if (is_special(x->variant))
		special(&c, o, m);
	jw_init(&w, &out->b);
	case_write(&w, &c);
	remember(out, x, start);
	return end_record(out, e);
}

static int write_case(struct sink *out, const struct enumout *o,
		      const struct planned *x, const struct manifest *m,
		      const char *run, struct err *e)
{
	if (!alike(out->last, x))
		return write_fresh(out, o, x, m, run, e);
	write_alike(out, x);
	return end_record(out, e);
}

static void write_claim(struct jw *w, const struct planned *x)
{
	char *path = NULL;

	if (!x->claim)
		return;
	if (!strcmp(x->claim, "supported_dtypes"))
		path = xasprintf("supported_dtypes.%s",
				 dtype_at(x->dtype)->name);
	else if (!strcmp(x->claim, "capabilities"))
		path = xasprintf("capabilities.%s", x->capability);
	else if (x->item->container && !strcmp(x->reason, "container_format"))
		path = xasprintf("%s.%s", x->claim, x->item->container);
	jw_kstr(w, "claim", path ? path : x->claim);
	free(path);
}

static int write_account(struct sink *out, const struct planned *x,
			 const char *run, struct err *e)
{
	const struct account_reason *why = account_reason_find(x->reason);
	char id[CASE_ID_MAX];
	struct jw w;

	if (planned_id(x, id, e) < 0)
		return -1;
	jw_init(&w, &out->b);
	jw_record(&w, "account", id, run);
	jw_kstr(&w, "suite", x->item->suite);
	jw_kstr(&w, "op", x->item->op);
	jw_kstr(&w, "variant", x->variant);
	jw_kstr(&w, "dtype", dtype_at(x->dtype)->name);
	jw_kint(&w, "level", x->level);
	jw_kstr(&w, "reason", x->reason);
	jw_kstr(&w, "detail", x->detail ? x->detail : why ? why->text : "");
	write_claim(&w, x);
	jw_obj_end(&w);
	return end_record(out, e);
}

static int write_elsewhere(struct sink *out, const struct elsewhere *x,
			   const char *run, struct err *e)
{
	struct jw w;

	jw_init(&w, &out->b);
	jw_record(&w, "account", "", run);
	jw_kstr(&w, "suite", x->item->suite);
	jw_kstr(&w, "op", x->item->op);
	jw_kint(&w, "level", x->level);
	jw_kstr(&w, "reason", "level_filtered");
	jw_kint(&w, "n", (int64_t)x->n);
	jw_obj_end(&w);
	return end_record(out, e);
}

static int write_accounts_of(struct sink *out, const struct plan *p,
			     const char *run, struct err *e)
{
	int level, rc = 0;
	size_t i;

	for (i = 0; !rc && i < p->n; i++)
		if (p->v[i].reason)
			rc = write_account(out, &p->v[i], run, e);
	for (level = 1; level <= LEVELS; level++)
		for (i = 0; !rc && i < p->nother; i++)
			if (p->other[i].level == level)
				rc = write_elsewhere(out, &p->other[i], run, e);
	return rc;
}

/* One record for all the cases that were not asked for. */
static int write_many(struct sink *out, const char *reason, const char *detail,
		      size_t n, const char *run, struct err *e)
{
	struct jw w;

	if (!n)
		return 0;
	jw_init(&w, &out->b);
	jw_record(&w, "account", "", run);
	jw_kstr(&w, "reason", reason);
	jw_kint(&w, "n", (int64_t)n);
	jw_kstr(&w, "detail", detail);
	jw_obj_end(&w);
	return end_record(out, e);
}

int enumout_write(const struct enumout *o, const struct plan *p,
		  const struct selection *s, const struct manifest *m,
		  const struct inventory *inv, struct err *e)
{
	struct sink out = { .b = BUF_INIT, .text = BUF_INIT, .fd = o->fd };
	char run[13];
	struct jw w;
	size_t i;
	int rc;

	run_name(run, o, s, m, inv);
	jw_init(&w, &out.b);
	write_run(&w, o, p, s, m, inv, run);
	rc = end_record(&out, e);
	for (i = 0; !rc && !o->skips && i < p->n; i++)
		if (!p->v[i].reason)
			rc = write_case(&out, o, &p->v[i], m, run, e);
	if (!rc)
		rc = write_accounts_of(&out, p, run, e);
	if (!rc)
		rc = write_many(&out, "deselected", "not among --op, --suite, "
				"--case or -k", p->deselected, run, e);
	if (!rc)
		rc = write_many(&out, "deselected", "beyond --limit, "
				"--start-at or --start-after", p->cut, run, e);
	if (!rc)
		rc = write_many(&out, "sharded", "in other shards",
				p->sharded, run, e);
	if (!rc)
		rc = flush(&out, e);
	buf_release(&out.b);
	buf_release(&out.text);
	return rc;
}

#define GROUP_VARIANTS 64

/* The cases of one reason, item and level, which stand together in a plan. */
struct group {
	const struct planned *first;
	size_t n, nvariants;
	uint64_t dtypes;
	const char *variants[GROUP_VARIANTS];
};

static void group_add(struct group *g, const struct planned *x)
{
	size_t i;

	if (!g->n++)
		g->first = x;
	g->dtypes |= UINT64_C(1) << x->dtype;
	for (i = 0; i < g->nvariants; i++)
		if (g->variants[i] == x->variant)
			return;
	if (i < GROUP_VARIANTS)
		g->variants[g->nvariants++] = x->variant;
}

static void group_print(struct group *g, FILE *f)
{
	const char *sep = "";
	size_t i;

	if (!g->n)
		return;
	fprintf(f, "%-25s %5d %7zu  %-32s ", g->first->reason,
		g->first->level, g->n, g->first->item->op);
	for (i = 0; i < g->nvariants; i++, sep = ",")
		fprintf(f, "%s%s", sep, g->variants[i]);
	for (i = 0; i < 64 && dtype_at(i); i++)
		if (g->dtypes >> i & 1)
			fprintf(f, " %s", dtype_at(i)->name);
	fputc('\n', f);
	memset(g, 0, sizeof(*g));
}

static void table_reason(const struct plan *p, const char *reason, FILE *f)
{
	struct group g = { 0 };
	const struct planned *x;
	size_t i;

	for (i = 0; i < p->n; i++) {
		x = &p->v[i];
		if (g.n && (g.first->item != x->item ||
			    g.first->level != x->level))
			group_print(&g, f);
		if (x->reason && !strcmp(x->reason, reason))
			group_add(&g, x);
	}
	group_print(&g, f);
}

void enumout_table(const struct plan *p, FILE *f)
{
	const struct account_reason *why;
	size_t counts[REASONS], i, n;

	count_reasons(p, counts);
	fprintf(f, "%7zu case%s would run\n", p->cases,
		p->cases == 1 ? "" : "s");
	for (i = 0; (why = account_reason_at(i)); i++) {
		n = counts[i];
		if (n)
			fprintf(f, "%7zu %s: %s\n", n, why->name, why->text);
	}
	if (p->deselected + p->cut)
		fprintf(f, "%7zu deselected: by the command line\n",
			p->deselected + p->cut);
	if (p->sharded)
		fprintf(f, "%7zu sharded: in other shards\n", p->sharded);
	fprintf(f, "\n%-25s %5s %7s  %-32s %s\n", "reason", "level", "cases",
		"op", "variants and dtypes");
	for (i = 0; (why = account_reason_at(i)); i++)
		table_reason(p, why->name, f);
}
