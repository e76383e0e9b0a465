/* prog: each in a child, since most of it ends the process. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "prog.h"
#include "tap.h"

static const char usage[] =
	"usage: cts-x [-n] [-o FILE]\n"
	"       cts-x -h\n"
	"\n"
	"Do x.\n";

static const struct option longs[] = {
	{ "dry-run", no_argument, NULL, 'n' },
	{ "dry-out", no_argument, NULL, 'O' },
	{ "output", required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 },
};

/* Parse the words of text; status 10 + what was seen, or what prog says. */
static void parse(void *text)
{
	char *argv[10] = { (char *)(uintptr_t)"cts-x" }, *save = NULL, *copy;
	int argc = 1, c, seen = 0;

	copy = strdup(text);
	for (copy = strtok_r(copy, " ", &save); copy && argc < 9;
	     copy = strtok_r(NULL, " ", &save))
		argv[argc++] = copy;
	prog_init("cts-x", usage);
	while ((c = prog_getopt(argc, argv, "no:", longs)) != -1)
		seen += c == 'n' ? 1 : c == 'o' ? 2 : 50;
	_exit(10 + seen + 4 * (argc - optind));
}

static void test_options(void)
{
	static const struct {
		const char *args;
		int rc;
		const char *err;
	} v[] = {
		{ "", 10, "" }, { "-n", 11, "" }, { "-n -o f x", 17, "" },
		{ "--output=f --dry-run", 13, "" }, { "-nof", 13, "" },
		{ "--out f", 12, "" }, { "-- -n", 14, "" },
		{ "-z", 2, "cts-x: unknown option '-z'\n" },
		{ "-nz", 2, "cts-x: unknown option '-z'\n" },
		{ "-o", 2, "cts-x: option '-o' needs an argument\n" },
		{ "--output", 2,
		  "cts-x: option '--output' needs an argument\n" },
		{ "--nope", 2,
		  "cts-x: unknown or ambiguous option '--nope'\n" },
		{ "--dry", 2,
		  "cts-x: unknown or ambiguous option '--dry'\n" },
		{ "--dry-run=1", 2,
		  "cts-x: option '--dry-run=1' takes no argument\n" },
		{ "-h", 0, "" }, { "--help", 0, "" }, { "-V", 0, "" },
		{ "--version", 0, "" }, { "-n --help", 0, "" },
	};
	static const char synopsis[] =
		"usage: cts-x [-n] [-o FILE]\n       cts-x -h\n";
	char err[1000], want[1000];
	size_t i;
	int rc;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		rc = tap_child(parse, (void *)(uintptr_t)v[i].args, err,
			       sizeof(err));
		ok(WIFEXITED(rc) && WEXITSTATUS(rc) == v[i].rc,
		   "'%s' gives %d", v[i].args, v[i].rc);
		snprintf(want, sizeof(want), "%s%s", v[i].err,
			 *v[i].err ? synopsis : "");
		is_str(err, want, "and says what it should");
	}
}

static void numbers(void *p)
{
	prog_init("cts-x", usage);
	if (prog_int("-j", p, 1, 64) == 7)
		_exit(0);
	_exit(1);
}

static void floats(void *p)
{
	prog_init("cts-x", usage);
	_exit(prog_num("-t", p, 0, 100) == 2.5 ? 0 : 1);
}

static void test_numbers(void)
{
	static const char *const bad[] = {
		"0", "65", "-1", "", "x", "7x", " 7", "7.0", "1e1",
		"99999999999999999999",
	};
	static const char *const badf[] = {
		"-1", "101", "", "x", "nan", "inf", " 1", "1s",
	};
	char err[1000];
	size_t i;
	int rc;

	is_int(tap_child(numbers, (void *)(uintptr_t)"7", err, sizeof(err)), 0,
	       "a number is read");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rc = tap_child(numbers, (void *)(uintptr_t)bad[i], err,
			       sizeof(err));
		ok(WIFEXITED(rc) && WEXITSTATUS(rc) == 2 &&
		   !strncmp(err, "cts-x: -j needs a whole number from 1 to 64, "
			    "not '", 50), "'%s' is none", bad[i]);
	}
	is_int(tap_child(floats, (void *)(uintptr_t)"2.5", err, sizeof(err)),
	       0, "seconds are read");
	for (i = 0; i < sizeof(badf) / sizeof(badf[0]); i++) {
		rc = tap_child(floats, (void *)(uintptr_t)badf[i], err,
			       sizeof(err));
		ok(WIFEXITED(rc) && WEXITSTATUS(rc) == 2, "'%s' are none",
		   badf[i]);
	}
}

static void messages(void *p)
{
	struct err e;

	(void)p;
	prog_init("cts-x", usage);
	err_set(&e, 3, "bad\x1b[31m '%s'", "a\nb");
	if (prog_fail_err(&e) != 3)
		_exit(1);
	if (prog_fail(4, "worse \x7f %d", 5) != 4)
		_exit(1);
	prog_warn("take care");
	if (prog_usage("no file") != 2)
		_exit(1);
}

static void to_full(void *p)
{
	int fd = open("/dev/full", O_WRONLY);

	(void)p;
	prog_init("cts-x", usage);
	dup2(fd, 1);
	printf("lost\n");
	_exit(prog_finish(0));
}

static void help_to_full(void *p)
{
	char *argv[] = { (char *)(uintptr_t)"cts-x",
			 (char *)(uintptr_t)"--help", NULL };
	int fd = open("/dev/full", O_WRONLY);

	(void)p;
	prog_init("cts-x", usage);
	dup2(fd, 1);
	prog_getopt(2, argv, "", NULL);
	_exit(50);
}

static void stdout_closed(void *p)
{
	(void)p;
	close(1);
	prog_init("cts-x", usage);
	if (open("/dev/null", O_RDONLY) < 3)
		_exit(51);
	_exit(prog_finish(1));
}

static void stdin_closed(void *p)
{
	char c;

	(void)p;
	close(0);
	prog_init("cts-x", usage);
	_exit(read(0, &c, 1) < 0 && open("/dev/null", O_RDONLY) > 2 ?
	      prog_finish(0) : 51);
}

static void pipe_closed(void *p)
{
	int fds[2];

	(void)p;
	prog_init("cts-x", usage);
	if (pipe(fds))
		_exit(50);
	close(fds[0]);
	dup2(fds[1], 1);
	printf("lost\n");
	_exit(prog_finish(0));
}

static void private_out(void *p)
{
	int fds[2], fd;
	char got[10] = "";

	(void)p;
	prog_init("cts-x", usage);
	if (pipe(fds))
		_exit(50);
	dup2(fds[1], 1);
	fd = prog_private_stdout();
	if (fd < 3 || !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
		_exit(51);
	printf("noise\n");
	fflush(stdout);
	if (write(fd, "record", 6) != 6 || read(fds[0], got, 9) != 6 ||
	    strcmp(got, "record"))
		_exit(52);
	_exit(prog_finish(0));
}

static void keep_rc(void *p)
{
	(void)p;
	prog_init("cts-x", usage);
	printf("fine\n");
	_exit(prog_finish(1));
}

static void test_endings(void)
{
	static const struct {
		void (*f)(void *);
		int rc;
		const char *err, *name;
	} v[] = {
		{ messages, 0, "cts-x: bad?[31m 'a?b'\ncts-x: worse ? 5\n"
		  "cts-x: warning: take care\ncts-x: no file\n"
		  "usage: cts-x [-n] [-o FILE]\n       cts-x -h\n",
		  "messages are clean lines" },
		{ to_full, 4, "cts-x: cannot write to stdout: "
		  "No space left on device\n", "a full disk is no success" },
		{ help_to_full, 4, "cts-x: cannot write to stdout: "
		  "No space left on device\n", "nor is help that is lost" },
		{ stdout_closed, 4, "cts-x: cannot write to stdout: "
		  "Bad file descriptor\n", "nor is a closed stdout" },
		{ stdin_closed, 0, "", "a closed stdin can't be read" },
		{ pipe_closed, 4, "cts-x: cannot write to stdout: "
		  "Broken pipe\n", "a closed pipe is no signal" },
		{ private_out, 0, "noise\n",
		  "records have an fd of their own" },
		{ keep_rc, 1, "", "else the status is the tool's" },
	};
	char err[1000];
	size_t i;
	int rc;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		rc = tap_child(v[i].f, NULL, err, sizeof(err));
		ok(WIFEXITED(rc) && WEXITSTATUS(rc) == v[i].rc, "%s (%d)",
		   v[i].name, WIFEXITED(rc) ? WEXITSTATUS(rc) : -1);
		is_str(err, v[i].err, "with what it should say");
	}
}

int main(void)
{
	const char *root;

	test_options();
	test_numbers();
	test_endings();
	unsetenv("CTS_ROOT");
	root = prog_root();
	ok(root[0] == '/' && !strstr(root, "u-prog"),
	   "the root is above the program's folder");
	setenv("CTS_ROOT", "/somewhere", 1);
	is_str(prog_root(), "/somewhere", "unless CTS_ROOT says otherwise");
	return done();
}
