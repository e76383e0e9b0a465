#include "corpus.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cache.h"
#include "xalloc.h"

/* A folder that holds this much takes no more. */
#define FULL (UINT64_C(4) << 30)
/* Files are merged when there are so many, or when the new ones are so big. */
#define SEGMENTS_MAX 16
#define SEGMENTS_SHARE 4	/* of the merged one: a quarter */
#define SEGMENTS_SMALL (1u << 20)

#define DIGIT "[0-9]"
#define NINE_DIGITS DIGIT DIGIT DIGIT DIGIT DIGIT DIGIT DIGIT DIGIT DIGIT

static void note(struct corpus *c, const char *msg)
{
	if (!c->note)
		c->note = xasprintf("%s%s", msg,
				    c->dir ? "; recorded anew" : "");
}

/* From here on nothing is recorded. */
static void stop(struct corpus *c, const char *why)
{
	c->full = true;
	if (c->dir && !c->note)
		c->note = xasprintf("%s; nothing more is recorded", why);
}

/* Hold a file, unless somebody writes to it or has since it had that size. */
static int hold(const char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &st) &&
	    (size_t)st.st_size == size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void discard(const char *path, size_t size)
{
	int fd = hold(path, size);

	if (fd < 0)
		return;
	unlink(path);
	close(fd);
}

/* A segment's last entry may be half there because it is being written. */
static bool is_torn(const struct corpusfile *f, bool whole)
{
	int fd;

	if (f->finished || (!whole && f->end == f->size))
		return false;
	if (whole)
		return true;
	fd = hold(f->path, f->size);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static size_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (size_t)st.st_size;
}

/* One file more, if it is ours and says what it should. */
static void take(struct corpus *c, const char *path, bool whole)
{
	struct corpusfile f;
	struct err e;

	if (corpusfile_open(&f, path, &e)) {
		size_t size = size_of(path);

		/* A segment of no bytes is one that is being begun. */
		if (e.code == EX_BADINPUT && (whole || size)) {
			note(c, e.msg);
			discard(path, size);
		}
		return;
	}
	if (strcmp(f.identity, c->identity)) {
		err_set(&e, EX_BADINPUT, "%s: recorded by another engine or "
			"PyTorch", path);
		note(c, e.msg);
		discard(path, f.size);
		corpusfile_close(&f);
		return;
	}
	f.torn = is_torn(&f, whole);
	if (f.torn) {
		err_set(&e, EX_BADINPUT, "%s: torn after %zu entries", path,
			f.n);
		note(c, e.msg);
	}
	c->file = xgrow(c->file, &c->cap, c->n + 1, sizeof(*c->file));
	c->file[c->n++] = f;
}

static void take_all(struct corpus *c)
{
	char *path = xasprintf("%s/corpus.cts", c->dir);
	glob_t g;
	size_t i;

	if (!access(path, F_OK))
		take(c, path, true);
	free(path);
	/* As begin() names them: the folder may hold what isn't ours. */
	path = xasprintf("%s/[0-9]*." NINE_DIGITS "-[0-9]*.seg", c->dir);
	if (!glob(path, 0, NULL, &g)) {
		for (i = 0; i < g.gl_pathc; i++)
			take(c, g.gl_pathv[i], false);
		globfree(&g);
	}
	free(path);
}

static void drop_all(struct corpus *c)
{
	while (c->n > 0)
		corpusfile_close(&c->file[--c->n]);
}

/* Is there a newer entry of that key in a later file? */
static bool superseded(const struct corpus *c, size_t k, size_t i)
{
	struct corpusfile *f;
	struct buf b = BUF_INIT;
	const char *key;
	bool found = false;
	size_t n;

	key = corpusfile_key(&c->file[k], i, &n);
	if (!key)
		return true;
	buf_add(&b, key, n);
	for (f = c->file + k + 1; f < c->file + c->n && !found; f++)
		found = corpusfile_has(f, b.p);
	buf_release(&b);
	return found;
}

static int copy_all(struct corpus *c, struct corpuswriter *w, struct err *e)
{
	size_t k, i;

	for (k = 0; k < c->n; k++)
		for (i = 0; i < c->file[k].n; i++)
			if (!superseded(c, k, i) &&
			    corpuswriter_copy(w, &c->file[k], i, e))
				return -1;
	return 0;
}

/* What those left who were killed amid a merge; the lock is ours. */
static void sweep(const struct corpus *c)
{
	char *path = xasprintf("%s/corpus.cts.??????", c->dir);
	glob_t g;
	size_t i;

	if (!glob(path, 0, NULL, &g)) {
		for (i = 0; i < g.gl_pathc; i++)
			unlink(g.gl_pathv[i]);
		globfree(&g);
	}
	free(path);
}

/*
 * All files into one, which takes their place in one step.  Not those that are
 * being written, nor where somebody else is at it.
 */
static void merge(struct corpus *c)
{
	char *path = xasprintf("%s/corpus.cts", c->dir);
	char *lock = xasprintf("%s/lock", c->dir);
	int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	struct corpuswriter w;
	struct err e;
	size_t k;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		goto out;
	sweep(c);
	/* Somebody may have merged since we looked. */
	drop_all(c);
	take_all(c);
	if (corpuswriter_open(&w, path, c->identity, true, &e))
		goto out;
	if (copy_all(c, &w, &e)) {
		corpuswriter_drop(&w);
		goto out;
	}
	if (corpuswriter_finish(&w, &e))
		goto out;
	for (k = 0; k < c->n; k++)
		if (strcmp(c->file[k].path, path))
			discard(c->file[k].path, c->file[k].size);
	drop_all(c);
	take_all(c);
out:
	if (fd >= 0)
		close(fd);
	free(lock);
	free(path);
}

static bool merging_pays(const struct corpus *c)
{
	uint64_t old = 0, added = 0;
	size_t k, segments = 0;

	for (k = 0; k < c->n; k++)
		if (c->file[k].torn) {
			return true;
		} else if (c->file[k].finished) {
			old += c->file[k].size;
		} else {
			added += c->file[k].size;
			segments++;
		}
	return segments > SEGMENTS_MAX || (segments &&
		added > old / SEGMENTS_SHARE + SEGMENTS_SMALL);
}

static void init(struct corpus *c)
{
	memset(c, 0, sizeof(*c));
	c->w.fd = -1;
}

int corpus_open(struct corpus *c, const char *dir, const char *identity,
		struct err *e)
{
	uint64_t size = 0;
	struct stat st;
	size_t k;

	init(c);
	if (cache_make(dir, e))
		return -1;
	if (stat(dir, &st) || !S_ISDIR(st.st_mode))
		return err_set(e, EX_ENVIRON, "'%s' is no folder", dir);
	c->dir = xstrdup(dir);
	c->identity = xstrdup(identity);
	take_all(c);
	if (merging_pays(c))
		merge(c);
	for (k = 0; k < c->n; k++)
		size += c->file[k].size;
	c->full = size > FULL;
	if (access(dir, W_OK)) {
		err_sys(e, errno, "unable to write to '%s'", dir);
		stop(c, e->msg);
	}
	return 0;
}

int corpus_open_file(struct corpus *c, const char *path, struct err *e)
{
	init(c);
	c->file = xgrow(NULL, &c->cap, 1, sizeof(*c->file));
	if (corpusfile_open(&c->file[0], path, e)) {
		corpus_close(c);
		return -1;
	}
	c->n = 1;
	c->full = true;
	if (!c->file[0].finished) {
		err_set(e, EX_BADINPUT, "%s: torn after %zu entries", path,
			c->file[0].n);
		corpus_close(c);
		return -1;
	}
	c->identity = xstrdup(c->file[0].identity);
	return 0;
}

int corpus_create_file(struct corpus *c, const char *path,
		       const char *identity, struct err *e)
{
	init(c);
	if (corpuswriter_open(&c->w, path, identity, true, e))
		return -1;
	c->identity = xstrdup(identity);
	c->writes = true;
	return 0;
}

int corpus_finish(struct corpus *c, struct err *e)
{
	c->writes = false;
	/* A file that something is missing from is worse than none. */
	if (c->full) {
		corpuswriter_drop(&c->w);
		*e = c->why;
		return -1;
	}
	return corpuswriter_finish(&c->w, e);
}

void corpus_close(struct corpus *c)
{
	if (c->writes)
		corpuswriter_drop(&c->w);
	drop_all(c);
	free(c->file);
	free(c->dir);
	free(c->identity);
	free(c->note);
	init(c);
}

size_t corpus_entries(const struct corpus *c)
{
	size_t k, n = 0;

	for (k = 0; k < c->n; k++)
		n += c->file[k].n;
	return n;
}

int corpus_find(struct corpus *c, const char *key, struct buf *out)
{
	struct err e;
	size_t k;
	int rc;

	for (k = c->n; k-- > 0;) {
		rc = corpusfile_find(&c->file[k], key, out, &e);
		if (rc < 0)
			note(c, e.msg);
		c->found = &c->file[k];
		if (rc)
			return rc;
	}
	return 0;
}

void corpus_doubt(struct corpus *c)
{
	struct err e;

	err_set(&e, EX_BADINPUT, "%s: an entry is damaged",
		c->found ? c->found->path : "a corpus");
	note(c, e.msg);
}

/* A file of this process's own. */
static int begin(struct corpus *c, struct err *e)
{
	struct timespec t;
	char *path;
	int rc;

	clock_gettime(CLOCK_REALTIME, &t);
	path = xasprintf("%s/%lld.%09ld-%ld.seg", c->dir, (long long)t.tv_sec,
			 t.tv_nsec, (long)getpid());
	rc = corpuswriter_open(&c->w, path, c->identity, false, e);
	free(path);
	c->writes = rc == 0;
	return rc;
}

int corpus_add(struct corpus *c, const char *key, const void *p, size_t n,
	       struct err *e)
{
	if (c->full)
		return err_set(e, EX_ENVIRON, "the corpus takes no more");
	if ((!c->writes && begin(c, &c->why)) ||
	    corpuswriter_add(&c->w, key, p, n, &c->why)) {
		stop(c, c->why.msg);
		if (e)
			*e = c->why;
		return -1;
	}
	return 0;
}
