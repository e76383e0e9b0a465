/*
 * evidence: what a run of the healthy device shows of each case.
 *
 * reads	a judged stream: case, obs, end, death, verdict
 * writes	for each case with a verdict an evidence record: the case, its
 *		outcome, which overloads it reached, the advice that the device
 *		didn't follow, a digest of all that was observed
 * exit		0 done, 2 usage, 3 bad input, 4 environment
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "digest.h"
#include "json.h"
#include "jw.h"
#include "prog.h"
#include "rec.h"
#include "strmap.h"
#include "xalloc.h"

static const char usage_text[] =
"usage: evidence CASES [STREAM...]\n"
"\n"
"Say of each case in CASES that has a verdict in the STREAMs (default:\n"
"standard input) what it reached and showed.\n";

struct seen {
	char *line;		/* the case record */
	struct strmap ops;
	uint64_t digest;
};

struct evidence {
	struct strmap ids;
	struct seen *v;		/* by number of the id */
	size_t cap;
	struct buf out;
};

static struct seen *find(struct evidence *ev, const char *id)
{
	size_t i = strmap_find(&ev->ids, id);

	return i == STRMAP_NONE ? NULL : ev->v + i;
}

static int read_cases(struct evidence *ev, char *path, struct err *e)
{
	struct rec_reader *in = rec_open(&path, 1);
	struct rec r;
	int rc;

	while ((rc = rec_next(in, &r, e)) > 0) {
		if (r.kind != REC_CASE || find(ev, r.id))
			continue;
		ev->v = xgrow(ev->v, &ev->cap, ev->ids.n + 1, sizeof(*ev->v));
		memset(ev->v + ev->ids.n, 0, sizeof(*ev->v));
		ev->v[ev->ids.n].line = xstrndup(r.line, r.len);
		strmap_init(&ev->v[ev->ids.n].ops);
		strmap_add(&ev->ids, r.id);
	}
	rec_close(in);
	return rc;
}

/* What the device itself served. */
static void add_obs(struct seen *s, const cJSON *obs)
{
	const cJSON *where = json_get(obs, "where"), *w;

	cJSON_ArrayForEach(w, where)
		if (cJSON_IsString(w) && strcmp(w->valuestring, "composite"))
			strmap_add(&s->ops, w->string);
	s->digest = digest_obs(s->digest, obs);
}

static void write_advice(struct jw *w, const cJSON *verdict)
{
	const cJSON *c, *all;

	all = json_get(verdict, "checks");
	jw_key(w, "advice");
	jw_arr(w);
	cJSON_ArrayForEach(c, all)
		if (!rec_bool_opt(c, "ok", true) &&
		    !strcmp(rec_str_opt(c, "class", ""), "advice"))
			jw_str(w, c->string);
	jw_arr_end(w);
}

static int conclude(struct evidence *ev, struct seen *s, const struct rec *r,
		    struct err *e)
{
	char hex[17];
	struct jw w;
	size_t i;

	snprintf(hex, sizeof(hex), "%016" PRIx64, s->digest);
	buf_reset(&ev->out);
	jw_init(&w, &ev->out);
	jw_record(&w, "evidence", r->id, r->run);
	jw_kstr(&w, "outcome", rec_str_opt(r->json, "outcome", ""));
	jw_kstr(&w, "digest", hex);
	write_advice(&w, r->json);
	jw_key(&w, "ops");
	jw_arr(&w);
	for (i = 0; i < s->ops.n; i++)
		jw_str(&w, s->ops.key[i]);
	jw_arr_end(&w);
	jw_key(&w, "case");
	jw_raw(&w, s->line, strlen(s->line));
	jw_obj_end(&w);
	strmap_release(&s->ops);
	strmap_init(&s->ops);
	s->digest = 0;
	return rec_write_buf(STDOUT_FILENO, &ev->out, e);
}

static int take(struct evidence *ev, struct rec *r, struct err *e)
{
	struct seen *s = find(ev, r->id);

	if (s && r->kind == REC_OBS)
		add_obs(s, r->json);
	else if (s && r->kind == REC_VERDICT)
		return conclude(ev, s, r, e);
	return 0;
}

static void release(struct evidence *ev)
{
	size_t i;

	for (i = 0; i < ev->ids.n; i++) {
		free(ev->v[i].line);
		strmap_release(&ev->v[i].ops);
	}
	free(ev->v);
	strmap_release(&ev->ids);
	buf_release(&ev->out);
}

int main(int argc, char **argv)
{
	struct evidence ev = { .out = BUF_INIT };
	struct rec_reader *in;
	struct rec r;
	struct err e;
	int rc;

	prog_init("evidence", usage_text);
	while (prog_getopt(argc, argv, "hV", (struct option[]){ { 0 } }) != -1)
		;
	if (optind == argc)
		return prog_usage("no cases");
	strmap_init(&ev.ids);
	rc = read_cases(&ev, argv[optind], &e);
	if (rc < 0)
		return prog_fail_err(&e);
	in = rec_open(argv + optind + 1, (size_t)(argc - optind - 1));
	while ((rc = rec_next(in, &r, &e)) > 0)
		if ((rc = take(&ev, &r, &e)) < 0)
			break;
	rec_close(in);
	release(&ev);
	return prog_finish(rc < 0 ? prog_fail_err(&e) : 0);
}
