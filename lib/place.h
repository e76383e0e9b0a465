/*
 * place: where a case runs: with others, or alone.  It says nothing about
 * whether it runs nor how it is judged.
 */
#ifndef CTS_PLACE_H
#define CTS_PLACE_H

#include <stdbool.h>
#include "err.h"
#include "intake.h"
#include "knowncrash.h"
#include "strmap.h"

struct place {
	struct knowncrashes rules;
	struct strmap past;	/* ids */
	bool no_fork;		/* earlier runs found that it hangs */
};

void place_init(struct place *p);
void place_release(struct place *p);
int place_ledger(struct place *p, const char *path, struct err *e);

/*
 * Earlier runs: a folder of them (see history_list()), or a file that holds
 * what that made.  0, or -1 with e set.
 */
int place_history(struct place *p, const char *path, const char *torch,
		  struct err *e);

/* Set it->solo where the case had better be alone. */
void place_item(struct place *p, struct item *it, const char *device,
		const char *torch);

#endif
