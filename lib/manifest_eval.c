/* A manifest.py, by way of a program of its own that has a Python in it. */
#include "manifest_say.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "child.h"
#include "json.h"
#include "prog.h"
#include "xalloc.h"

/* What had to be left out of the JSON, as findings. */
static void take_wrong(const cJSON *list, const char *path,
		       const struct jsonpos *pos, struct findings *f)
{
	struct check c = { .file = path, .pos = pos, .f = f };
	const cJSON *x;

	cJSON_ArrayForEach(x, list)
		if (x->child && cJSON_IsString(x->child) && x->child->next &&
		    cJSON_IsString(x->child->next))
			check_say(&c, x->child->valuestring, "%s",
				  x->child->next->valuestring);
}

/*
 * Its answer: {"manifest":…,"wrong":[[path,what]…],"keys":[[path,line]…]} or
 * {"error":…,"code":…}.
 */
static int take(const cJSON *o, const char *path, struct buf *text,
		struct jsonpos *pos, struct findings *f, struct err *e)
{
	const cJSON *m = json_get(o, "manifest");
	const cJSON *why = json_get(o, "error");
	const cJSON *code = json_get(o, "code");
	const cJSON *k;
	char *s;

	if (cJSON_IsString(why))
		return err_set(e, cJSON_IsNumber(code) ? code->valueint :
			       EX_BADINPUT, "%s", why->valuestring);
	if (!m)
		return err_set(e, EX_ENVIRON, "no manifest came back");
	cJSON_ArrayForEach(k, json_get(o, "keys"))
		if (k->child && cJSON_IsString(k->child) &&
		    cJSON_IsNumber(k->child->next))
			jsonpos_add(pos, k->child->valuestring,
				    k->child->next->valueint);
	jsonpos_sort(pos);
	take_wrong(json_get(o, "wrong"), path, pos, f);
	s = cJSON_PrintUnformatted(m);
	buf_addstr(text, s);
	cJSON_free(s);
	return 0;
}

int manifest_eval_py(const char *path, struct buf *text, struct jsonpos *pos,
		     struct findings *f, struct err *e)
{
	char *argv[] = { NULL, NULL, NULL };
	struct buf out = BUF_INIT;
	cJSON *o;
	int rc;

	argv[0] = xasprintf("%s/libexec/cts-manifest-py", prog_root());
	argv[1] = xstrdup(path);
	rc = child_run(argv, -1, &out, 4 * MANIFEST_MAX, e);
	o = rc >= 0 ? cJSON_ParseWithLength(out.p, out.len) : NULL;
	if (rc == 128 + SIGALRM)
		rc = err_set(e, EX_BADINPUT, "%s: it takes more than two "
			     "minutes", path);
	else if (rc > 0 && !o)
		rc = err_set(e, EX_ENVIRON, "%s: its evaluation ended with "
			     "status %d", path, rc);
	else if (rc >= 0 && !o)
		rc = err_set(e, EX_BADINPUT, "%s: it ended Python", path);
	else if (rc >= 0)
		rc = take(o, path, text, pos, f, e);
	cJSON_Delete(o);
	buf_release(&out);
	free(argv[0]);
	free(argv[1]);
	return rc;
}
