#include "rec.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "arena.h"
#include "json.h"
#include "xalloc.h"

#define CHUNK 65536
#define INT_SAFE 9007199254740991LL

static const char *const kind_names[] = {
	"other", "run", "case", "account", "probe", "start", "obs", "end",
	"death", "verdict", "oracle_failure",
};
_Static_assert(sizeof(kind_names) / sizeof(kind_names[0]) == REC_NKINDS,
	       "a name for every kind");

const char *rec_kind_name(enum rec_kind k)
{
	return kind_names[k < REC_NKINDS ? k : REC_OTHER];
}

static enum rec_kind kind_find(const char *name)
{
	int k;

	for (k = REC_OTHER + 1; k < REC_NKINDS; k++)
		if (!strcmp(name, kind_names[k]))
			return (enum rec_kind)k;
	return REC_OTHER;
}

enum format { UNKNOWN, PLAIN, GZIP };

struct rec_reader {
	char **files;
	size_t nfiles, at;	/* at: the next one to be opened */

	/* The file being read; fd is -1 between two. */
	int fd;
	char *name;		/* for messages */
	enum format format;
	bool eof;		/* fd has no more */
	bool in_member;		/* the inflater is amid a gzip member */
	bool z_full;		/* it may hold more than it could put out */
	bool skip;		/* amid the rest of an over-long line */
	unsigned long line;
	z_stream z;
	unsigned char *raw;	/* CHUNK bytes read, not yet inflated */
	size_t rawlen, rawpos;

	/* Text: lines begin at pos; no LF in [pos, scanned). */
	char *text;
	size_t len, cap, pos, scanned;

	struct arena arena;	/* holds the record's JSON */
	struct buf where;
	bool skip_obs;
};

struct rec_reader *rec_open(char *const *files, size_t n)
{
	struct rec_reader *r = xcalloc(1, sizeof(*r));
	size_t i;

	r->nfiles = n ? n : 1;
	r->files = xcalloc(r->nfiles, sizeof(*r->files));
	for (i = 0; i < n; i++)
		r->files[i] = xstrdup(files[i]);
	if (!n)
		r->files[0] = xstrdup("-");
	r->fd = -1;
	buf_init(&r->where);
	return r;
}

static void close_file(struct rec_reader *r)
{
	if (r->fd > 0)
		close(r->fd);
	r->fd = -1;
	if (r->format == GZIP)
		inflateEnd(&r->z);
	r->format = UNKNOWN;
}

void rec_close(struct rec_reader *r)
{
	size_t i;

	if (!r)
		return;
	close_file(r);
	for (i = 0; i < r->nfiles; i++)
		free(r->files[i]);
	free(r->files);
	free(r->name);
	free(r->raw);
	free(r->text);
	arena_release(&r->arena);
	buf_release(&r->where);
	free(r);
}

/* Open the next file: 1, 0 where there is none, -1 with e set. */
static int next_file(struct rec_reader *r, struct err *e)
{
	const char *path;

	close_file(r);
	if (r->at == r->nfiles)
		return 0;
	path = r->files[r->at++];
	free(r->name);
	r->line = 0;
	r->eof = r->in_member = r->z_full = r->skip = false;
	r->rawlen = r->rawpos = 0;
	r->len = r->pos = r->scanned = 0;
	if (!strcmp(path, "-")) {
		r->name = xstrdup("<stdin>");
		r->fd = 0;
		return 1;
	}
	r->name = xstrdup(path);
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0)
		return err_sys(e, errno, "cannot open '%s'", path);
	return 1;
}

/* read(2) once; like it, 0 at the end. */
static ssize_t read_some(struct rec_reader *r, void *p, size_t n, struct err *e)
{
	struct pollfd pfd = { .fd = r->fd, .events = POLLIN };
	ssize_t got;

	for (;;) {
		got = read(r->fd, p, n);
		if (got > 0)
			return got;
		if (!got) {
			r->eof = true;
			return 0;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			poll(&pfd, 1, -1);
		} else if (errno != EINTR) {
			err_sys(e, errno, "%s: cannot read", r->name);
			return -1;
		}
	}
}

/* Room for n more bytes of text, moving what is left of it to the front. */
static void make_room(struct rec_reader *r, size_t n)
{
	if (r->pos) {
		memmove(r->text, r->text + r->pos, r->len - r->pos);
		r->len -= r->pos;
		r->scanned -= r->pos;
		r->pos = 0;
	}
	r->text = xgrow(r->text, &r->cap, r->len + n, 1);
}

/* Fill r->raw when it is used up: bytes there, 0 at the end, -1. */
static ssize_t fill_raw(struct rec_reader *r, struct err *e)
{
	ssize_t n;

	if (r->rawpos < r->rawlen)
		return (ssize_t)(r->rawlen - r->rawpos);
	if (r->eof)
		return 0;
	if (!r->raw)
		r->raw = xmalloc(CHUNK);
	n = read_some(r, r->raw, CHUNK, e);
	r->rawpos = 0;
	r->rawlen = n > 0 ? (size_t)n : 0;
	return n;
}

static int bad_gzip(struct rec_reader *r, const char *what, struct err *e)
{
	err_set(e, EX_BADINPUT, "%s: %s", r->name, what);
	close_file(r);		/* nothing after it can be made sense of */
	return -1;
}

/* Inflate until there is some text: bytes added, 0 at the end, -1. */
static ssize_t fill_gzip(struct rec_reader *r, struct err *e)
{
	size_t before = r->len;
	ssize_t n;
	int rc;

	while (r->len == before) {
		/* What the inflater still holds comes before a read. */
		n = r->z_full ? (ssize_t)(r->rawlen - r->rawpos) :
				fill_raw(r, e);
		if (n < 0)
			return -1;
		if (!n && r->z_full)
			goto inflate;
		if (!n && r->in_member)
			return bad_gzip(r, "gzip data is cut", e);
		if (!n)
			return 0;
		if (!r->in_member && inflateReset(&r->z) != Z_OK)
			return bad_gzip(r, "zlib does not work", e);
		r->in_member = true;
inflate:
		r->z.next_in = r->raw + r->rawpos;
		r->z.avail_in = (unsigned)n;
		r->z.next_out = (unsigned char *)r->text + r->len;
		r->z.avail_out = (unsigned)(r->cap - r->len < CHUNK ?
					    r->cap - r->len : CHUNK);
		rc = inflate(&r->z, Z_SYNC_FLUSH);
		r->rawpos = r->rawlen - r->z.avail_in;
		r->len = (size_t)((char *)r->z.next_out - r->text);
		r->z_full = rc == Z_OK && !r->z.avail_out;
		if (rc == Z_STREAM_END)
			r->in_member = false;
		else if (rc != Z_OK && rc != Z_BUF_ERROR && r->len == before)
			return bad_gzip(r, "gzip data is damaged", e);
	}
	return (ssize_t)(r->len - before);
}

/* The first bytes tell the format; one that is no 0x1f suffices. */
static int sniff(struct rec_reader *r, struct err *e)
{
	ssize_t n = 0;

	make_room(r, CHUNK);
	while (r->len < 2 && !(r->len == 1 && r->text[0] != 0x1f)) {
		n = read_some(r, r->text + r->len, CHUNK - r->len, e);
		if (n <= 0)
			break;
		r->len += (size_t)n;
	}
	if (n < 0)
		return -1;
	r->format = PLAIN;
	if (r->len < 2 || memcmp(r->text, "\x1f\x8b", 2))
		return 0;
	memset(&r->z, 0, sizeof(r->z));
	if (inflateInit2(&r->z, 15 + 16) != Z_OK)
		return err_set(e, EX_ENVIRON, "%s: zlib does not work",
			       r->name);
	r->format = GZIP;
	if (!r->raw)
		r->raw = xmalloc(CHUNK);
	memcpy(r->raw, r->text, r->len);
	r->rawlen = r->len;
	r->len = 0;
	return 0;
}

/* Get more text: bytes, 0 at the end of the file, -1 with e set. */
static ssize_t fill(struct rec_reader *r, struct err *e)
{
	ssize_t n;

	if (r->format == UNKNOWN) {
		if (sniff(r, e) < 0)
			return -1;
		if (r->len)
			return (ssize_t)r->len;
	}
	make_room(r, CHUNK);
	if (r->format == GZIP)
		return fill_gzip(r, e);
	if (r->eof)
		return 0;
	n = read_some(r, r->text + r->len, CHUNK, e);
	if (n > 0)
		r->len += (size_t)n;
	return n;
}

static int bad_line(struct rec_reader *r, struct err *e, const char *what)
{
	return err_set(e, EX_BADINPUT, "%s:%lu: %s", r->name, r->line, what);
}

/*
 * The next whole line at *line (its LF made NUL): 1, 0 at the end of the file,
 * -1.  Of an over-long one no more than REC_MAX is ever held.
 */
static int next_line(struct rec_reader *r, char **line, size_t *len,
		     struct err *e)
{
	char *lf;
	ssize_t n;

	for (;;) {
		lf = r->scanned < r->len ?
		     memchr(r->text + r->scanned, '\n', r->len - r->scanned) :
		     NULL;
		if (lf) {
			*line = r->text + r->pos;
			*len = (size_t)(lf - *line);
			*lf = '\0';
			r->pos = r->scanned = (size_t)(lf - r->text) + 1;
			if (r->skip) {
				r->skip = false;
				continue;
			}
			r->line++;
			if (*len >= REC_MAX)
				return bad_line(r, e, "record is over 1 MiB");
			return 1;
		}
		r->scanned = r->len;
		if (r->skip)
			r->pos = r->len;
		if (r->len - r->pos >= REC_MAX) {
			r->skip = true;
			r->line++;
			return bad_line(r, e, "record is over 1 MiB");
		}
		n = fill(r, e);
		if (n < 0)
			return -1;
		if (!n && r->skip)
			r->skip = false;	/* it was reported */
		else if (!n && r->len > r->pos) {
			r->pos = r->scanned = r->len;
			r->line++;
			return bad_line(r, e, "record is cut: no newline at "
					"the end of input");
		}
		if (!n)
			return 0;
	}
}

/* What is wrong with v, kind, id or run, or NULL. */
static const char *read_head(struct rec *rec)
{
	static const struct { const char *key; bool needed; } heads[] = {
		{ "kind", true }, { "id", false }, { "run", false },
	};
	const char *got[3];
	const cJSON *v;
	size_t i;

	if (!cJSON_IsObject(rec->json))
		return "record is no JSON object";
	v = json_get(rec->json, "v");
	if (!v)
		return "record has no 'v'";
	if (!cJSON_IsNumber(v) || v->valuedouble != REC_VERSION)
		return "unknown record version";
	for (i = 0; i < 3; i++) {
		v = json_get(rec->json, heads[i].key);
		got[i] = "";
		if (cJSON_IsString(v))
			got[i] = v->valuestring;
		else if (v || heads[i].needed)
			return i == 0 ? "record needs 'kind', a string" :
			       i == 1 ? "record's 'id' is no string" :
					"record's 'run' is no string";
	}
	rec->kind = kind_find(got[0]);
	rec->id = got[1];
	rec->run = got[2];
	return NULL;
}

void rec_skip_obs(struct rec_reader *r)
{
	r->skip_obs = true;
}

/* As they are all written; one that begins otherwise is read. */
static bool is_obs(const char *line, size_t len)
{
	static const char head[] = "{\"v\":1,\"kind\":\"obs\",";

	return len > sizeof(head) && line[len - 1] == '}' &&
	       !memcmp(line, head, sizeof(head) - 1);
}

int rec_next(struct rec_reader *r, struct rec *rec, struct err *e)
{
	const char *wrong;
	struct err own;
	char *line = NULL;
	size_t len = 0;
	int rc;

	if (!e)
		e = &own;
	arena_reset(&r->arena);
	memset(rec, 0, sizeof(*rec));
	for (;;) {
		if (r->fd < 0) {
			rc = next_file(r, e);
			if (rc <= 0)
				return rc;
		}
		rc = next_line(r, &line, &len, e);
		if (rc > 0 && r->skip_obs && is_obs(line, len))
			continue;
		if (rc > 0)
			break;
		if (rc < 0 && r->fd >= 0 && e->code == EX_ENVIRON)
			close_file(r);
		if (rc < 0)
			return -1;
		close_file(r);
	}
	if (memchr(line, '\0', len))
		return bad_line(r, e, "record holds a NUL byte");
	rec->json = json_parse_in(&r->arena, line, len, e);
	if (!rec->json)
		return err_prefix(e, "%s:%lu: cannot parse record", r->name,
				  r->line);
	rec->line = line;
	rec->len = len;
	wrong = read_head(rec);
	if (wrong)
		return bad_line(r, e, wrong);
	return 1;
}

const char *rec_where(struct rec_reader *r)
{
	buf_reset(&r->where);
	buf_addf(&r->where, "%s:%lu", r->name ? r->name : "<stdin>", r->line);
	return r->where.p;
}

bool rec_pending(struct rec_reader *r)
{
	struct pollfd pfd = { .fd = r->fd, .events = POLLIN };

	if (r->fd < 0) {		/* between two files */
		if (r->at == r->nfiles)
			return false;
		pfd.fd = 0;
		return strcmp(r->files[r->at], "-") || poll(&pfd, 1, 0) > 0;
	}
	if (r->scanned < r->len &&
	    memchr(r->text + r->scanned, '\n', r->len - r->scanned))
		return true;
	if (r->z_full || r->rawpos < r->rawlen)
		return true;
	return !r->eof && poll(&pfd, 1, 0) > 0;
}

/* Fields */

static const char *type_name(const cJSON *v)
{
	return !v ? "nothing" : cJSON_IsString(v) ? "a string" :
	       cJSON_IsNumber(v) ? "a number" : cJSON_IsBool(v) ? "a boolean" :
	       cJSON_IsArray(v) ? "a list" : cJSON_IsObject(v) ? "an object" :
	       "null";
}

int rec_str(const cJSON *o, const char *key, const char **out, struct err *e)
{
	const cJSON *v = json_get(o, key);

	if (!cJSON_IsString(v))
		return err_set(e, EX_BADINPUT, "'%s' needs a string, not %s",
			       key, type_name(v));
	*out = v->valuestring;
	return 0;
}

/* A whole number, or a string of one: 0, or -1. */
static int whole(const cJSON *v, long long *out)
{
	char *end;

	if (cJSON_IsNumber(v)) {
		if (v->valuedouble != floor(v->valuedouble) ||
		    fabs(v->valuedouble) > (double)INT_SAFE)
			return -1;
		*out = (long long)v->valuedouble;
		return 0;
	}
	if (!cJSON_IsString(v) || !v->valuestring[0] ||
	    strspn(v->valuestring, "-0123456789") != strlen(v->valuestring))
		return -1;
	errno = 0;
	*out = strtoll(v->valuestring, &end, 10);
	return errno || *end ? -1 : 0;
}

int rec_int(const cJSON *o, const char *key, long long lo, long long hi,
	    long long *out, struct err *e)
{
	const cJSON *v = json_get(o, key);
	long long n;

	if (whole(v, &n))
		return err_set(e, EX_BADINPUT,
			       "'%s' needs a whole number, not %s", key,
			       cJSON_IsNumber(v) ? "a broken one" :
			       type_name(v));
	if (n < lo || n > hi)
		return err_set(e, EX_BADINPUT,
			       "'%s' is %lld, not %lld to %lld", key, n, lo,
			       hi);
	*out = n;
	return 0;
}

int rec_uint(const cJSON *o, const char *key, uint64_t *out, struct err *e)
{
	const cJSON *v = json_get(o, key);
	long long n;
	char *end;

	if (cJSON_IsString(v) && v->valuestring[0] &&
	    strspn(v->valuestring, "0123456789") == strlen(v->valuestring)) {
		errno = 0;
		*out = strtoull(v->valuestring, &end, 10);
		if (!errno)
			return 0;
	} else if (cJSON_IsNumber(v) && !whole(v, &n) && n >= 0) {
		*out = (uint64_t)n;
		return 0;
	}
	return err_set(e, EX_BADINPUT,
		       "'%s' needs a whole number from 0 to 2^64 - 1", key);
}

const char *rec_str_opt(const cJSON *o, const char *key, const char *dflt)
{
	const cJSON *v = json_get(o, key);

	return cJSON_IsString(v) ? v->valuestring : dflt;
}

long long rec_int_opt(const cJSON *o, const char *key, long long dflt)
{
	long long n;

	return whole(json_get(o, key), &n) ? dflt : n;
}

bool rec_bool_opt(const cJSON *o, const char *key, bool dflt)
{
	const cJSON *v = json_get(o, key);

	return cJSON_IsBool(v) ? cJSON_IsTrue(v) : dflt;
}

int rec_hexf(const cJSON *item, double *out)
{
	static const struct { const char *text; double v; } words[] = {
		{ "nan", NAN }, { "inf", INFINITY }, { "-inf", -INFINITY },
	};
	const char *s;
	char *end;
	size_t i;

	if (cJSON_IsNumber(item)) {
		*out = item->valuedouble;
		return 0;
	}
	if (!cJSON_IsString(item))
		return -1;
	s = item->valuestring;
	for (i = 0; i < 3; i++)
		if (!strcmp(s, words[i].text)) {
			*out = words[i].v;
			return 0;
		}
	/* strtod() takes more than we do: white space, "infinity", "nan(1)". */
	if (!*s || strspn(s, "0123456789abcdefABCDEFxXpP.+-") != strlen(s))
		return -1;
	*out = strtod(s, &end);
	return *end || !isfinite(*out) ? -1 : 0;
}

/* Writing */

int rec_add(struct buf *out, const char *line, size_t len, struct err *e)
{
	if (len + 1 > REC_MAX)
		return err_set(e, EX_ENVIRON,
			       "cannot write a record of %zu bytes: over 1 MiB",
			       len + 1);
	if (memchr(line, '\n', len))
		return err_set(e, EX_ENVIRON,
			       "cannot write a record with a newline in it");
	buf_add(out, line, len);
	buf_addch(out, '\n');
	return 0;
}

int rec_flush(int fd, struct buf *out, struct err *e)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	size_t at = 0;
	ssize_t done;

	while (at < out->len) {
		done = write(fd, out->p + at, out->len - at);
		if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			poll(&pfd, 1, -1);
			continue;
		}
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			err_sys(e, errno, "cannot write record");
			out->len -= at;
			memmove(out->p, out->p + at, out->len + 1);
			return -1;
		}
		at += (size_t)done;
	}
	buf_recycle(out);
	return 0;
}

int rec_write(int fd, const char *line, size_t len, struct err *e)
{
	struct buf b = BUF_INIT;
	int rc = rec_add(&b, line, len, e);

	if (!rc)
		rc = rec_flush(fd, &b, e);
	buf_release(&b);
	return rc;
}

int rec_write_buf(int fd, const struct buf *b, struct err *e)
{
	return rec_write(fd, b->p, b->len, e);
}

/* Sets of ids: open addressing, never over half full. */

struct idset {
	char **slot;
	size_t n, size;		/* size: 0 or a power of two */
};

struct idset *idset_new(void)
{
	return xcalloc(1, sizeof(struct idset));
}

void idset_free(struct idset *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->size; i++)
		free(s->slot[i]);
	free(s->slot);
	free(s);
}

/* The slot that holds id or, if none does, the free one for it. */
static size_t idset_find(char *const *slot, size_t size, const char *id)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	const char *p;
	size_t i;

	for (p = id; *p; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	h ^= h >> 29;
	for (i = h & (size - 1); slot[i] && strcmp(slot[i], id);
	     i = (i + 1) & (size - 1))
		;
	return i;
}

static void idset_rehash(struct idset *s)
{
	size_t size = s->size ? s->size * 2 : 64, i;
	char **slot = xcalloc(size, sizeof(*slot));

	for (i = 0; i < s->size; i++)
		if (s->slot[i])
			slot[idset_find(slot, size, s->slot[i])] = s->slot[i];
	free(s->slot);
	s->slot = slot;
	s->size = size;
}

bool idset_add(struct idset *s, const char *id)
{
	size_t i;

	if (s->n * 2 >= s->size)
		idset_rehash(s);
	i = idset_find(s->slot, s->size, id);
	if (s->slot[i])
		return false;
	s->slot[i] = xstrdup(id);
	s->n++;
	return true;
}

bool idset_has(const struct idset *s, const char *id)
{
	return s->size && s->slot[idset_find(s->slot, s->size, id)];
}

size_t idset_count(const struct idset *s)
{
	return s->n;
}
