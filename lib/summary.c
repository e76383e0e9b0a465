#include "summary.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "json.h"
#include "text.h"
#include "xalloc.h"

#define WHY_MAX 300		/* bytes kept of a line for people */
#define STACK_MAX 8192
#define STAGES_MAX (1u << 20)

static const char *const unknown = "(unknown)";

void summary_init(struct summary *s)
{
	memset(s, 0, sizeof(*s));
	strmap_init(&s->ids);
	strmap_init(&s->variants);
	counts_init(&s->promised);
	tallies_init(&s->by_level);
	tallies_init(&s->by_suite);
	tallies_init(&s->by_op);
	tallies_init(&s->by_dtype);
	counts_init(&s->accounts);
	strmap_init(&s->account_ids);
	strmap_init(&s->account_keys);
	clusters_init(&s->failures);
	clusters_init(&s->advice);
	counts_init(&s->budgets);
	counts_init(&s->default_ops);
	counts_init(&s->override_ops);
	strmap_init(&s->oracle_keys);
	strmap_init(&s->probe_keys);
}

static void failure_free(struct failure *f)
{
	if (!f)
		return;
	free(f->check);
	free(f->why);
	free(f->args);
	free(f->figure);
	free(f->signal);
	free(f->stack);
	free(f->stderr_tail);
	free(f);
}

static void release_rows(struct summary *s)
{
	for (size_t i = 0; i < s->account_keys.n; i++) {
		free(s->account[i].reason);
		free(s->account[i].op);
	}
	for (size_t i = 0; i < s->oracle_keys.n; i++) {
		free(s->oracle[i].id);
		free(s->oracle[i].reason);
		free(s->oracle[i].detail);
	}
	for (size_t i = 0; i < s->probe_keys.n; i++) {
		free(s->probes[i].probe);
		free(s->probes[i].name);
		free(s->probes[i].status);
		free(s->probes[i].note);
	}
	free(s->account);
	free(s->account_sorted);
	free(s->oracle);
	free(s->oracle_sorted);
	free(s->probes);
	free(s->probes_sorted);
}

static void release_facts(struct summary *s)
{
	free(s->device);
	free(s->hardware);
	free(s->torch);
	free(s->python);
	free(s->manifest);
	free(s->run);
	free(s->reference);
	free(s->corpus_note);
	free(s->seed);
	free(s->note);
	free(s->own_manifest);
	free(s->input_error);
	cJSON_Delete(s->stages);
}

void summary_release(struct summary *s)
{
	for (size_t i = 0; i < s->ids.n; i++)
		failure_free(s->cases[i].fail);
	free(s->cases);
	release_rows(s);
	release_facts(s);
	strmap_release(&s->ids);
	strmap_release(&s->variants);
	counts_release(&s->promised);
	tallies_release(&s->by_level);
	tallies_release(&s->by_suite);
	tallies_release(&s->by_op);
	tallies_release(&s->by_dtype);
	counts_release(&s->accounts);
	strmap_release(&s->account_ids);
	strmap_release(&s->account_keys);
	clusters_release(&s->failures);
	clusters_release(&s->advice);
	counts_release(&s->budgets);
	counts_release(&s->default_ops);
	counts_release(&s->override_ops);
	strmap_release(&s->oracle_keys);
	strmap_release(&s->probe_keys);
	summary_init(s);
}

/* Cases */

static struct sum_case *get_case(struct summary *s, const char *id)
{
	size_t had = s->ids.n, i = strmap_add(&s->ids, id);

	if (s->ids.n > had) {
		s->cases = xgrow(s->cases, &s->cases_cap, s->ids.n,
				 sizeof(*s->cases));
		s->cases[i] = (struct sum_case) {
			.suite = STRMAP_NONE, .op = STRMAP_NONE,
			.dtype = STRMAP_NONE, .variant = STRMAP_NONE,
		};
	}
	return &s->cases[i];
}

struct failure *summary_failure(struct sum_case *c)
{
	if (!c->fail) {
		c->fail = xcalloc(1, sizeof(*c->fail));
		c->fail->sample = -1;
	}
	return c->fail;
}

/* The id of a record that must belong to a case, or NULL with e set. */
static const char *need_id(const struct rec *r, struct err *e)
{
	if (*r->id)
		return r->id;
	err_set(e, EX_BADINPUT, "id: a %s record needs one",
		rec_kind_name(r->kind));
	return NULL;
}

static void set(char **to, const char *text, size_t max)
{
	if (!text || !*text)
		return;
	free(*to);
	*to = text_cut(text, max);
}

/* Records may come in any order: of texts that differ, the least is kept. */
static void fact(char **to, const cJSON *o, const char *key)
{
	const char *text = rec_str_opt(o, key, NULL);

	if (text && (!*to || strcmp(text, *to) < 0))
		set(to, text, WHY_MAX);
}

/* Take over the fields that name a case, where they are not known yet. */
static int read_names(struct summary *s, struct sum_case *c, const cJSON *o,
		      struct err *e)
{
	const char *text;
	long long level;

	text = rec_str_opt(o, "suite", NULL);
	if (text && c->suite == STRMAP_NONE)
		c->suite = tallies_name(&s->by_suite, text);
	text = rec_str_opt(o, "op", NULL);
	if (text && c->op == STRMAP_NONE)
		c->op = tallies_name(&s->by_op, text);
	text = rec_str_opt(o, "dtype", NULL);
	if (text && c->dtype == STRMAP_NONE)
		c->dtype = tallies_name(&s->by_dtype, text);
	text = rec_str_opt(o, "variant", NULL);
	if (text && c->variant == STRMAP_NONE)
		c->variant = strmap_add(&s->variants, text);
	fact(&s->device, o, "device");
	if (!json_get(o, "level"))
		return 0;
	if (rec_int(o, "level", 0, 8, &level, e) < 0)
		return -1;
	if (!c->level)
		c->level = (int)level;
	return 0;
}

static int add_case(struct summary *s, const struct rec *r, struct err *e)
{
	const char *id = need_id(r, e);
	struct sum_case *c;

	if (!id)
		return -1;
	c = get_case(s, id);
	if (c->listed)
		return err_set(e, EX_BADINPUT, "case '%s' comes twice", id);
	c->listed = true;
	return read_names(s, c, r->json, e);
}

static int add_journal(struct summary *s, const struct rec *r, struct err *e)
{
	const char *id = need_id(r, e);
	const cJSON *t;
	struct sum_case *c;

	if (!id)
		return -1;
	c = get_case(s, id);
	c->begun = true;
	if (r->kind == REC_START)
		return read_names(s, c, r->json, e);
	c->ended = true;
	t = json_get(r->json, "t_s");
	if (cJSON_IsNumber(t))
		c->t_s += t->valuedouble;
	s->undefined += (size_t)rec_int_opt(r->json, "undefined", 0);
	s->live += (size_t)rec_int_opt(r->json, "live", 0);
	return 0;
}

static int add_death(struct summary *s, const struct rec *r, struct err *e)
{
	const char *id = need_id(r, e);
	struct sum_case *c;
	struct failure *f;
	long long code;

	if (!id || add_journal(s, r, e) < 0)
		return -1;
	c = get_case(s, id);
	f = summary_failure(c);
	set(&f->signal, rec_str_opt(r->json, "signal", NULL), 40);
	code = rec_int_opt(r->json, "exit", -1);
	if (!f->signal && code >= 0)
		f->signal = xasprintf("exit %lld", code);
	set(&f->stack, rec_str_opt(r->json, "stack", NULL), STACK_MAX);
	set(&f->stderr_tail, rec_str_opt(r->json, "stderr", NULL), 4096);
	if (f->sample < 0)
		f->sample = rec_int_opt(r->json, "sample", -1);
	return 0;
}

/* Verdicts */

/* One figure for people: hex-floats in decimal, lists as they are. */
static void add_figure(struct buf *out, const cJSON *item)
{
	char *text = NULL;
	double x;

	if (cJSON_IsString(item) && !strncmp(item->valuestring, "0x", 2) &&
	    rec_hexf(item, &x) == 0)
		buf_addf(out, "%s %.9g", item->string, x);
	else if (cJSON_IsString(item) &&
		 !strncmp(item->valuestring, "-0x", 3) &&
		 rec_hexf(item, &x) == 0)
		buf_addf(out, "%s %.9g", item->string, x);
	else if (cJSON_IsString(item))
		buf_addf(out, "%s %s", item->string, item->valuestring);
	else if ((text = cJSON_PrintUnformatted(item)))
		buf_addf(out, "%s %s", item->string, text);
	cJSON_free(text);
}

/* The figures of a check as one line; new. */
static char *figures(const cJSON *check)
{
	static const char *const skip[] = { "ok", "n", "bad", "class" };
	struct buf b = BUF_INIT;
	const cJSON *item;
	char *cut;

	cJSON_ArrayForEach(item, check) {
		size_t i = 0;

		while (i < 4 && strcmp(item->string, skip[i]))
			i++;
		if (i < 4)
			continue;
		if (b.len)
			buf_addstr(&b, ", ");
		add_figure(&b, item);
		if (b.len > 4 * WHY_MAX)
			break;
	}
	cut = b.len ? text_cut(b.p, WHY_MAX) : NULL;
	buf_release(&b);
	return cut;
}

/*
 * Where a budget comes from: the text begins with its class in the ledger,
 * "default", or "override" for one of the manifest's.
 */
static const char *budget_source(const cJSON *check)
{
	const cJSON *b = json_get(check, "budget");
	const char *text = b ? b->valuestring : NULL;

	if (!cJSON_IsString(b))
		return NULL;
	if (!strncmp(text, "default", 7))
		return "default";
	return strncmp(text, "override", 8) ? "ledger" : "manifest";
}

/* The parts of a case's name as text, never NULL. */
static const char *name_of(const struct strmap *m, size_t i)
{
	return i == STRMAP_NONE ? unknown : m->key[i];
}

const char *summary_id(const struct summary *s, const struct sum_case *c)
{
	return s->ids.key[c - s->cases];
}

const char *summary_suite(const struct summary *s, const struct sum_case *c)
{
	return name_of(&s->by_suite.names, c->suite);
}

const char *summary_op(const struct summary *s, const struct sum_case *c)
{
	return name_of(&s->by_op.names, c->op);
}

const char *summary_dtype(const struct summary *s, const struct sum_case *c)
{
	return name_of(&s->by_dtype.names, c->dtype);
}

const char *summary_variant(const struct summary *s,
			    const struct sum_case *c)
{
	return name_of(&s->variants, c->variant);
}

/* Where no record names the parts of a case, its id does. */
void summary_names(struct summary *s, struct sum_case *c)
{
	char suite[CASE_ID_MAX], op[CASE_ID_MAX], dtype[CASE_ID_MAX];
	char variant[CASE_ID_MAX];

	if (c->suite != STRMAP_NONE && c->op != STRMAP_NONE &&
	    c->dtype != STRMAP_NONE && c->variant != STRMAP_NONE)
		return;
	if (case_id_split(summary_id(s, c), suite, op, dtype, variant) < 0) {
		snprintf(suite, CASE_ID_MAX, "%s", unknown);
		snprintf(op, CASE_ID_MAX, "%s", unknown);
		snprintf(dtype, CASE_ID_MAX, "%s", unknown);
		snprintf(variant, CASE_ID_MAX, "%s", unknown);
	}
	if (c->suite == STRMAP_NONE)
		c->suite = tallies_name(&s->by_suite, suite);
	if (c->op == STRMAP_NONE)
		c->op = tallies_name(&s->by_op, op);
	if (c->dtype == STRMAP_NONE)
		c->dtype = tallies_name(&s->by_dtype, dtype);
	if (c->variant == STRMAP_NONE)
		c->variant = strmap_add(&s->variants, variant);
}

/* Does why, the judge's sentence, begin with the name of that check? */
static bool is_about(const char *why, const char *check)
{
	size_t n = strlen(check);

	return why && !strncmp(why, check, n) && (!why[n] ||
						  strchr(" :", why[n]));
}

/* A broken contract: the first one, or rather the one that `why` is about. */
static void read_broken(struct failure *f, const cJSON *check)
{
	if (f->check && !is_about(f->why, check->string))
		return;
	set(&f->check, check->string, 40);
	free(f->figure);
	f->figure = figures(check);
}

static void read_budget(struct summary *s, const struct sum_case *c,
			const cJSON *check)
{
	const char *budget = budget_source(check);

	if (!budget)
		return;
	counts_add(&s->budgets, budget, 1);
	if (!strcmp(budget, "default"))
		counts_add(&s->default_ops, summary_op(s, c), 1);
	if (!strcmp(budget, "manifest"))
		counts_add(&s->override_ops, summary_op(s, c), 1);
}

static void read_checks(struct summary *s, struct sum_case *c,
			const cJSON *checks)
{
	const cJSON *k;

	summary_names(s, c);
	cJSON_ArrayForEach(k, checks) {
		read_budget(s, c, k);
		if (rec_bool_opt(k, "ok", true))
			continue;
		if (!strcmp(rec_str_opt(k, "class", ""), "advice"))
			clusters_add(&s->advice, summary_op(s, c), k->string,
				     summary_dtype(s, c),
				     summary_variant(s, c), summary_id(s, c));
		else if (c->fail)
			read_broken(c->fail, k);
	}
}

/* `first` is the number of a sample, or an object that holds it and `args`. */
static void read_first(struct failure *f, const cJSON *o)
{
	const cJSON *first = json_get(o, "first");

	set(&f->args, rec_str_opt(o, "args", NULL), WHY_MAX);
	if (cJSON_IsObject(first)) {
		set(&f->args, rec_str_opt(first, "args", NULL), WHY_MAX);
		f->sample = rec_int_opt(first, "sample", f->sample);
	} else {
		f->sample = rec_int_opt(o, "first", f->sample);
	}
}

/* Words that only this library may give, or none at all, are refused. */
static int read_outcome(const cJSON *o, enum outcome *out, struct err *e)
{
	const char *name;
	int found;

	if (rec_str(o, "outcome", &name, e) < 0)
		return -1;
	found = outcome_find(name);
	if (found < 0 || found == OUT_MISSING || found == OUT_DUPLICATE)
		return err_set(e, EX_BADINPUT, "outcome: '%.40s' is not one",
			       name);
	*out = (enum outcome)found;
	return 0;
}

static int add_verdict(struct summary *s, const struct rec *r, struct err *e)
{
	const char *id = need_id(r, e);
	enum outcome outcome = OUT_ERROR;
	struct sum_case *c;
	struct failure *f;

	if (!id || read_outcome(r->json, &outcome, e) < 0)
		return -1;
	c = get_case(s, id);
	if (read_names(s, c, r->json, e) < 0)
		return -1;
	c->outcomes |= 1u << outcome;
	if (c->verdicts++)
		return 0;
	s->samples += (size_t)rec_int_opt(r->json, "samples", 0);
	if (outcome == OUT_PASS) {
		c->usable = !strcmp(rec_str_opt(r->json, "tier", ""), "usable");
	} else {
		f = summary_failure(c);
		set(&f->why, rec_str_opt(r->json, "why", NULL), WHY_MAX);
		read_first(f, r->json);
		f->order_dependent = rec_bool_opt(r->json, "order_dependent",
						  false);
	}
	read_checks(s, c, json_get(r->json, "checks"));
	return 0;
}

/* The other kinds */

static void read_level(struct summary *s, const cJSON *level)
{
	const cJSON *lo = cJSON_GetArrayItem(level, 0);
	const cJSON *hi = cJSON_GetArrayItem(level, 1);

	if (!cJSON_IsNumber(lo) || !cJSON_IsNumber(hi))
		return;
	if (!s->level_lo || lo->valueint < s->level_lo)
		s->level_lo = lo->valueint;
	if (hi->valueint > s->level_hi)
		s->level_hi = hi->valueint;
}

/*
 * A selection says how many cases follow.  A resumed run says it again, so
 * that only the greatest number of each run counts.
 */
static void read_promise(struct summary *s, const struct rec *r)
{
	long long n = rec_int_opt(r->json, "cases", 0);
	size_t had;
	char *key;

	if (n <= 0)
		return;
	key = xasprintf("%s\n%s", r->run, rec_str_opt(r->json, "shard", ""));
	had = counts_of(&s->promised, key);
	if ((size_t)n > had)
		counts_add(&s->promised, key, (size_t)n - had);
	free(key);
}

/* What people must know of the run before anything else: new, or NULL. */
static char *note_of(const cJSON *run)
{
	const cJSON *x, *only = json_get(run, "dtypes");
	struct buf b = BUF_INIT;

	if (!strcmp(rec_str_opt(run, "mode", ""), "validate"))
		buf_addstr(&b, "The toolkit tests itself here, with the CPU "
			   "on both sides: this says nothing of any device.");
	if (cJSON_IsArray(only) && only->child) {
		buf_addf(&b, "%sNarrowed by --dtype to", b.len ? " " : "");
		cJSON_ArrayForEach(x, only)
			buf_addf(&b, "%s %.40s", x == only->child ? "" : ",",
				 cJSON_IsString(x) ? x->valuestring : "?");
		buf_addstr(&b, ": that other dtypes did not run says nothing "
			   "of the manifest.");
	}
	return b.len ? buf_detach(&b) : NULL;
}

static int add_run(struct summary *s, const struct rec *r, struct err *e)
{
	const cJSON *t, *o = r->json;
	long long seed;

	(void)e;
	fact(&s->device, o, "device");
	fact(&s->hardware, o, "hardware");
	fact(&s->torch, o, "torch");
	fact(&s->python, o, "python");
	fact(&s->manifest, o, "manifest");
	fact(&s->reference, o, "reference");
	fact(&s->corpus_note, json_get(o, "corpus"), "note");
	fact(&s->run, o, "run");
	if (!s->note)
		s->note = note_of(o);
	seed = rec_int_opt(o, "seed", -1);
	if (seed >= 0 && !s->seed)
		s->seed = xasprintf("%lld", seed);
	fact(&s->seed, o, "seed");
	read_level(s, json_get(o, "level"));
	t = json_get(o, "t_import_s");
	if (cJSON_IsNumber(t) && t->valuedouble > s->t_import_s)
		s->t_import_s = t->valuedouble;
	read_promise(s, r);
	return 0;
}

/* Row of a table that is numbered by a map; *fresh tells a new one. */
static size_t row(struct strmap *keys, void *table, size_t *cap, size_t size,
		  char *key, bool *fresh)
{
	size_t had = keys->n, i = strmap_add(keys, key);
	void **rows = table;

	free(key);
	*fresh = keys->n > had;
	if (*fresh) {
		*rows = xgrow(*rows, cap, keys->n, size);
		memset((char *)*rows + i * size, 0, size);
	}
	return i;
}

static int add_account(struct summary *s, const struct rec *r, struct err *e)
{
	const char *reason, *op = rec_str_opt(r->json, "op", "(any)");
	size_t had = s->account_ids.n, i;
	long long level = rec_int_opt(r->json, "level", 0), n = 1;
	bool fresh;

	if (rec_str(r->json, "reason", &reason, e) < 0 ||
	    (json_get(r->json, "n") &&
	     rec_int(r->json, "n", 0, INT64_MAX, &n, e) < 0))
		return -1;
	if (*r->id) {
		strmap_add(&s->account_ids, r->id);
		if (s->account_ids.n == had)
			return 0;	/* a resumed run says it again */
	}
	counts_add(&s->accounts, reason, (size_t)n);
	i = row(&s->account_keys, &s->account, &s->account_cap,
		sizeof(*s->account),
		xasprintf("%s\n%lld\n%s", reason, level, op), &fresh);
	if (fresh)
		s->account[i] = (struct account_row) {
			text_cut(reason, WHY_MAX), text_cut(op, WHY_MAX),
			(int)level, 0
		};
	s->account[i].n += (size_t)n;
	return 0;
}

static int add_oracle_failure(struct summary *s, const struct rec *r,
			      struct err *e)
{
	const char *reason, *id = need_id(r, e);
	long long sample = rec_int_opt(r->json, "sample", -1);
	bool fresh;
	size_t i;

	if (!id || rec_str(r->json, "reason", &reason, e) < 0)
		return -1;
	i = row(&s->oracle_keys, &s->oracle, &s->oracle_cap,
		sizeof(*s->oracle), xasprintf("%s\n%012lld", id, sample),
		&fresh);
	if (fresh)
		s->oracle[i] = (struct oracle_row) {
			text_cut(id, WHY_MAX), text_cut(reason, WHY_MAX),
			text_cut(rec_str_opt(r->json, "detail", ""), WHY_MAX),
			sample
		};
	return 0;
}

static int add_probe(struct summary *s, const struct rec *r, struct err *e)
{
	const char *probe, *name, *status;
	bool fresh;
	size_t i;

	if (rec_str(r->json, "probe", &probe, e) < 0 ||
	    rec_str(r->json, "name", &name, e) < 0 ||
	    rec_str(r->json, "status", &status, e) < 0)
		return -1;
	i = row(&s->probe_keys, &s->probes, &s->probes_cap, sizeof(*s->probes),
		xasprintf("%s\n%s", probe, name), &fresh);
	if (fresh)
		s->probes[i] = (struct probe_row) {
			text_cut(probe, 40), text_cut(name, WHY_MAX),
			text_cut(status, 40),
			text_cut(rec_str_opt(r->json, "note", ""), WHY_MAX)
		};
	return 0;
}

int summary_add(struct summary *s, const struct rec *r, struct err *e)
{
	static int (*const add[REC_NKINDS])(struct summary *,
					    const struct rec *,
					    struct err *) = {
		[REC_RUN] = add_run,
		[REC_CASE] = add_case,
		[REC_ACCOUNT] = add_account,
		[REC_PROBE] = add_probe,
		[REC_START] = add_journal,
		[REC_END] = add_journal,
		[REC_DEATH] = add_death,
		[REC_VERDICT] = add_verdict,
		[REC_ORACLE_FAILURE] = add_oracle_failure,
	};

	return add[r->kind] ? add[r->kind](s, r, e) : 0;
}

/* Stages */

static void larger(double *to, const cJSON *o, const char *key)
{
	const cJSON *n = json_get(o, key);

	if (cJSON_IsNumber(n) && n->valuedouble > *to)
		*to = n->valuedouble;
}

/* A resumed run adds its own time; whether it was cut, the last one says. */
static void read_stage(struct summary *s, const cJSON *o)
{
	const cJSON *t = json_get(o, "t_wall_s");

	larger(&s->peak_pss_mb, o, "peak_pss_mb");
	if (!cJSON_IsNumber(t))
		return;
	s->t_wall_s += t->valuedouble;
	s->partial = rec_bool_opt(o, "partial", false);
}

int summary_stages(struct summary *s, const char *path, struct err *e)
{
	struct buf b = BUF_INIT;
	int rc = 0, lineno = 0;
	char *next;

	if (buf_read_file(&b, path, STAGES_MAX, e) < 0)
		return -1;
	for (char *line = b.p; rc == 0 && *line; line = next) {
		size_t n = strcspn(line, "\n");
		cJSON *o;

		lineno++;
		next = line + n + (line[n] == '\n');
		if (strspn(line, " \t\r") >= n)
			continue;
		o = json_parse(line, n, e);
		if (!cJSON_IsObject(o)) {
			rc = err_set(e, EX_BADINPUT, "%s:%d: not a JSON object",
				     path, lineno);
		} else {
			read_stage(s, o);
			if (!s->stages)
				s->stages = cJSON_CreateArray();
			if (json_get(o, "stage")) {
				cJSON_AddItemToArray(s->stages, o);
				o = NULL;
			}
		}
		cJSON_Delete(o);
	}
	buf_release(&b);
	return rc;
}
