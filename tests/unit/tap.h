/*
 * tap: TAP for unit tests in C.  Each is a plain main:
 *
 *	ok(x == 1, "x is one");
 *	is_str(got, "want", "the name");
 *	return done();
 *
 * A test point's name says what is then true.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int tap_n, tap_bad;

__attribute__((format(printf, 4, 5), unused))
static bool tap_ok(bool good, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_n);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!good) {
		tap_bad++;
		printf("#   at %s line %d\n", file, line);
	}
	fflush(stdout);
	return good;
}

#define ok(cond, ...) tap_ok(cond, __FILE__, __LINE__, __VA_ARGS__)

#define is_str(got, want, ...) do { \
	const char *got_ = (got), *want_ = (want); \
	if (!ok(got_ && !strcmp(got_, want_), __VA_ARGS__)) \
		printf("# got:  '%s'\n# want: '%s'\n", got_ ? got_ : "NULL", \
		       want_); \
} while (0)

#define is_int(got, want, ...) do { \
	long long got_ = (long long)(got), want_ = (long long)(want); \
	if (!ok(got_ == want_, __VA_ARGS__)) \
		printf("# got:  %lld\n# want: %lld\n", got_, want_); \
} while (0)

/*
 * Run f(arg) in a child with stderr in err[0..n): its wait status.  The child
 * leaves with 0 where f returns, and says nothing on stdout.
 */
__attribute__((unused))
static int tap_child(void (*f)(void *), void *arg, char *err, size_t n)
{
	int fds[2], status = -1;
	size_t len = 0;
	ssize_t got;
	pid_t pid;

	fflush(stdout);
	if (pipe(fds) || (pid = fork()) < 0)
		return -1;
	if (!pid) {
		dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		if (!freopen("/dev/null", "w", stdout))
			_exit(99);
		f(arg);
		_exit(0);
	}
	close(fds[1]);
	while (len + 1 < n && (got = read(fds[0], err + len, n - 1 - len)) > 0)
		len += (size_t)got;
	err[len] = '\0';
	close(fds[0]);
	waitpid(pid, &status, 0);
	return status;
}

__attribute__((unused))
static int done(void)
{
	printf("1..%d\n", tap_n);
	return tap_bad != 0;
}

#endif
