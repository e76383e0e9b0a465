/* Numbered strings, counts, tallies and clusters. */
#include "tap.h"

#include <stdlib.h>

#include "cluster.h"
#include "strmap.h"
#include "tally.h"

static void maps(void)
{
	struct strmap m;
	size_t *order;
	char name[32];
	bool good = true;

	strmap_init(&m);
	ok(strmap_find(&m, "a") == STRMAP_NONE, "nothing is in an empty map");
	order = strmap_sorted(&m);
	ok(order != NULL, "which can be sorted");
	free(order);
	for (size_t i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "n%zu", 9999 - i);
		good &= strmap_add(&m, name) == i;
	}
	ok(good, "numbers follow the first sight");
	ok(strmap_add(&m, "n9999") == 0, "a string keeps its number");
	ok(strmap_find(&m, "n9000") == 999, "and is found");
	ok(strmap_find(&m, "n1") == STRMAP_NONE, "others are not");
	ok(strmap_add(&m, "") == 5000, "the empty string is one");
	order = strmap_sorted(&m);
	for (size_t i = 1; i < m.n; i++)
		good &= strcmp(m.key[order[i - 1]], m.key[order[i]]) < 0;
	ok(good, "sorted by bytes");
	free(order);
	strmap_release(&m);
}

static void counting(void)
{
	struct tallies t;
	struct counts c;
	const struct tally *v;
	const char *name;
	struct buf b = BUF_INIT;
	struct jw w;

	tallies_init(&t);
	ok(tallies_name(&t, "b") == 0 && tallies_name(&t, "a") == 1,
	   "tallies are numbered");
	tally_add(&t.v[0], OUT_PASS);
	tally_add(&t.v[0], OUT_FAIL);
	tallies_sort(&t);
	v = tallies_at(&t, 1, &name);
	is_str(name, "b", "tallies come by name");
	ok(v->cases == 2 && tally_bad(v) == 1, "and count");
	ok(!tallies_at(&t, 2, &name), "until they end");
	jw_init(&w, &b);
	tally_write(v, &w);
	ok(!strncmp(b.p, "{\"cases\":2,\"pass\":1,\"fail\":1,\"error\":0,", 39),
	   "as JSON");
	buf_reset(&b);
	tallies_release(&t);

	counts_init(&c);
	counts_add(&c, "z", 2);
	counts_add(&c, "y", 1);
	counts_add(&c, "z", 3);
	counts_sort(&c);
	ok(counts_of(&c, "z") == 5 && counts_of(&c, "x") == 0, "counts");
	ok(counts_total(&c) == 6, "add up");
	jw_init(&w, &b);
	counts_write(&c, &w);
	is_str(b.p, "{\"y\":1,\"z\":5}", "as JSON, by name");
	counts_release(&c);
	buf_release(&b);
}

static void clustering(void)
{
	const struct cluster *k;
	struct clusters c;

	clusters_init(&c);
	clusters_add(&c, "mul", "value", "int8", "offset", "id1");
	clusters_add(&c, "add", "value", "int8", "plain", "id9");
	clusters_add(&c, "mul", "value", "int8", "plain", "id3");
	clusters_add(&c, "mul", "value", "int64", "plain", "id2");
	clusters_add(&c, "mul", "shape", "int64", "plain", "id4");
	clusters_sort(&c);
	k = clusters_at(&c, 0);
	ok(!strcmp(k->op, "mul") && !strcmp(k->check, "value") &&
	   k->cases == 3, "the largest comes first");
	ok(counts_of(&k->dtypes, "int8") == 2, "with its dtypes");
	is_str(k->first, "id2", "and the least of the plain ids");
	is_str(clusters_at(&c, 1)->op, "add", "then by name");
	ok(!clusters_at(&c, 3), "until they end");
	clusters_release(&c);
}

int main(void)
{
	maps();
	counting();
	clustering();
	return done();
}
