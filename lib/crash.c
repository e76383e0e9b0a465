#define _GNU_SOURCE
#include "crash.h"

#include <execinfo.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"

#define FRAMES 64
#define STACK_BYTES (64 * 1024)

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static char own_stack[STACK_BYTES] __attribute__((aligned(16)));

static void on_fatal(int sig)
{
	static const char title[] = "native stack:\n";
	static volatile sig_atomic_t inside;
	void *frame[FRAMES];
	int n;

	/* SA_RESETHAND has put the default back: a fault in here ends us. */
	if (!inside) {
		inside = 1;
		if (write(2, title, sizeof(title) - 1) > 0) {
			n = backtrace(frame, FRAMES);
			backtrace_symbols_fd(frame, n, 2);
		}
	}
	raise(sig);
}

void crash_install(void)
{
	struct sigaction sa = { .sa_handler = on_fatal,
		.sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_NODEFER) };
	stack_t st = { .ss_sp = own_stack, .ss_size = sizeof(own_stack) };
	void *frame[2];
	size_t i;

	/* The first call loads a library, which a handler must not. */
	backtrace(frame, 2);
	sigaltstack(&st, NULL);
	sigemptyset(&sa.sa_mask);
	for (i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		sigaction(fatal[i], &sa, NULL);
}
