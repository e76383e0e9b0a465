/* Counting verdicts in a stream that grows in pieces. */
#include "tap.h"

#include <unistd.h>

#include "follow.h"

static void put(int fd, const char *s)
{
	if (write(fd, s, strlen(s)) < 0)
		ok(false, "can write to a pipe");
}

int main(void)
{
	struct buf b = BUF_INIT;
	struct follow f;
	struct err e;
	int fd[2];

	if (pipe(fd))
		return 1;
	follow_init(&f, fd[0]);
	put(fd[1],
	    "{\"v\":1,\"kind\":\"obs\",\"outcome\":\"fail\"}\n{\"v\":1,");
	put(fd[1], "\"kind\":\"verdict\",\"id\":\"a\",\"run\":\"\",");
	put(fd[1], "\"outcome\":\"fail\"}\n");
	put(fd[1], "not \"kind\":\"verdict\" at all\n\n");
	put(fd[1], "{\"v\":1,\"kind\":\"verdict\",\"outcome\":\"pass\"}\n");
	put(fd[1], "{\"v\":1,\"kind\":\"verdict\",\"outcome\":\"pass\"");
	close(fd[1]);
	ok(follow_read(&f, &e) == 0, "reads to the end");
	ok(f.done == 2 && f.out[OUT_FAIL] == 1 && f.out[OUT_PASS] == 1,
	   "whole verdicts alone count");
	follow_line(&f, 4000, 10, &b);
	is_str(b.p, "2 of 4,000  0%  1 fail  0:10", "too few for an ETA");
	buf_reset(&b);
	f.done = 1000;
	follow_line(&f, 4000, 1300, &b);
	is_str(b.p, "1,000 of 4,000  25%  1 fail  ETA 1:05:00", "an ETA");
	follow_release(&f);
	buf_release(&b);
	return done();
}
