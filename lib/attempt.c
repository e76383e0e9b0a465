#define _GNU_SOURCE	/* pipe2 */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
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

static void word(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

void symptom_of(struct symptom *s, const cJSON *verdict, const cJSON *death)
{
	const cJSON *checks = cJSON_GetObjectItemCaseSensitive(verdict,
							       "checks");
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
	check = cJSON_GetObjectItemCaseSensitive(checks, s->check);
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

int attempts_start(struct attempts *a, char *const argv[], struct err *e)
{
	struct proc_spec spec = { .argv = argv, .err = 2,
				  .flags = PROC_PDEATH };
	int in[2], out[2];

	memset(a, 0, sizeof(*a));
	buf_init(&a->record);
	buf_init(&a->verdict);
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
	a->from = fdopen(out[0], "r");
	if (a->pid < 0) {
		a->pid = 0;
		return -1;
	}
	if (!a->to || !a->from)
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

/* Read on to the verdict: 0, or -1 with e set. */
static int hear(struct attempts *a, const char *id, struct symptom *s,
		struct err *e)
{
	cJSON *death = NULL, *verdict = NULL;
	struct scan sc;
	ssize_t n;

	while (!verdict && (n = getline(&a->line, &a->cap, a->from)) > 0) {
		n -= a->line[n - 1] == '\n';
		if (scan_record(&sc, a->line, (size_t)n) < 0 ||
		    !slice_is(sc.id, id))
			continue;
		if (slice_is(sc.kind, "death") && !death)
			death = json_parse(a->line, (size_t)n, e);
		if (!slice_is(sc.kind, "verdict"))
			continue;
		verdict = json_parse(a->line, (size_t)n, e);
		buf_reset(&a->verdict);
		buf_add(&a->verdict, a->line, (size_t)n);
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
	if (a->from)
		fclose(a->from);
	while (a->pid && waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(a->line);
	buf_release(&a->record);
	buf_release(&a->verdict);
	memset(a, 0, sizeof(*a));
	buf_init(&a->record);
	buf_init(&a->verdict);
}
