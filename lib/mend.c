#include "mend.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rec.h"
#include "rewrite.h"
#include "strmap.h"
#include "banned.h"

struct mending {
	struct strmap done;	/* ids that have a verdict */
	struct strmap seen;	/* of these, the ones that passed by */
	struct strmap cases;	/* ids of cases that passed by */
	struct mend *m;
	int fd;
};

/* Records that are there for a case that runs, and go if it runs again. */
static bool of_a_run(struct slice kind)
{
	return slice_is(kind, "start") || slice_is(kind, "obs") ||
	       slice_is(kind, "end") || slice_is(kind, "death") ||
	       slice_is(kind, "oracle_failure");
}

/* True where the id is new to the map, and now in it. */
static bool is_new(struct strmap *map, struct slice id)
{
	char *s = slice_dup(id);
	size_t had = map->n;
	bool fresh = strmap_add(map, s) == had;

	free(s);
	return fresh;
}

static bool is_done(const struct mending *g, struct slice id)
{
	char *s = slice_dup(id);
	bool yes = strmap_find(&g->done, s) != STRMAP_NONE;

	free(s);
	return yes;
}

static int find_verdict(void *ctx, const struct scan *s, const char *line,
			size_t len, struct err *e)
{
	struct mending *g = ctx;

	(void)line, (void)len, (void)e;
	if (slice_is(s->kind, "verdict") && !is_new(&g->done, s->id))
		g->m->twice++;
	return REWRITE_KEEP;
}

static int count_undone(void *ctx, const struct scan *s, const char *line,
			size_t len, struct err *e)
{
	struct mending *g = ctx;

	(void)line, (void)len, (void)e;
	g->m->undone += of_a_run(s->kind) && !is_done(g, s->id);
	return REWRITE_KEEP;
}

static int sift(void *ctx, const struct scan *s, const char *line, size_t len,
		struct err *e)
{
	struct mending *g = ctx;

	(void)line, (void)len, (void)e;
	if (slice_is(s->kind, "verdict"))
		return is_new(&g->seen, s->id);
	return !of_a_run(s->kind) || is_done(g, s->id);
}

static int put_case(void *ctx, const struct scan *s, const char *line,
		    size_t len, struct err *e)
{
	struct mending *g = ctx;

	if (!slice_is(s->kind, "case") || is_done(g, s->id) ||
	    !is_new(&g->cases, s->id))
		return REWRITE_KEEP;
	g->m->left++;
	return rec_write(g->fd, line, len, e) < 0 ? -1 : REWRITE_KEEP;
}

int mend_stream(const char *path, int fd, struct mend *m, struct err *e)
{
	struct mending g = { .m = m, .fd = fd };
	size_t again = 0;
	int rc;

	memset(m, 0, sizeof(*m));
	strmap_init(&g.done);
	strmap_init(&g.seen);
	strmap_init(&g.cases);
	rc = rewrite_look(path, find_verdict, &g, &m->broken, e);
	m->verdicts = g.done.n;
	if (rc == 0)
		rc = rewrite_look(path, count_undone, &g, &again, e);
	if (rc == 0 && (m->broken || m->undone || m->twice))
		rc = rewrite_stream(path, sift, &g, NULL, e);
	/* The cases last: whoever has them can rely on the stream. */
	if (rc == 0)
		rc = rewrite_look(path, put_case, &g, &again, e);
	strmap_release(&g.done);
	strmap_release(&g.seen);
	strmap_release(&g.cases);
	return rc;
}
