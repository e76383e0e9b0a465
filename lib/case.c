#include "case.h"

#include <stdio.h>
#include <string.h>

#include "json.h"
#include "seed.h"
#include "vocab.h"


/* The parts of an id, in order. */
enum { SUITE, OP, DTYPE, VARIANT, NPARTS };
static const char *const part_names[NPARTS] = {
	"suite", "op", "dtype", "variant",
};

static bool part_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("._:+@-", c));
}

static bool good_part(const char *s, size_t n)
{
	size_t i;

	if (!n || (n == 1 && s[0] == '.') ||
	    (n == 2 && s[0] == '.' && s[1] == '.'))
		return false;
	for (i = 0; i < n; i++)
		if (!part_char(s[i]))
			return false;
	return true;
}

int case_id(char out[CASE_ID_MAX], const char *suite, const char *op,
	    const char *dtype, const char *variant, struct err *e)
{
	const char *part[NPARTS] = { suite, op, dtype, variant };
	int i, n;

	for (i = 0; i < NPARTS; i++)
		if (!good_part(part[i], strlen(part[i])))
			return err_set(e, EX_BADINPUT,
				       "'%.200s' is no %s name: only letters, "
				       "digits and ._:+@- are", part[i],
				       part_names[i]);
	n = snprintf(out, CASE_ID_MAX, "%s/%s/%s/%s", suite, op, dtype,
		     variant);
	if (n < 0 || n >= CASE_ID_MAX)
		return err_set(e, EX_BADINPUT,
			       "case id '%.100s...' is over %d bytes", out,
			       CASE_ID_MAX - 1);
	return 0;
}

/* Where the parts of id begin and how long they are: 0, or -1. */
static int split(const char *id, const char *at[NPARTS], size_t len[NPARTS])
{
	int i;

	if (strnlen(id, CASE_ID_MAX) == CASE_ID_MAX)
		return -1;
	for (i = 0; i < NPARTS; i++) {
		at[i] = id;
		len[i] = strcspn(id, "/");
		id += len[i];
		if (!good_part(at[i], len[i]) ||
		    *id != (i < NPARTS - 1 ? '/' : '\0'))
			return -1;
		id++;
	}
	return 0;
}

int case_id_split(const char *id, char suite[], char op[], char dtype[],
		  char variant[])
{
	char *out[NPARTS] = { suite, op, dtype, variant };
	const char *at[NPARTS];
	size_t len[NPARTS];
	int i;

	if (split(id, at, len))
		return -1;
	for (i = 0; i < NPARTS; i++) {
		memcpy(out[i], at[i], len[i]);
		out[i][len[i]] = '\0';
	}
	return 0;
}

static int check_id(const struct case_rec *c, struct err *e)
{
	const char *part[NPARTS] = { c->suite, c->op, c->dtype, c->variant };
	const char *at[NPARTS];
	size_t len[NPARTS];
	int i;

	if (split(c->id, at, len))
		return err_set(e, EX_BADINPUT, "'%.200s' is no case id",
			       c->id);
	for (i = 0; i < NPARTS; i++)
		if (strlen(part[i]) != len[i] ||
		    memcmp(part[i], at[i], len[i]))
			return err_set(e, EX_BADINPUT,
				       "'%s' is '%.200s', which is not that of "
				       "the id '%.200s'", part_names[i],
				       part[i], c->id);
	return 0;
}

/* A key that may be absent, and a number in lo to hi where it is not. */
static int opt_int(const cJSON *o, const char *key, long long lo, long long hi,
		   int *out, struct err *e)
{
	long long v;

	if (!json_get(o, key))
		return 0;
	if (rec_int(o, key, lo, hi, &v, e))
		return -1;
	*out = (int)v;
	return 0;
}

static int opt_str(const cJSON *o, const char *key, const char **out,
		   struct err *e)
{
	if (!json_get(o, key))
		return 0;
	return rec_str(o, key, out, e);
}

static int read_edits(struct case_rec *c, const cJSON *o, struct err *e)
{
	const cJSON *v = json_get(o, "edits"), *item;
	bool good = !v || cJSON_IsArray(v);

	cJSON_ArrayForEach(item, v)
		good = good && cJSON_IsString(item);
	if (!good)
		return err_set(e, EX_BADINPUT,
			       "'edits' needs a list of strings");
	c->edits = v;
	if (v && c->only < 0)
		return err_set(e, EX_BADINPUT, "'edits' are of one sample, and "
			       "there is no 'sample'");
	return opt_int(o, "attempt", 1, 1000000, &c->attempt, e);
}

static int read_rest(struct case_rec *c, const cJSON *o, struct err *e)
{
	const char *isolate = NULL;
	const cJSON *v, *item;

	v = json_get(o, "timeout_s");
	if (v && (!cJSON_IsNumber(v) || !(v->valuedouble >= 0)))
		return err_set(e, EX_BADINPUT,
			       "'timeout_s' needs a number, not below 0");
	c->timeout_s = v ? v->valuedouble : 0;
	v = json_get(o, "backend_import");
	if (v && !cJSON_IsArray(v))
		return err_set(e, EX_BADINPUT,
			       "'backend_import' needs a list of strings");
	cJSON_ArrayForEach(item, v)
		if (!cJSON_IsString(item))
			return err_set(e, EX_BADINPUT, "'backend_import' needs "
				       "a list of strings");
	c->backend_import = v;
	if (read_edits(c, o, e) ||
	    opt_int(o, "cleanup_mb", 1, 1 << 30, &c->cleanup_mb, e))
		return -1;
	v = json_get(o, "adapter");
	if (v && !cJSON_IsObject(v))
		return err_set(e, EX_BADINPUT, "'adapter' needs an object");
	c->adapter = v;
	if (opt_str(o, "suite_dir", &c->suite_dir, e) ||
	    opt_str(o, "decoder", &c->decoder, e) ||
	    opt_str(o, "via", &c->via, e) ||
	    opt_str(o, "called", &c->called, e) ||
	    opt_str(o, "memory_mode", &c->memory_mode, e))
		return -1;
	if (c->memory_mode && memory_mode_find(c->memory_mode) < 0)
		return err_set(e, EX_BADINPUT, "'memory_mode' is '%.100s': "
			       "no such mode", c->memory_mode);
	if (opt_str(o, "isolate", &isolate, e))
		return -1;
	if (isolate && strcmp(isolate, "case") && strcmp(isolate, "batch"))
		return err_set(e, EX_BADINPUT,
			       "'isolate' is '%.100s', not 'case' or 'batch'",
			       isolate);
	c->isolate = isolate && !strcmp(isolate, "case");
	c->oom_ends = !rec_bool_opt(o, "oom_recoverable", true);
	return 0;
}

int case_read(struct case_rec *c, const struct rec *r, struct err *e)
{
	const cJSON *o = r->json;

	memset(c, 0, sizeof(*c));
	c->id = r->id;
	c->run = r->run;
	c->level_reason = c->capability = c->device = c->cost = "";
	c->oracle = "cpu";
	c->level = 1;
	c->only = -1;
	c->seed = SEED_DEFAULT;
	if (rec_str(o, "suite", &c->suite, e) || rec_str(o, "op", &c->op, e) ||
	    rec_str(o, "dtype", &c->dtype, e) ||
	    rec_str(o, "variant", &c->variant, e) || check_id(c, e) ||
	    opt_str(o, "device", &c->device, e) ||
	    opt_str(o, "level_reason", &c->level_reason, e) ||
	    opt_str(o, "capability", &c->capability, e) ||
	    opt_str(o, "oracle", &c->oracle, e) ||
	    opt_str(o, "cost", &c->cost, e) ||
	    opt_int(o, "level", 1, 8, &c->level, e) ||
	    opt_int(o, "samples", 0, 1000000, &c->samples, e) ||
	    opt_int(o, "sample", 0, 1000000, &c->only, e))
		return -1;
	if (json_get(o, "seed") &&
	    rec_uint(o, "seed", &c->seed, e))
		return -1;
	return read_rest(c, o, e);
}

void case_key(char out[CASE_KEY_MAX], const struct case_rec *c)
{
	if (c->attempt)
		snprintf(out, CASE_KEY_MAX, "%s#%d", c->id, c->attempt);
	else
		snprintf(out, CASE_KEY_MAX, "%s", c->id);
}

void case_write(struct jw *w, const struct case_rec *c)
{
	const cJSON *item;
	char *text;

	jw_record(w, "case", c->id, c->run ? c->run : "");
	jw_kstr(w, "suite", c->suite);
	jw_kstr(w, "op", c->op);
	jw_kstr(w, "variant", c->variant);
	jw_kstr(w, "dtype", c->dtype);
	if (c->device && *c->device)
		jw_kstr(w, "device", c->device);
	jw_kint(w, "level", c->level);
	if (c->level_reason && *c->level_reason)
		jw_kstr(w, "level_reason", c->level_reason);
	if (c->capability && *c->capability)
		jw_kstr(w, "capability", c->capability);
	jw_kstr(w, "oracle", c->oracle ? c->oracle : "cpu");
	if (c->cost && *c->cost)
		jw_kstr(w, "cost", c->cost);
	jw_kint(w, "samples", c->samples);
	jw_key(w, "seed");
	jw_uint(w, c->seed);
	if (c->backend_import) {
		jw_key(w, "backend_import");
		jw_arr(w);
		cJSON_ArrayForEach(item, c->backend_import)
			jw_str(w, item->valuestring);
		jw_arr_end(w);
	}
	if (c->adapter) {
		text = cJSON_PrintUnformatted(c->adapter);
		jw_key(w, "adapter");
		jw_raw(w, text, strlen(text));
		cJSON_free(text);
	}
	if (c->memory_mode)
		jw_kstr(w, "memory_mode", c->memory_mode);
	if (c->cleanup_mb > 0)
		jw_kint(w, "cleanup_mb", c->cleanup_mb);
	if (c->suite_dir)
		jw_kstr(w, "suite_dir", c->suite_dir);
	if (c->decoder)
		jw_kstr(w, "decoder", c->decoder);
	if (c->via)
		jw_kstr(w, "via", c->via);
	if (c->called)
		jw_kstr(w, "called", c->called);
	if (c->only >= 0)
		jw_kint(w, "sample", c->only);
	if (c->edits) {
		jw_key(w, "edits");
		jw_arr(w);
		cJSON_ArrayForEach(item, c->edits)
			jw_str(w, item->valuestring);
		jw_arr_end(w);
	}
	if (c->attempt)
		jw_kint(w, "attempt", c->attempt);
	if (c->timeout_s > 0)
		jw_knum(w, "timeout_s", c->timeout_s);
	if (c->isolate)
		jw_kstr(w, "isolate", "case");
	if (c->oom_ends)
		jw_kbool(w, "oom_recoverable", false);
	jw_obj_end(w);
}
