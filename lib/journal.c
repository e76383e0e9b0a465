#define _GNU_SOURCE
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "case.h"
#include "json.h"
#include "jw.h"
#include "proc.h"
#include "rec.h"
#include "xalloc.h"
#include "banned.h"

#define STDERR_MAX 4096
#define STACK_MAX 8192
#define RUNLOG_MAX 32768	/* bytes that are looked at */

int journal_init(struct journal *j, const char *runlog, struct err *e)
{
	memset(j, 0, sizeof(*j));
	buf_init(&j->held);
	buf_init(&j->begun);
	j->runlog = -1;
	j->sample = -1;
	if (!runlog)
		return 0;
	j->runlog = open(runlog, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (j->runlog < 0)
		return err_sys(e, errno, "cannot open '%s'", runlog);
	return 0;
}

void journal_release(struct journal *j)
{
	buf_release(&j->held);
	buf_release(&j->begun);
	if (j->runlog >= 0)
		close(j->runlog);
}

void starts_clear(struct starts *s)
{
	size_t i;

	for (i = 0; i < JOURNAL_STARTS; i++)
		free(s->id[i]);
	memset(s, 0, sizeof(*s));
}

/* Where the last n lines of text begin. */
static const char *last_lines(const char *text, size_t len, int n)
{
	const char *p = text + len;

	while (p > text && (p[-1] != '\n' || p == text + len || --n > 0))
		p--;
	return p;
}

void journal_log(struct journal *j)
{
	static char text[RUNLOG_MAX];
	struct buf all = BUF_INIT;
	const char *from;
	off_t keep;
	ssize_t n;

	if (!j->begun.len || flock(j->runlog, LOCK_EX) < 0)
		return;
	n = pread(j->runlog, text, sizeof(text), 0);
	buf_add(&all, text, n > 0 ? (size_t)n : 0);
	buf_add(&all, j->begun.p, j->begun.len);
	from = last_lines(all.p, all.len, JOURNAL_STARTS);
	keep = all.p + all.len - from;
	if (pwrite(j->runlog, from, (size_t)keep, 0) >= 0 &&
	    ftruncate(j->runlog, keep) < 0)
		errno = 0;
	flock(j->runlog, LOCK_UN);
	buf_release(&all);
	buf_reset(&j->begun);
}

/* When and where a case began, for people. */
static void note_start(struct buf *b, const char *id, pid_t pid)
{
	struct timespec ts;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	buf_addf(b, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ %d %.*s\n",
		 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
		 tm.tm_min, tm.tm_sec, ts.tv_nsec / 1000000, (int)pid,
		 CASE_ID_MAX, id);
}

void journal_start(struct journal *j, struct starts *s, const char *id,
		   pid_t pid)
{
	char **slot = &s->id[s->n++ % JOURNAL_STARTS];

	free(*slot);
	*slot = xstrdup(id);
	j->sample = -1;
	if (j->runlog >= 0)
		note_start(&j->begun, id, pid);
}

void journal_hold(struct journal *j, const char *line, size_t len)
{
	buf_add(&j->held, line, len);
	buf_addch(&j->held, '\n');
}

void journal_drop(struct journal *j)
{
	buf_reset(&j->held);
	j->spilled = false;
	j->sample = -1;
}

static void put_starts(struct jw *w, const struct starts *s)
{
	size_t i = s->n > JOURNAL_STARTS ? s->n - JOURNAL_STARTS : 0;

	jw_key(w, "starts");
	jw_arr(w);
	for (; i < s->n; i++)
		jw_str(w, s->id[i % JOURNAL_STARTS]);
	jw_arr_end(w);
}

/* What a verdict will want to know of the case. */
static void put_case(struct jw *w, const struct item *it)
{
	static const char *const keys[] = {
		"suite", "op", "variant", "dtype", "device", "oracle",
	};
	cJSON *o = json_parse(it->line, it->len, NULL);
	const char *s;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		s = rec_str_opt(o, keys[i], NULL);
		if (s)
			jw_kstr(w, keys[i], s);
	}
	if (rec_int_opt(o, "level", 0) > 0)
		jw_kint(w, "level", rec_int_opt(o, "level", 0));
	cJSON_Delete(o);
}

void journal_death(struct journal *j, const struct item *it,
		   const struct death *d, const struct worker *w,
		   const struct starts *starts)
{
	struct buf b = BUF_INIT;
	struct jw jw;
	const char *s;

	jw_init(&jw, &b);
	jw_record(&jw, "death", it->id, it->run);
	put_case(&jw, it);
	jw_kstr(&jw, "outcome", d->outcome);
	if (d->signal)
		jw_kstr(&jw, "signal", proc_signal_name(d->signal));
	else
		jw_kint(&jw, "exit", d->code);
	s = worker_stderr(w, STDERR_MAX);
	jw_key(&jw, "stderr");
	jw_strn(&jw, s, (size_t)(w->tail.p + w->tail.len - s));
	s = worker_stack(w);
	jw_key(&jw, "stack");
	jw_strn(&jw, s ? s : "",
		s ? strnlen(s, STACK_MAX) : 0);
	put_starts(&jw, starts);
	jw_kint(&jw, "sample", j->sample);
	jw_knum(&jw, "t_s", d->t_s);
	jw_obj_end(&jw);
	journal_hold(j, b.p, b.len);
	buf_release(&b);
}
