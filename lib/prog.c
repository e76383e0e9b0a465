#include "prog.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "xalloc.h"

static struct prog prog = { "cts", "" };
static bool stdout_was_closed;
static int private_fd = -1;

void prog_init(const char *name, const char *usage)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	int fd, null;

	prog.name = xalloc_name = name;
	prog.usage = usage;
	setlocale(LC_ALL, "C");
	sigaction(SIGPIPE, &ignore, NULL);
	/*
	 * A closed one is opened the wrong way round, so that using it still
	 * fails while no file of ours can take its number.
	 */
	for (fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (fd == 1)
			stdout_was_closed = true;
		null = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
		if (null >= 0 && null != fd) {
			dup2(null, fd);
			close(null);
		}
	}
}

/* One write, so that lines of several processes don't mix. */
static void emit(int fd, const struct buf *b)
{
	size_t at = 0;
	ssize_t n;

	while (at < b->len) {
		n = write(fd, b->p + at, b->len - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;		/* where could that be told? */
		at += (size_t)n;
	}
}

static void clean(struct buf *b, size_t from)
{
	size_t i;

	for (i = from; i < b->len; i++)
		if ((unsigned char)b->p[i] < 0x20 || b->p[i] == 0x7f)
			b->p[i] = '?';
}

/* "name: kindmsg\n", and the synopsis if asked for. */
__attribute__((format(printf, 3, 0)))
static void message(const char *kind, bool synopsis, const char *fmt,
		    va_list ap)
{
	struct buf b = BUF_INIT;
	const char *end;

	buf_addf(&b, "%s: %s", prog.name, kind);
	buf_vaddf(&b, fmt, ap);
	clean(&b, 0);
	buf_addch(&b, '\n');
	if (synopsis) {
		end = strstr(prog.usage, "\n\n");
		buf_add(&b, prog.usage, end ? (size_t)(end + 1 - prog.usage) :
			strlen(prog.usage));
		if (b.p[b.len - 1] != '\n')
			buf_addch(&b, '\n');
	}
	emit(2, &b);
	buf_release(&b);
}

int prog_fail(int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("", false, fmt, ap);
	va_end(ap);
	return rc;
}

int prog_fail_err(const struct err *e)
{
	return prog_fail(e->code, "%s", e->msg);
}

void prog_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("warning: ", false, fmt, ap);
	va_end(ap);
}

int prog_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("", true, fmt, ap);
	va_end(ap);
	return EX_BADUSE;
}

/* What getopt_long() could not take: one line for it. */
static _Noreturn void bad_option(int c, char **argv, const char *shorts)
{
	const char *word = argv[optind - 1];

	if (c == ':' && !strncmp(word, "--", 2))
		prog_usage("option '%s' needs an argument", word);
	else if (c == ':')
		prog_usage("option '-%c' needs an argument", optopt);
	else if (optopt && optopt < 256 && !strchr(shorts, optopt))
		prog_usage("unknown option '-%c'", optopt);
	else if (optopt)
		prog_usage("option '%s' takes no argument", word);
	else
		prog_usage("unknown or ambiguous option '%s'", word);
	exit(EX_BADUSE);
}

/* The caller's options and, behind them, those that every tool has. */
static struct option *with_common(const struct option *longs)
{
	static const struct option common[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct option *all;
	size_t n = 0;

	while (longs && longs[n].name)
		n++;
	all = xcalloc(n + 3, sizeof(*all));
	if (n)
		memcpy(all, longs, n * sizeof(*all));
	memcpy(all + n, common, sizeof(common));
	return all;
}

int prog_getopt(int argc, char **argv, const char *shorts,
		const struct option *longs)
{
	static struct option *all;
	static char *letters;
	bool plus = *shorts == '+' || *shorts == '-';
	int c;

	if (!all) {	/* kept: a tool has one set of options */
		all = with_common(longs);
		letters = xasprintf("%.*s:%shV", plus, shorts, shorts + plus);
	}
	opterr = 0;
	c = getopt_long(argc, argv, letters, all, NULL);
	switch (c) {
	case 'h':
		fputs(prog.usage, stdout);
		exit(prog_finish(EX_OK_));
	case 'V':
		printf("%s %s\n", prog.name, CTS_VERSION);
		exit(prog_finish(EX_OK_));
	case ':':
	case '?':
		bad_option(c, argv, letters);
	case -1:
		free(all);
		free(letters);
		all = NULL;
	}
	return c;
}

long long prog_int(const char *opt, const char *text, long long lo,
		   long long hi)
{
	long long v;
	char *end;

	errno = 0;
	v = strtoll(text, &end, 10);
	if (!*text || isspace((unsigned char)*text) || *end || errno ||
	    v < lo || v > hi) {
		prog_usage("%s needs a whole number from %lld to %lld, "
			   "not '%s'", opt, lo, hi, text);
		exit(EX_BADUSE);
	}
	return v;
}

double prog_num(const char *opt, const char *text, double lo, double hi)
{
	double v;
	char *end;

	errno = 0;
	v = strtod(text, &end);
	if (!*text || isspace((unsigned char)*text) || *end || errno ||
	    !(v >= lo && v <= hi)) {
		prog_usage("%s needs a number from %g to %g, not '%s'", opt,
			   lo, hi, text);
		exit(EX_BADUSE);
	}
	return v;
}

int prog_private_stdout(void)
{
	int fd;

	if (fflush(stdout))
		return -1;
	/* Well above 2, out of the way of code that closes what it sees. */
	fd = fcntl(1, F_DUPFD_CLOEXEC, 100);
	if (fd < 0)
		fd = fcntl(1, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -1;
	if (dup2(2, 1) < 0) {
		close(fd);
		return -1;
	}
	private_fd = fd;
	return fd;
}

int prog_finish(int rc)
{
	bool bad = ferror(stdout);
	int errnum = 0;

	if (fclose(stdout)) {
		bad = true;
		errnum = errno;
	}
	if (private_fd >= 0 && close(private_fd)) {
		bad = true;
		errnum = errno;
	}
	private_fd = -1;
	if (stdout_was_closed) {
		bad = true;
		errnum = EBADF;
	}
	if (!bad)
		return rc;
	if (errnum)
		return prog_fail(EX_ENVIRON, "cannot write to stdout: %s",
				 strerror(errnum));
	return prog_fail(EX_ENVIRON, "cannot write to stdout");
}

const char *prog_root(void)
{
	static char root[PATH_MAX];
	const char *env = getenv("CTS_ROOT");
	char *slash;
	ssize_t n;
	int i;

	if (env && *env)
		return env;
	if (root[0])
		return root;
	n = readlink("/proc/self/exe", root, sizeof(root) - 1);
	if (n <= 0)
		n = 0;
	root[n] = '\0';
	for (i = 0; i < 2; i++) {
		slash = strrchr(root, '/');
		if (slash)
			*slash = '\0';
	}
	if (!root[0]) {
		root[0] = n ? '/' : '.';
		root[1] = '\0';
	}
	return root;
}
