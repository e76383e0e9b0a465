#define _GNU_SOURCE	/* pipe2 */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "proc.h"
#include "rec.h"
#include "scan.h"
#include "xalloc.h"
#include "banned.h"

#define CHUNK 65536
#define PATIENCE_MS 900000

static void word(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

void symptom_of(struct symptom *s, const cJSON *verdict, const cJSON *death)
{
	const cJSON *checks = json_get(verdict, "checks");
	const cJSON *check;
	const char *got;

	memset(s, 0, sizeof(*s));
	s->sample = -1;
	s->death = death != NULL;
	word(s->outcome, sizeof(s->outcome),
	     rec_str_opt(verdict, "outcome", ""));
	word(s->check, sizeof(s->check), rec_str_opt(verdict, "check", ""));
	if (death) {
		/* It died in a sample after the last that was seen. */
		s->sample = rec_int_opt(death, "sample", -1) + 1;
		word(s->detail, sizeof(s->detail),
		     rec_str_opt(death, "signal", "exit"));
		return;
	}
	check = json_get(checks, s->check);
	s->sample = rec_int_opt(check, "sample",
				rec_int_opt(verdict, "first", -1));
	/* Of an error the type: the rest may name sizes. */
	got = rec_str_opt(check, strcmp(s->check, "error_missing") ? "got" :
			  "want", "");
	if (!strncmp(s->check, "error_", 6))
		snprintf(s->detail, sizeof(s->detail), "%.*s",
			 (int)strcspn(got, ":"), got);
}

bool symptom_same(const struct symptom *a, const struct symptom *b)
{
	return !strcmp(a->outcome, b->outcome) && !strcmp(a->check, b->check) &&
	       !strcmp(a->detail, b->detail);
}

void attempts_init(struct attempts *a)
{
	memset(a, 0, sizeof(*a));
	a->from = -1;
	buf_init(&a->text);
	buf_init(&a->record);
	buf_init(&a->verdict);
}

int attempts_start(struct attempts *a, char *const argv[], struct err *e)
{
	struct proc_spec spec = { .argv = argv, .err = 2,
				  .flags = PROC_PDEATH | PROC_GROUP };
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) < 0)
		return err_sys(e, errno, "cannot make a pipe");
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return err_sys(e, errno, "cannot make a pipe");
	}
	spec.in = in[0];
	spec.out = out[1];
	a->pid = proc_spawn(&spec, e);
	close(in[0]);
	close(out[1]);
	a->to = fdopen(in[1], "w");
	a->from = out[0];
	if (a->pid < 0) {
		a->pid = 0;
		return -1;
	}
	if (!a->to)
		return err_sys(e, errno, "cannot use a pipe");
	return 0;
}

/* Put value in the place of key, or at the end. */
static void set(cJSON *o, const char *key, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(o, key);
	cJSON_AddItemToObject(o, key, value);
}

static int send_case(struct attempts *a, const cJSON *what,
		     const struct attempt *how, struct err *e)
{
	cJSON *o = cJSON_Duplicate(what, true);
	char *text;

	if (how->sample >= 0)
		set(o, "sample", cJSON_CreateNumber((double)how->sample));
	if (cJSON_GetArraySize(how->edits))
		set(o, "edits", cJSON_Duplicate(how->edits, true));
	if (how->on_cpu) {
		set(o, "device", cJSON_CreateString("cpu"));
		cJSON_DeleteItemFromObjectCaseSensitive(o, "backend_import");
		cJSON_DeleteItemFromObjectCaseSensitive(o, "adapter");
	}
	text = cJSON_PrintUnformatted(o);
	buf_reset(&a->record);
	buf_addstr(&a->record, text);
	cJSON_free(text);
	set(o, "attempt", cJSON_CreateNumber(++a->n));
	text = cJSON_PrintUnformatted(o);
	cJSON_Delete(o);
	fprintf(a->to, "%s\n", text);
	cJSON_free(text);
	if (fflush(a->to) == EOF || ferror(a->to))
		return err_set(e, EX_ENVIRON, "the command that tries cases "
			       "takes no more");
	return 0;
}

/*
 * The next line, NUL-terminated in place: 1, or 0 where none comes: at its end,
 * or when it has been silent for longer than any case may take.
 */
static int next_line(struct attempts *a, char **line, size_t *len)
{
	struct pollfd p = { .fd = a->from, .events = POLLIN };
	size_t seen = a->pos;
	char *nl;
	ssize_t n;

	for (;;) {
		nl = memchr(a->text.p + seen, '\n', a->text.len - seen);
		if (nl)
			break;
		if (a->pos) {
			a->text.len -= a->pos;
			memmove(a->text.p, a->text.p + a->pos, a->text.len);
			a->pos = 0;
		}
		seen = a->text.len;
		buf_grow(&a->text, CHUNK);
		n = poll(&p, 1, PATIENCE_MS);
		if (n > 0)
			n = read(a->from, a->text.p + seen, CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || seen > REC_MAX)
			return 0;
		a->text.len += (size_t)n;
	}
	*line = a->text.p + a->pos;
	*len = (size_t)(nl - *line);
	*nl = '\0';
	a->pos += *len + 1;
	return 1;
}

/* Read on to the verdict: 0, or -1 with e set. */
static int hear(struct attempts *a, const char *id, struct symptom *s,
		struct err *e)
{
	cJSON *death = NULL, *verdict = NULL;
	struct scan sc;
	char *line;
	size_t n;

	while (!verdict && next_line(a, &line, &n)) {
		if (scan_record(&sc, line, n) < 0 || !slice_is(sc.id, id))
			continue;
		if (slice_is(sc.kind, "death") && !death)
			death = json_parse(line, n, e);
		if (!slice_is(sc.kind, "verdict"))
			continue;
		verdict = json_parse(line, n, e);
		buf_reset(&a->verdict);
		buf_add(&a->verdict, line, n);
	}
	if (verdict)
		symptom_of(s, verdict, death);
	cJSON_Delete(death);
	cJSON_Delete(verdict);
	return verdict ? 0 : err_set(e, EX_ENVIRON, "the command that tries "
				     "cases has no verdict on '%s'", id);
}

int attempts_try(struct attempts *a, const cJSON *what,
		 const struct attempt *how, struct symptom *s, struct err *e)
{
	if (send_case(a, what, how, e) < 0)
		return -1;
	return hear(a, rec_str_opt(what, "id", ""), s, e);
}

void attempts_stop(struct attempts *a)
{
	if (a->to)
		fclose(a->to);
	if (a->from >= 0)
		close(a->from);
	/* A pipe of which a part has ended may wait for ever for the rest. */
	if (a->pid)
		proc_kill(a->pid, SIGTERM);
	while (a->pid && waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		;
	buf_release(&a->text);
	buf_release(&a->record);
	buf_release(&a->verdict);
	attempts_init(a);
}
