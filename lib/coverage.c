#include "coverage.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "json.h"
#include "jw.h"
#include "ledger.h"
#include "text.h"
#include "waiver.h"
#include "xalloc.h"

static const char *const reaches[] = { "device", "composite", "fallback" };
_Static_assert(sizeof(reaches) / sizeof(*reaches) == REACH_N, "a name each");

static const struct { const char *name, *text; bool good; } covers[] = {
	{ "reached", "a case that passes reached it", true },
	{ "failing", "only cases that do not pass reached it", false },
	{ "excluded", "the ledger of exclusions says why it can't be", true },
	{ "accounted", "an account record says why it did not run", true },
	{ "no_kernel", "the device has no kernel for it, nor a fallback",
	  true },
	{ "unreached", "no case reached it, and nothing says why", false },
};
_Static_assert(sizeof(covers) / sizeof(*covers) == COVER_N, "a name each");

/* What the dispatcher can do for an overload on a device. */
static const char *const kernels[] = {
	"own", "composite", "composite_explicit", "fallback", "none",
};

const char *reach_name(enum reach r)
{
	return reaches[r];
}

const char *cover_name(enum cover c)
{
	return covers[c].name;
}

const char *cover_text(enum cover c)
{
	return covers[c].text;
}

bool cover_good(enum cover c)
{
	return covers[c].good;
}

void coverage_init(struct coverage *c)
{
	memset(c, 0, sizeof(*c));
	strmap_init(&c->names);
	strmap_init(&c->ids);
}

void coverage_release(struct coverage *c)
{
	for (size_t i = 0; i < c->names.n; i++) {
		free(c->v[i].kernel);
		free(c->v[i].surface);
		free(c->v[i].first);
		free(c->v[i].account);
	}
	for (size_t i = 0; i < c->ids.n; i++)
		free(c->cases[i].hit);
	for (size_t i = 0; i < c->nexcl; i++) {
		free(c->excl[i].match);
		free(c->excl[i].reason);
		free(c->excl[i].reviewed);
		free(c->excl[i].device);
	}
	free(c->v);
	free(c->cases);
	free(c->excl);
	free(c->device);
	free(c->sorted);
	strmap_release(&c->names);
	strmap_release(&c->ids);
	coverage_init(c);
}

/* Overloads and cases by name */

/* borrowed until the next call */
static struct overload *get_overload(struct coverage *c, const char *name)
{
	size_t had = c->names.n, i = strmap_add(&c->names, name);

	if (c->names.n > had) {
		c->v = xgrow(c->v, &c->cap, c->names.n, sizeof(*c->v));
		memset(&c->v[i], 0, sizeof(*c->v));
	}
	return &c->v[i];
}

static struct cover_case *get_case(struct coverage *c, const char *id)
{
	size_t had = c->ids.n, i = strmap_add(&c->ids, id);

	if (c->ids.n > had) {
		c->cases = xgrow(c->cases, &c->cases_cap, c->ids.n,
				 sizeof(*c->cases));
		memset(&c->cases[i], 0, sizeof(*c->cases));
	}
	return &c->cases[i];
}

static int find_word(const char *word, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(word, words[i]))
			return i;
	return -1;
}

static void least(char **first, const char *id)
{
	if (*first && strcmp(*first, id) <= 0)
		return;
	free(*first);
	*first = xstrdup(id);
}

/* Records */

static int add_listed(struct coverage *c, const struct rec *r, struct err *e)
{
	const char *op, *kernel, *surface;
	struct overload *o;

	if (rec_str(r->json, "op", &op, e) < 0 ||
	    rec_str(r->json, "kernel", &kernel, e) < 0 ||
	    rec_str(r->json, "surface", &surface, e) < 0)
		return -1;
	if (find_word(kernel, kernels, 5) < 0)
		return err_set(e, EX_BADINPUT, "kernel: '%.40s' is none of "
			       "own, composite, composite_explicit, fallback, "
			       "none", kernel);
	o = get_overload(c, op);
	if (o->listed)
		return err_set(e, EX_BADINPUT, "overload '%s' comes twice", op);
	o->listed = true;
	o->kernel = xstrdup(kernel);
	o->surface = text_cut(surface, 40);
	c->listed++;
	return 0;
}

/* Evidence that an earlier call has gathered. */
static int add_evidence(struct coverage *c, const struct rec *r,
			struct err *e)
{
	const cJSON *pass = json_get(r->json, "pass");
	const char *op, *first = rec_str_opt(r->json, "first", NULL);
	struct overload *o;

	if (rec_str(r->json, "op", &op, e) < 0)
		return -1;
	if (!cJSON_IsObject(pass))
		return err_set(e, EX_BADINPUT, "'pass' needs an object");
	o = get_overload(c, op);
	for (int i = 0; i < REACH_N; i++)
		o->pass[i] += (size_t)rec_int_opt(pass, reaches[i], 0);
	o->fail += (size_t)rec_int_opt(r->json, "fail", 0);
	if (first)
		least(&o->first, first);
	return 0;
}

static void add_hit(struct cover_case *k, uint32_t hit)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->hit[i] == hit)
			return;
	k->hit = xgrow(k->hit, &k->cap, k->n + 1, sizeof(*k->hit));
	k->hit[k->n++] = hit;
}

static int add_obs(struct coverage *c, const struct rec *r, struct err *e)
{
	const cJSON *where = json_get(r->json, "where");
	const cJSON *item;
	struct cover_case *k;
	size_t i;

	if (!where)
		return 0;
	if (!cJSON_IsObject(where) || !*r->id)
		return err_set(e, EX_BADINPUT, "'where' needs an object, and "
			       "the record an id");
	k = get_case(c, r->id);
	cJSON_ArrayForEach(item, where) {
		int how = cJSON_IsString(item) ?
			  find_word(item->valuestring, reaches, REACH_N) : -1;

		if (how < 0)
			return err_set(e, EX_BADINPUT, "where '%.60s': neither "
				       "device nor composite nor fallback",
				       item->string);
		i = (size_t)(get_overload(c, item->string) - c->v);
		add_hit(k, (uint32_t)(i * REACH_N + (size_t)how));
	}
	return 0;
}

static int add_verdict(struct coverage *c, const struct rec *r, struct err *e)
{
	struct cover_case *k;
	const char *outcome;

	if (rec_str(r->json, "outcome", &outcome, e) < 0)
		return -1;
	k = get_case(c, r->id);
	k->verdicts++;
	k->passed = !strcmp(outcome, "pass");
	return 0;
}

/* A case of the aten suite has its overload's name as its op. */
static int add_account(struct coverage *c, const struct rec *r, struct err *e)
{
	const char *reason, *op = rec_str_opt(r->json, "op", "");
	char *name;

	if (rec_str(r->json, "reason", &reason, e) < 0)
		return -1;
	if (strcmp(rec_str_opt(r->json, "suite", ""), "aten") || !*op)
		return 0;
	name = strstr(op, "::") ? xstrdup(op) : xasprintf("aten::%s", op);
	least(&get_overload(c, name)->account, reason);
	free(name);
	return 0;
}

int coverage_add(struct coverage *c, const struct rec *r, struct err *e)
{
	const char *kind = rec_str_opt(r->json, "kind", "");
	const char *device = rec_str_opt(r->json, "device", NULL);

	if (device && *device && !c->device)
		c->device = xstrdup(device);
	switch (r->kind) {
	case REC_OBS: return add_obs(c, r, e);
	case REC_VERDICT: return add_verdict(c, r, e);
	case REC_ACCOUNT: return add_account(c, r, e);
	default: break;
	}
	if (!strcmp(kind, "aten"))
		return add_listed(c, r, e);
	return !strcmp(kind, "evidence") ? add_evidence(c, r, e) : 0;
}

/* The ledger */

static bool some_text(const char *s)
{
	return s[strspn(s, " \t")] != '\0';
}

/* One that matches a whole namespace would explain anything away. */
static bool some_name(const char *s)
{
	const char *colon = strstr(s, "::");
	const char *name = colon ? colon + 2 : s;

	return name[strspn(name, "*?.")] != '\0';
}

static const struct ledger_key keys[] = {
	{ "match", true, some_name, "a glob over overloads, such as "
	  "\"aten::cudnn_*\", that does not match all" },
	{ "reason", true, some_text, "a text" },
	{ "reviewed", true, date_ok, "a day as \"YYYY-MM-DD\"" },
	{ "device", false, some_text, "a glob over device names" },
};

static int add_exclusion(void *ctx, const char *const *value, int lineno,
			 struct err *e)
{
	struct coverage *c = ctx;

	(void)e;
	c->excl = xgrow(c->excl, &c->excl_cap, c->nexcl + 1,
			sizeof(*c->excl));
	c->excl[c->nexcl++] = (struct exclusion) {
		.match = xstrdup(value[0]), .reason = xstrdup(value[1]),
		.reviewed = xstrdup(value[2]),
		.device = value[3] ? xstrdup(value[3]) : NULL, .line = lineno,
	};
	return 0;
}

int coverage_exclusions(struct coverage *c, const char *path, struct err *e)
{
	return ledger_read(path, keys, sizeof(keys) / sizeof(*keys),
			   add_exclusion, c, e);
}

/* Settling */

/* A case with other than one verdict proves nothing. */
static void settle_case(struct coverage *c, const char *id,
			const struct cover_case *k)
{
	bool good = k->verdicts == 1 && k->passed;

	for (size_t i = 0; i < k->n; i++) {
		struct overload *o = &c->v[k->hit[i] / REACH_N];

		if (good) {
			o->pass[k->hit[i] % REACH_N]++;
			least(&o->first, id);
		} else {
			o->fail++;
		}
	}
}

static size_t passes(const struct overload *o)
{
	size_t n = 0;

	for (int i = 0; i < REACH_N; i++)
		n += o->pass[i];
	return n;
}

static void exclude(struct coverage *c, struct overload *o, const char *name,
		    const char *device)
{
	for (size_t i = 0; i < c->nexcl; i++) {
		struct exclusion *x = &c->excl[i];

		if (fnmatch(x->match, name, 0) ||
		    (x->device && (!device || fnmatch(x->device, device, 0))))
			continue;
		x->hits++;
		x->needless += passes(o) > 0;
		if (!o->excluded)
			o->excluded = x;
	}
}

static enum cover state_of(const struct overload *o)
{
	return passes(o) ? COVER_REACHED :
	       o->fail ? COVER_FAILING :
	       o->excluded ? COVER_EXCLUDED :
	       o->account ? COVER_ACCOUNTED :
	       o->kernel && !strcmp(o->kernel, "none") ? COVER_NO_KERNEL :
	       COVER_UNREACHED;
}

void coverage_settle(struct coverage *c, const char *device)
{
	if (!device)
		device = c->device;
	for (size_t i = 0; i < c->ids.n; i++)
		settle_case(c, c->ids.key[i], &c->cases[i]);
	for (size_t i = 0; i < c->names.n; i++) {
		exclude(c, &c->v[i], c->names.key[i], device);
		c->v[i].state = state_of(&c->v[i]);
		c->by_state[c->v[i].state] += c->v[i].listed;
	}
	c->sorted = strmap_sorted(&c->names);
}

const struct overload *coverage_at(const struct coverage *c, size_t i,
				   const char **name)
{
	if (i >= c->names.n)
		return NULL;
	*name = c->names.key[c->sorted[i]];
	return &c->v[c->sorted[i]];
}

const char *coverage_why(const struct overload *o)
{
	if (o->state == COVER_EXCLUDED)
		return o->excluded->reason;
	return o->state == COVER_ACCOUNTED ? o->account : "";
}

bool coverage_good(const struct coverage *c)
{
	return c->listed && !c->by_state[COVER_FAILING] &&
	       !c->by_state[COVER_UNREACHED];
}

/* Records */

static void write_hits(const struct overload *o, struct jw *w)
{
	jw_key(w, "pass");
	jw_obj(w);
	for (int i = 0; i < REACH_N; i++)
		jw_kint(w, reaches[i], (int64_t)o->pass[i]);
	jw_obj_end(w);
	jw_kint(w, "fail", (int64_t)o->fail);
	if (o->first)
		jw_kstr(w, "first", o->first);
}

void coverage_evidence(const struct overload *o, const char *name,
		       struct buf *out)
{
	struct jw w;

	jw_init(&w, out);
	jw_record(&w, "evidence", "", "");
	jw_kstr(&w, "op", name);
	write_hits(o, &w);
	jw_obj_end(&w);
}

void coverage_record(const struct overload *o, const char *name,
		     struct buf *out)
{
	struct jw w;

	jw_init(&w, out);
	jw_record(&w, "coverage", "", "");
	jw_kstr(&w, "op", name);
	jw_kstr(&w, "state", cover_name(o->state));
	if (*coverage_why(o))
		jw_kstr(&w, "reason", coverage_why(o));
	if (o->listed) {
		jw_kstr(&w, "kernel", o->kernel);
		jw_kstr(&w, "surface", o->surface);
	}
	write_hits(o, &w);
	jw_obj_end(&w);
}

/* Why an overload did not run, as account records put it. */
static const char *account_reason(const struct overload *o,
				  const char **detail)
{
	switch (o->state) {
	case COVER_EXCLUDED:
		*detail = o->excluded->reason;
		return "op_excluded";
	case COVER_NO_KERNEL:
		*detail = "the device has no kernel for it, nor a fallback";
		return "runtime_unavailable";
	case COVER_UNREACHED:
		*detail = "no case of any suite reaches this overload";
		return "no_samples";
	default:
		return NULL;
	}
}

bool coverage_account(const struct overload *o, const char *name,
		      struct buf *out)
{
	const char *detail = "", *reason = account_reason(o, &detail);
	const char *op = strncmp(name, "aten::", 6) ? name : name + 6;
	char id[CASE_ID_MAX];
	struct jw w;

	/* Other namespaces have no case ids, and no aten suite. */
	if (!reason || !o->listed ||
	    case_id(id, "aten", op, "any", "unreached", NULL) < 0)
		return false;
	jw_init(&w, out);
	jw_record(&w, "account", id, "");
	jw_kstr(&w, "suite", "aten");
	jw_kstr(&w, "op", op);
	jw_kstr(&w, "variant", "unreached");
	jw_kstr(&w, "dtype", "any");
	jw_kint(&w, "level", 8);
	jw_kstr(&w, "reason", reason);
	jw_kstr(&w, "detail", detail);
	jw_obj_end(&w);
	return true;
}
