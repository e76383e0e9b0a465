#define _GNU_SOURCE
#include "mend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lines.h"
#include "rec.h"
#include "scan.h"
#include "strmap.h"
#include "xalloc.h"
#include "banned.h"

/* Records that are there for a case that runs, and go if it runs again. */
static bool of_a_run(struct slice kind)
{
	return slice_is(kind, "start") || slice_is(kind, "obs") ||
	       slice_is(kind, "end") || slice_is(kind, "death") ||
	       slice_is(kind, "oracle_failure");
}

static size_t number(struct strmap *ids, struct slice id)
{
	char *s = slice_dup(id);
	size_t i = strmap_add(ids, s);

	free(s);
	return i;
}

/* First look: which ids have a verdict?  Numbers below *n in done do. */
static int find_verdicts(const char *path, struct strmap *done,
			 struct mend *m, struct err *e)
{
	struct lines l;
	struct scan s;
	char *line;
	size_t len;
	bool cut;

	if (lines_open(&l, path, e) < 0)
		return -1;
	while (lines_next(&l, &line, &len, &cut) > 0) {
		if (cut || scan_record(&s, line, len) < 0) {
			m->broken++;
			continue;
		}
		if (!slice_is(s.kind, "verdict"))
			continue;
		len = done->n;
		if (number(done, s.id) < len)
			m->twice++;
	}
	m->verdicts = done->n;
	lines_close(&l);
	return 0;
}

/* What becomes of one record. */
struct sieve {
	struct strmap *done;
	struct strmap seen;	/* verdicts that were let through */
	struct strmap cases;	/* that were written to fd */
	FILE *to;		/* NULL: only count */
	int fd;			/* for cases, -1: only count */
	struct mend *m;
};

static bool is_done(const struct sieve *v, struct slice id)
{
	char *s = slice_dup(id);
	bool yes = strmap_find(v->done, s) != STRMAP_NONE;

	free(s);
	return yes;
}

static int sift(struct sieve *v, const struct scan *s, const char *line,
		size_t len, struct err *e)
{
	size_t had;

	if (slice_is(s->kind, "verdict")) {
		had = v->seen.n;
		if (number(&v->seen, s->id) < had)
			return 0;
	} else if (of_a_run(s->kind) && !is_done(v, s->id)) {
		v->m->undone++;
		return 0;
	} else if (slice_is(s->kind, "case") && !is_done(v, s->id)) {
		had = v->cases.n;
		if (number(&v->cases, s->id) == had) {
			v->m->left++;
			if (v->fd >= 0 && rec_write(v->fd, line, len, e) < 0)
				return -1;
		}
	}
	if (v->to && (fwrite(line, 1, len, v->to) != len ||
		      putc('\n', v->to) == EOF))
		return err_sys(e, errno, "cannot write");
	return 0;
}

/* Second look: keep what is to stay. */
static int sift_all(const char *path, struct sieve *v, struct err *e)
{
	struct lines l;
	struct scan s;
	char *line;
	size_t len;
	bool cut;
	int rc = 0;

	if (lines_open(&l, path, e) < 0)
		return -1;
	while (rc == 0 && lines_next(&l, &line, &len, &cut) > 0)
		if (!cut && scan_record(&s, line, len) == 0)
			rc = sift(v, &s, line, len, e);
	lines_close(&l);
	return rc;
}

/* A file beside path that takes its place when it is whole. */
static int replace(const char *path, struct sieve *v, struct err *e)
{
	char *tmp = xasprintf("%s.mend", path);
	struct stat st;
	int rc = 0;

	v->to = fopen(tmp, "we");
	if (!v->to) {
		rc = err_sys(e, errno, "cannot write '%s'", tmp);
		free(tmp);
		return rc;
	}
	if (stat(path, &st) == 0 && fchmod(fileno(v->to), st.st_mode) < 0)
		errno = 0;
	rc = sift_all(path, v, e);
	if (fflush(v->to) == EOF || fsync(fileno(v->to)) < 0)
		rc = rc < 0 ? rc : err_sys(e, errno, "cannot write '%s'", tmp);
	if (fclose(v->to) == EOF && rc == 0)
		rc = err_sys(e, errno, "cannot write '%s'", tmp);
	if (rc == 0 && rename(tmp, path) < 0)
		rc = err_sys(e, errno, "cannot replace '%s'", path);
	if (rc < 0)
		unlink(tmp);
	free(tmp);
	return rc;
}

static void sieve_clear(struct sieve *v)
{
	strmap_release(&v->seen);
	strmap_release(&v->cases);
	strmap_init(&v->seen);
	strmap_init(&v->cases);
	v->m->undone = v->m->left = 0;
}

int mend_stream(const char *path, int fd, struct mend *m, struct err *e)
{
	struct strmap done;
	struct sieve v = { .done = &done, .fd = -1, .m = m };
	int rc;

	memset(m, 0, sizeof(*m));
	strmap_init(&done);
	strmap_init(&v.seen);
	strmap_init(&v.cases);
	rc = find_verdicts(path, &done, m, e);
	if (rc == 0)
		rc = sift_all(path, &v, e);
	if (rc == 0 && (m->broken || m->undone || m->twice)) {
		sieve_clear(&v);
		rc = replace(path, &v, e);
	}
	/* The cases last: whoever has them can rely on the stream. */
	if (rc == 0) {
		size_t undone = m->undone;

		sieve_clear(&v);
		v.to = NULL;
		v.fd = fd;
		rc = sift_all(path, &v, e);
		m->undone = undone;
	}
	strmap_release(&done);
	strmap_release(&v.seen);
	strmap_release(&v.cases);
	return rc;
}
