#include "baseline.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

static void add(struct changes *c, const char *id, const struct sum_case *was,
		const struct sum_case *is)
{
	c->v = xgrow(c->v, &c->cap, c->n + 1, sizeof(*c->v));
	c->v[c->n++] = (struct change) {
		id, was ? outcome_name(was->outcome) : NULL,
		is ? outcome_name(is->outcome) : NULL,
	};
}

static void compare_now(struct baseline *b, const char *id,
			const struct sum_case *is, const struct sum_case *was)
{
	bool good = is->outcome == OUT_PASS;

	if (!was) {
		if (!good)
			add(&b->added, id, was, is);
	} else if (was->outcome == OUT_PASS) {
		if (!good)
			add(&b->regressions, id, was, is);
	} else if (good) {
		add(&b->fixes, id, was, is);
	} else {
		b->still++;
	}
}

void baseline_compare(struct baseline *b, const struct summary *now,
		      const struct summary *then)
{
	size_t *order = strmap_sorted(&now->ids);

	memset(b, 0, sizeof(*b));
	b->run = then->run ? xstrdup(then->run) : NULL;
	for (size_t i = 0; i < now->ids.n; i++) {
		const char *id = now->ids.key[order[i]];

		if (!now->cases[order[i]].dropped)
			compare_now(b, id, &now->cases[order[i]],
				    summary_case(then, id));
	}
	free(order);
	order = strmap_sorted(&then->ids);
	for (size_t i = 0; i < then->ids.n; i++) {
		const char *id = then->ids.key[order[i]];

		if (!then->cases[order[i]].dropped && !summary_case(now, id))
			add(&b->gone, id, &then->cases[order[i]], NULL);
	}
	free(order);
}

void baseline_release(struct baseline *b)
{
	free(b->run);
	free(b->regressions.v);
	free(b->fixes.v);
	free(b->added.v);
	free(b->gone.v);
	memset(b, 0, sizeof(*b));
}

static void write_changes(const struct changes *c, struct jw *w,
			  const char *key)
{
	jw_key(w, key);
	jw_arr(w);
	for (size_t i = 0; i < c->n; i++) {
		jw_obj(w);
		jw_kstr(w, "id", c->v[i].id);
		if (c->v[i].was)
			jw_kstr(w, "was", c->v[i].was);
		if (c->v[i].is)
			jw_kstr(w, "is", c->v[i].is);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

void baseline_write(const struct baseline *b, struct jw *w)
{
	jw_obj(w);
	if (b->run)
		jw_kstr(w, "run", b->run);
	write_changes(&b->regressions, w, "regressions");
	write_changes(&b->fixes, w, "fixes");
	write_changes(&b->added, w, "added");
	write_changes(&b->gone, w, "gone");
	jw_kint(w, "still", (int64_t)b->still);
	jw_obj_end(w);
}
