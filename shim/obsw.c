#include "obsw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "dtype.h"
#include "sha256.h"
#include "xalloc.h"

#define ARGS_MAX 300
/* Bytes of elements that a record may hold in all; base64 adds a third. */
#define INLINE_MAX (512u << 10)
/* The reference's elements are not kept beyond this where all agree. */
#define SAME_MAX 64
/*
 * An input's elements are kept up to this where the outputs differ, and up to
 * that where the difference can be an index into it.
 */
#define INPUT_MAX (16u << 10)
#define INDEXED_MAX (64u << 20)

struct writing {
	struct jw w;
	const struct obsw *o;
	size_t held;		/* bytes of elements in the record so far */
	struct err *e;
	bool failed;
};

static const char *layout_name(enum ctt_layout l)
{
	static const char *const names[] = {
		"strided", "sparse_coo", "sparse_csr", "sparse_csc",
		"sparse_bsr", "sparse_bsc", "mkldnn", "jagged", "other",
	};

	return names[l];
}

static void ints(struct jw *w, const char *key, const int64_t *v, int n)
{
	int i;

	jw_key(w, key);
	jw_arr(w);
	for (i = 0; i < n; i++)
		jw_int(w, v[i]);
	jw_arr_end(w);
}

static void meta(struct jw *w, const struct ctt_meta *m)
{
	const struct dtype *t = dtype_by_scalar_type(m->scalar_type);

	jw_kstr(w, "dtype", t ? t->name : "unknown");
	ints(w, "shape", m->sizes, m->ndim);
	if (m->has_strides) {
		ints(w, "strides", m->strides, m->ndim);
		jw_kint(w, "offset", m->offset);
	}
	jw_kstr(w, "layout", layout_name(m->layout));
	jw_kstr(w, "device", m->device);
	if (m->conj)
		jw_kbool(w, "conj", true);
	if (m->neg)
		jw_kbool(w, "neg", true);
	if (m->requires_grad)
		jw_kbool(w, "requires_grad", true);
	if (m->quantized)
		jw_kbool(w, "is_quantized", true);
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

/* A file named by its digest: written beside and renamed, so never half. */
static int put_blob(const char *dir, const char *hex, const void *p, size_t n,
		    struct err *e)
{
	char *path = xasprintf("%s/%s", dir, hex);
	char *tmp = xasprintf("%s/.%s.%ld", dir, hex, (long)getpid());
	int fd, rc = 0;

	if (access(path, F_OK)) {
		if (mkdir(dir, 0777) && errno != EEXIST)
			rc = err_sys(e, errno, "unable to make '%s'", dir);
		fd = rc ? -1 : open(tmp, O_WRONLY | O_CREAT | O_TRUNC |
				    O_CLOEXEC, 0666);
		if (!rc && (fd < 0 || write_all(fd, p, n) || close(fd) ||
			    rename(tmp, path)))
			rc = err_sys(e, errno, "unable to write '%s'", tmp);
	}
	free(tmp);
	free(path);
	return rc;
}

/* The elements, inline or as a blob. */
static void elements(struct writing *x, const void *p, size_t n)
{
	char hex[65], ref[80];

	if (x->held + n <= INLINE_MAX) {
		x->held += n;
		jw_key(&x->w, "data");
		jw_b64(&x->w, p, n);
		return;
	}
	sha256_hex(p, n, hex);
	if (put_blob(x->o->blobs, hex, p, n, x->e))
		x->failed = true;
	snprintf(ref, sizeof(ref), "sha256:%s", hex);
	jw_kstr(&x->w, "blob", ref);
}

static void checksum(struct jw *w, const void *p, size_t n)
{
	char text[9];

	snprintf(text, sizeof(text), "%08lx",
		 crc32_z(crc32_z(0, NULL, 0), p, n));
	jw_kstr(w, "crc", text);
}

enum keep { KEEP_ALL, KEEP_SAME_AS_REF, KEEP_SMALL, KEEP_NONE };

static void keep_bytes(struct writing *x, enum keep keep, const void *p,
		       size_t n)
{
	if (keep == KEEP_SAME_AS_REF)
		jw_kstr(&x->w, "same", "ref");
	else if (keep == KEEP_NONE)
		jw_kbool(&x->w, "meta", true);
	else if (keep == KEEP_ALL || n <= SAME_MAX)
		elements(x, p, n);
	else
		checksum(&x->w, p, n);
}

static void part(struct writing *x, const char *name, ctt t, enum keep keep)
{
	const struct ctt_api *api = x->o->lab->api;
	struct ctt_meta m;
	const void *p;
	size_t n;
	ctt c;

	jw_key(&x->w, name);
	jw_obj(&x->w);
	if (api->meta(t, &m)) {
		jw_kstr(&x->w, "lost", api->error());
	} else {
		meta(&x->w, &m);
		if (keep == KEEP_NONE || keep == KEEP_SAME_AS_REF) {
			keep_bytes(x, keep, NULL, 0);
		} else if (api->read(t, &c, &p, &n)) {
			jw_kstr(&x->w, "lost", api->error());
		} else {
			keep_bytes(x, keep, p, n);
			api->free(c);
		}
	}
	jw_obj_end(&x->w);
}

static void leaf(struct writing *x, const struct leaf *l, enum keep keep,
		 bool relaid)
{
	int i;

	jw_obj(&x->w);
	if (relaid)
		jw_kbool(&x->w, "relaid", true);
	if (!l->is_tensor) {
		jw_kstr(&x->w, "py", l->py);
		jw_kstr(&x->w, "value", l->text);
	} else {
		meta(&x->w, &l->meta);
		if (l->nparts) {
			jw_key(&x->w, "parts");
			jw_obj(&x->w);
			for (i = 0; i < l->nparts; i++)
				part(x, l->part_names[i], l->parts[i], keep);
			jw_obj_end(&x->w);
		} else if (l->read) {
			keep_bytes(x, keep, l->p, l->n);
		} else {
			jw_kbool(&x->w, "meta", true);
		}
	}
	jw_obj_end(&x->w);
}

static void side(struct writing *x, const char *key, const struct side *s,
		 enum keep keep)
{
	static const char *const kinds[] = { "error", "unsupported", "oom" };
	size_t i;

	if (!s->present)
		return;
	jw_key(&x->w, key);
	jw_obj(&x->w);
	if (s->raised) {
		jw_key(&x->w, "raised");
		jw_obj(&x->w);
		jw_kstr(&x->w, "type", s->type);
		jw_kstr(&x->w, "message", s->message);
		jw_kstr(&x->w, "kind", kinds[s->kind]);
		jw_obj_end(&x->w);
	} else {
		jw_kstr(&x->w, "tree", s->tree.p);
		jw_key(&x->w, "outs");
		jw_arr(&x->w);
		for (i = 0; i < s->n; i++)
			leaf(x, &s->leaf[i], keep, false);
		jw_arr_end(&x->w);
	}
	jw_obj_end(&x->w);
}

/* {"ref":…,"dev":…} of one thing that both sides have, where any has it. */
static void both(struct jw *w, const char *key, const struct observation *o,
		 void (*fn)(struct jw *, const struct side *))
{
	jw_key(w, key);
	jw_obj(w);
	jw_key(w, "ref");
	fn(w, &o->ref);
	jw_key(w, "dev");
	fn(w, &o->dev);
	jw_obj_end(w);
}

static void aliases(struct jw *w, const struct side *s)
{
	size_t i;

	jw_arr(w);
	for (i = 0; s->alias && i < s->n; i++)
		jw_str(w, s->alias[i]);
	jw_arr_end(w);
}

static bool any_alias(const struct side *s)
{
	size_t i;

	for (i = 0; s->alias && i < s->n; i++)
		if (*s->alias[i])
			return true;
	return false;
}

/* Which outputs share memory with the inputs, where any does or says so. */
static void follows(struct jw *w, const struct observation *o)
{
	size_t i;

	if (!o->dev.followed || (!o->dev.nfollows && !any_alias(&o->ref) &&
				 !any_alias(&o->dev)))
		return;
	jw_key(w, "follows");
	jw_arr(w);
	for (i = 0; i < o->dev.nfollows; i++)
		jw_int(w, (int64_t)o->dev.follows[i]);
	jw_arr_end(w);
}

static bool any_lead(const struct side *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (s->leads[i] == CTT_LEAD_INPUT)
			return true;
	return false;
}

/*
 * What a write to each output did to the inputs' memory, where any shares or
 * says so.  What was written to beside the outputs, behind them, was not tried.
 */
static void leads(struct jw *w, const struct observation *o)
{
	static const char *const names[] = { "untried", "", "in" };
	const struct side *s = &o->dev;
	size_t i, n = s->nlead;

	if (!s->leads || (!any_lead(s, n) && !any_alias(&o->ref) &&
			  !any_alias(s)))
		return;
	jw_key(w, "leads");
	jw_arr(w);
	for (i = 0; i < n; i++)
		jw_str(w, names[s->leads[i]]);
	jw_arr_end(w);
}

static void versions(struct jw *w, const struct side *s)
{
	size_t i;

	jw_arr(w);
	for (i = 0; i < s->nmoved; i++)
		jw_int(w, s->moved[i]);
	jw_arr_end(w);
}

static bool any_moved(const struct side *s)
{
	size_t i;

	for (i = 0; i < s->nmoved; i++)
		if (s->moved[i])
			return true;
	return false;
}

static void mutations(struct jw *w, const struct side *s)
{
	size_t i;

	jw_arr(w);
	for (i = 0; i < s->nchange; i++)
		if (s->change[i].inside)
			jw_int(w, s->change[i].input);
	jw_arr_end(w);
}

static void guard_list(struct jw *w, const struct side *s)
{
	size_t i;

	jw_arr(w);
	for (i = 0; i < s->nchange; i++) {
		const struct ctt_change *c = &s->change[i];

		if (c->inside)
			continue;
		jw_obj(w);
		jw_kint(w, "tensor", c->input);
		jw_kstr(w, "where", c->where);
		jw_kint(w, "at", c->at);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

static bool any_outside(const struct side *s)
{
	size_t i;

	for (i = 0; i < s->nchange; i++)
		if (!s->change[i].inside)
			return true;
	return false;
}

/* Bytes outside of the views; the reference's too where it changed any. */
static void guards(struct jw *w, const struct observation *o)
{
	if (any_outside(&o->dev)) {
		jw_key(w, "guard");
		guard_list(w, &o->dev);
	}
	if (any_outside(&o->ref)) {
		jw_key(w, "guard_ref");
		guard_list(w, &o->ref);
	}
}

/* Does a result of whole numbers, which may be indices, differ? */
static bool index_differs(const struct observation *o)
{
	size_t i;

	for (i = 0; i < o->ref.n && i < o->dev.n; i++) {
		const struct leaf *r = &o->ref.leaf[i], *d = &o->dev.leaf[i];
		const struct dtype *t = r->is_tensor ?
			dtype_by_scalar_type(r->meta.scalar_type) : NULL;

		if (t && (t->cls == DT_INT || t->cls == DT_UINT) &&
		    r->read && d->read &&
		    (r->n != d->n || memcmp(r->p, d->p, r->n)))
			return true;
	}
	return false;
}

/* Up to how many bytes of an input's elements are kept. */
static size_t input_max(const struct observation *o)
{
	if (o->same || o->ref.raised)
		return 0;
	return index_differs(o) ? INDEXED_MAX : INPUT_MAX;
}

/*
 * The inputs as the device was given them, with the originals' elements where
 * they take no more than max bytes.
 */
static void inputs(struct writing *x, const struct observation *o, size_t max,
		   PyObject *args, PyObject *kwargs)
{
	const struct ctt_api *api = x->o->lab->api;
	ctt *t = NULL;
	size_t i, n = 0, cap = 0;
	bool relaid;

	jw_key(&x->w, "inputs");
	jw_arr(&x->w);
	call_tensors(api, args, kwargs, &t, &n, &cap);
	for (i = 0; i < n; i++) {
		struct leaf l = { .is_tensor = true, .t = t[i] };

		if (!api->meta(t[i], &l.meta)) {
			bool small = l.meta.layout == CTT_STRIDED &&
				!l.meta.nested && (size_t)l.meta.numel *
				l.meta.itemsize <= max;

			l.read = max && small &&
				!api->read(t[i], &l.bytes, &l.p, &l.n);
			relaid = i < o->ngiven && o->given[i].relaid;
			if (i < o->ngiven)
				l.meta = o->given[i].meta;
			leaf(x, &l, KEEP_ALL, relaid);
			if (l.read)
				api->free(l.bytes);
		}
		api->free(t[i]);
	}
	free(t);
	jw_arr_end(&x->w);
}

static void reached(struct jw *w, const struct observation *o)
{
	size_t i;

	if (!o->nreached)
		return;
	jw_key(w, "where");
	jw_obj(w);
	for (i = 0; i < o->nreached; i++)
		jw_kstr(w, o->reached[i].overload, o->reached[i].where);
	jw_obj_end(w);
}

int obsw_write(struct buf *out, const struct obsw *ow,
	       const struct case_rec *c, int sample,
	       const struct observation *o, PyObject *args, PyObject *kwargs,
	       struct err *e)
{
	struct writing x = { .o = ow, .e = e };
	struct buf text = BUF_INIT;
	bool random = o->random || !strcmp(c->oracle, "metadata");
	enum keep keep = random ? KEEP_NONE : KEEP_ALL;

	jw_init(&x.w, out);
	jw_record(&x.w, "obs", c->id, c->run);
	jw_kint(&x.w, "sample", sample);
	jw_kstr(&x.w, "op", c->op);
	if (ow->called)
		jw_kstr(&x.w, "called", ow->called);
	jw_kstr(&x.w, "dtype", c->dtype);
	jw_kstr(&x.w, "device", ow->lab->adapter.dev.string);
	jw_kstr(&x.w, "oracle", random && !o->same ? "metadata" :
		c->oracle);
	jw_kstr(&x.w, "tier", "clean");
	call_text(&text, ow->lab->api, args, kwargs, ARGS_MAX);
	jw_kstr(&x.w, "args", text.p);
	buf_release(&text);
	inputs(&x, o, strcmp(c->oracle, "metadata") ? input_max(o) : 0, args,
	       kwargs);
	side(&x, "ref", &o->ref, o->same ? KEEP_SMALL : keep);
	side(&x, "dev", &o->dev, o->same ? KEEP_SAME_AS_REF : keep);
	if (!o->hp.raised)
		side(&x, "hp", &o->hp, keep);
	if (!o->np.raised)
		side(&x, "numpy", &o->np, keep);
	if (any_alias(&o->ref) || any_alias(&o->dev))
		both(&x.w, "alias", o, aliases);
	follows(&x.w, o);
	leads(&x.w, o);
	if (!o->ref.raised && !o->dev.raised &&
	    (any_moved(&o->ref) || any_moved(&o->dev)))
		both(&x.w, "version", o, versions);
	if (o->ref.nchange || o->dev.nchange)
		both(&x.w, "mutated", o, mutations);
	guards(&x.w, o);
	if (o->drew >= 0)
		jw_kbool(&x.w, "drew", o->drew);
	if (o->repeated)
		jw_kstr(&x.w, "repeat", o->repeat_same ? "same" : "differs");
	reached(&x.w, o);
	jw_key(&x.w, "t_ref_us");
	jw_int(&x.w, o->ref.t_us);
	jw_key(&x.w, "t_dev_us");
	jw_int(&x.w, o->dev.t_us);
	jw_obj_end(&x.w);
	return x.failed ? -1 : 0;
}
