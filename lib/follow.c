#include "follow.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "rec.h"
#include "text.h"

/* A record's kind stands at its start. */
static const char verdict[] = "{\"v\":1,\"kind\":\"verdict\",";

void follow_init(struct follow *f, int fd)
{
	memset(f, 0, sizeof(*f));
	buf_init(&f->line);
	f->fd = fd;
}

void follow_release(struct follow *f)
{
	buf_release(&f->line);
}

static void take_line(struct follow *f)
{
	cJSON *o;
	int out;

	if (f->line.len < sizeof(verdict) - 1 ||
	    memcmp(f->line.p, verdict, sizeof(verdict) - 1))
		return;
	o = json_parse(f->line.p, f->line.len, NULL);
	out = outcome_find(rec_str_opt(o, "outcome", ""));
	f->done++;
	if (out >= 0)
		f->out[out]++;
	cJSON_Delete(o);
}

/* Part of a line; what can't become a verdict is not kept. */
static void take(struct follow *f, const char *p, size_t n)
{
	if (f->skip)
		return;
	buf_add(&f->line, p, n);
	if (f->line.len > REC_MAX ||
	    (f->line.len >= sizeof(verdict) - 1 &&
	     memcmp(f->line.p, verdict, sizeof(verdict) - 1))) {
		f->skip = true;
		buf_reset(&f->line);
	}
}

int follow_read(struct follow *f, struct err *e)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(f->fd, chunk, sizeof(chunk))) != 0) {
		const char *p = chunk, *lf;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			return 0;
		if (n < 0)
			return err_sys(e, errno, "cannot read the stream");
		while ((lf = memchr(p, '\n', (size_t)(chunk + n - p)))) {
			take(f, p, (size_t)(lf - p));
			if (!f->skip)
				take_line(f);
			buf_reset(&f->line);
			f->skip = false;
			p = lf + 1;
		}
		take(f, p, (size_t)(chunk + n - p));
	}
	return 0;
}

static void add_clock(struct buf *out, double seconds)
{
	unsigned long s = (unsigned long)(seconds + 0.5);

	if (s >= 3600)
		buf_addf(out, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	else
		buf_addf(out, "%lu:%02lu", s / 60, s % 60);
}

void follow_line(const struct follow *f, size_t total, double elapsed,
		 struct buf *out)
{
	text_count(out, f->done);
	buf_addstr(out, " of ");
	text_count(out, total);
	if (total)
		buf_addf(out, "  %zu%%", f->done * 100 / total);
	for (int o = 0; o < OUT_N; o++)
		if (o != OUT_PASS && f->out[o])
			buf_addf(out, "  %zu %s", f->out[o], outcome_name(o));
	/* The first few come late, when the workers have started. */
	if (f->done >= 3 && f->done < total && elapsed > 1) {
		buf_addstr(out, "  ETA ");
		add_clock(out, elapsed / (double)f->done *
			  (double)(total - f->done));
	} else {
		buf_addstr(out, "  ");
		add_clock(out, elapsed);
	}
}
