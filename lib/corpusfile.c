#include "corpusfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "xalloc.h"

#define FORMAT 1
#define ORDER 0x01020304u	/* another one shows as 0x04030201 */
#define ENTRY_MAGIC 0x79727465u
#define ALIGN 8
/* The few entries beyond this would take longer to deflate than all others. */
#define DEFLATE_MAX (4u << 20)

static const char head_magic[8] = "ctscorp";
static const char tail_magic[8] = "ctsindx";

/* The layout on disk; lengths are of bytes. */
struct head {
	char magic[8];
	uint32_t format, order;
	uint32_t identity_len, crc;	/* of the identity */
};

struct entry {
	uint32_t magic, key_len;
	uint64_t raw_len, stored_len;	/* the same: as it is, no zlib */
	uint32_t crc;			/* of the bytes stored */
	uint32_t head_crc;		/* of the above and the key */
};

struct tail {
	char magic[8];
	uint64_t index_at, count;
	uint32_t index_crc;
	uint32_t crc;			/* of the above */
};

static uint32_t crc_of(const void *p, size_t n)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), p, n);
}

static uint32_t entry_crc(const struct entry *h, const void *key)
{
	uLong c = crc32_z(crc32_z(0, NULL, 0), (const void *)h,
			  offsetof(struct entry, head_crc));

	return (uint32_t)crc32_z(c, key, h->key_len);
}

static uint64_t hash_of(const char *key, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < n; i++)
		h = (h ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
	return h ^ h >> 29;
}

static size_t padded(size_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static int by_hash(const void *a, const void *b)
{
	const struct corpus_slot *x = a, *y = b;

	return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash) :
		(x->at > y->at) - (x->at < y->at);
}

/* The entry at that place, checked but for its bytes: its size, or 0. */
static size_t entry_at(const struct corpusfile *f, uint64_t at, size_t limit,
		       struct entry *h, const char **key)
{
	uint64_t size;

	if (at % ALIGN || at > limit || limit - at < sizeof(*h))
		return 0;
	memcpy(h, f->map + at, sizeof(*h));
	if (h->magic != ENTRY_MAGIC || h->key_len > CORPUS_KEY_MAX ||
	    h->raw_len > CORPUS_ENTRY_MAX || h->stored_len > h->raw_len)
		return 0;
	size = padded(sizeof(*h) + h->key_len + h->stored_len);
	if (limit - at < size)
		return 0;
	*key = (const char *)f->map + at + sizeof(*h);
	return entry_crc(h, *key) == h->head_crc ? (size_t)size : 0;
}

static int read_head(struct corpusfile *f, struct err *e)
{
	struct head h;

	if (f->size < sizeof(h) ||
	    memcmp(f->map, head_magic, sizeof(head_magic)))
		return err_set(e, EX_BADINPUT, "%s: not a corpus", f->path);
	memcpy(&h, f->map, sizeof(h));
	if (h.order != ORDER)
		return err_set(e, EX_BADINPUT, "%s: of another byte order",
			       f->path);
	if (h.format != FORMAT)
		return err_set(e, EX_BADINPUT, "%s: of format %u, expected "
			       "%d", f->path, h.format, FORMAT);
	if (h.identity_len > CORPUS_IDENTITY_MAX ||
	    f->size < sizeof(h) + padded(h.identity_len) ||
	    crc_of(f->map + sizeof(h), h.identity_len) != h.crc ||
	    memchr(f->map + sizeof(h), '\0', h.identity_len))
		return err_set(e, EX_BADINPUT, "%s: its head is damaged",
			       f->path);
	f->identity = xstrndup((const char *)f->map + sizeof(h),
			       h.identity_len);
	f->end = sizeof(h) + padded(h.identity_len);
	return 0;
}

/* Take the index over, if there is one and all of it is in its place. */
static bool read_index(struct corpusfile *f)
{
	size_t limit = f->size - sizeof(struct tail), size, i;
	struct tail t;

	if (f->size < f->end + sizeof(t))
		return false;
	memcpy(&t, f->map + limit, sizeof(t));
	if (memcmp(t.magic, tail_magic, sizeof(tail_magic)) ||
	    crc_of(&t, offsetof(struct tail, crc)) != t.crc ||
	    t.index_at < f->end || t.index_at > limit ||
	    t.count != (limit - t.index_at) / sizeof(*f->slot) ||
	    (limit - t.index_at) % sizeof(*f->slot))
		return false;
	size = (size_t)t.count * sizeof(*f->slot);
	if (crc_of(f->map + t.index_at, size) != t.index_crc)
		return false;
	f->n = f->cap = (size_t)t.count;
	f->slot = xmalloc(size + 1);
	memcpy(f->slot, f->map + t.index_at, size);
	for (i = 0; i < f->n; i++)
		if (f->slot[i].at >= t.index_at ||
		    (i && f->slot[i].hash < f->slot[i - 1].hash)) {
			free(f->slot);
			f->slot = NULL;
			f->n = f->cap = 0;
			return false;
		}
	f->end = (size_t)t.index_at;
	return true;
}

/* Go from entry to entry, to the first that isn't whole. */
static void scan(struct corpusfile *f)
{
	struct entry h;
	const char *key;
	size_t size;

	while ((size = entry_at(f, f->end, f->size, &h, &key))) {
		f->slot = xgrow(f->slot, &f->cap, f->n + 1, sizeof(*f->slot));
		f->slot[f->n].hash = hash_of(key, h.key_len);
		f->slot[f->n++].at = f->end;
		f->end += size;
	}
	if (f->n)
		qsort(f->slot, f->n, sizeof(*f->slot), by_hash);
}

int corpusfile_open(struct corpusfile *f, const char *path, struct err *e)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *map = MAP_FAILED;

	memset(f, 0, sizeof(*f));
	f->path = xstrdup(path);
	if (fd < 0 || fstat(fd, &st)) {
		err_sys(e, errno, "unable to read '%s'", path);
		goto fail;
	}
	if (!S_ISREG(st.st_mode) || st.st_size == 0) {
		err_set(e, EX_BADINPUT, "%s: not a corpus", path);
		goto fail;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		err_sys(e, errno, "unable to map '%s'", path);
		goto fail;
	}
	close(fd);
	f->map = map;
	f->size = (size_t)st.st_size;
	if (read_head(f, e)) {
		corpusfile_close(f);
		return -1;
	}
	f->finished = read_index(f);
	if (!f->finished)
		scan(f);
	return 0;
fail:
	if (fd >= 0)
		close(fd);
	corpusfile_close(f);
	return -1;
}

void corpusfile_close(struct corpusfile *f)
{
	if (f->map)
		munmap((void *)f->map, f->size);
	free(f->slot);
	free(f->identity);
	free(f->path);
	memset(f, 0, sizeof(*f));
}

/* The stored bytes made what they were, into out. */
static int unpack(const struct corpusfile *f, const struct entry *h,
		  const void *stored, struct buf *out, struct err *e)
{
	uLongf n = (uLongf)h->raw_len;

	if (crc_of(stored, (size_t)h->stored_len) != h->crc)
		return err_set(e, EX_BADINPUT, "%s: an entry is damaged",
			       f->path);
	buf_grow(out, (size_t)h->raw_len);
	if (h->stored_len == h->raw_len) {
		buf_add(out, stored, (size_t)h->raw_len);
		return 1;
	}
	if (uncompress((Bytef *)out->p + out->len, &n, stored,
		       (uLong)h->stored_len) != Z_OK || n != h->raw_len)
		return err_set(e, EX_BADINPUT, "%s: an entry is damaged",
			       f->path);
	out->len += (size_t)n;
	out->p[out->len] = '\0';
	return 1;
}

/* The first slot whose hash is above. */
static size_t slot_after(const struct corpusfile *f, uint64_t hash)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->slot[mid].hash <= hash)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The newest entry with that key: 1 with h and key set, 0, -1 as for find. */
static int find(const struct corpusfile *f, const char *key, struct entry *h,
		const char **at, struct err *e)
{
	size_t len = strlen(key), i;
	uint64_t hash = hash_of(key, len);

	for (i = slot_after(f, hash); i > 0 && f->slot[i - 1].hash == hash;
	     i--) {
		if (!entry_at(f, f->slot[i - 1].at, f->end, h, at))
			return err_set(e, EX_BADINPUT, "%s: an entry is "
				       "damaged", f->path);
		if (h->key_len == len && !memcmp(*at, key, len))
			return 1;
	}
	return 0;
}

int corpusfile_find(const struct corpusfile *f, const char *key,
		    struct buf *out, struct err *e)
{
	struct entry h;
	const char *at;
	int rc = find(f, key, &h, &at, e);

	return rc > 0 ? unpack(f, &h, at + h.key_len, out, e) : rc;
}

bool corpusfile_has(const struct corpusfile *f, const char *key)
{
	struct entry h;
	const char *at;

	return find(f, key, &h, &at, NULL) > 0;
}

const char *corpusfile_key(const struct corpusfile *f, size_t i, size_t *n)
{
	struct entry h;
	const char *key;

	if (!entry_at(f, f->slot[i].at, f->end, &h, &key))
		return NULL;
	*n = h.key_len;
	return key;
}

static int put(struct corpuswriter *w, const void *p, size_t n, struct err *e)
{
	const char *s = p;
	size_t left = n;

	while (left > 0) {
		ssize_t k = write(w->fd, s, left);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			int why = k ? errno : ENOSPC;

			/* What is cut off would end the file for a reader. */
			if (ftruncate(w->fd, (off_t)w->at) == 0)
				lseek(w->fd, (off_t)w->at, SEEK_SET);
			return err_sys(e, why, "unable to write '%s'",
				       w->path);
		}
		s += k;
		left -= (size_t)k;
	}
	w->at += n;
	return 0;
}

static void pad(struct buf *b)
{
	static const char zeros[ALIGN];

	buf_add(b, zeros, padded(b->len) - b->len);
}

int corpuswriter_open(struct corpuswriter *w, const char *path,
		      const char *identity, bool tmp, struct err *e)
{
	struct head h = { .format = FORMAT, .order = ORDER,
			  .identity_len = (uint32_t)strlen(identity) };

	memset(w, 0, sizeof(*w));
	buf_init(&w->b);
	w->path = xstrdup(path);
	w->tmp = tmp ? xasprintf("%s.XXXXXX", path) : NULL;
	w->fd = tmp ? mkstemp(w->tmp) :
		open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
	if (w->fd < 0 || fcntl(w->fd, F_SETFD, FD_CLOEXEC) ||
	    (tmp ? fchmod(w->fd, 0644) : flock(w->fd, LOCK_EX | LOCK_NB))) {
		err_sys(e, errno, "unable to create '%s'", path);
		corpuswriter_drop(w);
		return -1;
	}
	memcpy(h.magic, head_magic, sizeof(h.magic));
	h.crc = crc_of(identity, h.identity_len);
	buf_add(&w->b, &h, sizeof(h));
	buf_addstr(&w->b, identity);
	pad(&w->b);
	if (put(w, w->b.p, w->b.len, e)) {
		corpuswriter_drop(w);
		return -1;
	}
	return 0;
}

static int put_entry(struct corpuswriter *w, uint64_t hash, const void *p,
		     size_t n, struct err *e)
{
	uint64_t at = w->at;

	if (put(w, p, n, e))
		return -1;
	w->slot = xgrow(w->slot, &w->cap, w->n + 1, sizeof(*w->slot));
	w->slot[w->n].hash = hash;
	w->slot[w->n++].at = at;
	return 0;
}

int corpuswriter_add(struct corpuswriter *w, const char *key, const void *p,
		     size_t n, struct err *e)
{
	struct entry h = { .magic = ENTRY_MAGIC,
			   .key_len = (uint32_t)strlen(key),
			   .raw_len = n, .stored_len = n };
	uLongf room = compressBound((uLong)n), len = room;
	size_t at = sizeof(h) + strlen(key);
	int rc;

	if (n > CORPUS_ENTRY_MAX || strlen(key) > CORPUS_KEY_MAX)
		return err_set(e, EX_ENVIRON, "'%.200s' is too big for a "
			       "corpus", key);
	buf_reset(&w->b);
	buf_grow(&w->b, at + (room > n ? room : n) + ALIGN);
	buf_add(&w->b, &h, sizeof(h));
	buf_addstr(&w->b, key);
	if (n <= DEFLATE_MAX &&
	    compress2((Bytef *)w->b.p + at, &len, p, (uLong)n, 1) == Z_OK &&
	    len < n - n / 8) {
		h.stored_len = len;
		w->b.len += len;
	} else {
		buf_add(&w->b, p, n);
	}
	h.crc = crc_of(w->b.p + at, (size_t)h.stored_len);
	h.head_crc = entry_crc(&h, key);
	memcpy(w->b.p, &h, sizeof(h));
	pad(&w->b);
	rc = put_entry(w, hash_of(key, strlen(key)), w->b.p, w->b.len, e);
	buf_recycle(&w->b);
	return rc;
}

int corpuswriter_copy(struct corpuswriter *w, const struct corpusfile *f,
		      size_t i, struct err *e)
{
	struct entry h;
	const char *key;
	size_t size = entry_at(f, f->slot[i].at, f->end, &h, &key);

	if (!size)
		return err_set(e, EX_BADINPUT, "%s: an entry is damaged",
			       f->path);
	return put_entry(w, f->slot[i].hash, f->map + f->slot[i].at, size, e);
}

int corpuswriter_finish(struct corpuswriter *w, struct err *e)
{
	size_t size = w->n * sizeof(*w->slot);
	struct tail t = { .index_at = w->at, .count = w->n };
	int rc = -1;

	if (w->n)
		qsort(w->slot, w->n, sizeof(*w->slot), by_hash);
	memcpy(t.magic, tail_magic, sizeof(t.magic));
	t.index_crc = crc_of(w->slot, size);
	t.crc = crc_of(&t, offsetof(struct tail, crc));
	if (put(w, w->slot, size, e) || put(w, &t, sizeof(t), e))
		goto out;
	if (w->tmp && rename(w->tmp, w->path)) {
		err_sys(e, errno, "unable to rename '%s'", w->tmp);
		goto out;
	}
	free(w->tmp);
	w->tmp = NULL;
	rc = 0;
out:
	corpuswriter_drop(w);
	return rc;
}

void corpuswriter_drop(struct corpuswriter *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->tmp)
		unlink(w->tmp);
	free(w->tmp);
	free(w->path);
	free(w->slot);
	buf_release(&w->b);
	memset(w, 0, sizeof(*w));
	w->fd = -1;
}
