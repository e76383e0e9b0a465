#include "settle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "jw.h"
#include "rewrite.h"
#include "strmap.h"
#include "xalloc.h"
#include "banned.h"

/* A failure, and what became of it in further runs. */
struct bad {
	char *outcome, *run, *device, *died;	/* died: signal, or exit */
	char **again;		/* outcome in each further run, or NULL */
};

struct settling {
	struct strmap ids;
	struct bad *v;
	size_t cap, nruns, run;	/* run: the further one being read */
	char *torch, *hardware;
	/* While the first stream is rewritten: */
	struct rewrite_text text;
	struct buf line;
	struct settle *n;
};

static void init(struct settling *g, size_t nruns)
{
	memset(g, 0, sizeof(*g));
	strmap_init(&g->ids);
	buf_init(&g->line);
	g->nruns = nruns;
}

static void release(struct settling *g)
{
	size_t i, k;

	for (i = 0; i < g->ids.n; i++) {
		for (k = 0; k < g->nruns; k++)
			free(g->v[i].again[k]);
		free(g->v[i].again);
		free(g->v[i].outcome);
		free(g->v[i].run);
		free(g->v[i].device);
		free(g->v[i].died);
	}
	free(g->v);
	free(g->torch);
	free(g->hardware);
	strmap_release(&g->ids);
	buf_release(&g->line);
}

static struct bad *find(struct settling *g, struct slice id)
{
	char *s = slice_dup(id);
	size_t i = strmap_find(&g->ids, s);

	free(s);
	return i == STRMAP_NONE ? NULL : &g->v[i];
}

static struct bad *add(struct settling *g, struct slice id)
{
	char *s = slice_dup(id);
	size_t had = g->ids.n, i = strmap_add(&g->ids, s);

	free(s);
	g->v = xgrow(g->v, &g->cap, g->ids.n, sizeof(*g->v));
	if (i == had) {
		memset(&g->v[i], 0, sizeof(g->v[i]));
		g->v[i].again = xcalloc(g->nruns + 1, sizeof(char *));
	}
	return &g->v[i];
}

static void keep(char **to, struct slice s)
{
	if (!*to && s.p)
		*to = slice_dup(s);
}

/* The text of a string member of a record that is known to be one. */
static struct slice member(const char *line, const char *key)
{
	struct slice s = { NULL, 0 };
	char *want = xasprintf("\"%s\":\"", key);
	const char *p = strstr(line, want);

	if (p) {
		s.p = p + strlen(want);
		s.len = strcspn(s.p, "\"");
	}
	free(want);
	return s;
}

static int read_bad(void *ctx, const struct scan *s, const char *line,
		    size_t len, struct err *e)
{
	struct settling *g = ctx;
	struct bad *b;

	(void)len, (void)e;
	if (slice_is(s->kind, "run")) {
		keep(&g->torch, s->torch);
		keep(&g->hardware, s->hardware);
	}
	if (slice_is(s->kind, "death")) {
		b = add(g, s->id);
		keep(&b->died, member(line, "signal"));
		if (!b->died)
			b->died = xstrdup("exit");
	}
	if (slice_is(s->kind, "verdict") && !slice_is(s->outcome, "pass")) {
		b = add(g, s->id);
		keep(&b->outcome, s->outcome);
		keep(&b->run, s->run);
		keep(&b->device, s->device);
	}
	return REWRITE_KEEP;
}

static int read_again(void *ctx, const struct scan *s, const char *line,
		      size_t len, struct err *e)
{
	struct settling *g = ctx;
	struct bad *b;

	(void)line, (void)len, (void)e;
	if (!slice_is(s->kind, "verdict"))
		return REWRITE_KEEP;
	b = add(g, s->id);
	keep(&b->again[g->run], s->outcome);
	return REWRITE_KEEP;
}

/* A verdict of the first stream, with what is known of it now. */
static int mark(void *ctx, const struct scan *s, const char *line, size_t len,
		struct err *e)
{
	struct settling *g = ctx;
	struct bad *b;
	struct jw w;
	bool pass;

	(void)e;
	if (!slice_is(s->kind, "verdict") || slice_is(s->outcome, "pass") ||
	    strstr(line, ",\"again\":\""))
		return REWRITE_KEEP;
	b = find(g, s->id);
	if (!b || !b->again[0])
		return REWRITE_KEEP;
	pass = !strcmp(b->again[0], "pass");
	g->n->order_dependent += pass;
	g->n->confirmed += !pass;
	while (len && line[len - 1] != '}')
		len--;
	buf_reset(&g->line);
	buf_add(&g->line, line, len - 1);
	buf_addstr(&g->line, ",\"again\":");
	jw_init(&w, &g->line);
	jw_str(&w, b->again[0]);
	buf_addstr(&g->line, pass ? ",\"order_dependent\":true}" : "}");
	g->text.p = g->line.p;
	g->text.len = g->line.len;
	return REWRITE_KEEP;
}

int settle_stream(const char *path, const char *again, struct settle *n,
		  struct err *e)
{
	struct settling g;
	size_t broken = 0;
	int rc;

	memset(n, 0, sizeof(*n));
	init(&g, 1);
	g.n = n;
	rc = rewrite_look(again, read_again, &g, &broken, e);
	if (rc == 0)
		rc = rewrite_stream(path, mark, &g, &g.text, e);
	release(&g);
	return rc;
}

static bool maybe_machine(const struct bad *b)
{
	return !strcmp(b->outcome, "timeout") || !strcmp(b->outcome, "hang") ||
	       !strcmp(b->outcome, "oom") ||
	       (b->died && !strcmp(b->died, "SIGKILL"));
}

static bool took_process(const char *outcome)
{
	return !strcmp(outcome, "crash") || !strcmp(outcome, "timeout") ||
	       !strcmp(outcome, "hang") || !strcmp(outcome, "oom");
}

static void put_rule(const struct settling *g, const char *id,
		     const struct bad *b, const char *review,
		     struct buf *ledger)
{
	char *torch = g->torch ? xasprintf("==%.*s",
			(int)strspn(g->torch, "0123456789."), g->torch) :
		      xstrdup("*");
	char *name = xstrdup(id), *p;
	struct jw w;

	for (p = name; *p; p++)
		if (*p == '/')
			*p = '-';
	jw_init(&w, ledger);
	jw_obj(&w);
	jw_kstr(&w, "id", name);
	jw_kstr(&w, "match", id);
	jw_kstr(&w, "device", b->device ? b->device : "*");
	jw_kstr(&w, "hardware", g->hardware ? g->hardware : "*");
	jw_kstr(&w, "torch", torch);
	jw_kstr(&w, "signal", !strcmp(b->outcome, "crash") && b->died ?
		b->died : strcmp(b->outcome, "crash") ? b->outcome : "exit");
	jw_kstr(&w, "reason", "found by triage, not looked at yet");
	jw_kstr(&w, "review", review);
	jw_obj_end(&w);
	buf_addch(ledger, '\n');
	free(torch);
	free(name);
}

static void put_triage(const struct settling *g, const char *id,
		       const struct bad *b, const char *review,
		       struct buf *out, struct buf *ledger)
{
	size_t i, ran = 0, bad = 0, took = 0;
	const char *class;
	char *s;
	struct jw w;

	for (i = 0; i < g->nruns; i++) {
		if (!b->again[i])
			continue;
		ran++;
		bad += strcmp(b->again[i], "pass") != 0;
		took += took_process(b->again[i]);
	}
	class = !ran ? "environment" : bad == ran ? "reproducible" :
		bad ? "flaky" : maybe_machine(b) ? "environment" :
		"order-dependent";
	jw_init(&w, out);
	jw_record(&w, "triage", id, b->run ? b->run : "");
	jw_kstr(&w, "class", class);
	jw_kstr(&w, "outcome", b->outcome);
	s = xasprintf("%zu/%zu", bad, ran);
	jw_kstr(&w, "rate", s);
	free(s);
	jw_key(&w, "again");
	jw_arr(&w);
	for (i = 0; i < g->nruns; i++)
		jw_str(&w, b->again[i] ? b->again[i] : "missing");
	jw_arr_end(&w);
	if (b->died)
		jw_kstr(&w, "died", b->died);
	s = xasprintf("bin/cts-enum --device '%s' --case '%s' | "
		      "bin/cts-isolate --mode case -- bin/cts-exec | "
		      "bin/cts-compare",
		      b->device ? b->device : "cpu", id);
	jw_kstr(&w, "repro", s);
	free(s);
	jw_obj_end(&w);
	buf_addch(out, '\n');
	/* Load may decide which kind of end it is: timeout, or hang. */
	if (ran && took == ran && took_process(b->outcome))
		put_rule(g, id, b, review, ledger);
}

int settle_triage(const char *first, char *const *again, size_t n,
		  const char *review, struct buf *out, struct buf *ledger,
		  struct err *e)
{
	struct settling g;
	size_t broken = 0, i, *sorted;
	int rc;

	init(&g, n);
	rc = rewrite_look(first, read_bad, &g, &broken, e);
	for (g.run = 0; rc == 0 && g.run < n; g.run++)
		rc = rewrite_look(again[g.run], read_again, &g, &broken, e);
	sorted = strmap_sorted(&g.ids);
	for (i = 0; rc == 0 && i < g.ids.n; i++)
		if (g.v[sorted[i]].outcome)
			put_triage(&g, g.ids.key[sorted[i]],
				   &g.v[sorted[i]], review, out, ledger);
	free(sorted);
	release(&g);
	return rc;
}
