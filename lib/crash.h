/*
 * crash: a native stack on stderr when a worker dies of a fatal signal.
 */
#ifndef CTS_CRASH_H
#define CTS_CRASH_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * On SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT write "native stack:" and the
 * frames to stderr, then let the signal have its default effect, so that the
 * parent sees the true cause of death.  Works on an overflown stack: it
 * has one of its own.  Call it before Python's faulthandler.enable(), which
 * prints first and then hands the signal on; once in each worker.
 */
void crash_install(void);

#ifdef __cplusplus
}
#endif

#endif
