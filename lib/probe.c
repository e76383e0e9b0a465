#include "probe.h"

#include <stdlib.h>
#include <string.h>
#include "child.h"
#include "device.h"
#include "dtype.h"
#include "json.h"
#include "jw.h"
#include "prog.h"
#include "rec.h"
#include "vocab.h"
#include "xalloc.h"

#define PROBE_MAX (8u << 20)

static void add(struct probes *p, const cJSON *o, const char *line, size_t n)
{
	struct probe *x;

	p->v = xgrow(p->v, &p->cap, p->n + 1, sizeof(*p->v));
	x = &p->v[p->n++];
	x->kind = xstrdup(rec_str_opt(o, "probe", ""));
	x->name = xstrdup(rec_str_opt(o, "name", ""));
	x->status = xstrdup(rec_str_opt(o, "status", "failed"));
	x->note = xstrdup(rec_str_opt(o, "note", ""));
	x->line = xstrndup(line, n);
}

int probe_read(struct probes *p, const char *text, size_t n, struct err *e)
{
	const char *end = text + n, *lf;
	cJSON *o;

	for (; text < end; text = lf + 1) {
		lf = memchr(text, '\n', (size_t)(end - text));
		if (!lf)
			return err_set(e, EX_ENVIRON, "the last probe record "
				       "is cut");
		o = json_parse(text, (size_t)(lf - text), e);
		if (!o) {
			if (e)
				e->code = EX_ENVIRON;
			return err_prefix(e, "probe record");
		}
		if (!strcmp(rec_str_opt(o, "kind", ""), "probe"))
			add(p, o, text, (size_t)(lf - text));
		cJSON_Delete(o);
	}
	return 0;
}

static bool is_count(const struct probe *x)
{
	return !strcmp(x->kind, "device") && !strcmp(x->name, "count");
}

static bool claimed(const struct probe *x, const struct manifest *m)
{
	bool dtype = !strcmp(x->kind, "dtype");
	enum claim c;

	if (is_count(x))
		return true;
	c = dtype ? manifest_dtype(m, x->name, "") :
	    manifest_capability(m, x->name, "");
	return c == CLAIM_YES || c == CLAIM_FILTERED;
}

static void release_one(struct probe *x)
{
	free(x->kind);
	free(x->name);
	free(x->status);
	free(x->note);
	free(x->line);
}

static void keep_claimed(struct probes *p, const struct manifest *m)
{
	size_t i, kept = 0;

	for (i = 0; i < p->n; i++) {
		if (claimed(&p->v[i], m))
			p->v[kept++] = p->v[i];
		else
			release_one(&p->v[i]);
	}
	p->n = kept;
}

/* Make it say that the claim doesn't hold. */
static void fail(struct probe *x, char *note)
{
	struct buf b = BUF_INIT;
	struct jw w;

	free(x->note);
	x->note = note;
	free(x->status);
	x->status = xstrdup("failed");
	jw_init(&w, &b);
	jw_record(&w, "probe", "", "");
	jw_kstr(&w, "probe", x->kind);
	jw_kstr(&w, "name", x->name);
	jw_kstr(&w, "status", x->status);
	jw_kstr(&w, "note", x->note);
	jw_obj_end(&w);
	free(x->line);
	x->line = xstrndup(b.p, b.len - (b.len && b.p[b.len - 1] == '\n'));
	buf_release(&b);
}

/* Are there as many devices as m claims?  One is claimed where it is silent. */
static void hold_count(struct probes *p, const struct manifest *m)
{
	const cJSON *claim = json_get(manifest_json(m), "device_count");
	size_t i;

	for (i = 0; claim && i < p->n; i++) {
		struct probe *x = &p->v[i];

		if (is_count(x) && !strcmp(x->status, "ok") &&
		    strtol(x->note, NULL, 10) < claim->valueint)
			fail(x, xasprintf("%d claimed, there %s %.20s",
				claim->valueint, strcmp(x->note, "1") ?
				"are" : "is", x->note));
	}
}

/* Whether those imports are what the device's adapter does anyway. */
static bool usual(const char *device, const cJSON *imports)
{
	struct device d;
	const cJSON *x;
	bool same;
	size_t i = 0;

	if (device_find(&d, prog_root(), device, NULL) < 0)
		return false;
	cJSON_ArrayForEach(x, imports)
		if (!d.imports[i] || strcmp(d.imports[i++], x->valuestring))
			break;
	same = !x && !d.imports[i];
	device_release(&d);
	return same;
}

int probe_run(struct probes *p, const struct manifest *m, bool all,
	      struct err *e)
{
	const cJSON *imports = manifest_imports(m), *x;
	struct buf out = BUF_INIT;
	char **argv;
	size_t n = 0;
	int rc;

	argv = xcalloc(10 + 2 * (size_t)cJSON_GetArraySize(imports),
		       sizeof(*argv));
	argv[n++] = xasprintf("%s/bin/cts-exec", prog_root());
	argv[n++] = xstrdup("--probe");
	argv[n++] = xstrdup("--device");
	argv[n++] = xstrdup(manifest_device(m));
	if (usual(manifest_device(m), imports))
		imports = NULL;
	cJSON_ArrayForEach(x, imports) {
		argv[n++] = xstrdup("--import");
		argv[n++] = xstrdup(x->valuestring);
	}
	x = json_get(manifest_json(m), "adapter");
	if (x) {
		argv[n++] = xstrdup("--adapter");
		argv[n++] = cJSON_PrintUnformatted(x);
	}
	rc = child_run(argv, -1, &out, PROBE_MAX, e);
	if (rc > 0)
		rc = err_set(e, EX_ENVIRON, "the probe of '%s' ended with "
			     "status %d", manifest_device(m), rc);
	else if (rc == 0)
		rc = probe_read(p, out.p, out.len, e);
	if (rc == 0 && !p->n)
		rc = err_set(e, EX_ENVIRON, "'%s' answered no probe",
			     manifest_device(m));
	if (rc == 0 && !all) {
		keep_claimed(p, m);
		hold_count(p, m);
	}
	while (n)
		free(argv[--n]);
	free(argv);
	buf_release(&out);
	return rc;
}

static void put_text(FILE *f, const char *s)
{
	for (; *s; s++)
		fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, f);
}

void probe_table(const struct probes *p, FILE *f)
{
	size_t i;

	fprintf(f, "%-11s %-28s %-12s %s\n", "kind", "probe", "status",
		"note");
	for (i = 0; i < p->n; i++) {
		fprintf(f, "%-11.20s %-28.60s %-12.20s ", p->v[i].kind,
			p->v[i].name, p->v[i].status);
		put_text(f, p->v[i].note);
		fputc('\n', f);
	}
}

void probe_write(const struct probes *p, struct buf *out, bool failures)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		if (failures && strcmp(p->v[i].status, "failed") &&
		    strcmp(p->v[i].status, "unavailable"))
			continue;
		buf_addstr(out, p->v[i].line);
		buf_addch(out, '\n');
	}
}

static const struct probe *find(const struct probes *p, const char *kind,
				const char *name)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (!strcmp(p->v[i].kind, kind) && !strcmp(p->v[i].name, name))
			return &p->v[i];
	return NULL;
}

void probe_draft(const struct probes *p, struct manifest *m)
{
	cJSON *dtypes = cJSON_CreateObject(), *caps = cJSON_CreateObject();
	const struct probe *x;
	size_t i;

	for (i = 0; dtype_at(i); i++) {
		x = find(p, "dtype", dtype_at(i)->name);
		if (x)
			cJSON_AddBoolToObject(dtypes, dtype_at(i)->name,
					      !strcmp(x->status, "ok"));
	}
	/* What was not asked is not claimed. */
	for (i = 0; capability_at(i); i++) {
		x = find(p, "capability", capability_at(i)->name);
		cJSON_AddBoolToObject(caps, capability_at(i)->name,
				      x && !strcmp(x->status, "ok"));
	}
	x = find(p, "device", "count");
	if (x && !strcmp(x->status, "ok"))
		manifest_set(m, "device_count",
			     cJSON_CreateNumber((double)strtol(x->note, NULL,
							       10)));
	manifest_set(m, "supported_dtypes", dtypes);
	manifest_set(m, "capabilities", caps);
	manifest_set(m, "draft", cJSON_CreateTrue());
	manifest_set(m, "note", cJSON_CreateString("Written from probes of "
		"the live device: every claim is to be reviewed."));
}

void probes_release(struct probes *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		release_one(&p->v[i]);
	free(p->v);
	memset(p, 0, sizeof(*p));
}
