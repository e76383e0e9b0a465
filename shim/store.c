#include "store.h"

#include <stdlib.h>
#include <string.h>
#include "cache.h"
#include "identity.h"
#include "sha256.h"
#include "xalloc.h"

/* The folder in the cache for what has that identity: new, or NULL. */
static char *auto_dir(const char *identity, struct err *e)
{
	char *torch = NULL, *dir = cache_dir(&torch, e), *ret = NULL, hex[65];

	if (dir) {
		sha256_hex(identity, strlen(identity), hex);
		ret = xasprintf("%s/corpus-%.12s", dir, hex);
	}
	free(torch);
	free(dir);
	return ret;
}

static int open_dir(struct store *s, const char *identity, struct err *e)
{
	char *dir = strcmp(s->dir, "auto") ? xstrdup(s->dir) :
		auto_dir(identity, e);
	int rc = dir ? corpus_open(&s->corpus, dir, identity, e) : -1;

	free(dir);
	return rc;
}

static int open_golden(struct store *s, const char *identity, struct err *e)
{
	if (corpus_open_file(&s->corpus, s->golden, e))
		return -1;
	if (!identity_match(s->corpus.identity, identity, e))
		return 0;
	err_prefix(e, "%s", s->golden);
	corpus_close(&s->corpus);
	return -1;
}

int store_open(struct store *s, const struct lab *lab, struct err *e)
{
	struct err why;
	char *identity;
	int rc = 0;

	if (!s->dir && !s->record && !s->golden)
		return 0;
	identity = identity_new(lab);
	if (s->golden)
		rc = open_golden(s, identity, e);
	else if (s->record)
		rc = corpus_create_file(&s->corpus, s->record, identity, e);
	else
		s->open = !open_dir(s, identity, &why);
	free(identity);
	if (rc)
		return -1;
	s->finishes = s->record;
	s->open |= s->record || s->golden;
	if (s->open)
		s->kept = (struct runcase_corpus){ .corpus = &s->corpus,
			.golden = s->golden, .all = s->record };
	else
		s->kept.note = s->unusable = xstrdup(why.msg);
	return 0;
}

const char *store_news(struct store *s)
{
	const char *note = s->open ? s->corpus.note : s->unusable;

	if (note == s->told)
		return NULL;
	return s->told = note;
}

int store_finish(struct store *s, struct err *e)
{
	bool finishes = s->finishes;

	s->finishes = false;
	return finishes ? corpus_finish(&s->corpus, e) : 0;
}

void store_close(struct store *s)
{
	if (s->open)
		corpus_close(&s->corpus);
	s->open = false;
	free(s->unusable);
	s->unusable = NULL;
	s->told = NULL;
}
