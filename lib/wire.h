/*
 * wire: numbers and bytes appended to a buffer and taken out again, in this
 * machine's byte order.  A reader never leaves the bytes that it was given.
 */
#ifndef CTS_WIRE_H
#define CTS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "buf.h"

#ifdef __cplusplus
extern "C" {
#endif

void wire_put_u8(struct buf *b, uint8_t v);
void wire_put_u32(struct buf *b, uint32_t v);
void wire_put_u64(struct buf *b, uint64_t v);
void wire_put_bytes(struct buf *b, const void *p, size_t n);
void wire_put_str(struct buf *b, const char *s);

struct wire {
	const char *p;		/* borrowed */
	size_t left;
	bool bad;		/* something was asked for that isn't there */
};

#define WIRE_INIT(bytes, n) { .p = (bytes), .left = (n) }

/* The next number; 0 from the moment that something was not there. */
uint8_t wire_u8(struct wire *w);
uint32_t wire_u32(struct wire *w);
uint64_t wire_u64(struct wire *w);

/* A count of what takes at least size bytes each: 0 and bad if too many. */
size_t wire_count(struct wire *w, size_t size);

/* Bytes with their number in *n: borrowed; NULL and bad where cut. */
const void *wire_bytes(struct wire *w, size_t *n);

/* A text without NULs inside: new, never NULL ("" and bad where cut). */
char *wire_str(struct wire *w);

#ifdef __cplusplus
}
#endif

#endif
