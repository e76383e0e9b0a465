/* text: untrusted text made fit for one place or another. */
#ifndef CTS_TEXT_H
#define CTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include "buf.h"

/*
 * A copy of at most max bytes of s, cut at a character with "..." where it was
 * longer; bytes that are no UTF-8 become U+FFFD.  NULL stays NULL.  new.
 */
char *text_cut(const char *s, size_t max);

/*
 * Append s for a terminal: control bytes (all of them, C1 too) and LF become
 * '?', so that a message can neither move the cursor nor start a line.
 */
void text_plain(struct buf *out, const char *s);

/* Append s as one word of a POSIX shell, quoted only where it must be. */
void text_shell(struct buf *out, const char *s);

/* Append s escaped for XML or HTML text and attributes; control bytes that
 * XML forbids become U+FFFD. */
void text_xml(struct buf *out, const char *s);

/* True for "http://..." and "https://..." without blanks or control bytes. */
bool text_is_url(const char *s);

/* Append n with a comma before every third digit: "6,121". */
void text_count(struct buf *out, size_t n);

#endif
