#include "inventory.h"

#include <glob.h>
#include <stdio.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "buf.h"
#include "cache.h"
#include "child.h"
#include "dtype.h"
#include "json.h"
#include "prog.h"
#include "rec.h"
#include "manifest.h"
#include "outfile.h"
#include "sha256.h"
#include "vocab.h"
#include "xalloc.h"

#define INVENTORY_MAX (64u << 20)

/* The key of the inventory record, and the name that tables use. */
static const struct { const char *key, *name; } flags[] = {
	[ITEM_OUT] = { "supports_out", "out" },
	[ITEM_INPLACE] = { "inplace", "inplace" },
	[ITEM_AUTOGRAD] = { "supports_autograd", "autograd" },
	[ITEM_FORWARD_AD] = { "supports_forward_ad", "forward_ad" },
	[ITEM_GRADGRAD] = { "supports_gradgrad", "gradgrad" },
	[ITEM_SPARSE] = { "sparse", "sparse" },
	[ITEM_FACTORY] = { "factory", "factory" },
	[ITEM_RANDOM] = { "random", "random" },
	[ITEM_REF] = { "has_ref", "ref" },
	[ITEM_ERRORS] = { "error_inputs", "errors" },
	[ITEM_ARITHMETIC] = { "arithmetic", "arithmetic" },
	[ITEM_SOME] = { "has_some", "some" },
	[ITEM_MANY] = { "has_many", "many" },
	[ITEM_RANK2] = { "has_rank2", "rank2" },
	[ITEM_RANK3] = { "has_rank3", "rank3" },
	[ITEM_IMAGE] = { "has_image", "image" },
	[ITEM_ABSENT] = { "absent", "absent" },
};
_Static_assert(sizeof(flags) / sizeof(*flags) == ITEM_NFLAGS, "all flags");

static const struct { const char *key, *name; } sets[] = {
	[ITEM_FORWARD] = { "dtypes", "forward" },
	[ITEM_BACKWARD] = { "backward_dtypes", "backward" },
	[ITEM_INPLACE_DTYPES] = { "inplace_dtypes", "inplace" },
	[ITEM_OUT_DTYPES] = { "out_dtypes", "out" },
	[ITEM_ERROR_DTYPES] = { "error_dtypes", "errors" },
	[ITEM_TINY_DTYPES] = { "tiny_dtypes", "tiny" },
	[ITEM_EDGE_DTYPES] = { "edge_dtypes", "edges" },
	[ITEM_REFUSED_DTYPES] = { "refused_dtypes", "refused" },
	[ITEM_PREFIX_DTYPES] = { "prefix_dtypes", "prefix" },
	[ITEM_SCALAR_DTYPES] = { "scalar_dtypes", "scalar" },
	[ITEM_SUBSET_DTYPES] = { "subset_dtypes", "subsets" },
};
_Static_assert(sizeof(sets) / sizeof(*sets) == ITEM_NSETS, "all sets");

int item_set_find(const char *name)
{
	int i;

	for (i = 0; i < ITEM_NSETS; i++)
		if (!strcmp(sets[i].name, name))
			return i;
	return -1;
}

int item_flag_find(const char *name)
{
	int i;

	for (i = 0; i < ITEM_NFLAGS; i++)
		if (!strcmp(flags[i].name, name))
			return i;
	return -1;
}

static uint64_t dtype_bits(const cJSON *list)
{
	const cJSON *x;
	uint64_t bits = 0;
	size_t i;

	cJSON_ArrayForEach(x, list) {
		if (!cJSON_IsString(x))
			continue;
		for (i = 0; i < 64 && dtype_at(i); i++)
			if (dtype_at(i)->name[0] == x->valuestring[0] &&
			    !strcmp(dtype_at(i)->name, x->valuestring))
				break;
		if (i < 64 && dtype_at(i))
			bits |= UINT64_C(1) << i;
	}
	return bits;
}

static char *copy_opt(const cJSON *o, const char *key)
{
	const char *s = rec_str_opt(o, key, NULL);

	return s ? xstrdup(s) : NULL;
}

/* n bytes of s, as text that lives as long as the inventory. */
static const char *keep_text(struct inventory *inv, const char *s, size_t n)
{
	char *p = arena_take(&inv->text, n + 1);

	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

struct member { const char *key; size_t at; };

static const struct member words[] = {
	{ "suite", offsetof(struct item, suite) },
	{ "op", offsetof(struct item, op) },
	{ "aten", offsetof(struct item, aten) },
	{ "via", offsetof(struct item, via) },
	{ "called", offsetof(struct item, called) },
	{ "capability", offsetof(struct item, capability) },
	{ "oracle", offsetof(struct item, oracle) },
	{ "container", offsetof(struct item, container) },
	{ NULL, 0 },
}, numbers[] = {
	{ "level", offsetof(struct item, level) },
	{ "devices", offsetof(struct item, devices) },
	{ "mb", offsetof(struct item, mb) },
	{ NULL, 0 },
}, tags[] = {
	{ "family", offsetof(struct item, tags[TAG_FAMILY]) },
	{ "category", offsetof(struct item, tags[TAG_CATEGORY]) },
	{ "tier", offsetof(struct item, tags[TAG_TIER]) },
	{ "cost", offsetof(struct item, tags[TAG_COST]) },
	{ "role", offsetof(struct item, tags[TAG_ROLE]) },
	{ "runner", offsetof(struct item, tags[TAG_RUNNER]) },
	{ NULL, 0 },
};
_Static_assert(sizeof(tags) / sizeof(*tags) == ITEM_NTAGS + 1, "all tags");

/* Where in the item such a key's value belongs; NULL: nowhere. */
static void *place(struct item *it, const struct member *m, const char *key)
{
	for (; m->key; m++)
		if (!strcmp(m->key, key))
			return (char *)it + m->at;
	return NULL;
}

static void fill_word(struct inventory *inv, struct item *it,
		      const struct member *of, const cJSON *x)
{
	const char **to = cJSON_IsString(x) ? place(it, of, x->string) : NULL;

	if (to)
		*to = keep_text(inv, x->valuestring, strlen(x->valuestring));
}

static double element_count(const cJSON *list, int i)
{
	const cJSON *x = cJSON_GetArrayItem(list, i);

	return cJSON_IsNumber(x) && x->valuedouble > 0 ? x->valuedouble : 0;
}

static void fill_list(struct item *it, const cJSON *x)
{
	int i;

	for (i = 0; i < ITEM_NSETS; i++)
		if (!strcmp(sets[i].key, x->string))
			it->dtypes[i] = dtype_bits(x);
	if (strcmp(x->string, "elements"))
		return;
	it->largest = element_count(x, 0);
	it->all = element_count(x, 1);
}

/*
 * Put the value of one key where it belongs.  There are thousands of items with
 * dozens of keys: each is looked at once, and among those of its type alone.
 */
static void fill(struct inventory *inv, struct item *it, const cJSON *x)
{
	const cJSON *tag;
	int *number, i;

	switch (x->type & 0xff) {
	case cJSON_String:
		fill_word(inv, it, words, x);
		break;
	case cJSON_Number:
		number = place(it, numbers, x->string);
		if (number)
			*number = x->valueint;
		break;
	case cJSON_True:
		for (i = 0; i < ITEM_NFLAGS; i++)
			if (!strcmp(flags[i].key, x->string))
				it->flags |= 1u << i;
		break;
	case cJSON_Array:
		fill_list(it, x);
		break;
	case cJSON_Object:
		if (!strcmp(x->string, "tags"))
			cJSON_ArrayForEach(tag, x)
				fill_word(inv, it, tags, tag);
		break;
	default: break;
	}
}

static void add_item(struct inventory *inv, const cJSON *o, const char *kind,
		     const char *suite)
{
	const char *name;
	struct item *it;
	const cJSON *x;

	inv->v = xgrow(inv->v, &inv->cap, inv->n + 1, sizeof(*inv->v));
	it = &inv->v[inv->n++];
	memset(it, 0, sizeof(*it));
	it->devices = 1;
	it->written = !strcmp(kind, "suite");
	cJSON_ArrayForEach(x, o)
		fill(inv, it, x);
	if (!it->suite)
		it->suite = keep_text(inv, suite, strlen(suite));
	if (!it->op)
		it->op = keep_text(inv, "", 0);
	/* "div:floor_rounding" is a div, and so is "div_.Scalar". */
	name = it->called ? it->called : it->op;
	it->name = keep_text(inv, name, strcspn(name, ":"));
}

static void add_torch(struct inventory *inv, const cJSON *o)
{
	free(inv->torch);
	free(inv->python);
	free(inv->accelerator);
	inv->torch = copy_opt(o, "version");
	inv->python = copy_opt(o, "python");
	inv->dtypes = dtype_bits(json_get(o, "dtypes"));
	inv->accelerator = copy_opt(o, "accelerator");
}

static int add_line(struct inventory *inv, const cJSON *o, struct err *e)
{
	const char *kind = rec_str_opt(o, "kind", "");
	int level;

	if (!strcmp(kind, "torch"))
		add_torch(inv, o);
	else if (*kind && *rec_str_opt(o, "op", ""))
		add_item(inv, o, kind, kind);
	level = inv->n ? inv->v[inv->n - 1].level : 0;
	if (level < 0 || level > 8)
		return err_set(e, EX_BADINPUT, "level %d, expected 1 to 8",
			       level);
	return 0;
}

int inventory_parse(struct inventory *inv, const char *text, size_t n,
		    const char *file, struct err *e)
{
	const char *end = text + n, *lf;
	struct arena line_json = ARENA_INIT;
	int line = 1, rc = 0;
	cJSON *o;

	for (; !rc && text < end; text = lf + 1, line++) {
		lf = memchr(text, '\n', (size_t)(end - text));
		if (!lf) {
			rc = err_set(e, EX_BADINPUT, "%s:%d: the last line "
				     "is cut", file, line);
			break;
		}
		arena_reset(&line_json);
		o = json_parse_in(&line_json, text, (size_t)(lf - text), e);
		if (!o || add_line(inv, o, e) < 0)
			rc = err_prefix(e, "%s:%d", file, line);
	}
	arena_release(&line_json);
	if (!rc && (!inv->torch || !inv->n))
		rc = err_set(e, EX_BADINPUT, "%s: no inventory", file);
	return rc;
}

static void add_note(struct inventory *inv, const char *text)
{
	inv->notes = xrealloc(inv->notes, (inv->nnotes + 1) *
			      sizeof(*inv->notes));
	inv->notes[inv->nnotes++] = xstrdup(text);
}

/* Ask PyTorch, as cts-exec's option and its argument say: what it answers. */
static int ask(const char *option, const char *what, struct buf *out,
	       struct err *e)
{
	char *argv[] = { xasprintf("%s/bin/cts-exec", prog_root()),
			 xstrdup(option), xstrdup(what), NULL };
	int rc = child_run(argv, -1, out, INVENTORY_MAX, e);
	size_t i;

	if (rc == 128 + SIGALRM)
		rc = err_set(e, EX_BADINPUT, "%s: its suites take more than "
			     "two minutes to say what they have", what);
	else if (rc > 0)
		rc = err_set(e, EX_ENVIRON, "cts-exec %s ended with status "
			     "%d", option, rc);
	for (i = 0; argv[i]; i++)
		free(argv[i]);
	return rc;
}

/* Keep an answer for next time.  Where it can't be, it costs time alone. */
static void keep(struct inventory *inv, const char *dir, const char *file,
		 const struct buf *b)
{
	struct err e;

	if (cache_make(dir, &e) || outfile_write(file, b, &e)) {
		err_prefix(&e, "PyTorch is asked anew each time");
		add_note(inv, e.msg);
	}
}

int inventory_read(struct inventory *inv, const char *path, struct err *e)
{
	struct buf b = BUF_INIT;
	int rc = buf_read_file(&b, path, INVENTORY_MAX, e);

	if (!rc)
		rc = inventory_parse(inv, b.p, b.len, path, e);
	buf_release(&b);
	return rc;
}

int inventory_load(struct inventory *inv, void (*building)(const char *torch),
		   struct err *e)
{
	char *torch = NULL, *dir = cache_dir(&torch, e), *file = NULL;
	struct buf b = BUF_INIT;
	int rc = -1;

	if (!dir)
		goto out;
	file = xasprintf("%s/opinfo.jsonl", dir);
	rc = inventory_read(inv, file, NULL);
	if (rc < 0) {
		inventory_release(inv);
		if (building)
			building(torch);
		rc = ask("--inventory", "opinfo", &b, e);
		if (!rc)
			rc = inventory_parse(inv, b.p, b.len, "opinfo", e);
		if (!rc)
			keep(inv, dir, file, &b);
	}
out:
	if (rc && e)
		e->code = EX_ENVIRON;
	buf_release(&b);
	free(file);
	free(dir);
	free(torch);
	return rc;
}

/* Is the name that of a suite which is not in that folder? */
static bool suite_elsewhere(const struct inventory *inv, const char *suite,
			    const char *folder)
{
	size_t i;

	for (i = 0; i < inv->n; i++)
		if (inv->v[i].folder != folder &&
		    !strcmp(inv->v[i].suite, suite))
			return true;
	return false;
}

/* A word that nobody knows would keep a case from running for good. */
static int check_words(const cJSON *o, const char *folder, struct err *e)
{
	const char *cap = rec_str_opt(o, "capability", "inference");
	const char *oracle = rec_str_opt(o, "oracle", "metadata");
	const char *format = rec_str_opt(o, "container", NULL);
	int64_t level = rec_int_opt(o, "level", 1);
	struct buf b = BUF_INIT;
	int rc;

	if (!capability_find(cap))
		buf_addf(&b, "unknown capability '%.60s'", cap);
	else if (strcmp(oracle, "metadata"))
		buf_addf(&b, "unknown oracle '%.60s', expected metadata",
			 oracle);
	else if (format && !manifest_container_known(format))
		buf_addf(&b, "unknown container format '%.60s'", format);
	else if (level < 1 || level > 8)
		buf_addf(&b, "level %lld, expected 1 to 8", (long long)level);
	rc = !b.len ? 0 : err_set(e, EX_BADINPUT, "%s/%s.py: case '%.100s': %s",
				  folder, rec_str_opt(o, "suite", ""),
				  rec_str_opt(o, "op", ""), b.p);
	buf_release(&b);
	return rc;
}

/* The lines of a folder's suites. */
static int add_lines(struct inventory *inv, const char *text, size_t n,
		     const char *folder, struct err *e)
{
	const char *end = text + n, *lf, *suite;
	bool whole = false;
	int rc = 0;
	cJSON *o;

	for (; !rc && text < end; text = lf + 1) {
		lf = memchr(text, '\n', (size_t)(end - text));
		o = lf ? json_parse(text, (size_t)(lf - text), e) : NULL;
		if (!o)
			return err_set(e, EX_ENVIRON, "%s: its cases can't be "
				       "read", folder);
		suite = rec_str_opt(o, "suite", "");
		if (!strcmp(rec_str_opt(o, "kind", ""), "suite_error")) {
			rc = err_set(e, EX_BADINPUT, "%s",
				     rec_str_opt(o, "message", ""));
		} else if (!strcmp(rec_str_opt(o, "kind", ""), "suite_note")) {
			add_note(inv, rec_str_opt(o, "message", ""));
		} else if (!strcmp(rec_str_opt(o, "kind", ""), "suite_end")) {
			whole = true;
		} else if (suite_elsewhere(inv, suite, folder)) {
			rc = err_set(e, EX_BADINPUT, "%s/%s.py:1: a suite is "
				     "called '%s' already", folder, suite,
				     suite);
		} else if (*suite) {
			rc = check_words(o, folder, e);
			add_item(inv, o, rec_str_opt(o, "kind", ""), suite);
			inv->v[inv->n - 1].folder = folder;
		}
		cJSON_Delete(o);
	}
	/* A file that ends Python takes along what comes behind it. */
	if (!rc && !whole)
		rc = err_set(e, EX_BADINPUT, "%s: a suite in it ended Python",
			     folder);
	return rc;
}

int inventory_add(struct inventory *inv, const char *folder, struct err *e)
{
	char *torch = NULL, *dir = cache_dir(&torch, e), *file = NULL, hex[65];
	struct buf b = BUF_INIT;
	bool kept;
	int rc = -1;

	if (!dir)
		goto out;
	buf_addstr(&b, folder);
	cache_add_suites(&b, folder);
	sha256_hex(b.p, b.len, hex);
	file = xasprintf("%s/suites-%.12s.jsonl", dir, hex);
	buf_reset(&b);
	inv->folders = xrealloc(inv->folders, (inv->nfolders + 1) *
				sizeof(*inv->folders));
	inv->folders[inv->nfolders++] = xstrdup(folder);
	kept = !buf_read_file(&b, file, INVENTORY_MAX, NULL);
	if (!kept)
		buf_reset(&b);
	if (!kept && ask("--suites", folder, &b, e))
		goto out;
	rc = add_lines(inv, b.p, b.len, inv->folders[inv->nfolders - 1], e);
	/* What is wrong may lie outside of the file: ask again. */
	if (rc < 0)
		unlink(file);
	else if (!kept)
		keep(inv, dir, file, &b);
out:
	buf_release(&b);
	free(file);
	free(dir);
	free(torch);
	return rc;
}

const char *inventory_nearest(const struct inventory *inv, const char *op)
{
	const char **names = xcalloc(2 * inv->n + 1, sizeof(*names)), *near;
	size_t i;

	for (i = 0; i < inv->n; i++) {
		names[2 * i] = inv->v[i].op;
		names[2 * i + 1] = inv->v[i].name;
	}
	near = vocab_nearest(op, names);
	free(names);
	return near;
}

bool inventory_has(const struct inventory *inv, const char *op)
{
	size_t i;

	for (i = 0; i < inv->n; i++)
		if (!strcmp(inv->v[i].op, op) || !strcmp(inv->v[i].name, op))
			return true;
	return false;
}

void inventory_release(struct inventory *inv)
{
	size_t i;

	arena_release(&inv->text);
	for (i = 0; i < inv->nfolders; i++)
		free(inv->folders[i]);
	for (i = 0; i < inv->nnotes; i++)
		free(inv->notes[i]);
	free(inv->notes);
	free(inv->folders);
	free(inv->v);
	free(inv->torch);
	free(inv->python);
	free(inv->accelerator);
	memset(inv, 0, sizeof(*inv));
}
