/*
 * draw: mutants of the reference device at random, each with the cases that
 * could notice it.
 *
 * reads	actions.jsonl, site and evidence records
 * writes	N mutant records, each a rule of a fault plan and its cases
 * exit		0 done, 2 usage, 3 bad input, 4 environment
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dtype.h"
#include "json.h"
#include "jw.h"
#include "prog.h"
#include "rec.h"
#include "seed.h"
#include "strmap.h"
#include "xalloc.h"

static const char usage_text[] =
"usage: draw [-N COUNT] [-s SEED] [-l LEVEL] [--cases MAX] [--rules PLAN]\n"
"            ACTIONS SITES EVIDENCE\n"
"\n"
"Draw COUNT (100) mutants: an overload that passing cases reach and an action\n"
"that can show on it.  Each comes with at most MAX (40) of these cases, those\n"
"of the op itself first, by level.  With a PLAN, its rules are the mutants.\n";

struct act {
	char *name;
	double weight;
	const cJSON *json;	/* its line: arg, with */
};

struct site {
	const cJSON *json;
	uint64_t dtypes;	/* of its cases: 1 << index of dtype_at() */
	size_t *cases, ncases, cases_cap;
};

struct one {			/* a case */
	const cJSON *json;	/* the evidence */
	const char *id, *dtype, *op, *suite, *variant;
	size_t reach;		/* overloads */
	int level;
};

struct draw {
	uint64_t rng;
	long long n, level, max;
	cJSON *keep;		/* owns all that was read */
	struct strmap acts, sites;
	struct act *act;
	struct site *site;
	struct one *one;
	size_t act_cap, site_cap, n_one, one_cap;
	size_t *live, n_live;	/* sites with cases and actions */
	long long given;	/* rules read */
	bool failed;
	struct err e;
	struct buf out;
};

static size_t below(struct draw *d, size_t n)
{
	return (size_t)(seed_next(&d->rng) % n);
}

static double unit(struct draw *d)
{
	return (double)(seed_next(&d->rng) >> 11) * 0x1p-53;
}

/* "add.Tensor" */
static const char *site_op(const struct site *s)
{
	return rec_str_opt(s->json, "op", "") + strlen("aten::");
}

/* A dtype's bit; 0: there is none of that name. */
static uint64_t bit_of(const char *name)
{
	size_t i;

	for (i = 0; i < 64 && dtype_at(i); i++)
		if (!strcmp(dtype_at(i)->name, name))
			return UINT64_C(1) << i;
	return 0;
}

/* The dtypes for which an action, or a set of its parameters, can show. */
static uint64_t dtypes_of(const cJSON *o)
{
	const cJSON *list = json_get(o, "dtypes"), *x;
	uint64_t bits = 0;

	if (!list)
		return UINT64_MAX;
	cJSON_ArrayForEach(x, list)
		bits |= bit_of(x->valuestring);
	return bits;
}

/* The n-th set of parameters that can show on these dtypes; NULL: no more. */
static const cJSON *set_at(const struct act *a, uint64_t dtypes, int n)
{
	const cJSON *sets = json_get(a->json, "with");
	const cJSON *set;

	cJSON_ArrayForEach(set, sets)
		if ((dtypes_of(set) & dtypes) && n-- == 0)
			return set;
	return NULL;
}

/* Whether the action can show on some dtype of the site's cases. */
static bool shows(const struct act *a, const struct site *s)
{
	uint64_t dtypes = dtypes_of(a->json) & s->dtypes;

	return dtypes && (!cJSON_HasObjectItem(a->json, "with") ||
			  set_at(a, dtypes, 0));
}

static void add_act(struct draw *d, const cJSON *o)
{
	const cJSON *w = json_get(o, "weight");
	const char *name = rec_str_opt(o, "do", "");

	if (rec_int_opt(o, "from", 1) > d->level)
		return;
	d->act = xgrow(d->act, &d->act_cap, d->acts.n + 1, sizeof(*d->act));
	d->act[d->acts.n].name = xstrdup(name);
	d->act[d->acts.n].weight = w ? w->valuedouble : 1;
	d->act[d->acts.n].json = o;
	strmap_add(&d->acts, name);
}

static void add_site(struct draw *d, const cJSON *o)
{
	d->site = xgrow(d->site, &d->site_cap, d->sites.n + 1,
			sizeof(*d->site));
	memset(d->site + d->sites.n, 0, sizeof(*d->site));
	d->site[d->sites.n].json = o;
	strmap_add(&d->sites, rec_str_opt(o, "op", ""));
}

static void add_evidence(struct draw *d, const cJSON *o)
{
	const cJSON *c = json_get(o, "case"), *op;
	struct one *x;
	struct site *s;
	size_t i;

	if (strcmp(rec_str_opt(o, "outcome", ""), "pass"))
		return;
	d->one = xgrow(d->one, &d->one_cap, d->n_one + 1, sizeof(*d->one));
	x = d->one + d->n_one;
	x->json = o;
	x->id = rec_str_opt(o, "id", "");
	x->dtype = rec_str_opt(c, "dtype", "");
	x->op = rec_str_opt(c, "op", "");
	x->suite = rec_str_opt(c, "suite", "");
	x->variant = rec_str_opt(c, "variant", "");
	x->reach = (size_t)cJSON_GetArraySize(json_get(o, "ops"));
	x->level = (int)rec_int_opt(c, "level", 1);
	cJSON_ArrayForEach(op, json_get(o, "ops")) {
		i = strmap_find(&d->sites, op->valuestring);
		if (i == STRMAP_NONE)
			continue;
		s = d->site + i;
		s->cases = xgrow(s->cases, &s->cases_cap, s->ncases + 1,
				 sizeof(*s->cases));
		s->cases[s->ncases++] = d->n_one;
		s->dtypes |= bit_of(x->dtype);
	}
	d->n_one++;
}

static int read_all(struct draw *d, char *path,
		    void (*add)(struct draw *, const cJSON *), struct err *e)
{
	struct buf b = BUF_INIT;
	char *s, *nl;
	cJSON *o;
	int rc = buf_read_file(&b, path, (size_t)1 << 31, e);

	for (s = b.p; !rc && *s; s = nl + 1) {
		nl = strchr(s, '\n');
		o = nl ? cJSON_ParseWithLength(s, (size_t)(nl - s)) : NULL;
		if (!o) {
			rc = err_set(e, EX_BADINPUT, "'%s': not JSON Lines",
				     path);
			break;
		}
		cJSON_AddItemToArray(d->keep, o);
		add(d, o);
	}
	buf_release(&b);
	return rc;
}

/* The site's arguments that the action may be about; NULL: no matter. */
static const cJSON *args_of(const struct site *s, const struct act *a)
{
	const char *key = rec_str_opt(a->json, "arg", NULL);

	return key ? json_get(s->json, key) : NULL;
}

/* One of the site's actions, by weight; NULL: there is none. */
static struct act *pick_act(struct draw *d, const struct site *s)
{
	const cJSON *all = json_get(s->json,
							    "actions"), *a;
	const cJSON *args;
	double sum = 0, at;
	struct act *hit = NULL;
	int pass;
	size_t i;

	for (pass = 0; pass < 2; pass++) {
		at = pass ? unit(d) * sum : 0;
		cJSON_ArrayForEach(a, all) {
			i = strmap_find(&d->acts, a->child->valuestring);
			if (i == STRMAP_NONE)
				continue;
			args = args_of(s, d->act + i);
			if ((args && !args->child) || !shows(d->act + i, s))
				continue;
			sum += pass ? 0 : d->act[i].weight;
			at -= pass ? d->act[i].weight : 0;
			hit = d->act + i;
			if (pass && at < 0)
				return hit;
		}
	}
	return hit;
}

/* The dtype of one of the site's cases that is among dtypes. */
static const char *pick_dtype(struct draw *d, const struct site *s,
			      uint64_t dtypes)
{
	size_t from = below(d, s->ncases), i;
	const char *name = NULL;

	for (i = 0; i < s->ncases; i++) {
		name = d->one[s->cases[(from + i) % s->ncases]].dtype;
		if (bit_of(name) & dtypes)
			break;
	}
	return name;
}

/*
 * A rule: the action, one of the sets of parameters that it may have, one of
 * the op's tensors, and for one in three a dtype to which the fault is limited.
 * *dtypes: those for which it can show.  New.
 */
static cJSON *make_rule(struct draw *d, const struct site *s,
			const struct act *a, uint64_t *dtypes)
{
	const cJSON *set, *args, *p;
	cJSON *r = cJSON_CreateObject();
	int n;

	*dtypes = dtypes_of(a->json) & s->dtypes;
	for (n = 0; set_at(a, *dtypes, n); n++)
		;
	set = n ? set_at(a, *dtypes, (int)below(d, (size_t)n)) : NULL;
	*dtypes &= dtypes_of(set);
	cJSON_AddStringToObject(r, "op", site_op(s));
	if (below(d, 3) == 0)
		cJSON_AddStringToObject(r, "dtype", pick_dtype(d, s, *dtypes));
	cJSON_AddStringToObject(r, "do", a->name);
	args = args_of(s, a);
	n = cJSON_GetArraySize(args);
	if (n)
		cJSON_AddStringToObject(r, "arg", cJSON_GetArrayItem(args,
			(int)below(d, (size_t)n))->valuestring);
	cJSON_ArrayForEach(p, set)
		if (strcmp(p->string, "dtypes"))
			cJSON_AddItemToObject(r, p->string,
					      cJSON_Duplicate(p, 1));
	return r;
}

/*
 * Whether a case is of the op itself: "add" or "linalg.svd" for "add_.Tensor"
 * and "_linalg_svd", but for a suite's prefix.
 */
static bool of_op(const struct one *x, const struct site *s)
{
	const char *op = site_op(s), *name = x->op, *dot;
	size_t m = strcspn(name, ":"), n, i;

	op += strspn(op, "_");
	n = strcspn(op, ".");
	dot = memrchr(name, '.', m);
	if (dot && m - (size_t)(dot + 1 - name) + 1 >= n) {
		m -= (size_t)(dot + 1 - name);
		name = dot + 1;
	}
	i = strspn(name, "_");
	name += i;
	m -= i;
	for (i = 0; i < n && i < m; i++)
		if (op[i] != name[i] && !(op[i] == '_' && name[i] == '.'))
			return false;
	return i == m && (i == n || (i + 1 == n && op[i] == '_'));
}

static const struct draw *sorting;

static int by_level(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int d = sorting->one[x].level - sorting->one[y].level;

	return d ? d : x < y ? -1 : x > y;
}

/*
 * A case that may be picked: those of the op itself first, each variant of each
 * suite once before any comes again, what reaches few other overloads before
 * what reaches many, by lot.
 */
struct pick {
	size_t one, turn, reach;
	uint64_t lot;
	bool other;
};

static int by_turn(const void *a, const void *b)
{
	const struct pick *x = a, *y = b;

	if (x->other != y->other)
		return x->other - y->other;
	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	if (x->reach != y->reach)
		return x->reach < y->reach ? -1 : 1;
	return x->lot < y->lot ? -1 : x->lot > y->lot;
}

/* Sort, having counted how many of its kind come before each one. */
static void take_turns(struct draw *d, struct pick *p, size_t n)
{
	size_t *turns = xcalloc(n + 1, sizeof(*turns)), i;
	struct strmap kinds;

	qsort(p, n, sizeof(*p), by_turn);
	strmap_init(&kinds);
	for (i = 0; i < n; i++) {
		const struct one *x = d->one + p[i].one;
		char *kind = xasprintf("%d %s %s", p[i].other, x->suite,
				       x->variant);

		p[i].turn = turns[strmap_add(&kinds, kind)]++;
		free(kind);
	}
	strmap_release(&kinds);
	free(turns);
	qsort(p, n, sizeof(*p), by_turn);
}

/* At most max of the site's cases of dtypes to v, by level; how many. */
static size_t pick_cases(struct draw *d, const struct site *s,
			 uint64_t dtypes, size_t *v)
{
	struct pick *p = xcalloc(s->ncases + 1, sizeof(*p));
	size_t n = 0, m, i;

	for (i = 0; i < s->ncases; i++) {
		const struct one *x = d->one + s->cases[i];

		if (!(bit_of(x->dtype) & dtypes))
			continue;
		p[n].one = s->cases[i];
		p[n].reach = x->reach;
		p[n].lot = seed_next(&d->rng);
		p[n++].other = !of_op(x, s);
	}
	take_turns(d, p, n);
	for (m = 0; m < n && m < (size_t)d->max; m++)
		v[m] = p[m].one;
	free(p);
	sorting = d;
	qsort(v, m, sizeof(*v), by_level);
	return m;
}

/* The kind of an action, NULL where it can't show on the site's op. */
static const char *group_of(const struct site *s, const char *action)
{
	const cJSON *all = json_get(s->json,
							    "actions"), *a;

	cJSON_ArrayForEach(a, all)
		if (!strcmp(a->child->valuestring, action))
			return a->child->next->valuestring;
	return NULL;
}

/* A case's evidence without the overloads. */
static void add_case(struct jw *w, const cJSON *evidence)
{
	const cJSON *k;
	char *text;

	jw_obj(w);
	cJSON_ArrayForEach(k, evidence) {
		if (!strcmp(k->string, "ops"))
			continue;
		text = cJSON_PrintUnformatted(k);
		jw_key(w, k->string);
		jw_raw(w, text, strlen(text));
		cJSON_free(text);
	}
	jw_obj_end(w);
}

/* Write the n-th mutant, with cases of these dtypes; takes rule. */
static int emit(struct draw *d, long long n, const struct site *s,
		const char *action, uint64_t dtypes, cJSON *rule,
		struct err *e)
{
	const char *only = rec_str_opt(rule, "dtype", NULL);
	size_t *v = xcalloc((size_t)d->max, sizeof(*v)), k, i;
	const char *group = group_of(s, action);
	size_t act = strmap_find(&d->acts, action);
	char name[32], *text;
	struct jw w;

	snprintf(name, sizeof(name), "m%05lld", n);
	cJSON_AddStringToObject(rule, "name", name);
	text = cJSON_PrintUnformatted(rule);
	buf_reset(&d->out);
	jw_init(&w, &d->out);
	jw_record(&w, "mutant", name, "");
	jw_kstr(&w, "op", rec_str_opt(s->json, "op", ""));
	jw_kstr(&w, "family", rec_str_opt(s->json, "family", ""));
	jw_kstr(&w, "do", action);
	jw_kstr(&w, "group", group ? group : "none");
	jw_kbool(&w, "recorded", act != STRMAP_NONE &&
		 rec_bool_opt(d->act[act].json, "recorded", false));
	jw_kbool(&w, "advice", act != STRMAP_NONE &&
		 rec_bool_opt(d->act[act].json, "advice", false));
	jw_key(&w, "rule");
	jw_raw(&w, text, strlen(text));
	k = pick_cases(d, s, only ? bit_of(only) : dtypes, v);
	jw_key(&w, "cases");
	jw_arr(&w);
	for (i = 0; i < k; i++)
		add_case(&w, d->one[v[i]].json);
	jw_arr_end(&w);
	jw_obj_end(&w);
	cJSON_free(text);
	cJSON_Delete(rule);
	free(v);
	return rec_write_buf(STDOUT_FILENO, &d->out, e);
}

static int draw_all(struct draw *d, struct err *e)
{
	const struct site *s;
	const struct act *a;
	uint64_t dtypes;
	cJSON *rule;
	long long i;
	size_t k;

	d->live = xcalloc(d->sites.n + 1, sizeof(*d->live));
	for (k = 0; k < d->sites.n; k++)
		if (d->site[k].ncases && pick_act(d, d->site + k))
			d->live[d->n_live++] = k;
	if (!d->n_live)
		return err_set(e, EX_BADINPUT, "no overload to draw from");
	for (i = 1; i <= d->n; i++) {
		s = d->site + d->live[below(d, d->n_live)];
		a = pick_act(d, s);
		rule = make_rule(d, s, a, &dtypes);
		if (emit(d, i, s, a->name, dtypes, rule, e))
			return -1;
	}
	return 0;
}

/* Instead of a draw, a rule that was given. */
static void add_rule(struct draw *d, const cJSON *o)
{
	char *op = xasprintf("aten::%s", rec_str_opt(o, "op", ""));
	size_t i = strmap_find(&d->sites, op);

	free(op);
	d->given++;
	if (i == STRMAP_NONE || !d->site[i].ncases)
		prog_warn("rule %lld: no case reaches its op", d->given);
	else if (emit(d, d->given, d->site + i, rec_str_opt(o, "do", ""),
		      UINT64_MAX, cJSON_Duplicate(o, 1), &d->e))
		d->failed = true;
}

static int take_rules(struct draw *d, char *path, struct err *e)
{
	if (read_all(d, path, add_rule, e))
		return -1;
	*e = d->e;
	return d->failed ? -1 : 0;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "count", required_argument, NULL, 'N' },
		{ "seed", required_argument, NULL, 's' },
		{ "level", required_argument, NULL, 'l' },
		{ "cases", required_argument, NULL, 'c' },
		{ "rules", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	struct draw d = { .n = 100, .level = 3, .max = 40, .out = BUF_INIT,
			  .rng = SEED_DEFAULT };
	char *given = NULL;
	struct err e;
	int c, rc;

	prog_init("draw", usage_text);
	while ((c = prog_getopt(argc, argv, "N:s:l:hV", longs)) != -1)
		switch (c) {
		case 'N': d.n = prog_int("count", optarg, 1, 1000000); break;
		case 's':
			d.rng = (uint64_t)prog_int("seed", optarg, 0,
						   1LL << 53);
			break;
		case 'l': d.level = prog_int("level", optarg, 1, 8); break;
		case 'c': d.max = prog_int("cases", optarg, 1, 1000); break;
		case 'r': given = optarg; break;
		}
	if (argc - optind != 3)
		return prog_usage("want ACTIONS, SITES and EVIDENCE");
	d.keep = cJSON_CreateArray();
	strmap_init(&d.acts);
	strmap_init(&d.sites);
	seed_next(&d.rng);
	rc = read_all(&d, argv[optind], add_act, &e) ||
		read_all(&d, argv[optind + 1], add_site, &e) ||
		read_all(&d, argv[optind + 2], add_evidence, &e) ||
		(given ? take_rules(&d, given, &e) : draw_all(&d, &e));
	return prog_finish(rc ? prog_fail_err(&e) : 0);
}
