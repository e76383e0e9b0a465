/* buf: growing, and reading files. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "buf.h"
#include "err.h"
#include "tap.h"

static void test_read(void)
{
	char path[] = "/tmp/u-buf.XXXXXX";
	int fd = mkstemp(path);
	struct buf b = BUF_INIT;
	struct err e = { 0 };
	ssize_t n = write(fd, "one\ntwo\n", 8);

	is_int(n, 8, "a file is made");
	buf_addstr(&b, "zero\n");
	is_int(buf_read_file(&b, path, 8, &e), 0, "a file of just max is read");
	is_str(b.p, "zero\none\ntwo\n", "and appended");
	is_int(buf_read_file(&b, path, 7, &e), -1, "a larger one is not");
	is_int(e.code, EX_BADINPUT, "which is bad input");
	is_str(b.p, "zero\none\ntwo\n", "and nothing was appended");
	buf_reset(&b);
	is_int(buf_read_file(&b, path, (size_t)-1, &e), 0, "no limit is one");
	is_int(b.len, 8, "all of it is there");
	is_int(buf_read_file(&b, "/nonexistent/x", 9, &e), -1, "no such file");
	is_int(e.code, EX_ENVIRON, "is the environment's fault");
	is_str(e.msg, "cannot open '/nonexistent/x': "
	       "No such file or directory", "and is named");
	is_int(buf_read_file(&b, "/", 9, &e), -1, "a folder can't be read");
	ok(strstr(e.msg, "Is a directory") != NULL, "and it says so");
	close(fd);
	fd = open(path, O_RDONLY);
	dup2(fd, 0);
	close(fd);
	buf_reset(&b);
	is_int(buf_read_file(&b, "-", 100, &e), 0, "- is standard input");
	is_str(b.p, "one\ntwo\n", "with all of it");
	unlink(path);
	buf_release(&b);
}

int main(void)
{
	struct buf b = BUF_INIT;
	char *s;
	int i;

	is_str(b.p, "", "a fresh one is empty text");
	buf_release(&b);
	buf_reset(&b);
	is_str(b.p, "", "released or reset, too");
	s = buf_detach(&b);
	is_str(s, "", "it can be detached");
	free(s);
	buf_add(&b, NULL, 0);
	is_str(b.p, "", "adding nothing is nothing");
	buf_add(&b, "a\0b", 3);
	ok(b.len == 3 && !memcmp(b.p, "a\0b", 4), "holds a NUL, ends in one");
	buf_reset(&b);
	for (i = 0; i < 10000; i++)
		buf_addch(&b, (char)('a' + i % 26));
	ok(b.len == 10000 && strlen(b.p) == 10000, "grows by bytes");
	buf_addf(&b, "%0300d|", 5);
	ok(b.len == 10301 && b.p[10300] == '|', "grows by formats");
	buf_addstr(&b, "end");
	is_str(b.p + 10301, "end", "grows by strings");
	buf_grow(&b, 100000);
	ok(b.cap > 110304 && b.len == 10304, "makes room ahead");
	s = buf_detach(&b);
	ok(strlen(s) == 10304 && !b.len && !b.cap, "what is detached is ours");
	free(s);
	for (i = 0; i < 200; i++)
		buf_addf(&b, "%s", "0123456789");
	is_int(b.len, 2000, "formats that end at every place of the memory");
	buf_release(&b);
	test_read();
	buf_recycle(&b);
	ok(b.len == 0, "recycled it is empty");
	buf_grow(&b, 2 << 20);
	buf_recycle(&b);
	ok(b.cap == 0, "and has no more than little memory");
	return done();
}
