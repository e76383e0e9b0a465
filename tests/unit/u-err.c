/* err: one clean line, whatever goes into it. */
#include <errno.h>

#include "err.h"
#include "tap.h"

int main(void)
{
	struct err e = { 0 };
	char longer[3000];
	size_t i;

	is_int(err_set(&e, EX_BADINPUT, "bad '%s'", "x"), -1, "returns -1");
	is_int(e.code, EX_BADINPUT, "keeps the code");
	is_str(e.msg, "bad 'x'", "keeps the message");
	err_sys(&e, ENOENT, "cannot open '%s'", "f");
	is_str(e.msg, "cannot open 'f': No such file or directory",
	       "err_sys adds the reason");
	is_int(e.code, EX_ENVIRON, "and is the environment's fault");
	err_prefix(&e, "%s:%d", "a", 3);
	is_str(e.msg, "a:3: cannot open 'f': No such file or directory",
	       "err_prefix puts in front");
	is_int(e.code, EX_ENVIRON, "and leaves the code");
	err_set(&e, 3, "again: %s", e.msg);
	is_str(e.msg, "again: a:3: cannot open 'f': No such file or directory",
	       "an argument may be the message itself");
	err_set(&e, 3, "%s", "a\nb\x1b[31mc\x7f\td");
	is_str(e.msg, "a?b?[31mc??d", "control bytes are made harmless");
	memset(longer, 'y', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err_set(&e, 3, "%s", longer);
	ok(strlen(e.msg) < sizeof(e.msg) &&
	   !strcmp(e.msg + strlen(e.msg) - 3, "..."), "a long one is cut");
	err_prefix(&e, "p");
	ok(!strncmp(e.msg, "p: yyy", 6), "and can be prefixed still");
	for (i = 0; i + 2 < sizeof(longer); i += 2)
		memcpy(longer + i, "\xc3\xa4", 2);
	longer[i] = '\0';
	err_set(&e, 3, "%s", longer);
	ok((strlen(e.msg) - 3) % 2 == 0, "not amid a character");
	is_int(err_set(NULL, 3, "x"), -1, "nobody need want the message");
	is_int(err_sys(NULL, 3, "x"), -1, "nor this one");
	is_int(err_prefix(NULL, "x"), -1, "nor a prefix");
	return done();
}
