/*
 * attempt: a case tried again and again by a command that stays, with another
 * sample or edits each time, and what each try came to.
 */
#ifndef CTS_ATTEMPT_H
#define CTS_ATTEMPT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <cjson/cJSON.h>
#include "buf.h"
#include "err.h"

/* What a failure is told by: two that are the same have the same words. */
struct symptom {
	char outcome[16];
	char check[32];		/* that was broken, or "" */
	char detail[64];	/* exception's type, or signal; or "" */
	long long sample;	/* that failed, -1: not known */
	bool death;		/* of the process */
};

/* From a verdict, and the death that it is of, which may be NULL. */
void symptom_of(struct symptom *s, const cJSON *verdict, const cJSON *death);
bool symptom_same(const struct symptom *a, const struct symptom *b);

struct attempts {
	pid_t pid;		/* 0: not started */
	FILE *to;
	int from;
	struct buf text;	/* read from it */
	size_t pos;		/* and looked at */
	int n;			/* tries so far */
	struct buf record;	/* the case of the last try, as it was sent */
	struct buf verdict;	/* its verdict */
};

void attempts_init(struct attempts *a);

/*
 * Start argv, which reads cases and writes records with a verdict for each.  0,
 * or -1 with e set (as proc_spawn()).
 */
int attempts_start(struct attempts *a, char *const argv[], struct err *e);

/* How a try differs from the case as it is. */
struct attempt {
	long long sample;	/* the only one to run; -1: all */
	const cJSON *edits;	/* a list, borrowed; or NULL */
	bool on_cpu;		/* and not on the case's device */
};

/*
 * Try the case record what: 0 with what came of it in *s, or -1 with e set
 * where the command gives no verdict.
 */
int attempts_try(struct attempts *a, const cJSON *what,
		 const struct attempt *how, struct symptom *s, struct err *e);

/* End the command and wait for it; harmless where none was started. */
void attempts_stop(struct attempts *a);

#endif
