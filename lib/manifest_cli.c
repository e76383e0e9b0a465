#include "manifest_cli.h"

#include <stdlib.h>
#include <string.h>
#include "prog.h"
#include "xalloc.h"

void manifest_opts_add(char ***list, size_t *n, char *value)
{
	*list = xrealloc(*list, (*n + 1) * sizeof(**list));
	(*list)[(*n)++] = value;
}

void manifest_opts_release(struct manifest_opts *o)
{
	free(o->imports);
	free(o->dtypes);
	memset(o, 0, sizeof(*o));
}

bool manifest_report(const struct findings *f)
{
	bool wrong = false;
	size_t i;

	for (i = 0; i < f->n; i++) {
		if (f->v[i].warn)
			prog_warn("%s: %s", f->v[i].where, f->v[i].what);
		else
			prog_fail(0, "%s: %s", f->v[i].where, f->v[i].what);
		wrong |= !f->v[i].warn;
	}
	return wrong;
}

static void set_imports(struct manifest *m, const struct manifest_opts *o)
{
	cJSON *list = cJSON_CreateArray();
	size_t i;

	for (i = 0; i < o->nimports; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(o->imports[i]));
	manifest_set(m, "backend_import", list);
}

struct manifest *manifest_open(const struct manifest_opts *o, int *rc)
{
	struct findings f = { 0 };
	struct err e = { 0 };
	struct manifest *m;
	bool wrong;

	m = o->file ? manifest_load(o->file, &f, &e) :
	    manifest_template(o->template ? o->template : "complete", NULL,
			      &e);
	wrong = manifest_report(&f);
	findings_release(&f);
	*rc = m ? 0 : wrong ? EX_BADINPUT : prog_fail_err(&e);
	if (!m)
		return NULL;
	if (o->nimports)
		set_imports(m, o);
	if ((o->device && manifest_set_device(m, o->device, &e) < 0) ||
	    (o->level && manifest_set_level(m, o->level) < 0) ||
	    (o->ndtypes && manifest_only_dtypes(m, o->dtypes, o->ndtypes,
						&e) < 0)) {
		*rc = prog_fail_err(&e);
		manifest_free(m);
		return NULL;
	}
	return m;
}
