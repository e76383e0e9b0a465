#include "hostargs.h"

#include <stdlib.h>
#include <string.h>
#include "ledger.h"
#include "xalloc.h"

static bool is_position(const char *s)
{
	return *s >= '0' && *s <= '9' && strlen(s) <= 2 &&
		strtol(s, NULL, 10) < 64;
}

static const struct ledger_key keys[] = {
	{ "op", true, NULL, NULL },
	{ "arg", true, is_position, "a position from 0 to 63" },
	{ "reason", true, NULL, NULL },
};

static int add(void *ctx, const char *const *value, int line, struct err *e)
{
	struct hostargs *h = ctx;

	(void)line;
	(void)e;
	h->v = xgrow(h->v, &h->cap, h->n + 1, sizeof(*h->v));
	h->v[h->n].op = xstrdup(value[0]);
	h->v[h->n++].arg = (int)strtol(value[1], NULL, 10);
	return 0;
}

int hostargs_read(struct hostargs *h, const char *path, struct err *e)
{
	memset(h, 0, sizeof(*h));
	return ledger_read(path, keys, sizeof(keys) / sizeof(*keys), add, h,
			   e);
}

void hostargs_release(struct hostargs *h)
{
	while (h->n > 0)
		free(h->v[--h->n].op);
	free(h->v);
	memset(h, 0, sizeof(*h));
}

/* "narrow" is all that is called so: "narrow.Tensor", too. */
static bool is_of(const char *op, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(op, name, n) && (!op[n] || op[n] == '.');
}

uint64_t hostargs_of(const struct hostargs *h, const char *op)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < h->n; i++)
		if (is_of(op, h->v[i].op))
			bits |= UINT64_C(1) << h->v[i].arg;
	return bits;
}
