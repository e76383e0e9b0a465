#include "run_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cjson/cJSON.h>

#include "buf.h"
#include "json.h"
#include "rec.h"
#include "xalloc.h"

#define REF_MAX 4096		/* bytes of a reference, generously */

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

/* True when path, relative, names something below its start. */
static bool stays_below(const char *path)
{
	if (!*path || *path == '/')
		return false;
	for (const char *p = path; *p; p += strcspn(p, "/"), p += *p == '/') {
		size_t n = strcspn(p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.')
			return false;
	}
	return true;
}

/* As realpath() sees it, is path inside dir?  Symbolic links may lie. */
static int really_below(const char *dir, const char *path, struct err *e)
{
	char *d = realpath(dir, NULL), *p = realpath(path, NULL);
	size_t n = d ? strlen(d) : 0;
	int rc = 0;

	if (!d || !p)
		rc = err_sys(e, errno, "cannot open '%s'", path);
	else if (strncmp(d, p, n) || (n > 1 && p[n] != '/'))
		rc = err_set(e, EX_BADINPUT,
			     "'%s' leads out of '%s'", path, dir);
	free(d);
	free(p);
	return rc;
}

/* The folder that file lies in; new. */
static char *folder_of(const char *file)
{
	const char *slash = strrchr(file, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(file, slash == file ? 1 : (size_t)(slash - file));
}

/*
 * The run that the JSON text of a reference names, relative; borrowed from o.
 * NULL with e set where it is none.
 */
static const char *reference_run(const cJSON *o, struct err *e)
{
	const char *run;
	long long v;

	if (rec_int(o, "v", 1, 1, &v, e) < 0 || rec_str(o, "run", &run, e) < 0)
		return NULL;
	if (!stays_below(run)) {
		err_set(e, EX_BADINPUT, "run: '%s' is not a path below the "
			"reference", run);
		return NULL;
	}
	return run;
}

/* The folder or stream that a reference means; new, or NULL with e set. */
static char *follow_reference(const char *file, struct err *e)
{
	struct buf b = BUF_INIT;
	char *dir = NULL, *path = NULL;
	const char *run;
	cJSON *o = NULL;

	if (buf_read_file(&b, file, REF_MAX, e) < 0)
		goto out;
	o = json_parse(b.p, b.len, e);
	if (!cJSON_IsObject(o)) {
		err_set(e, EX_BADINPUT, "%s: not a reference to a run", file);
		goto out;
	}
	run = reference_run(o, e);
	if (!run) {
		err_prefix(e, "%s", file);
		goto out;
	}
	dir = folder_of(file);
	path = xasprintf("%s/%s", dir, run);
	if (really_below(dir, path, e) < 0) {
		err_prefix(e, "%s", file);
		free(path);
		path = NULL;
	}
out:
	cJSON_Delete(o);
	free(dir);
	buf_release(&b);
	return path;
}

/*
 * What name means once a reference is followed; new.  *is_dir tells a folder
 * from a stream.
 */
static char *resolve(const char *name, bool *is_dir, struct err *e)
{
	struct stat st;
	char *path;

	if (stat(name, &st) < 0) {
		err_sys(e, errno, "cannot open '%s'", name);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || !has_suffix(name, ".json")) {
		*is_dir = S_ISDIR(st.st_mode);
		return xstrdup(name);
	}
	path = follow_reference(name, e);
	if (!path)
		return NULL;
	if (stat(path, &st) < 0) {
		err_sys(e, errno, "%s: cannot open '%s'", name, path);
		free(path);
		return NULL;
	}
	*is_dir = S_ISDIR(st.st_mode);
	return path;
}

char *run_folder_stream(const char *name, struct err *e)
{
	/* Both are there only where a run was cut while it compressed. */
	static const char *const leaf[] = { "stream.jsonl", "stream.jsonl.gz" };
	bool is_dir = false;
	char *dir;

	if (!strcmp(name, "-"))
		return xstrdup(name);
	dir = resolve(name, &is_dir, e);
	if (!dir || !is_dir)
		return dir;
	for (size_t i = 0; i < 2; i++) {
		char *path = xasprintf("%s/%s", dir, leaf[i]);

		if (!access(path, F_OK)) {
			free(dir);
			return path;
		}
		free(path);
	}
	err_set(e, EX_ENVIRON, "'%s' holds no run: no stream.jsonl", dir);
	free(dir);
	return NULL;
}
