/*
 * err: why a library call failed, as one line for a person.
 *
 * Library functions return 0 (or a count) on success and -1 on failure, with
 * the reason in the struct err that the caller passed.  They never print and
 * never exit; a tool prints err.msg with prog_fail() and leaves with err.code.
 */
#ifndef CTS_ERR_H
#define CTS_ERR_H

#include "banned.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The exit statuses that every man page lists. */
enum cts_exit {
	EX_OK_ = 0,	/* all input consumed, all output written */
	EX_NEGATIVE = 1,/* finished; a claim is broken or a result is missing */
	EX_BADUSE = 2,	/* bad usage */
	EX_BADINPUT = 3,/* not JSON, cut line, unknown version, id twice, … */
	EX_ENVIRON = 4,	/* I/O, memory, no torch, backend import failed */
	EX_CANTRUN = 126,
	EX_NOTFOUND = 127,
};

struct err {
	int code;		/* an enum cts_exit */
	char msg[1024];		/* one line, no full stop, no newline */
};

/*
 * Fill e (which may be NULL) and return -1, so that a caller can write
 * "return err_set(e, EX_BADINPUT, ...)".  Control bytes become '?', an
 * over-long message is cut with "...".
 */
int err_set(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As err_set() with EX_ENVIRON, and ": " and strerror(errnum) appended. */
int err_sys(struct err *e, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "prefix: " before the message that e already holds; returns -1. */
int err_prefix(struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
