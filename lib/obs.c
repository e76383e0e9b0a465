#include "obs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "arena.h"
#include "b64.h"
#include "buf.h"
#include "json.h"
#include "rec.h"
#include "sha256.h"
#include "xalloc.h"
#include "banned.h"

#define BLOB_MAX ((size_t)1 << 34)
#define DEPTH_MAX 8

struct blob {
	const char *digest;
	const unsigned char *p;
	size_t n;
};

struct mem {
	struct arena arena;		/* what an observation holds */
	struct blob *blobs;		/* a digest is read once a record */
	size_t nblobs, capblobs;
};

/* What parsing needs beside the value at hand. */
struct ctx {
	struct mem *mem;
	const char *blobs;
	size_t nvals;
	bool device;		/* what is read is the device's */
	struct err *e;
};

static void *take(struct ctx *c, size_t n, size_t size)
{
	return arena_zero(&c->mem->arena, n, size);
}

/*
 * A list of whole numbers; *out is NULL where the key is absent.  0, or -1.
 */
static int read_dims(struct ctx *c, const cJSON *o, const char *key,
		     long long lo, const int64_t **out, int *n)
{
	const cJSON *a = json_get(o, key), *item;
	int64_t *v;
	int i = 0;

	*out = NULL;
	*n = 0;
	if (!a)
		return 0;
	if (!cJSON_IsArray(a))
		return err_set(c->e, EX_BADINPUT, "'%s' is not a list", key);
	if (cJSON_GetArraySize(a) > OBS_MAX_DIMS)
		return err_set(c->e, EX_BADINPUT,
			       "'%s' has more than %d entries", key,
			       OBS_MAX_DIMS);
	v = take(c, (size_t)cJSON_GetArraySize(a), sizeof(*v));
	cJSON_ArrayForEach(item, a) {
		char *end;
		long long x;

		if (cJSON_IsNumber(item) &&
		    fabs(item->valuedouble) <= 9007199254740991.0 &&
		    item->valuedouble == (double)(long long)item->valuedouble) {
			x = (long long)item->valuedouble;
		} else if (cJSON_IsString(item) && *item->valuestring) {
			x = strtoll(item->valuestring, &end, 10);
			if (*end)
				return err_set(c->e, EX_BADINPUT,
					       "'%s' holds '%s', not a whole "
					       "number", key,
					       item->valuestring);
		} else {
			return err_set(c->e, EX_BADINPUT,
				       "'%s' holds what is no whole number",
				       key);
		}
		if (x < lo)
			return err_set(c->e, EX_BADINPUT,
				       "'%s' holds %lld, below %lld", key, x,
				       lo);
		v[i++] = x;
	}
	*out = v;
	*n = i;
	return 0;
}

/* Elements and bytes of the shape; refuses what no memory can hold. */
static int measure(struct ctx *c, struct tensor *t, size_t *nbytes)
{
	int64_t n = 1;
	int i;

	for (i = 0; i < t->ndim; i++)
		if (t->shape[i] == 0)
			n = 0;
	for (i = 0; i < t->ndim && n; i++)
		if (__builtin_mul_overflow(n, t->shape[i], &n))
			goto over;
	if (n > INT64_MAX / 64)
		goto over;
	t->numel = n;
	*nbytes = (size_t)n * t->dt->size;
	return 0;
over:
	return err_set(c->e, EX_BADINPUT, "'shape' is beyond any memory");
}

static int blob_read(struct ctx *c, const char *digest,
		     const unsigned char **p, size_t *n)
{
	struct mem *m = c->mem;
	const char *hex = digest + 7;
	struct buf b = BUF_INIT;
	struct blob *blob;
	char got[65], *path;
	size_t i;
	int rc;

	if (strncmp(digest, "sha256:", 7) || strlen(hex) != 64 ||
	    strspn(hex, "0123456789abcdef") != 64)
		return err_set(c->e, EX_BADINPUT, "'blob' is '%.80s', not "
			       "sha256: and 64 hex digits", digest);
	for (i = 0; i < m->nblobs; i++) {
		if (strcmp(m->blobs[i].digest, digest))
			continue;
		*p = m->blobs[i].p;
		*n = m->blobs[i].n;
		return 0;
	}
	path = xasprintf("%s/%s", c->blobs, hex);
	rc = buf_read_file(&b, path, BLOB_MAX, c->e);
	free(path);
	if (rc < 0) {
		buf_release(&b);
		/* The stream refers to what isn't there: a bad input. */
		if (c->e)
			c->e->code = EX_BADINPUT;
		return err_prefix(c->e, "blob");
	}
	sha256_hex(b.p, b.len, got);
	if (strcmp(got, hex)) {
		buf_release(&b);
		return err_set(c->e, EX_BADINPUT,
			       "blob '%.12s' has another digest, %.12s", hex,
			       got);
	}
	*p = memcpy(arena_take(&m->arena, b.len), b.p, b.len);
	*n = b.len;
	buf_release(&b);
	m->blobs = xgrow(m->blobs, &m->capblobs, m->nblobs + 1,
			 sizeof(*m->blobs));
	blob = &m->blobs[m->nblobs++];
	blob->digest = digest;
	blob->p = *p;
	blob->n = *n;
	return 0;
}

static int data_decode(struct ctx *c, const char *s, struct tensor *t)
{
	struct buf b = BUF_INIT;

	if (b64_decode(&b, s, strlen(s)) < 0) {
		buf_release(&b);
		return err_set(c->e, EX_BADINPUT, "'data' is not base64");
	}
	t->p = memcpy(arena_take(&c->mem->arena, b.len), b.p, b.len);
	t->nbytes = b.len;
	buf_release(&b);
	return 0;
}

static int read_tensor(struct ctx *c, const cJSON *o, struct tensor *t,
		       const struct tensor *ref, int depth);

static int read_parts(struct ctx *c, const cJSON *parts, struct tensor *t,
		      const struct tensor *ref, int depth)
{
	const cJSON *item;
	size_t i = 0, j;

	if (!cJSON_IsObject(parts))
		return err_set(c->e, EX_BADINPUT, "'parts' is not an object");
	t->nparts = (size_t)cJSON_GetArraySize(parts);
	t->parts = take(c, t->nparts, sizeof(*t->parts));
	t->data = TD_PARTS;
	cJSON_ArrayForEach(item, parts) {
		const struct tensor *r = NULL;

		for (j = 0; ref && j < ref->nparts; j++)
			if (!strcmp(ref->parts[j].part, item->string))
				r = &ref->parts[j];
		t->parts[i].part = item->string;
		if (read_tensor(c, item, &t->parts[i++], r, depth + 1) < 0)
			return err_prefix(c->e, "part '%s'", item->string);
	}
	return 0;
}

/* The elements, however they came. */
static int read_data(struct ctx *c, const cJSON *o, struct tensor *t,
		     const struct tensor *ref, size_t want, int depth)
{
	static const char *const ways[] = {
		"data", "blob", "same", "meta", "lost", "parts", "crc",
	};
	const cJSON *item = NULL;
	size_t i, way = 0, n = 0;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const cJSON *x = json_get(o, ways[i]);

		if (!x)
			continue;
		item = x;
		way = i;
		n++;
	}
	if (n > 1)
		return err_set(c->e, EX_BADINPUT, "a tensor's elements come "
			       "in more than one way");
	t->data = TD_NONE;
	if (!n)
		return 0;
	if (c->device && ref && ref->data == TD_SUM &&
	    (way < 2 || way == 3))
		return err_set(c->e, EX_BADINPUT, "'%s' where the reference "
			       "has a 'crc', which is for what is the same",
			       ways[way]);
	if (way == 3) {
		t->data = TD_META;
		return cJSON_IsTrue(item) ? 0 :
			err_set(c->e, EX_BADINPUT, "'meta' is not true");
	}
	if (way == 5)
		return read_parts(c, item, t, ref, depth);
	if (!cJSON_IsString(item))
		return err_set(c->e, EX_BADINPUT, "'%s' is not a string",
			       ways[way]);
	if (way == 4) {
		t->data = TD_LOST;
		t->note = item->valuestring;
		return 0;
	}
	if (way == 6) {
		t->data = TD_SUM;
		return strlen(item->valuestring) == 8 &&
		       strspn(item->valuestring, "0123456789abcdef") == 8 ? 0 :
			err_set(c->e, EX_BADINPUT, "'crc' is not 8 digits");
	}
	if (way == 2) {
		if (strcmp(item->valuestring, "ref") || !ref)
			return err_set(c->e, EX_BADINPUT, "'same' is '%.40s', "
				       "and there is no such tensor",
				       item->valuestring);
		t->same = true;
		t->data = ref->data;
		t->p = ref->p;
		t->nbytes = ref->nbytes;
		t->parts = ref->parts;
		t->nparts = ref->nparts;
		if (ref->data == TD_PARTS || ref->data == TD_SUM)
			return 0;
		if (ref->data != TD_BYTES)
			return err_set(c->e, EX_BADINPUT, "'same' refers to a "
				       "tensor without bytes");
	} else if (way == 0) {
		if (data_decode(c, item->valuestring, t) < 0)
			return -1;
	} else if (blob_read(c, item->valuestring, &t->p, &t->nbytes) < 0) {
		return -1;
	}
	t->data = TD_BYTES;
	if (t->nbytes != want && c->device) {
		/* A device may give more or less than its shape says. */
		t->data = TD_LOST;
		t->note = "not as many bytes as dtype and shape make";
		return 0;
	}
	if (t->nbytes != want)
		return err_set(c->e, EX_BADINPUT, "%zu bytes where dtype and "
			       "shape make %zu", t->nbytes, want);
	return 0;
}

static int read_tensor(struct ctx *c, const cJSON *o, struct tensor *t,
		       const struct tensor *ref, int depth)
{
	const cJSON *amax;
	size_t want = 0;
	int n;

	if (++c->nvals > OBS_MAX_OUTS || depth > DEPTH_MAX)
		return err_set(c->e, EX_BADINPUT, "too many tensors");
	if (!cJSON_IsObject(o))
		return err_set(c->e, EX_BADINPUT, "a tensor is not an object");
	t->note = rec_str_opt(o, "lost", NULL);
	if (t->note && !json_get(o, "dtype")) {
		/* Not even what it is could be found out. */
		t->data = TD_LOST;
		t->dtype = t->layout = t->device = "";
		t->dt = dtype_find("bool");
		t->shape = take(c, 1, sizeof(*t->shape));
		t->numel = 1;
		t->amax = -1;
		return 0;
	}
	if (rec_str(o, "dtype", &t->dtype, c->e) < 0)
		return -1;
	t->dt = dtype_find(t->dtype);
	if (!t->dt)
		return err_set(c->e, EX_BADINPUT, "unknown dtype '%.40s'",
			       t->dtype);
	if (read_dims(c, o, "shape", 0, &t->shape, &t->ndim) < 0)
		return -1;
	if (!t->shape)
		return err_set(c->e, EX_BADINPUT, "a tensor without 'shape'");
	if (read_dims(c, o, "strides", INT64_MIN, &t->strides, &n) < 0)
		return -1;
	if (t->strides && n != t->ndim)
		return err_set(c->e, EX_BADINPUT,
			       "%d strides for %d dimensions", n, t->ndim);
	t->layout = rec_str_opt(o, "layout", "strided");
	t->device = rec_str_opt(o, "device", "");
	t->conj = rec_bool_opt(o, "conj", false);
	t->neg = rec_bool_opt(o, "neg", false);
	t->requires_grad = rec_bool_opt(o, "requires_grad", false);
	t->relaid = rec_bool_opt(o, "relaid", false);
	t->is_quantized = rec_bool_opt(o, "is_quantized", false);
	t->amax = -1;
	amax = json_get(o, "amax");
	if (amax && (rec_hexf(amax, &t->amax) < 0 || !(t->amax >= 0)))
		return err_set(c->e, EX_BADINPUT, "'amax' is no magnitude");
	if (measure(c, t, &want) < 0)
		return -1;
	return read_data(c, o, t, ref, want, depth);
}

static int read_value(struct ctx *c, const cJSON *o, struct value *v,
		      const struct value *ref)
{
	const cJSON *py;

	if (!cJSON_IsObject(o))
		return err_set(c->e, EX_BADINPUT, "a value is not an object");
	py = json_get(o, "py");
	if (!py) {
		v->is_tensor = true;
		return read_tensor(c, o, &v->t,
				   ref && ref->is_tensor ? &ref->t : NULL, 0);
	}
	if (++c->nvals > OBS_MAX_OUTS)
		return err_set(c->e, EX_BADINPUT, "too many values");
	if (!cJSON_IsString(py))
		return err_set(c->e, EX_BADINPUT, "'py' is not a string");
	v->py = py->valuestring;
	v->text = rec_str_opt(o, "value", "");
	return 0;
}

static int read_values(struct ctx *c, const cJSON *a, struct value **out,
		       size_t *n, const struct result *ref)
{
	const cJSON *item;
	size_t i = 0;

	if (!cJSON_IsArray(a))
		return err_set(c->e, EX_BADINPUT, "not a list of values");
	*n = (size_t)cJSON_GetArraySize(a);
	*out = take(c, *n, sizeof(**out));
	cJSON_ArrayForEach(item, a) {
		const struct value *r = ref && i < ref->n ? &ref->outs[i] :
			NULL;

		if (read_value(c, item, &(*out)[i], r) < 0)
			return err_prefix(c->e, "%zu", i);
		i++;
	}
	return 0;
}

static int read_result(struct ctx *c, const cJSON *rec, const char *key,
		       struct result *res, const struct result *ref)
{
	const cJSON *o = json_get(rec, key);
	const cJSON *raised, *outs;

	if (!o)
		return 0;
	if (!cJSON_IsObject(o))
		return err_set(c->e, EX_BADINPUT, "'%s' is not an object", key);
	res->present = true;
	raised = json_get(o, "raised");
	outs = json_get(o, "outs");
	if (!raised == !outs)
		return err_set(c->e, EX_BADINPUT,
			       "'%s' needs one of 'outs' and 'raised'", key);
	if (raised) {
		if (!cJSON_IsObject(raised))
			return err_set(c->e, EX_BADINPUT,
				       "'raised' is not an object");
		res->raised = true;
		res->type = rec_str_opt(raised, "type", "");
		res->message = rec_str_opt(raised, "message", "");
		res->kind = rec_str_opt(raised, "kind", "error");
		return 0;
	}
	res->tree = rec_str_opt(o, "tree", "");
	if (read_values(c, outs, &res->outs, &res->n, ref) < 0)
		return err_prefix(c->e, "%s", key);
	return 0;
}

/* A sub-object of which only the type is checked here. */
static int sub(struct ctx *c, const cJSON *rec, const char *key, bool list,
	       const cJSON **out)
{
	*out = json_get(rec, key);
	if (*out && !(list ? cJSON_IsArray(*out) : cJSON_IsObject(*out)))
		return err_set(c->e, EX_BADINPUT, "'%s' is not %s", key,
			       list ? "a list" : "an object");
	return 0;
}

static int read_all(struct ctx *c, struct obs *o, const cJSON *rec)
{
	const cJSON *in = json_get(rec, "inputs");

	if (rec_int(rec, "sample", 0, INT32_MAX, &o->sample, c->e) < 0)
		return -1;
	o->op = rec_str_opt(rec, "op", "");
	o->called = rec_str_opt(rec, "called", o->op);
	o->dtype = rec_str_opt(rec, "dtype", "");
	o->device = rec_str_opt(rec, "device", "");
	o->oracle = rec_str_opt(rec, "oracle", "cpu");
	o->tier = rec_str_opt(rec, "tier", "clean");
	o->args = rec_str_opt(rec, "args", "");
	o->repeat = rec_str_opt(rec, "repeat", NULL);
	o->drew = json_get(rec, "drew");
	if (o->drew && !cJSON_IsBool(o->drew))
		return err_set(c->e, EX_BADINPUT, "'drew' is neither true nor "
			       "false");
	if (in && read_values(c, in, &o->inputs, &o->ninputs, NULL) < 0)
		return err_prefix(c->e, "inputs");
	if (read_result(c, rec, "ref", &o->ref, NULL) < 0 ||
	    read_result(c, rec, "hp", &o->hp, &o->ref) < 0 ||
	    read_result(c, rec, "numpy", &o->np, &o->ref) < 0)
		return -1;
	c->device = true;
	if (read_result(c, rec, "dev", &o->dev, &o->ref) < 0)
		return -1;
	if (!o->dev.present)
		return err_set(c->e, EX_BADINPUT, "an observation without "
			       "'dev'");
	if (!o->ref.present)
		return err_set(c->e, EX_BADINPUT, "an observation without "
			       "'ref'");
	if (sub(c, rec, "alias", false, &o->alias) < 0 ||
	    sub(c, rec, "follows", true, &o->follows) < 0 ||
	    sub(c, rec, "leads", true, &o->leads) < 0 ||
	    sub(c, rec, "mutated", false, &o->mutated) < 0 ||
	    sub(c, rec, "guard", true, &o->guard) < 0 ||
	    sub(c, rec, "guard_ref", true, &o->guard_ref) < 0 ||
	    sub(c, rec, "where", false, &o->where) < 0 ||
	    sub(c, rec, "version", false, &o->version) < 0 ||
	    sub(c, rec, "sensitivity", false, &o->sensitivity) < 0)
		return -1;
	return 0;
}

int obs_read(struct obs *o, const cJSON *rec, const char *blobs,
	     struct err *e)
{
	struct mem *m = o->mem ? o->mem : xcalloc(1, sizeof(*m));
	struct ctx c = { .mem = m, .blobs = blobs, .e = e };

	arena_reset(&m->arena);
	m->nblobs = 0;
	memset(o, 0, sizeof(*o));
	o->mem = m;
	o->json = rec;
	if (read_all(&c, o, rec) < 0)
		return err_prefix(e, "observation");
	return 0;
}

void obs_release(struct obs *o)
{
	struct mem *m = o->mem;

	if (!m)
		return;
	arena_release(&m->arena);
	free(m->blobs);
	free(m);
	memset(o, 0, sizeof(*o));
}
