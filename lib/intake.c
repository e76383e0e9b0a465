#include "intake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"
#include "device.h"
#include "json.h"
#include "scan.h"
#include "xalloc.h"
#include "banned.h"

#define CHUNK 65536

void item_release(struct item *it)
{
	free(it->line);
	free(it->id);
	free(it->run);
	free(it->device);
	memset(it, 0, sizeof(*it));
}

void intake_init(struct intake *in, char *const *files)
{
	static char dash[] = "-", *const standard[] = { dash, NULL };

	memset(in, 0, sizeof(*in));
	in->files = files && *files ? files : standard;
	in->fd = -1;
	in->name = "<stdin>";
	buf_init(&in->text);
	in->seen = idset_new();
}

static void close_file(struct intake *in)
{
	if (in->fd > 0)
		close(in->fd);
	in->fd = -1;
	in->lineno = 0;
}

void intake_release(struct intake *in)
{
	close_file(in);
	buf_release(&in->text);
	idset_free(in->seen);
	arena_release(&in->arena);
}

static int wrong(const struct intake *in, struct err *e, const char *what)
{
	return err_set(e, EX_BADINPUT, "%s:%lu: %s", in->name, in->lineno,
		       what);
}

/* Have a file open; eof is set where there is none left. */
static int next_file(struct intake *in, struct err *e)
{
	const char *name = *in->files;

	if (!name) {
		in->eof = true;
		return 0;
	}
	in->files++;
	if (!strcmp(name, "-")) {
		in->name = "<stdin>";
		in->fd = 0;
		return 0;
	}
	in->name = name;
	in->fd = open(name, O_RDONLY | O_CLOEXEC);
	return in->fd < 0 ? err_sys(e, errno, "cannot open '%s'", name) : 0;
}

int intake_read(struct intake *in, struct err *e)
{
	ssize_t n;

	if (in->eof || (in->fd < 0 && next_file(in, e) < 0))
		return in->eof ? 0 : -1;
	if (in->eof)
		return 0;
	if (in->pos) {
		memmove(in->text.p, in->text.p + in->pos,
			in->text.len - in->pos);
		in->text.len -= in->pos;
		in->scanned -= in->pos;
		in->pos = 0;
	}
	buf_grow(&in->text, CHUNK);
	do
		n = read(in->fd, in->text.p + in->text.len, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0)
		return err_sys(e, errno, "%s: cannot read", in->name);
	in->text.len += (size_t)n;
	in->text.p[in->text.len] = '\0';
	if (n > 0)
		return 0;
	/* Whole lines come first: the end will still be there. */
	if (memchr(in->text.p, '\n', in->text.len))
		return 0;
	if (in->text.len) {
		in->lineno++;
		return wrong(in, e, "record is cut: no newline at the end of "
			     "input");
	}
	close_file(in);
	if (!*in->files)
		in->eof = true;
	return 0;
}

/*
 * What the case itself says of forking.  An environment has to be there before
 * PyTorch is imported, which it is in the process that forks.
 */
static int fork_of(const cJSON *adapter)
{
	const cJSON *x = json_get(adapter, "fork");

	if (json_get(adapter, "env"))
		return DEVICE_FORK_NEVER;
	return cJSON_IsString(x) ? device_fork_find(x->valuestring) : -1;
}

#define USUAL_SAMPLES 10	/* that the usual time is meant for */
#define ALL_SAMPLES 40		/* what "all" may come to */
#define HEAVY_LEVEL 7		/* workloads, stress */
#define HEAVY 4

static double cost_of(const struct case_rec *c)
{
	int n = c->only >= 0 ? 1 : c->samples ? c->samples : ALL_SAMPLES;

	return (n > USUAL_SAMPLES ? (double)n / USUAL_SAMPLES : 1) *
	       (c->level >= HEAVY_LEVEL ? HEAVY : 1);
}

static int read_case(struct intake *in, struct item *it, struct rec *r,
		     struct err *e)
{
	struct case_rec c;
	char key[CASE_KEY_MAX];

	if (case_read(&c, r, e) < 0)
		return err_prefix(e, "%s:%lu", in->name, in->lineno);
	case_key(key, &c);
	if (!idset_add(in->seen, key))
		return err_set(e, EX_BADINPUT, "%s:%lu: case '%s' is here a "
			       "second time", in->name, in->lineno, c.id);
	it->id = xstrdup(c.id);
	it->run = xstrdup(c.run);
	it->device = xstrdup(c.device ? c.device : "");
	it->limit_s = c.timeout_s;
	it->cost = cost_of(&c);
	it->solo = c.isolate;
	it->fork = fork_of(c.adapter);
	return 0;
}

/* Make line an item. */
static int parse(struct intake *in, struct item *it, char *line, size_t len,
		 struct err *e)
{
	struct scan s;
	struct rec r = { .line = line, .len = len };
	int rc = 0;

	if (memchr(line, '\0', len))
		return wrong(in, e, "record holds a NUL byte");
	arena_reset(&in->arena);
	if (scan_record(&s, line, len) < 0) {
		r.json = json_parse_in(&in->arena, line, len, e);
		if (!r.json)
			return err_prefix(e, "%s:%lu: cannot parse record",
					  in->name, in->lineno);
		return wrong(in, e, "not a record of version 1 with kind, id "
			     "and run");
	}
	it->is_case = slice_is(s.kind, "case");
	if (it->is_case) {
		r.json = json_parse_in(&in->arena, line, len, e);
		if (!r.json)
			return err_prefix(e, "%s:%lu: cannot parse record",
					  in->name, in->lineno);
		r.kind = REC_CASE;
		r.id = rec_str_opt(r.json, "id", "");
		r.run = rec_str_opt(r.json, "run", "");
		rc = read_case(in, it, &r, e);
	}
	if (rc == 0) {
		it->line = xstrndup(line, len);
		it->len = len;
	}
	return rc;
}

int intake_next(struct intake *in, struct item *it, struct err *e)
{
	char *line = in->text.p + in->pos, *nl;
	size_t len;
	int rc;

	memset(it, 0, sizeof(*it));
	nl = memchr(in->text.p + in->scanned, '\n',
		    in->text.len - in->scanned);
	if (!nl) {
		in->scanned = in->text.len;
		if (in->text.len - in->pos < REC_MAX)
			return 0;
		in->lineno++;
		return wrong(in, e, "record is over 1 MiB");
	}
	in->lineno++;
	len = (size_t)(nl - line);
	in->pos += len + 1;
	in->scanned = in->pos;
	if (len >= REC_MAX)
		return wrong(in, e, "record is over 1 MiB");
	*nl = '\0';
	rc = parse(in, it, line, len, e);
	if (rc < 0) {
		item_release(it);
		return -1;
	}
	return 1;
}
