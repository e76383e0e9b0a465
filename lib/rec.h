/*
 * rec: reading and writing the record stream, one JSON object a line.
 *
 * A reader takes plain or gzip input (told by its first two bytes) from files
 * or a live pipe; it never waits for more than the line it returns.
 */
#ifndef CTS_REC_H
#define CTS_REC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cjson/cJSON.h>
#include "buf.h"
#include "err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REC_MAX (1u << 20)	/* bytes of a record, its newline included */
#define REC_VERSION 1

enum rec_kind {
	REC_OTHER,	/* a kind that this version does not know */
	REC_RUN, REC_CASE, REC_ACCOUNT, REC_PROBE, REC_START, REC_OBS,
	REC_END, REC_DEATH, REC_VERDICT, REC_ORACLE_FAILURE,
	REC_NKINDS
};
const char *rec_kind_name(enum rec_kind k);	/* "other" for REC_OTHER */

struct rec {
	const char *line;	/* borrowed until the next rec_next(); no LF */
	size_t len;
	enum rec_kind kind;
	const cJSON *json;	/* borrowed likewise; the whole object */
	const char *id;		/* borrowed; "" where the record has none */
	const char *run;	/* borrowed; "" where the record has none */
};

struct rec_reader;

/*
 * A reader over the n named files in turn ("-" or n == 0: stdin).  A file that
 * can't be opened is reported by rec_next() when its turn comes.
 */
struct rec_reader *rec_open(char *const *files, size_t n);	/* new */
void rec_close(struct rec_reader *r);

/*
 * Pass over observations, which are most of a stream and say nothing to who
 * only counts: they are neither parsed nor returned.
 */
void rec_skip_obs(struct rec_reader *r);

/*
 * The next record: 1, or 0 at the end of all input, or -1 with e set, its
 * message beginning "FILE:LINE: ".  A line that is not a JSON object, is cut
 * (no LF at the end of input), holds a NUL, is over REC_MAX, has a wrong or no
 * "v", or has "kind", "id" or "run" that are not strings is EX_BADINPUT.  After
 * such an error the next call goes on with the next line, after any other with
 * the next file.  The JSON is strict, see json.h.
 */
int rec_next(struct rec_reader *r, struct rec *rec, struct err *e);

/* "FILE:LINE" of the record last returned, for messages; borrowed. */
const char *rec_where(struct rec_reader *r);

/* True when input is waiting, so that output need not be flushed yet. */
bool rec_pending(struct rec_reader *r);

/*
 * Fields of a record or sub-object, case-sensitive.  The _opt forms return the
 * default where the key is absent; the others set e (EX_BADINPUT, naming the
 * key and what was expected) and return -1.  Strings are borrowed.
 */
int rec_str(const cJSON *o, const char *key, const char **out, struct err *e);
int rec_int(const cJSON *o, const char *key, long long lo, long long hi,
	    long long *out, struct err *e);	/* a number or decimal string */
int rec_uint(const cJSON *o, const char *key, uint64_t *out, struct err *e);
const char *rec_str_opt(const cJSON *o, const char *key, const char *dflt);
long long rec_int_opt(const cJSON *o, const char *key, long long dflt);
bool rec_bool_opt(const cJSON *o, const char *key, bool dflt);
int rec_hexf(const cJSON *item, double *out);	/* 0, or -1: not a float */

/*
 * Write one whole record and its newline with one write(2) where the kernel
 * lets it.  Adds the LF; refuses one over REC_MAX.  0, or -1 with e set
 * (EX_ENVIRON, errno text).  A closed pipe is an error, not a signal.
 */
int rec_write(int fd, const char *line, size_t len, struct err *e);
int rec_write_buf(int fd, const struct buf *b, struct err *e);

/*
 * The same in two steps, for many records with one write(2): add them to out,
 * then write and empty it.  Where rec_flush() fails, what is not written stays.
 */
int rec_add(struct buf *out, const char *line, size_t len, struct err *e);
int rec_flush(int fd, struct buf *out, struct err *e);

/* A set of ids, to find one that comes twice. */
struct idset;
struct idset *idset_new(void);
void idset_free(struct idset *s);
bool idset_add(struct idset *s, const char *id);	/* false: was there */
bool idset_has(const struct idset *s, const char *id);
size_t idset_count(const struct idset *s);

#ifdef __cplusplus
}
#endif

#endif
