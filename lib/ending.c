#define _GNU_SOURCE
#include "ending.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "proc.h"
#include "banned.h"

bool ending_foreign(const struct member *mb)
{
	int sig;

	if (mb->w.end == WORKER_LOST)
		return true;
	if (mb->w.end != WORKER_EXITED || mb->doom ||
	    !WIFSIGNALED(mb->w.status))
		return false;
	sig = WTERMSIG(mb->w.status);
	return sig == SIGKILL || sig == SIGTERM || sig == SIGINT ||
	       sig == SIGHUP;
}

static const char *const memory_texts[] = {
	"std::bad_alloc", "MemoryError", "out of memory",
};

static const char *outcome_of(const struct member *mb)
{
	size_t i;

	if (mb->doom)
		return mb->doom;
	if (mb->w.end != WORKER_EXITED || !WIFSIGNALED(mb->w.status))
		return "crash";
	if (WTERMSIG(mb->w.status) == SIGKILL)
		return proc_oom_kills() > mb->w.oom_kills ? "oom" : "crash";
	if (WTERMSIG(mb->w.status) != SIGABRT)
		return "crash";
	for (i = 0; i < sizeof(memory_texts) / sizeof(memory_texts[0]); i++)
		if (memmem(mb->w.tail.p, mb->w.tail.len, memory_texts[i],
			   strlen(memory_texts[i])))
			return "oom";
	return "crash";
}

struct death ending_of(const struct member *mb)
{
	struct death d = { .outcome = outcome_of(mb) };

	/* The signal that we used says nothing, and which it was is chance. */
	if (mb->doom || mb->w.end != WORKER_EXITED)
		d.signal = SIGKILL;
	else if (WIFSIGNALED(mb->w.status))
		d.signal = WTERMSIG(mb->w.status);
	else
		d.code = WEXITSTATUS(mb->w.status);
	return d;
}

void ending_text(const struct member *mb, char how[32])
{
	if (mb->w.end == WORKER_EXITED)
		proc_status_text(mb->w.status, how);
	else
		snprintf(how, 32, mb->w.end == WORKER_LOST ? "lost" :
			 "can't be killed");
}
