#include "select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "case.h"
#include "device.h"
#include "dtype.h"
#include "json.h"
#include "rules.h"
#include "variants.h"
#include "vocab.h"
#include "xalloc.h"

struct tables {
	struct rules *levels, *capabilities, *oracles, *undefined;
	struct variants *variants;
	/* The last answers: an op's cases come one after the other. */
	const char *op, *cap, *cap_op;
	enum claim op_said, cap_said;
	bool narrowed;		/* by --dtype */
};

struct tables *tables_load(struct err *e)
{
	struct tables *t = xcalloc(1, sizeof(*t));

	if (!(t->levels = rules_load("levels", "level", e)) ||
	    !(t->capabilities = rules_load("capabilities", "capability", e)) ||
	    !(t->oracles = rules_load("oracles", "oracle", e)) ||
	    !(t->undefined = rules_load("undefined", "account", e)) ||
	    !(t->variants = variants_load(e))) {
		tables_free(t);
		return NULL;
	}
	return t;
}

void tables_free(struct tables *t)
{
	if (!t)
		return;
	rules_free(t->levels);
	rules_free(t->capabilities);
	rules_free(t->oracles);
	rules_free(t->undefined);
	variants_free(t->variants);
	free(t);
}

int planned_id(const struct planned *x, char out[], struct err *e)
{
	return case_id(out, x->item->suite, x->item->op,
		       dtype_at(x->dtype)->name, x->variant, e);
}

static void set_level(struct planned *x, const struct tables *t,
		      const struct variant *v)
{
	const char *s;

	s = rules_find(t->levels, x->variant, x->dtype, &x->level_reason);
	x->level = (uint8_t)(x->item->level ? x->item->level :
			     s ? strtol(s, NULL, 10) : 2);
	if (x->item->level || !s)
		x->level_reason = "as its suite says";
	if (v->level > x->level) {
		x->level = (uint8_t)v->level;
		x->level_reason = v->reason;
	}
	x->asked = x->level;
	if (item_is_heavy(x->item) && x->level < 8) {
		x->level = 8;
		x->level_reason = "a heavy case";
	}
}

/* Is a case of a level that was asked for? */
static bool level_wanted(const struct planned *x, const struct selection *s)
{
	int level = x->level;

	if (picks_tier(&s->picks) && x->asked >= s->lo && x->asked <= s->hi)
		level = x->asked;
	return s->ncases || (level >= s->lo && level <= s->hi);
}

/* What else is said of a case, before anyone asks whether it runs. */
static void describe(struct planned *x, const struct tables *t,
		     const struct variant *v)
{
	enum dtype_class cls = dtype_at(x->dtype)->cls;

	x->capability = v->capability ? v->capability : x->item->capability;
	if (!x->capability)
		x->capability = rules_find(t->capabilities, x->variant,
					   x->dtype, NULL);
	if (!x->capability)
		x->capability = "inference";
	x->oracle = v->oracle ? v->oracle : x->item->oracle;
	if (!x->oracle)
		x->oracle = rules_find(t->oracles, x->variant, x->dtype, NULL);
	if (!x->oracle)
		x->oracle = cls == DT_FLOAT || cls == DT_COMPLEX ? "float64" :
			    "cpu";
}

static const char *dtype_reason(enum claim c)
{
	return c == CLAIM_NO ? "dtype_not_supported" :
	       c == CLAIM_ABSENT ? "dtype_not_listed" :
	       c == CLAIM_FILTERED ? "dtype_regex_filtered" : NULL;
}

static enum claim op_claim(struct tables *t, const struct manifest *m,
			   const char *op)
{
	if (t->op != op)
		t->op_said = manifest_op(m, op);
	t->op = op;
	return t->op_said;
}

static enum claim capability_claim(struct tables *t, const struct manifest *m,
				   const char *cap, const char *op)
{
	if (t->cap != cap || t->cap_op != op)
		t->cap_said = manifest_capability(m, cap, op);
	t->cap = cap;
	t->cap_op = op;
	return t->cap_said;
}

static int device_count(const struct manifest *m)
{
	const cJSON *x = json_get(manifest_json(m), "device_count");

	return x ? x->valueint : 1;
}

static bool is_true(const cJSON *o, const char *key)
{
	return cJSON_IsTrue(json_get(o, key));
}

/* The key that keeps a case about a container format from running; or NULL. */
static const char *missing_container(const struct manifest *m,
				     const struct planned *x)
{
	const cJSON *top = manifest_json(m);
	const char *format = x->item->container;

	if (!format)
		return NULL;
	if (!is_true(json_get(top, "supported_container_formats"), format))
		return "supported_container_formats";
	if (!strcmp(x->capability, "custom_quantized_decode") &&
	    !manifest_decoder(m, format))
		return "custom_container_decoders";
	return NULL;
}

/*
 * Is a limit, in MB, too low for what a case says it needs, or for so many
 * elements of its dtype?  Results take as much again as what they are made of.
 */
static bool beyond(double limit, double mb, double elements,
		   const struct planned *x)
{
	double size = (double)dtype_at(x->dtype)->size;

	return limit > 0 && (mb > limit || elements * size > limit * 0x1p20);
}

/*
 * The level comes first: there are far more cases above it than below, and
 * nobody asked what the manifest says of them.
 */
static void judge(struct planned *x, struct tables *t,
		  const struct manifest *m, const struct selection *s,
		  const struct variant *v)
{
	/* What is claimed of an op is claimed of its overloads. */
	const char *op = x->item->called ? x->item->called : x->item->op;
	int devices = v->devices > x->item->devices ? v->devices :
		      x->item->devices;
	double mb = v->mb > x->item->mb ? v->mb : x->item->mb;
	enum claim c;

	if (!level_wanted(x, s)) {
		x->reason = "level_filtered";
		return;
	}
	x->reason = rules_find(t->undefined, x->variant, x->dtype, &x->detail);
	if (x->reason)
		return;
	c = op_claim(t, m, op);
	if (x->item->called && manifest_op(m, x->item->op) == CLAIM_NO)
		c = CLAIM_NO;
	if (c != CLAIM_YES) {
		x->reason = c == CLAIM_NO ? "op_excluded" : "op_not_listed";
		x->claim = c == CLAIM_NO ? "skip_ops" : "supported_ops";
		return;
	}
	x->reason = dtype_reason(manifest_dtype_at(m, x->dtype, op));
	x->claim = t->narrowed ? "only_dtypes" : "supported_dtypes";
	if (x->reason)
		return;
	c = capability_claim(t, m, x->capability, op);
	x->claim = "capabilities";
	if (c != CLAIM_YES) {
		x->reason = c == CLAIM_FILTERED ? "capability_regex_filtered" :
			    "capability_not_declared";
		return;
	}
	x->claim = missing_container(m, x);
	if (x->claim) {
		x->reason = "container_format";
	} else if (devices > 1 && devices > device_count(m)) {
		x->reason = "device_count";
		x->claim = "device_count";
	} else if (beyond(s->tensor_mb, mb, x->item->largest, x)) {
		x->reason = "resource_limit";
		x->claim = s->tensor_by;
	} else if (beyond(s->max_mb, mb, 2 * x->item->all, x)) {
		x->reason = "resource_limit";
		x->claim = s->max_by;
	}
}

static void limit(double *held, const char **by, double mb, const char *key)
{
	if (mb <= 0 || (*held > 0 && *held <= mb))
		return;
	*held = mb;
	*by = key;
}

/* What one case may take of this machine's memory: there are other workers. */
static double share_mb(void)
{
	return (double)sysconf(_SC_PHYS_PAGES) / 1048576 *
	       (double)sysconf(_SC_PAGESIZE) / 3;
}

static double megabytes(const cJSON *limits, const char *key)
{
	const cJSON *x = json_get(limits, key);

	return cJSON_IsNumber(x) ? x->valuedouble : 0;
}

/* A figure in GB, that of the index in a list; in MB, automatic if not said. */
static double gigabytes(const cJSON *hardware, const char *key, int index,
			double automatic)
{
	const cJSON *item = json_get(hardware, key);

	if (!item || cJSON_IsString(item))
		return automatic;
	if (cJSON_IsArray(item))
		item = cJSON_GetArrayItem(item, index);
	return cJSON_IsNumber(item) ? item->valuedouble * 1024 : 0;
}

/*
 * How many copies of what a case needs lie in one memory: where the device has
 * none of its own, what the reference works on lies beside the device's.
 */
static double sides(const cJSON *hardware)
{
	const cJSON *x = json_get(hardware, "memory_model");

	return cJSON_IsString(x) && !strcmp(x->valuestring, "unified") ? 2 : 1;
}

void select_limits(struct selection *s, const struct manifest *m)
{
	const cJSON *top = manifest_json(m), *limits, *hardware;
	int index = device_index(manifest_device(m));
	double both;

	limits = json_get(top, "resource_limits");
	hardware = json_get(top, "hardware");
	both = sides(hardware);
	limit(&s->tensor_mb, &s->tensor_by,
	      megabytes(limits, "max_tensor_size_mb"),
	      "resource_limits.max_tensor_size_mb");
	limit(&s->max_mb, &s->max_by,
	      megabytes(limits, "max_device_memory_mb"),
	      "resource_limits.max_device_memory_mb");
	limit(&s->max_mb, &s->max_by,
	      megabytes(limits, "max_system_memory_mb") / both,
	      "resource_limits.max_system_memory_mb");
	limit(&s->max_mb, &s->max_by,
	      gigabytes(hardware, "device_memory_gb", index, 0) / both,
	      "hardware.device_memory_gb");
	limit(&s->max_mb, &s->max_by,
	      gigabytes(hardware, "system_memory_gb", 0, share_mb()) / both,
	      "hardware.system_memory_gb");
}

static bool named(char *const *names, size_t n, const char *s)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], s))
			return true;
	return false;
}

static bool item_wanted(const struct selection *s, const struct item *it)
{
	if (s->nsuites && !named(s->suites, s->nsuites, it->suite))
		return false;
	if (!picks_item(&s->picks, it))
		return false;
	return !s->has_op || pyre_search(&s->op, it->op) ||
	       pyre_search(&s->op, it->name);
}

static bool case_wanted(const struct selection *s, const struct idset *ids,
			struct idset *seen, const struct planned *x)
{
	char id[CASE_ID_MAX];

	if (!s->ncases)
		return true;
	if (planned_id(x, id, NULL) < 0 || !idset_has(ids, id))
		return false;
	idset_add(seen, id);
	return true;
}

static int count_bits(uint64_t bits)
{
	return __builtin_popcountll(bits);
}

/*
 * All cases of an item and the i-th variant.  Those of other levels, which are
 * most of them, are counted in other, by level, unless each is wanted.
 */
static void plan_variant(struct plan *p, const struct selection *s,
			 struct tables *t, const struct manifest *m,
			 const struct item *it, size_t i,
			 const struct idset *ids, struct idset *seen,
			 size_t other[LEVELS + 1])
{
	const struct variant *v = variants_at(t->variants, i);
	uint64_t bits = variants_dtypes(t->variants, i, it);
	uint64_t meant = picks_dtypes(&s->picks);

	for (; bits; bits &= bits - 1) {
		int d = __builtin_ctzll(bits);
		struct planned x = { .item = it, .variant = v->name,
				     .dtype = (uint8_t)d };

		if (!(meant >> d & 1) || !case_wanted(s, ids, seen, &x)) {
			p->deselected++;
			continue;
		}
		set_level(&x, t, v);
		if (!s->each && !level_wanted(&x, s)) {
			other[x.level]++;
			continue;
		}
		describe(&x, t, v);
		judge(&x, t, m, s, v);
		p->v = xgrow(p->v, &p->cap, p->n + 1, sizeof(*p->v));
		p->v[p->n++] = x;
	}
}

/* All cases of an item. */
static void plan_item(struct plan *p, const struct selection *s,
		      struct tables *t, const struct manifest *m,
		      const struct item *it, const struct idset *ids,
		      struct idset *seen)
{
	size_t other[LEVELS + 1] = { 0 }, k;
	int level;

	rules_item(t->levels, it);
	rules_item(t->capabilities, it);
	rules_item(t->oracles, it);
	rules_item(t->undefined, it);
	for (k = 0; variants_at(t->variants, k); k++)
		plan_variant(p, s, t, m, it, k, ids, seen, other);
	for (level = 1; level <= LEVELS; level++) {
		if (!other[level])
			continue;
		p->other = xgrow(p->other, &p->other_cap, p->nother + 1,
				 sizeof(*p->other));
		p->other[p->nother++] =
			(struct elsewhere){ it, level, other[level] };
		p->others += other[level];
	}
}

/* Stable: by level, keeping the inventory's order within one. */
static void by_level(struct plan *p)
{
	struct planned *v = xmalloc((p->n + 1) * sizeof(*v));
	size_t next[LEVELS + 2] = { 0 }, i;	/* where a level's next goes */
	int level;

	for (i = 0; i < p->n; i++)
		next[p->v[i].level + 1]++;
	for (level = 1; level <= LEVELS; level++)
		next[level + 1] += next[level];
	for (i = 0; i < p->n; i++)
		v[next[p->v[i].level]++] = p->v[i];
	free(p->v);
	p->v = v;
	p->cap = p->n;
}

/* Where id stands among the cases that run; -1 with e set. */
static long find_case(const struct plan *p, const char *id, struct err *e)
{
	char s[CASE_ID_MAX];
	size_t i;

	for (i = 0; i < p->n; i++)
		if (!p->v[i].reason && !planned_id(&p->v[i], s, NULL) &&
		    !strcmp(s, id))
			return (long)i;
	return err_set(e, EX_BADUSE, "'%s' is not among the cases that would "
		       "run", id);
}

/* Take out the cases before the start, past the limit, of other shards. */
static int cut(struct plan *p, const struct selection *s, struct err *e)
{
	long from = 0, after;
	size_t i, kept = 0, runs = 0;

	if (s->start_at && (from = find_case(p, s->start_at, e)) < 0)
		return -1;
	if (s->start_after) {
		after = find_case(p, s->start_after, e);
		if (after < 0)
			return -1;
		from = after + 1 > from ? after + 1 : from;
	}
	for (i = 0; i < p->n; i++) {
		bool run = !p->v[i].reason;

		if (run && ((long)i < from || (s->limit && runs >= s->limit))) {
			p->cut++;
			continue;
		}
		if (run && (int)(runs++ % (size_t)s->nshards) + 1 != s->shard) {
			p->sharded++;
			continue;
		}
		p->cases += run;
		p->v[kept++] = p->v[i];
	}
	p->n = kept;
	return 0;
}

static const char *nearest_suite(const struct inventory *inv,
				 const char *suite)
{
	const char **names = xcalloc(inv->n + 1, sizeof(*names)), *near;
	size_t i;

	for (i = 0; i < inv->n; i++)
		names[i] = inv->v[i].suite;
	near = vocab_nearest(suite, names);
	free(names);
	return near;
}

static const char *nearest_variant(const struct variants *v, const char *name)
{
	const char *names[128];
	size_t i;

	for (i = 0; i < 127 && variants_at(v, i); i++)
		names[i] = variants_at(v, i)->name;
	names[i] = NULL;
	return vocab_nearest(name, names);
}

static const struct item *find_item(const struct inventory *inv,
				    const char *suite, const char *op)
{
	size_t i;

	for (i = 0; i < inv->n; i++)
		if (!strcmp(inv->v[i].suite, suite) &&
		    !strcmp(inv->v[i].op, op))
			return &inv->v[i];
	return NULL;
}

/* Does the inventory have that case, whatever was selected? */
static bool case_exists(const struct inventory *inv, const struct variants *v,
			const char *suite, const char *op, const char *dtype,
			const char *variant)
{
	const struct item *it = find_item(inv, suite, op);
	size_t i, d;

	for (i = 0; it && variants_at(v, i); i++)
		for (d = 0; d < 64 && dtype_at(d); d++)
			if (!strcmp(variants_at(v, i)->name, variant) &&
			    !strcmp(dtype_at(d)->name, dtype) &&
			    variants_dtypes(v, i, it) >> d & 1)
				return true;
	return false;
}

/* Say what is wrong with a --case that no planned case has. */
static int no_case(const char *id, const struct inventory *inv,
		   const struct variants *v, struct err *e)
{
	char suite[CASE_ID_MAX], op[CASE_ID_MAX], dtype[CASE_ID_MAX];
	char variant[CASE_ID_MAX];
	const char *near[4];

	if (case_id_split(id, suite, op, dtype, variant) < 0)
		return err_set(e, EX_BADUSE, "'%s' is no case id: "
			       "suite/op/dtype/variant", id);
	if (case_exists(inv, v, suite, op, dtype, variant))
		return err_set(e, EX_BADUSE, "the case '%s' is there, but what "
			       "else was selected leaves it out", id);
	near[0] = nearest_suite(inv, suite);
	near[1] = inventory_nearest(inv, op);
	near[2] = dtype_nearest(dtype);
	near[3] = nearest_variant(v, variant);
	if (near[0] && near[1] && near[2] && near[3] &&
	    case_exists(inv, v, near[0], near[1], near[2], near[3]))
		return err_set(e, EX_BADUSE, "there is no case '%s', did you "
			       "mean '%s/%s/%s/%s'?", id, near[0], near[1],
			       near[2], near[3]);
	return err_set(e, EX_BADUSE, "there is no case '%s'", id);
}

static int unknown_case(const struct selection *s, const struct inventory *inv,
			const struct variants *v, const struct idset *seen,
			struct err *e)
{
	size_t i;

	for (i = 0; i < s->ncases; i++)
		if (!idset_has(seen, s->cases[i]))
			return no_case(s->cases[i], inv, v, e);
	return 0;
}

static int unknown_suite(const struct selection *s,
			 const struct inventory *inv, struct err *e)
{
	const char *near;
	size_t i, k;

	for (i = 0; i < s->nsuites; i++) {
		for (k = 0; k < inv->n; k++)
			if (!strcmp(inv->v[k].suite, s->suites[i]))
				break;
		if (k < inv->n)
			continue;
		near = nearest_suite(inv, s->suites[i]);
		return err_set(e, EX_BADUSE, near ? "there is no suite '%s', "
			       "did you mean '%s'?" : "there is no suite '%s'",
			       s->suites[i], near);
	}
	return 0;
}

int select_plan(struct plan *p, const struct selection *s,
		const struct inventory *inv, struct tables *t,
		const struct manifest *m, struct err *e)
{
	struct idset *ids = idset_new(), *seen = idset_new();
	size_t i, k;
	int rc;

	t->narrowed = json_get(manifest_json(m), "only_dtypes");
	for (i = 0; i < s->ncases; i++)
		idset_add(ids, s->cases[i]);
	rules_device(t->undefined, manifest_device(m));
	rc = unknown_suite(s, inv, e);
	if (!rc)
		rc = picks_check(&s->picks, inv, e);
	for (i = 0; !rc && i < inv->n; i++) {
		const struct item *it = &inv->v[i];

		if (item_wanted(s, it)) {
			plan_item(p, s, t, m, it, ids, seen);
			continue;
		}
		for (k = 0; variants_at(t->variants, k); k++)
			p->deselected += (size_t)count_bits(
				variants_dtypes(t->variants, k, it));
	}
	if (!rc)
		rc = unknown_case(s, inv, t->variants, seen, e);
	if (!rc) {
		by_level(p);
		rc = cut(p, s, e);
	}
	idset_free(ids);
	idset_free(seen);
	return rc;
}

void plan_release(struct plan *p)
{
	free(p->v);
	free(p->other);
	memset(p, 0, sizeof(*p));
}
