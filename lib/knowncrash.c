#include "knowncrash.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "rec.h"
#include "waiver.h"
#include "xalloc.h"
#include "banned.h"

#define BROAD_CASES 50		/* a rule for more, and */
#define BROAD_PART 20		/* for more than one in so many, is too broad */

/* -1, 0, 1 as a version is before, at or after another; -2: no version. */
static int version_cmp(const char *a, const char *b)
{
	long x, y;
	char *end;
	int i;

	for (i = 0; i < 3; i++) {
		x = y = 0;
		if (*a) {
			x = strtol(a, &end, 10);
			if (end == a)
				return -2;
			a = *end == '.' ? end + 1 : "";
		}
		if (*b) {
			y = strtol(b, &end, 10);
			if (end == b)
				return -2;
			b = *end == '.' ? end + 1 : "";
		}
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

/* One comparison, such as ">=2.9" in p[0..n). */
static int compare(const char *p, size_t n, const char *version)
{
	char bound[32];
	bool eq, less;
	int c;

	if (!n || (*p != '<' && *p != '>' && *p != '='))
		return -1;
	less = *p == '<';
	eq = *p == '=' || (n > 1 && p[1] == '=');
	c = 1 + (n > 1 && p[1] == '=');
	if (*p == '=' && c == 1)
		return -1;		/* "==" it is */
	p += c;
	n -= (size_t)c;
	if (!n || n >= sizeof(bound) || strspn(p, "0123456789.") < n)
		return -1;
	memcpy(bound, p, n);
	bound[n] = '\0';
	c = version_cmp(version, bound);
	if (c == -2)
		return -1;
	if (c == 0)
		return eq;
	return p[-1] == '=' && p[-2] == '=' ? 0 : less ? c < 0 : c > 0;
}

int knowncrash_in_range(const char *range, const char *version)
{
	const char *p = range, *comma;
	int all = 1, one;

	if (!strcmp(range, "*"))
		return 1;
	for (;;) {
		comma = strchr(p, ',');
		one = compare(p, comma ? (size_t)(comma - p) : strlen(p),
			      version);
		if (one < 0)
			return -1;
		all &= one;
		if (!comma)
			return all;
		p = comma + 1;
	}
}

static bool range_ok(const char *s)
{
	return knowncrash_in_range(s, "2.0") >= 0;
}

static bool signal_ok(const char *s)
{
	return !strcmp(s, "exit") || !strcmp(s, "timeout") ||
	       !strcmp(s, "hang") || !strcmp(s, "oom") ||
	       (!strncmp(s, "SIG", 3) && s[3] >= 'A' && s[3] <= 'Z');
}

static bool match_ok(const char *s)
{
	return strspn(s, "*?/") < strlen(s);
}

static const struct ledger_key keys[] = {
	{ "id", true, NULL, "a name for the rule" },
	{ "match", true, match_ok, "a glob over case ids that is not all '*'" },
	{ "device", true, NULL, "a device, such as \"cuda*\"" },
	{ "hardware", true, NULL,
	  "a hardware key such as \"x86_64\" or \"*\"" },
	{ "torch", true, range_ok,
	  "versions such as \">=2.9,<2.14\" or \"*\"" },
	{ "signal", true, signal_ok, "a signal's name, \"exit\", \"timeout\", "
	  "\"hang\" or \"oom\"" },
	{ "reason", true, NULL, "what is known of it" },
	{ "review", true, date_ok, "a day as \"YYYY-MM-DD\"" },
};

static int add_rule(void *ctx, const char *const *value, int lineno,
		    struct err *e)
{
	struct knowncrashes *k = ctx;
	size_t i;

	for (i = 0; i < k->n; i++)
		if (!strcmp(k->v[i].id, value[0]))
			return err_set(e, EX_BADINPUT, "rule '%s' is here a "
				       "second time", value[0]);
	k->v = xgrow(k->v, &k->cap, k->n + 1, sizeof(*k->v));
	k->v[k->n++] = (struct knowncrash){
		xstrdup(value[0]), xstrdup(value[1]), xstrdup(value[2]),
		xstrdup(value[3]), xstrdup(value[4]), xstrdup(value[5]),
		xstrdup(value[6]), xstrdup(value[7]), lineno, 0 };
	return 0;
}

int knowncrash_read(struct knowncrashes *k, const char *path, struct err *e)
{
	memset(k, 0, sizeof(*k));
	if (ledger_read(path, keys, sizeof(keys) / sizeof(keys[0]), add_rule,
			k, e) == 0)
		return 0;
	knowncrash_release(k);
	return -1;
}

void knowncrash_release(struct knowncrashes *k)
{
	size_t i;

	for (i = 0; i < k->n; i++) {
		free(k->v[i].id);
		free(k->v[i].match);
		free(k->v[i].device);
		free(k->v[i].hardware);
		free(k->v[i].torch);
		free(k->v[i].signal);
		free(k->v[i].reason);
		free(k->v[i].review);
	}
	free(k->v);
	memset(k, 0, sizeof(*k));
}

/* "refdev" is for every one of them, "refdev:1" for that one. */
static bool device_matches(const char *glob, const char *device)
{
	char name[64];
	size_t n = strcspn(device, ":");

	if (!fnmatch(glob, device, 0))
		return true;
	if (!device[n] || n >= sizeof(name))
		return false;
	memcpy(name, device, n);
	name[n] = '\0';
	return !fnmatch(glob, name, 0);
}

/* Has the rule to do with what is run on? */
static bool concerns(const struct knowncrash *r, const char *device,
		     const char *hardware, const char *torch)
{
	return device_matches(r->device, device) &&
	       (!hardware || !fnmatch(r->hardware, hardware, 0)) &&
	       (!torch || knowncrash_in_range(r->torch, torch) != 0);
}

struct knowncrash *knowncrash_find(struct knowncrashes *k, const char *id,
				   const char *device, const char *hardware,
				   const char *torch)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		if (concerns(&k->v[i], device, hardware, torch) &&
		    !fnmatch(k->v[i].match, id, 0))
			return &k->v[i];
	return NULL;
}

/* What the audit knows of the cases. */
struct audit {
	struct knowncrashes rules;
	const char *path;
	struct buf *out;
	char *device, *hardware, *torch;
	size_t cases;
	int found;
};

static void finding(struct audit *a, const struct knowncrash *r,
		    const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void finding(struct audit *a, const struct knowncrash *r,
		    const char *fmt, ...)
{
	va_list ap;

	buf_addf(a->out, "%s:%d: rule '%s' ", a->path, r->line, r->id);
	va_start(ap, fmt);
	buf_vaddf(a->out, fmt, ap);
	va_end(ap);
	buf_addch(a->out, '\n');
	a->found++;
}

static void keep(char **to, const char *s)
{
	if (!*to && s)
		*to = xstrdup(s);
}

static void look_at(struct audit *a, const struct rec *r)
{
	struct knowncrash *first = NULL, *k;
	const char *device;
	size_t i;

	if (r->kind == REC_RUN) {
		keep(&a->hardware, rec_str_opt(r->json, "hardware", NULL));
		keep(&a->torch, rec_str_opt(r->json, "torch", NULL));
	}
	if (r->kind != REC_CASE)
		return;
	device = rec_str_opt(r->json, "device", "");
	keep(&a->device, device);
	a->cases++;
	for (i = 0; i < a->rules.n; i++) {
		k = &a->rules.v[i];
		if (!concerns(k, device, a->hardware, a->torch) ||
		    fnmatch(k->match, r->id, 0))
			continue;
		if (first && !k->cases)
			finding(a, k, "matches '%s', which rule '%s' does "
				"already", r->id, first->id);
		first = first ? first : k;
		k->cases++;
	}
}

static void judge(struct audit *a, const char *today)
{
	struct knowncrash *k;
	size_t i;

	for (i = 0; i < a->rules.n; i++) {
		k = &a->rules.v[i];
		if (strcmp(k->review, today) < 0)
			finding(a, k, "was to be reviewed by %s", k->review);
		if (a->device && concerns(k, a->device, a->hardware, a->torch)
		    && !k->cases)
			finding(a, k, "matches no case: '%s'", k->match);
		if (k->cases > BROAD_CASES &&
		    k->cases > a->cases / BROAD_PART)
			finding(a, k, "is too broad: it matches %zu of %zu "
				"cases", k->cases, a->cases);
	}
}

int knowncrash_audit(const char *path, char *const *files, const char *today,
		     struct buf *out, struct err *e)
{
	struct audit a = { .path = path, .out = out };
	struct rec_reader *r;
	struct rec rec;
	size_t n = 0;
	int rc;

	if (knowncrash_read(&a.rules, path, e) < 0)
		return -1;
	while (files[n])
		n++;
	r = rec_open(files, n);
	while ((rc = rec_next(r, &rec, e)) > 0)
		look_at(&a, &rec);
	rec_close(r);
	if (rc == 0 && !a.cases)
		rc = err_set(e, EX_BADINPUT, "no case to check '%s' against",
			     path);
	if (rc == 0)
		judge(&a, today);
	knowncrash_release(&a.rules);
	free(a.device);
	free(a.hardware);
	free(a.torch);
	return rc < 0 ? -1 : a.found;
}
