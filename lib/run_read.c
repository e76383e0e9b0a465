#include "run_read.h"

#include <stdlib.h>
#include <string.h>

#include "run_folder.h"
#include "xalloc.h"

char **run_streams(char *const *runs, size_t n, struct err *e)
{
	char **v = xcalloc(n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++) {
		v[i] = run_folder_stream(runs[i], e);
		if (!v[i]) {
			run_streams_free(v, i);
			return NULL;
		}
	}
	return v;
}

void run_streams_free(char **streams, size_t n)
{
	for (size_t i = 0; streams && i < n; i++)
		free(streams[i]);
	free(streams);
}

static void copy_out(const struct rec *r, const struct run_read *how)
{
	struct buf *to = NULL;

	if (r->kind == REC_ORACLE_FAILURE)
		to = how->oracle_failures;
	else if (r->kind == REC_PROBE &&
		 strcmp(rec_str_opt(r->json, "status", ""), "ok"))
		to = how->probe_failures;
	if (!to)
		return;
	buf_add(to, r->line, r->len);
	buf_addch(to, '\n');
}

/* One record; 1, 0 at the end, -1 with e set. */
static int read_one(struct summary *s, struct rec_reader *in,
		    const struct run_read *how, struct err *e)
{
	struct rec r;
	int rc = rec_next(in, &r, e);

	if (rc <= 0)
		return rc;
	if (summary_add(s, &r, e) < 0)
		return err_prefix(e, "%s", rec_where(in));
	copy_out(&r, how);
	return 1;
}

int run_read(struct summary *s, char *const *runs, size_t n,
	     const struct run_read *how, struct err *e)
{
	char **streams = run_streams(runs, n, e);
	struct rec_reader *in;
	int rc;

	if (!streams)
		return -1;
	in = rec_open(streams, n);
	rec_skip_obs(in);
	while ((rc = read_one(s, in, how, e)) != 0) {
		if (rc > 0)
			continue;
		if (!how->partial || e->code != EX_BADINPUT)
			break;
		how->warn(e);
	}
	rec_close(in);
	run_streams_free(streams, n);
	if (rc < 0)
		s->input_error = xstrdup(e->msg);
	return rc;
}
