/* rec: records from files and live pipes, plain and gzip, good and hostile. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include "rec.h"
#include "seed.h"
#include "tap.h"
#include "xalloc.h"

#define LINE "{\"v\":1,\"kind\":\"obs\",\"id\":\"a/b/c/d\",\"run\":\"r\"}\n"

static char dir[] = "/tmp/u-rec.XXXXXX";

/* A file in dir, until the next one of that name. */
static const char *put(const char *name, const void *p, size_t n)
{
	static char path[4][100];
	static int at;
	char *s = path[at++ % 4];
	FILE *f;

	snprintf(s, sizeof(path[0]), "%s/%s", dir, name);
	f = fopen(s, "w");
	if (!f || fwrite(p, 1, n, f) != n || fclose(f))
		_exit(99);
	return s;
}

static const char *put_text(const char *text)
{
	return put("t", text, strlen(text));
}

/* One gzip member. */
static void squeeze(struct buf *out, const void *p, size_t n)
{
	z_stream z = { 0 };

	if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
		_exit(99);
	buf_grow(out, deflateBound(&z, n));
	z.next_in = (unsigned char *)(uintptr_t)p;
	z.avail_in = (unsigned)n;
	z.next_out = (unsigned char *)out->p + out->len;
	z.avail_out = (unsigned)(out->cap - out->len - 1);
	deflate(&z, Z_FINISH);
	out->len += z.total_out;
	out->p[out->len] = '\0';
	deflateEnd(&z);
}

static struct rec_reader *open1(const char *path)
{
	char *files[1] = { (char *)(uintptr_t)path };

	return rec_open(files, 1);
}

/* Records, and the first error's message in e. */
static int count(struct rec_reader *r, struct err *e)
{
	struct rec rec;
	int n = 0, rc;

	e->msg[0] = '\0';
	e->code = 0;
	while ((rc = rec_next(r, &rec, e)) > 0)
		n++;
	return rc < 0 ? -1 - n : n;
}

static void test_plain(void)
{
	struct rec_reader *r = open1(put_text(LINE
		"{\"kind\":\"new\",\"v\":1,\"x\":[]}\n"
		" {\"v\":1,\"kind\":\"end\",\"id\":\"\xc3\xa4\"} \r\n"));
	struct rec rec;
	struct err e;

	is_int(rec_next(r, &rec, &e), 1, "a record is read");
	ok(rec.kind == REC_OBS && !strcmp(rec.id, "a/b/c/d") &&
	   !strcmp(rec.run, "r") && rec.len == strlen(LINE) - 1 &&
	   !memcmp(rec.line, LINE, rec.len), "as it stands there");
	ok(strstr(rec_where(r), "/t:1"), "from line 1");
	is_int(rec_next(r, &rec, &e), 1, "a kind that is not known is read");
	ok(rec.kind == REC_OTHER && !*rec.id && !*rec.run &&
	   cJSON_GetObjectItem(rec.json, "x"), "with what it holds");
	is_int(rec_next(r, &rec, &e), 1, "white space may be around one");
	ok(rec.kind == REC_END && !strcmp(rec.id, "\xc3\xa4"), "and UTF-8 in");
	is_int(rec_next(r, &rec, &e), 0, "there is an end");
	is_int(rec_next(r, &rec, &e), 0, "and nothing behind it");
	rec_close(r);
	r = open1(put_text(""));
	is_int(rec_next(r, &rec, &e), 0, "an empty file has no record");
	rec_close(r);
	rec_close(NULL);
}

static void test_bad(void)
{
	static const struct { const char *text, *want; } v[] = {
		{ "\n", "cannot parse record: byte 1: text ends where a value "
		  "was expected" },
		{ "[1]\n", "record is no JSON object" },
		{ "{\"v\":1,\"kind\":\"obs\"}", "record is cut: no newline at "
		  "the end of input" },
		{ "{", "record is cut" },
		{ "{\"kind\":\"obs\"}\n", "record has no 'v'" },
		{ "{\"v\":2,\"kind\":\"obs\"}\n", "unknown record version" },
		{ "{\"v\":\"1\",\"kind\":\"obs\"}\n",
		  "unknown record version" },
		{ "{\"v\":1}\n", "record needs 'kind', a string" },
		{ "{\"v\":1,\"kind\":7}\n", "record needs 'kind', a string" },
		{ "{\"v\":1,\"kind\":\"obs\",\"id\":[]}\n",
		  "record's 'id' is no string" },
		{ "{\"v\":1,\"kind\":\"obs\",\"run\":null}\n",
		  "record's 'run' is no string" },
		{ "{\"v\":1,\"kind\":\"obs\",\"kind\":\"end\"}\n",
		  "key 'kind' comes twice" },
		{ "{\"v\":1,\"kind\":\"obs\",\"x\":\"\xff\"}\n", "not UTF-8" },
		{ "{\"v\":1,\"kind\":\"obs\"} x\n", "unexpected 'x'" },
		{ "{\"v\":1,\"kind\":\"obs\",\"x\":NaN}\n", "unexpected 'N'" },
	};
	struct rec_reader *r;
	struct rec rec;
	struct err e;
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct buf b = BUF_INIT;

		buf_addstr(&b, LINE);
		buf_addstr(&b, v[i].text);
		r = open1(put("t", b.p, b.len));
		is_int(count(r, &e), -2, "bad line %zu is refused", i);
		ok(strstr(e.msg, "/t:2: ") && strstr(e.msg, v[i].want) &&
		   e.code == EX_BADINPUT, "with its place: %s", v[i].want);
		is_int(rec_next(r, &rec, &e), 0, "and reading can go on");
		rec_close(r);
		buf_release(&b);
	}
	r = open1(put("t", "{\"v\":1,\0\"kind\":\"obs\"}\n", 23));
	is_int(count(r, &e), -1, "a NUL is refused");
	ok(strstr(e.msg, ":1: record holds a NUL byte"), "and named");
	rec_close(r);
}

static void test_files(void)
{
	char *files[4];
	struct rec_reader *r;
	struct rec rec;
	struct err e;
	int i;

	files[0] = xstrdup(put("a", LINE LINE, 2 * strlen(LINE)));
	files[1] = xstrdup("/nonexistent/x");
	files[2] = xstrdup(put("b", LINE, strlen(LINE)));
	files[3] = xstrdup(dir);
	r = rec_open(files, 4);
	for (i = 0; i < 4; i++)
		free(files[i]);
	is_int(rec_next(r, &rec, &e) + rec_next(r, &rec, &e), 2,
	       "the first file's records");
	is_int(rec_next(r, &rec, &e), -1, "a file that is not there");
	is_str(e.msg, "cannot open '/nonexistent/x': "
	       "No such file or directory", "is named");
	is_int(e.code, EX_ENVIRON, "and is the environment's fault");
	is_int(rec_next(r, &rec, &e), 1, "the next file goes on");
	ok(strstr(rec_where(r), "/b:1"), "with lines of its own");
	is_int(rec_next(r, &rec, &e), -1, "a folder can't be read");
	ok(e.code == EX_ENVIRON && strstr(e.msg, "Is a directory"),
	   "and it says so");
	is_int(rec_next(r, &rec, &e), 0, "and that is all");
	rec_close(r);
}

static void test_limit(void)
{
	static const char head[] = "{\"v\":1,\"kind\":\"obs\",\"x\":\"";
	struct buf b = BUF_INIT;
	struct rec_reader *r;
	struct rec rec;
	struct err e;
	size_t fill = REC_MAX - strlen(head) - 3;

	buf_addstr(&b, head);
	buf_grow(&b, REC_MAX);
	memset(b.p + b.len, 'x', fill);
	b.len += fill;
	buf_addstr(&b, "\"}\n");
	is_int(b.len, REC_MAX, "a record of just 1 MiB");
	r = open1(put("t", b.p, b.len));
	is_int(rec_next(r, &rec, &e), 1, "is read");
	is_int(rec.len, REC_MAX - 1, "all of it");
	rec_close(r);
	b.len -= 3;
	buf_addstr(&b, "x\"}\n" LINE);
	r = open1(put("t", b.p, b.len));
	is_int(rec_next(r, &rec, &e), -1, "one byte more is not");
	ok(strstr(e.msg, "/t:1: record is over 1 MiB") &&
	   e.code == EX_BADINPUT, "and is named");
	is_int(rec_next(r, &rec, &e), 1, "the next one is read");
	ok(strstr(rec_where(r), "/t:2"), "from line 2");
	rec_close(r);
	memset(b.p, 'x', b.len);
	r = open1(put("t", b.p, b.len));
	is_int(rec_next(r, &rec, &e), -1, "over-long without an end");
	is_int(rec_next(r, &rec, &e), 0, "is reported once");
	rec_close(r);
	buf_release(&b);
}

/* A line of 100 MB from a pipe, with far less memory than that. */
static void huge(void *arg)
{
	struct rlimit limit = { 64 << 20, 64 << 20 };
	char chunk[65536];
	int fds[2], i;
	struct rec_reader *r;
	struct rec rec;
	struct err e;

	(void)arg;
	if (pipe(fds))
		_exit(50);
	if (!fork()) {
		close(fds[0]);
		memset(chunk, 'x', sizeof(chunk));
		for (i = 0; i < 1600; i++)
			if (write(fds[1], chunk, sizeof(chunk)) < 0)
				_exit(1);
		if (write(fds[1], "\n" LINE, 1 + strlen(LINE)) < 0)
			_exit(1);
		_exit(0);
	}
	close(fds[1]);
	dup2(fds[0], 0);
	setrlimit(RLIMIT_AS, &limit);
	r = rec_open(NULL, 0);
	if (rec_next(r, &rec, &e) != -1 ||
	    strcmp(e.msg, "<stdin>:1: record is over 1 MiB"))
		_exit(51);
	if (rec_next(r, &rec, &e) != 1)
		_exit(52);
	if (strcmp(rec_where(r), "<stdin>:2"))
		_exit(53);
	if (rec_next(r, &rec, &e) != 0)
		_exit(54);
	rec_close(r);
}

static void test_gzip(void)
{
	struct buf z = BUF_INIT, text = BUF_INIT;
	struct rec_reader *r;
	struct err e;
	size_t cut, good = 0, n;
	int i, got;

	for (i = 0; i < 5000; i++)
		buf_addf(&text, "{\"v\":1,\"kind\":\"end\",\"id\":\"%d\"}\n",
			 i);
	squeeze(&z, text.p, text.len);
	r = open1(put("z", z.p, z.len));
	is_int(count(r, &e), 5000, "gzip is read");
	rec_close(r);
	/* Members that end amid a line, and an empty one. */
	buf_reset(&z);
	squeeze(&z, text.p, 1234);
	squeeze(&z, "", 0);
	squeeze(&z, text.p + 1234, text.len - 1234);
	r = open1(put("z", z.p, z.len));
	is_int(count(r, &e), 5000, "members may follow each other");
	rec_close(r);
	n = z.len;
	buf_addstr(&z, "trailing");
	r = open1(put("z", z.p, z.len));
	is_int(count(r, &e), -5001, "other bytes behind them may not");
	ok(strstr(e.msg, "/z: gzip data is damaged") &&
	   e.code == EX_BADINPUT, "and it says so");
	rec_close(r);
	for (cut = 1; cut < n; cut += n / 50) {
		r = open1(put("z", z.p, cut));
		got = count(r, &e);
		good += got < 0 && (strstr(e.msg, "cut") || cut == 1);
		rec_close(r);
	}
	ok(good >= 50, "wherever it is cut, that is seen");
	for (good = 0, i = 0; i < 200; i++) {
		uint64_t s = (uint64_t)i;
		size_t at = seed_next(&s) % n;
		char was = z.p[at];

		z.p[at] ^= (char)(1 + seed_next(&s) % 255);
		r = open1(put("z", z.p, n));
		got = count(r, &e);
		good += got < 0 || got == 5000;
		rec_close(r);
		z.p[at] = was;
	}
	is_int(good, 200, "damage is seen or has no effect");
	r = open1(put("z", "\x1f", 1));
	is_int(count(r, &e), -1, "half of gzip's mark is no record");
	rec_close(r);
	buf_release(&z);
	buf_release(&text);
}

/* Records come out of a live pipe as they go in. */
static void test_live(bool gzip)
{
	const char *what = gzip ? "gzip" : "plain";
	struct rec_reader *r;
	unsigned char zbuf[1024];
	z_stream z = { 0 };
	struct rec rec;
	struct err e;
	int fds[2], i, good = 0, waiting = 0, old = dup(0);

	if (pipe(fds))
		return;
	dup2(fds[0], 0);
	close(fds[0]);
	deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	r = rec_open(NULL, 0);
	alarm(20);		/* a reader that waits for more fails here */
	for (i = 0; i < 20; i++) {
		waiting += i && rec_pending(r);
		if (gzip) {
			z.next_in = (unsigned char *)(uintptr_t)LINE;
			z.avail_in = (unsigned)strlen(LINE);
			z.next_out = zbuf;
			z.avail_out = sizeof(zbuf);
			deflate(&z, Z_SYNC_FLUSH);
			good += write(fds[1], zbuf, sizeof(zbuf) -
				      z.avail_out) > 0;
		} else {
			good += write(fds[1], LINE, strlen(LINE)) > 0;
		}
		good += rec_pending(r);
		good += rec_next(r, &rec, &e);
	}
	is_int(good, 60, "%s: each record comes as soon as it is whole", what);
	is_int(waiting, 0, "%s: nothing waits before", what);
	close(fds[1]);
	ok(rec_pending(r), "%s: the end waits", what);
	is_int(rec_next(r, &rec, &e), gzip ? -1 : 0, "%s: and comes", what);
	alarm(0);
	rec_close(r);
	deflateEnd(&z);
	dup2(old, 0);
	close(old);
}

/* More text in one member than the reader takes at once, then silence. */
static void test_live_burst(void)
{
	struct rec_reader *r;
	struct buf text = BUF_INIT;
	unsigned char *zbuf = xmalloc(1 << 16);
	z_stream z = { 0 };
	struct rec rec;
	struct err e;
	int fds[2], i, good = 0, old = dup(0);

	for (i = 0; i < 20000; i++)
		buf_addstr(&text, LINE);
	if (pipe(fds))
		return;
	dup2(fds[0], 0);
	close(fds[0]);
	deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	z.next_in = (unsigned char *)text.p;
	z.avail_in = (unsigned)text.len;
	z.next_out = zbuf;
	z.avail_out = 1 << 16;
	deflate(&z, Z_SYNC_FLUSH);
	good += write(fds[1], zbuf, (1 << 16) - z.avail_out) > 0;
	r = rec_open(NULL, 0);
	alarm(20);
	for (i = 0; i < 20000; i++)
		good += rec_next(r, &rec, &e);
	is_int(good, 20001,
	       "a burst of gzip comes whole, with no end in sight");
	alarm(0);
	close(fds[1]);
	rec_close(r);
	deflateEnd(&z);
	free(zbuf);
	buf_release(&text);
	dup2(old, 0);
	close(old);
}

static void test_fields(void)
{
	static const char text[] =
		"{\"s\":\"x\",\"n\":5,\"big\":\"9223372036854775807\","
		"\"f\":1.5,\"t\":true,\"z\":null,\"h\":[\"0x1.8p+1\",\"nan\","
		"\"inf\",\"-inf\",\"-0x0p+0\",2,\"1\",\" 1\",\"infinity\","
		"\"nan(1)\",\"0x1p\",\"\",\"1e999\",true]}";
	cJSON *o = cJSON_Parse(text);
	const cJSON *h = cJSON_GetObjectItem(o, "h");
	const char *s = NULL;
	long long n = 0;
	struct err e;
	double d;
	int i, bad = 0;

	ok(!rec_str(o, "s", &s, &e) && !strcmp(s, "x"), "a string");
	ok(rec_str(o, "S", &s, &e) == -1 && rec_str(o, "n", &s, &e) == -1,
	   "nothing else is one");
	is_str(e.msg, "'n' needs a string, not a number", "and it says so");
	ok(!rec_int(o, "n", 0, 9, &n, &e) && n == 5, "a number");
	ok(!rec_int(o, "big", 0, INT64_MAX, &n, &e) && n == INT64_MAX,
	   "a large one is a string");
	ok(rec_int(o, "n", 6, 9, &n, &e) == -1, "one out of range");
	is_str(e.msg, "'n' is 5, not 6 to 9", "says so");
	ok(rec_int(o, "f", 0, 9, &n, &e) == -1 &&
	   rec_int(o, "s", 0, 9, &n, &e) == -1 &&
	   rec_int(o, "none", 0, 9, &n, &e) == -1, "nothing else is one");
	ok(!strcmp(rec_str_opt(o, "s", "d"), "x") &&
	   !strcmp(rec_str_opt(o, "no", "d"), "d") &&
	   rec_int_opt(o, "n", 3) == 5 && rec_int_opt(o, "f", 3) == 3 &&
	   rec_bool_opt(o, "t", false) && rec_bool_opt(o, "z", true),
	   "each with a default");
	ok(!rec_hexf(cJSON_GetArrayItem(h, 0), &d) && d == 3, "a hex-float");
	ok(!rec_hexf(cJSON_GetArrayItem(h, 1), &d) && isnan(d), "nan");
	ok(!rec_hexf(cJSON_GetArrayItem(h, 2), &d) && d == INFINITY, "inf");
	ok(!rec_hexf(cJSON_GetArrayItem(h, 3), &d) && d == -INFINITY, "-inf");
	ok(!rec_hexf(cJSON_GetArrayItem(h, 4), &d) && d == 0 && signbit(d),
	   "-0");
	ok(!rec_hexf(cJSON_GetArrayItem(h, 5), &d) && d == 2, "a number");
	for (i = 7; i < cJSON_GetArraySize(h); i++)
		bad += rec_hexf(cJSON_GetArrayItem(h, i), &d) != -1;
	is_int(bad, 0, "nothing else is a float");
	cJSON_Delete(o);
}

static void test_write(void)
{
	char *big = xcalloc(REC_MAX + 1, 1), back[1000];
	const char *path = put("w", "", 0);
	int fd = open(path, O_RDWR), full = open("/dev/full", O_WRONLY);
	int fds[2], status, n;
	struct buf b = BUF_INIT;
	struct err e;
	pid_t pid;

	is_int(rec_write(fd, LINE, strlen(LINE) - 1, &e), 0, "one is written");
	buf_addstr(&b, "{}");
	is_int(rec_write_buf(fd, &b, &e), 0, "and another");
	n = (int)pread(fd, back, sizeof(back) - 1, 0);
	back[n > 0 ? n : 0] = '\0';
	is_str(back, LINE "{}\n", "each with its newline");
	memset(big, 'x', REC_MAX);
	is_int(rec_write(fd, big, REC_MAX, &e), -1, "over 1 MiB is refused");
	is_int(e.code, EX_ENVIRON, "as trouble");
	is_int(rec_write(fd, "{\n}", 3, &e), -1, "two lines are refused");
	is_int(rec_write(full, "{}", 2, &e), -1, "a full disk is trouble");
	is_str(e.msg, "cannot write record: No space left on device",
	       "and it says so");
	signal(SIGPIPE, SIG_IGN);
	if (pipe(fds))
		return;
	close(fds[0]);
	is_int(rec_write(fds[1], "{}", 2, &e), -1, "so is a closed pipe");
	ok(strstr(e.msg, "Broken pipe"), "and it says so");
	close(fds[1]);
	/* A pipe that takes it bit by bit, and doesn't block. */
	if (pipe(fds))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		size_t sum = 0;
		ssize_t got;

		close(fds[1]);
		while ((got = read(fds[0], back, sizeof(back))) > 0)
			sum += (size_t)got;
		_exit(sum == REC_MAX ? 0 : 1);
	}
	close(fds[0]);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	is_int(rec_write(fds[1], big, REC_MAX - 1, &e), 0, "the largest record "
	       "goes through a pipe");
	close(fds[1]);
	waitpid(pid, &status, 0);
	is_int(status, 0, "whole");
	close(fd);
	close(full);
	free(big);
	buf_release(&b);
}

static void test_mutated(void)
{
	static const char line[] = "{\"v\":1,\"kind\":\"obs\",\"id\":\"a/b\","
		"\"run\":\"r\",\"x\":[1,\"\\u00e4\xc3\xa4\",{\"y\":-1.5}]}\n";
	size_t len = strlen(line), at;
	struct buf b = BUF_INIT;
	struct rec_reader *r;
	struct rec rec;
	struct err e;
	uint64_t s = 7;
	int i, k, rc, good = 0, bad = 0;

	for (i = 0; i < 10000; i++) {
		char copy[sizeof(line)];

		memcpy(copy, line, sizeof(line));
		for (k = (int)(seed_next(&s) % 4); k; k--) {
			at = seed_next(&s) % len;
			copy[at] = (char)seed_next(&s);
		}
		/* Some lose their end or gain bytes. */
		at = seed_next(&s) % 8 ? len : seed_next(&s) % len;
		buf_add(&b, copy, at);
		if (!(seed_next(&s) % 16))
			buf_add(&b, copy, seed_next(&s) % len);
	}
	r = open1(put("m", b.p, b.len));
	while ((rc = rec_next(r, &rec, &e)))
		if (rc > 0)
			good++;
		else
			bad++;
	ok(good > 1000 && bad > 1000, "10000 mutated lines: %d good, %d bad",
	   good, bad);
	rec_close(r);
	buf_release(&b);
}

static void test_idset(void)
{
	struct idset *s = idset_new();
	char id[40];
	int i, bad = 0;

	ok(!idset_has(s, "a") && !idset_count(s), "an empty set");
	for (i = 0; i < 10000; i++) {
		snprintf(id, sizeof(id), "opinfo/op%d/float32/plain", i);
		bad += !idset_add(s, id) || idset_add(s, id);
	}
	for (i = 0; i < 10000; i++) {
		snprintf(id, sizeof(id), "opinfo/op%d/float32/plain", i);
		bad += !idset_has(s, id);
		id[0] = 'O';
		bad += idset_has(s, id);
	}
	is_int(bad, 0, "what comes twice is found, and nothing else");
	is_int(idset_count(s), 10000, "it can count");
	idset_free(s);
	idset_free(NULL);
}

int main(void)
{
	char cmd[100], err[1000];

	if (!mkdtemp(dir))
		return 1;
	is_str(rec_kind_name(REC_ORACLE_FAILURE), "oracle_failure",
	       "kinds have names");
	test_plain();
	test_bad();
	test_files();
	test_limit();
#ifndef __SANITIZE_ADDRESS__
	is_int(tap_child(huge, NULL, err, sizeof(err)), 0,
	       "a line of 100 MB takes no 64 MB of memory");
#else
	(void)huge;
	(void)err;
#endif
	test_gzip();
	test_live(false);
	test_live(true);
	test_live_burst();
	test_fields();
	test_write();
	test_mutated();
	test_idset();
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	if (system(cmd))
		return 1;
	return done();
}
