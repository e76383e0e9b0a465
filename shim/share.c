#include "share.h"

#include <stdlib.h>
#include "xalloc.h"

/* Memory is not written to and looked at again beyond so many bytes. */
#define FOLLOW_MAX (256 << 10)
/* Nor where looking once for each output would come to so many. */
#define LEAD_MAX (16 * FOLLOW_MAX)

/* Which input or earlier output leaf i shares its storage with. */
static char *alias_of(const struct side *s, size_t i, const struct lab *lab,
		      const struct call *c)
{
	const struct ctt_meta *m = &s->leaf[i].meta;
	struct ctt_meta in;
	size_t k;

	if (!s->leaf[i].is_tensor || !m->storage)
		return xstrdup("");
	for (k = 0; k < c->n; k++) {
		if (lab->api->meta(c->tensors[k], &in) ||
		    in.storage != m->storage)
			continue;
		return xasprintf("in%zu%s", k, in.impl == m->impl ? "=" : "");
	}
	for (k = 0; k < i; k++)
		if (s->leaf[k].is_tensor && s->leaf[k].meta.storage ==
		    m->storage)
			return xasprintf("out%zu%s", k, s->leaf[k].meta.impl ==
					 m->impl ? "=" : "");
	return xstrdup("");
}

void share_note_aliases(struct side *s, const struct lab *lab,
			 const struct call *c)
{
	size_t i;

	s->alias = xcalloc(s->n + 1, sizeof(*s->alias));
	for (i = 0; i < s->n; i++)
		s->alias[i] = alias_of(s, i, lab, c);
}

bool share_any(const struct side *s)
{
	size_t i;

	for (i = 0; s->alias && i < s->n; i++)
		if (*s->alias[i])
			return true;
	return false;
}

/* Whether a write to the memory below it would show in the leaf. */
static bool shows_writes(const struct leaf *l)
{
	return l->is_tensor && l->read && l->n && !l->meta.nested &&
		!l->meta.zerotensor && !l->meta.quantized &&
		l->meta.layout == CTT_STRIDED && l->meta.storage;
}

/* The outputs in which a write would show: how many, at which leaves. */
static size_t writable(const struct side *s, ctt *t, size_t *at)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		if (shows_writes(&s->leaf[i])) {
			t[n] = s->leaf[i].t;
			at[n++] = i;
		}
	return n;
}

/* Which of the outputs t, the leaves at, change with the inputs' memory. */
static void note_follows(struct side *s, const struct lab *lab,
			 const struct call *c, const ctt *t, const size_t *at,
			 size_t n)
{
	bool *follow = xcalloc(n, sizeof(*follow));
	size_t i;

	s->followed = !lab->api->copier_follow(c->copier, t, n, follow);
	s->follows = xcalloc(n, sizeof(*s->follows));
	for (i = 0; s->followed && i < n; i++)
		if (follow[i])
			s->follows[s->nfollows++] = at[i];
	free(follow);
}

/* With which of them the inputs' memory changes. */
static void note_leads(struct side *s, const struct lab *lab,
		       const struct call *c, const ctt *t, const size_t *at,
		       size_t n)
{
	enum ctt_lead *lead = xcalloc(n, sizeof(*lead));
	size_t i;

	if (!lab->api->copier_lead(c->copier, t, n, lead)) {
		s->nlead = s->n;
		s->leads = xcalloc(s->n, sizeof(*s->leads));
		for (i = 0; i < n; i++)
			s->leads[at[i]] = lead[i];
	}
	free(lead);
}

void share_note(struct side *s, const struct lab *lab,
			const struct call *c)
{
	int64_t inputs = lab->api->copier_bytes(c->copier), bytes = inputs;
	size_t *at, i, n;
	ctt *t;

	for (i = 0; i < s->n; i++)
		bytes += (int64_t)s->leaf[i].n;
	if (!c->n || inputs < 0 || bytes > FOLLOW_MAX)
		return;
	t = xcalloc(s->n + 1, sizeof(*t));
	at = xcalloc(s->n + 1, sizeof(*at));
	n = writable(s, t, at);
	if (n)
		note_follows(s, lab, c, t, at, n);
	if (s->followed && inputs * (int64_t)n <= LEAD_MAX)
		note_leads(s, lab, c, t, at, n);
	free(t);
	free(at);
}
