#include "device.h"

#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>

#include "buf.h"
#include "json.h"
#include "xalloc.h"

#define TABLE "templates/devices.jsonl"
#define TABLE_MAX (1 << 20)
#define NAME_LEN_MAX 64

static const char *const fork_names[] = { "ok", "bare", "never", NULL };

/* Length of the name that a device string begins with; 0: it is none. */
static size_t name_len(const char *s)
{
	size_t n = 0, digits;
	const char *p;

	while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
	       s[n] == '_' || (s[n] >= '0' && s[n] <= '9'))
		n++;
	if (!n || n > NAME_LEN_MAX || (s[0] >= '0' && s[0] <= '9') ||
	    s[0] == '_')
		return 0;
	if (!s[n])
		return n;
	p = s + n + 1;
	digits = strspn(p, "0123456789");
	if (digits > 1 && *p == '0')
		return 0;
	return s[n] == ':' && digits && digits <= 3 && !p[digits] ? n : 0;
}

bool device_is_string(const char *s)
{
	return name_len(s);
}

int device_index(const char *s)
{
	const char *colon = strchr(s, ':');

	return colon ? (int)strtol(colon + 1, NULL, 10) : 0;
}

static char **list_new(size_t n)
{
	return xcalloc(n + 1, sizeof(char *));
}

static void list_free(char **list)
{
	char **p;

	for (p = list; p && *p; p++)
		free(*p);
	free(list);
}

static int bad(struct err *e, const char *key, const char *wanted)
{
	return err_set(e, EX_BADINPUT, "'%s' needs %s", key, wanted);
}

static int get_str(const cJSON *o, const char *key, char **out, struct err *e)
{
	const cJSON *v = json_get(o, key);

	if (!v)
		return 0;
	if (!cJSON_IsString(v) || !v->valuestring[0])
		return bad(e, key, "a string");
	*out = xstrdup(v->valuestring);
	return 0;
}

/* A list of strings, or an object of them, which gives "key=value". */
static int get_list(const cJSON *o, const char *key, bool pairs, char ***out,
		    struct err *e)
{
	const cJSON *v = json_get(o, key), *item;
	size_t n = 0;

	if (v && !(pairs ? cJSON_IsObject(v) : cJSON_IsArray(v)))
		return bad(e, key, pairs ? "an object" : "a list");
	*out = list_new(v ? (size_t)cJSON_GetArraySize(v) : 0);
	cJSON_ArrayForEach(item, v) {
		if (!cJSON_IsString(item))
			return bad(e, key, "strings");
		if (pairs && (!item->string[0] || strchr(item->string, '=')))
			return bad(e, key, "names of variables");
		(*out)[n++] = pairs ?
			xasprintf("%s=%s", item->string, item->valuestring) :
			xstrdup(item->valuestring);
	}
	return 0;
}

bool device_is_call(const char *s)
{
	const char *colon = strchr(s, ':'), *paren;

	if (!colon || colon == s || !colon[1] || colon[1] == '(')
		return false;
	paren = strchr(colon, '(');
	return !paren || s[strlen(s) - 1] == ')';
}

static int check_calls(const struct device *d, struct err *e)
{
	const struct { const char *key, *call; } calls[] = {
		{ "sync", d->sync }, { "seed", d->seed },
		{ "count", d->count }, { "memory", d->memory },
		{ "empty", d->empty },
	};
	char **p;
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].call && !device_is_call(calls[i].call))
			return bad(e, calls[i].key, "\"module:function\"");
	for (p = d->init; *p; p++)
		if (!device_is_call(*p))
			return bad(e, "init", "\"module:function\"");
	for (p = d->path; *p; p++)
		if (**p == '/' || strstr(*p, ".."))
			return bad(e, "path", "folders below the root");
	return 0;
}

int device_fork_find(const char *name)
{
	int i;

	for (i = 0; fork_names[i]; i++)
		if (!strcmp(name, fork_names[i]))
			return i;
	return -1;
}

static int get_fork(const cJSON *o, enum device_fork *out, struct err *e)
{
	const cJSON *v = json_get(o, "fork");
	int rule = DEVICE_FORK_NEVER;

	if (v)
		rule = cJSON_IsString(v) ? device_fork_find(v->valuestring) :
		       -1;
	if (rule < 0)
		return bad(e, "fork", "ok, bare or never");
	*out = (enum device_fork)rule;
	return 0;
}

static int check_keys(const cJSON *o, struct err *e)
{
	static const char *const keys[] = {
		"device", "string", "import", "init", "sync", "seed", "count",
		"memory", "empty", "path", "env", "fork", "note", NULL,
	};
	const cJSON *item;
	int i;

	cJSON_ArrayForEach(item, o) {
		for (i = 0; keys[i] && strcmp(keys[i], item->string); i++)
			;
		if (!keys[i])
			return err_set(e, EX_BADINPUT, "unknown key '%.100s'",
				       item->string);
	}
	return 0;
}

/* d->name is set; string is what the user asked for. */
static int from_entry(struct device *d, const cJSON *o, const char *string,
		      struct err *e)
{
	char *listed = NULL;

	if (check_keys(o, e) || get_str(o, "string", &listed, e))
		return -1;
	if (listed && (name_len(listed) != strlen(d->name) ||
		       strncmp(listed, d->name, strlen(d->name)))) {
		free(listed);
		return bad(e, "string", "the device's name and an index");
	}
	if (listed && !strchr(string, ':')) {
		d->string = listed;
	} else {
		d->string = xstrdup(string);
		free(listed);
	}
	d->known = true;
	if (get_list(o, "import", false, &d->imports, e) ||
	    get_list(o, "init", false, &d->init, e) ||
	    get_list(o, "path", false, &d->path, e) ||
	    get_list(o, "env", true, &d->env, e) ||
	    get_str(o, "sync", &d->sync, e) ||
	    get_str(o, "seed", &d->seed, e) ||
	    get_str(o, "count", &d->count, e) ||
	    get_str(o, "memory", &d->memory, e) ||
	    get_str(o, "empty", &d->empty, e) ||
	    get_str(o, "note", &d->note, e) || get_fork(o, &d->fork, e))
		return -1;
	return check_calls(d, e);
}

static void generic(struct device *d, const char *string)
{
	d->string = xstrdup(string);
	d->imports = list_new(1);
	d->imports[0] = xasprintf("torch_%s?", d->name);
	d->init = list_new(0);
	d->path = list_new(0);
	d->env = list_new(0);
	d->fork = DEVICE_FORK_NEVER;
}

/*
 * Call each(entry's name, entry, ctx) for the table's lines until it gives
 * something but 0, which is returned; -1 with e set on trouble.
 */
static int for_each(const char *root,
		    int (*each)(const char *, const cJSON *, void *,
				struct err *), void *ctx, struct err *e)
{
	char *path = xasprintf("%s/" TABLE, root), *line, *end;
	struct buf b = BUF_INIT;
	const cJSON *name;
	size_t lineno = 0;
	cJSON *o;
	int rc = buf_read_file(&b, path, TABLE_MAX, e);

	for (line = b.p; !rc && *line; line = end + 1) {
		lineno++;
		end = strchr(line, '\n');
		if (!end) {
			rc = err_set(e, EX_BADINPUT, "%s:%zu: line is cut",
				     path, lineno);
			break;
		}
		o = json_parse(line, (size_t)(end - line), e);
		name = json_get(o, "device");
		if (!o)
			rc = -1;
		else if (!cJSON_IsString(name) ||
			 name_len(name->valuestring) !=
			 strlen(name->valuestring) || !name->valuestring[0])
			rc = bad(e, "device", "a name");
		else
			rc = each(name->valuestring, o, ctx, e);
		cJSON_Delete(o);
		if (rc < 0)
			err_prefix(e, "%s:%zu", path, lineno);
	}
	buf_release(&b);
	free(path);
	return rc;
}

struct find {
	struct device *d;
	const char *string;
};

static int find_one(const char *name, const cJSON *o, void *ctx, struct err *e)
{
	struct find *f = ctx;

	if (strcmp(name, f->d->name))
		return 0;
	return from_entry(f->d, o, f->string, e) ? -1 : 1;
}

int device_find(struct device *d, const char *root, const char *name,
		struct err *e)
{
	struct find f = { d, name };
	size_t n = name_len(name);
	int rc;

	memset(d, 0, sizeof(*d));
	if (!n)
		return err_set(e, EX_BADUSE, "'%.100s' is no device name: "
			       "letters, digits and _ are, and :INDEX", name);
	d->name = xstrndup(name, n);
	rc = for_each(root, find_one, &f, e);
	if (rc < 0) {
		device_release(d);
		return -1;
	}
	if (!rc)
		generic(d, name);
	return 0;
}

void device_release(struct device *d)
{
	free(d->name);
	free(d->string);
	free(d->sync);
	free(d->seed);
	free(d->count);
	free(d->memory);
	free(d->empty);
	free(d->note);
	list_free(d->imports);
	list_free(d->init);
	list_free(d->path);
	list_free(d->env);
	memset(d, 0, sizeof(*d));
}

static int replace_str(const cJSON *o, const char *key, char **out,
		       struct err *e)
{
	char *s = NULL;

	if (get_str(o, key, &s, e))
		return -1;
	if (s) {
		free(*out);
		*out = s;
	}
	return 0;
}

static int replace_list(const cJSON *o, const char *key, bool pairs,
			char ***out, struct err *e)
{
	char **list = NULL;
	int rc;

	if (!json_get(o, key))
		return 0;
	rc = get_list(o, key, pairs, &list, e);
	if (rc) {
		list_free(list);
		return rc;
	}
	list_free(*out);
	*out = list;
	return 0;
}

int device_override(struct device *d, const cJSON *adapter, struct err *e)
{
	if (replace_str(adapter, "sync", &d->sync, e) ||
	    replace_str(adapter, "seed", &d->seed, e) ||
	    replace_str(adapter, "count", &d->count, e) ||
	    replace_str(adapter, "memory", &d->memory, e) ||
	    replace_str(adapter, "empty", &d->empty, e) ||
	    replace_list(adapter, "init", false, &d->init, e) ||
	    replace_list(adapter, "env", true, &d->env, e) ||
	    (json_get(adapter, "fork") &&
	     get_fork(adapter, &d->fork, e)))
		return err_prefix(e, "adapter");
	return check_calls(d, e) ? err_prefix(e, "adapter") : 0;
}

struct names {
	char **v;
	size_t n, cap;
};

static int add_name(const char *name, const cJSON *o, void *ctx, struct err *e)
{
	struct names *l = ctx;
	size_t i;

	(void)o;
	for (i = 0; i < l->n; i++)
		if (!strcmp(l->v[i], name))
			return err_set(e, EX_BADINPUT,
				       "device '%s' comes twice", name);
	l->v = xgrow(l->v, &l->cap, l->n + 2, sizeof(*l->v));
	l->v[l->n++] = xstrdup(name);
	l->v[l->n] = NULL;
	return 0;
}

char **device_names(const char *root, struct err *e)
{
	struct names l = { list_new(0), 0, 1 };

	if (for_each(root, add_name, &l, e) < 0) {
		list_free(l.v);
		return NULL;
	}
	return l.v;
}

void device_names_free(char **names)
{
	list_free(names);
}
