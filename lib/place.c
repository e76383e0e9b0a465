#include "place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "buf.h"
#include "history.h"
#include "banned.h"

#define LIST_MAX (64u << 20)

void place_init(struct place *p)
{
	memset(p, 0, sizeof(*p));
	strmap_init(&p->past);
}

void place_release(struct place *p)
{
	knowncrash_release(&p->rules);
	strmap_release(&p->past);
}

int place_ledger(struct place *p, const char *path, struct err *e)
{
	return knowncrash_read(&p->rules, path, e);
}

int place_history(struct place *p, const char *path, const char *torch,
		  struct err *e)
{
	struct buf b = BUF_INIT;
	char *line, *nl;
	struct stat st;
	int rc;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		rc = buf_read_file(&b, path, LIST_MAX, e);
	else
		rc = history_list(path, torch, &b, e);
	for (line = b.p; rc == 0 && *line; line = nl + 1) {
		nl = line + strcspn(line, "\n");
		if (!*nl)
			break;
		*nl = '\0';
		if (!strcmp(line, HISTORY_NO_FORK))
			p->no_fork = true;
		else
			strmap_add(&p->past, line);
	}
	buf_release(&b);
	return rc;
}

void place_item(struct place *p, struct item *it, const char *device,
		const char *torch)
{
	if (strmap_find(&p->past, it->id) != STRMAP_NONE ||
	    (p->rules.n && knowncrash_find(&p->rules, it->id, device, NULL,
					   torch)))
		it->solo = true;
}
