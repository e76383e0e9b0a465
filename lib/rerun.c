#include "rerun.h"

#include <stdlib.h>

/* Is the case record r one to run again? */
typedef bool pick_fn(const struct summary *s, const char *id);

static bool not_passed(const struct summary *s, const char *id)
{
	const struct sum_case *c = summary_case(s, id);

	return c && c->outcome != OUT_PASS;
}

static bool not_judged(const struct summary *s, const char *id)
{
	const struct sum_case *c = summary_case(s, id);

	return !c || !c->verdicts;
}

/* The case records that pick() takes, once each, in their order. */
static int copy_records(const struct summary *s, pick_fn *pick,
			char *const *runs, size_t n, struct buf *out,
			struct err *e)
{
	char **streams = run_streams(runs, n, e);
	struct idset *seen;
	struct rec_reader *in;
	struct rec r;
	int rc;

	if (!streams)
		return -1;
	seen = idset_new();
	in = rec_open(streams, n);
	rec_skip_obs(in);
	while ((rc = rec_next(in, &r, e)) > 0) {
		if (r.kind != REC_CASE || !pick(s, r.id) ||
		    !idset_add(seen, r.id))
			continue;
		buf_add(out, r.line, r.len);
		buf_addch(out, '\n');
	}
	rec_close(in);
	idset_free(seen);
	run_streams_free(streams, n);
	return rc;
}

static void copy_ids(const struct summary *s, struct buf *out)
{
	size_t *order = strmap_sorted(&s->ids);

	for (size_t i = 0; i < s->ids.n; i++) {
		const char *id = s->ids.key[order[i]];

		if (not_passed(s, id))
			buf_addf(out, "%s\n", id);
	}
	free(order);
}

int rerun_failed(char *const *runs, size_t n, bool records,
		 const struct run_read *how, struct buf *out, struct err *e)
{
	struct summary s;
	int rc;

	summary_init(&s);
	rc = run_read(&s, runs, n, how, e);
	summary_finish(&s, NULL);
	if (rc == 0 && records)
		rc = copy_records(&s, not_passed, runs, n, out, e);
	else if (rc == 0)
		copy_ids(&s, out);
	summary_release(&s);
	return rc;
}

int rerun_remaining(const char *cases, const char *done,
		    const struct run_read *how, struct buf *out, struct err *e)
{
	struct run_read cut = *how;
	char *const from[] = { (char *)cases }, *const to[] = { (char *)done };
	struct summary s;
	int rc;

	cut.partial = true;
	summary_init(&s);
	rc = run_read(&s, to, 1, &cut, e);
	summary_finish(&s, NULL);
	if (rc == 0)
		rc = copy_records(&s, not_judged, from, 1, out, e);
	summary_release(&s);
	return rc;
}
