#define _GNU_SOURCE
#include "lines.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "banned.h"

#define CHUNK (256 * 1024)

int lines_open(struct lines *l, const char *path, struct err *e)
{
	memset(l, 0, sizeof(*l));
	buf_init(&l->text);
	errno = 0;
	l->gz = gzopen(path, "rbe");
	if (!l->gz)
		return err_sys(e, errno ? errno : ENOMEM, "cannot open '%s'",
			       path);
	gzbuffer(l->gz, CHUNK);
	return 0;
}

void lines_close(struct lines *l)
{
	if (l->gz)
		gzclose(l->gz);
	l->gz = NULL;
	buf_release(&l->text);
}

static void more(struct lines *l)
{
	int n;

	if (l->pos) {
		memmove(l->text.p, l->text.p + l->pos, l->text.len - l->pos);
		l->text.len -= l->pos;
		l->scanned -= l->pos;
		l->pos = 0;
	}
	buf_grow(&l->text, CHUNK);
	n = gzread(l->gz, l->text.p + l->text.len, CHUNK);
	if (n <= 0)
		l->eof = true;
	else
		l->text.len += (size_t)n;
}

int lines_next(struct lines *l, char **line, size_t *len, bool *cut)
{
	char *nl;

	for (;;) {
		nl = memchr(l->text.p + l->scanned, '\n',
			    l->text.len - l->scanned);
		l->scanned = l->text.len;
		if (nl || l->eof)
			break;
		more(l);
	}
	*line = l->text.p + l->pos;
	*cut = !nl;
	*len = nl ? (size_t)(nl - *line) : l->text.len - l->pos;
	if (!nl && !*len)
		return 0;
	if (!nl)
		buf_grow(&l->text, 1);
	*line = l->text.p + l->pos;
	(*line)[*len] = '\0';
	l->pos += *len + (nl != NULL);
	l->scanned = l->pos;
	return 1;
}

/* The last place in a broken line where a record may begin, or NULL. */
static char *later(char *line, size_t len)
{
	static const char start[] = "{\"v\":1,\"kind\":\"";
	char *p, *last = NULL, *from = line + 1;

	while (len > 1 && (p = memmem(from, (size_t)(line + len - from),
				      start, sizeof(start) - 1)) != NULL) {
		last = p;
		from = p + 1;
	}
	return last;
}

int lines_record(struct lines *l, struct scan *s, char **line, size_t *len,
		 size_t *broken)
{
	bool cut;
	char *p;

	while (lines_next(l, line, len, &cut) > 0) {
		if (!cut && scan_record(s, *line, *len) == 0)
			return 1;
		++*broken;
		p = cut ? NULL : later(*line, *len);
		if (!p)
			continue;
		*len -= (size_t)(p - *line);
		*line = p;
		if (scan_record(s, *line, *len) == 0)
			return 1;
	}
	return 0;
}
