#include "history.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"
#include "scan.h"
#include "strmap.h"
#include "xalloc.h"
#include "banned.h"

/* Length of "2.13" in "2.13.0+cpu". */
static size_t minor_len(const char *s)
{
	size_t n = strspn(s, "0123456789");

	if (s[n] == '.')
		n += 1 + strspn(s + n + 1, "0123456789");
	return n;
}

static bool same_minor(struct slice have, const char *want)
{
	size_t n = minor_len(want);
	char *s;
	bool same;

	if (!have.p)
		return false;
	s = slice_dup(have);
	same = minor_len(s) == n && !memcmp(s, want, n);
	free(s);
	return same;
}

static bool begins(const char *line, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && !memcmp(line, with, n);
}

/* Add what one stream tells to the ids. */
static void one_stream(const char *path, const char *torch,
		       struct strmap *ids)
{
	static const char run[] = "{\"v\":1,\"kind\":\"run\",";
	static const char death[] = "{\"v\":1,\"kind\":\"death\",";
	static const char probe[] = "{\"v\":1,\"kind\":\"probe\",";
	static const char no_fork[] = "\"probe\":\"worker\",\"name\":\"fork\","
				      "\"status\":\"failed\"";
	struct lines l;
	struct scan s;
	char *line, *id;
	size_t len;
	bool cut, known = !torch;

	if (lines_open(&l, path, NULL) < 0)
		return;
	while (lines_next(&l, &line, &len, &cut) > 0) {
		/* What most lines are is none of these; don't read them. */
		if (!begins(line, len, death) && !begins(line, len, probe) &&
		    (known || !begins(line, len, run)))
			continue;
		if (cut || scan_record(&s, line, len) < 0)
			continue;
		if (!known && slice_is(s.kind, "run") && s.torch.p) {
			if (!same_minor(s.torch, torch))
				break;
			known = true;
		}
		if (!known)
			continue;
		if (slice_is(s.kind, "probe") && strstr(line, no_fork))
			strmap_add(ids, HISTORY_NO_FORK);
		if (slice_is(s.kind, "death") && s.id.len) {
			id = slice_dup(s.id);
			strmap_add(ids, id);
			free(id);
		}
	}
	lines_close(&l);
}

static int name_cmp(const void *a, const void *b)
{
	/* The newest first: names are times. */
	return strcmp(*(char *const *)b, *(char *const *)a);
}

static void read_runs(const char *dir, char **names, size_t n,
		      const char *torch, struct strmap *ids)
{
	static const char *const leaves[] = { "stream.jsonl.gz",
					      "stream.jsonl" };
	size_t i, k, seen;

	for (i = seen = 0; i < n && seen < HISTORY_RUNS; i++) {
		for (k = 0; k < 2; k++) {
			char *path = xasprintf("%s/%s/%s", dir, names[i],
					       leaves[k]);
			bool there = access(path, R_OK) == 0;

			if (there)
				one_stream(path, torch, ids);
			free(path);
			if (there) {
				seen++;
				break;
			}
		}
	}
}

int history_list(const char *dir, const char *torch, struct buf *out,
		 struct err *e)
{
	struct strmap ids;
	struct dirent *de;
	char **names = NULL;
	size_t n = 0, cap = 0, i, *sorted;
	DIR *d = opendir(dir);

	if (!d && errno == ENOENT)
		return 0;
	if (!d)
		return err_sys(e, errno, "cannot read '%s'", dir);
	while ((de = readdir(d)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		names = xgrow(names, &cap, n + 1, sizeof(*names));
		names[n++] = xstrdup(de->d_name);
	}
	closedir(d);
	if (n)
		qsort(names, n, sizeof(*names), name_cmp);
	strmap_init(&ids);
	read_runs(dir, names, n, torch, &ids);
	sorted = strmap_sorted(&ids);
	for (i = 0; i < ids.n; i++)
		buf_addf(out, "%s\n", ids.key[sorted[i]]);
	free(sorted);
	strmap_release(&ids);
	for (i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return 0;
}
