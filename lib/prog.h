/*
 * prog: what every tool does on its way in and out.  The one part of the
 * library that writes to stderr, and for tools alone.
 */
#ifndef CTS_PROG_H
#define CTS_PROG_H

#include <getopt.h>
#include <stdbool.h>
#include "err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CTS_VERSION "0.1.0"

struct prog {
	const char *name;	/* "cts-exec" */
	const char *usage;	/* the whole help text: synopsis, empty line… */
};

/*
 * First thing in main: remembers name and usage, sets the C numeric locale,
 * ignores SIGPIPE (a closed pipe is then a write error), and opens fds 0 to 2
 * on /dev/null where they are closed (a tool whose stdout is closed still
 * fails at prog_finish()).
 */
void prog_init(const char *name, const char *usage);

/*
 * getopt_long() with -h/--help and -V/--version dealt with: prints and exits 0
 * (4 if that write fails).  A wrong option prints one line and the synopsis and
 * exits 2.  Otherwise as getopt_long().
 */
int prog_getopt(int argc, char **argv, const char *shorts,
		const struct option *longs);

/* One line "name: msg" on stderr with one write; returns rc. */
int prog_fail(int rc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int prog_fail_err(const struct err *e);		/* returns e->code */
void prog_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As prog_fail(EX_BADUSE, …) with the synopsis line added. */
int prog_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * A whole number option: on a bad or out-of-range text, one line that names
 * the option, the text and the limits, and exit 2.
 */
long long prog_int(const char *opt, const char *text, long long lo,
		   long long hi);
double prog_num(const char *opt, const char *text, double lo, double hi);

/*
 * Move fd 1 to a private close-on-exec fd (returned, -1 with errno) and point
 * fd 1 at stderr: for tools that load code which prints.
 */
int prog_private_stdout(void);

/*
 * Last thing in main: flushes stdio, closes stdout and turns a lost write into
 * EX_ENVIRON; else rc.
 */
int prog_finish(int rc);

/*
 * The folder that holds bin/, templates/, coverage/, …: $CTS_ROOT, else the
 * parent of the folder that the running program lies in.  Borrowed.
 */
const char *prog_root(void);

#ifdef __cplusplus
}
#endif

#endif
