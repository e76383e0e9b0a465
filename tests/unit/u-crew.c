/* crew: a worker that nothing can end is left behind, and not waited for. */
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "proc.h"
#include "tap.h"

static double check_until(struct crew *c, enum worker_end end, double patience)
{
	double from = proc_now();

	while (c->m[CREW_BATCH].w.end != end && proc_now() - from < patience) {
		crew_check(c);
		usleep(10000);
	}
	return proc_now() - from;
}

int main(void)
{
	static char *argv[] = { "sleep", "1000", NULL };
	struct crew c;
	struct err e;
	int pair[2];
	double s;

	/* As it should be. */
	crew_init(&c);
	c.argv = argv;
	ok(crew_start(&c, CREW_BATCH, false, &e) == 0, "a worker");
	crew_doom(&c.m[CREW_BATCH], "hang", false);
	s = check_until(&c, WORKER_EXITED, 10);
	ok(c.m[CREW_BATCH].w.end == WORKER_EXITED && s < 5, "can be ended");
	is_int(WTERMSIG(c.m[CREW_BATCH].w.status), SIGABRT, "with a stack");
	is_str(c.m[CREW_BATCH].doom, "hang", "what for is remembered");
	crew_bury(&c.m[CREW_BATCH]);

	/*
	 * A driver that waits in the kernel can't be had here; what is seen of
	 * it can: a zygote that never tells of the worker's end.
	 */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
		return 1;
	ok(crew_start(&c, CREW_BATCH, true, &e) == 0, "another");
	c.z.sock = pair[0];
	c.m[CREW_BATCH].w.forked = true;
	crew_doom(&c.m[CREW_BATCH], "timeout", true);
	s = check_until(&c, WORKER_ABANDONED, 20);
	ok(c.m[CREW_BATCH].w.end == WORKER_ABANDONED && s > 4 && s < 15,
	   "is given up after a while");
	crew_bury(&c.m[CREW_BATCH]);
	ok(crew_start(&c, CREW_BATCH, true, &e) == 0,
	   "and its place is free for the next");

	/* A zygote that goes takes its workers along. */
	c.m[CREW_BATCH].w.forked = true;
	close(pair[1]);
	check_until(&c, WORKER_LOST, 5);
	is_int(c.m[CREW_BATCH].w.end, WORKER_LOST, "a lost one is known");
	crew_release(&c);
	return done();
}
