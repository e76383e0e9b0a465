/*
 * ending: how a worker that is no more came to its end.
 */
#ifndef CTS_ENDING_H
#define CTS_ENDING_H

#include <stdbool.h>
#include "crew.h"
#include "journal.h"

/* May somebody else have brought it about, and not what it ran? */
bool ending_foreign(const struct member *mb);

/* The outcome, signal and exit code, without the time that it took. */
struct death ending_of(const struct member *mb);

/* The same for a person: "exit 3", "SIGSEGV", "lost". */
void ending_text(const struct member *mb, char how[32]);

#endif
