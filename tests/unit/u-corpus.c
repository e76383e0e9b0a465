/*
 * corpus: what was recorded is found, by several writers and after a merge; a
 * file that is cut, damaged, stale or of somebody else is never believed.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "corpus.h"
#include "tap.h"
#include "xalloc.h"

static char dir[] = "/tmp/u-corpus.XXXXXX";
static char noise[5000];

/* Bytes that don't get shorter, others each time. */
static void make_noise(void)
{
	static uint64_t s = 1;
	size_t i;

	for (i = 0; i < sizeof(noise); i++)
		noise[i] = (char)((s = s * 6364136223846793005u + 1) >> 56);
}

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void write_file(const char *path, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		exit(4);
	close(fd);
}

static int files(const char *pattern)
{
	char *path = in_dir(pattern);
	glob_t g;
	int n = 0;

	if (!glob(path, 0, NULL, &g)) {
		n = (int)g.gl_pathc;
		globfree(&g);
	}
	free(path);
	return n;
}

/* Is key there, with that text? */
static bool holds(struct corpus *c, const char *key, const char *want)
{
	struct buf b = BUF_INIT;
	bool same = corpus_find(c, key, &b) == 1 && b.len == strlen(want) &&
		!memcmp(b.p, want, b.len);

	buf_release(&b);
	return same;
}

static bool absent(struct corpus *c, const char *key)
{
	struct buf b = BUF_INIT;
	int rc = corpus_find(c, key, &b);

	buf_release(&b);
	return rc == 0;
}

static void add(struct corpus *c, const char *key, const char *text)
{
	struct err e;

	if (corpus_add(c, key, text, strlen(text), &e))
		printf("# %s\n", e.msg);
}

/* A folder, two writers at once, and one more who merges. */
static void folder(void)
{
	struct corpus a, b;
	struct err e;
	char *left;
	int i;

	ok(!corpus_open(&a, dir, "us", &e), "a folder is opened");
	ok(!corpus_open(&b, dir, "us", &e), "by two");
	ok(absent(&a, "k"), "it is empty");
	add(&a, "k", "one");
	add(&b, "l", "two");
	ok(absent(&a, "k"), "what is recorded is for those who come later");
	corpus_close(&a);
	corpus_close(&b);
	ok(!corpus_open(&a, dir, "us", &e) && !a.note, "opened again");
	ok(holds(&a, "k", "one") && holds(&a, "l", "two"), "both are there");
	ok(corpus_entries(&a) == 2, "two entries");
	add(&a, "k", "three");
	corpus_close(&a);
	corpus_open(&a, dir, "us", &e);
	ok(holds(&a, "k", "three"), "a newer entry comes first");
	corpus_close(&a);
	left = in_dir("corpus.cts.aB3xYz");
	write_file(left, "half", 4);
	for (i = 0; i < 20; i++) {
		corpus_open(&a, dir, "us", &e);
		add(&a, "many", "x");
		corpus_close(&a);
	}
	corpus_open(&a, dir, "us", &e);
	ok(files("*.seg") < 17 && files("corpus.cts") == 1,
	   "many files are merged");
	ok(holds(&a, "k", "three") && holds(&a, "l", "two") &&
	   holds(&a, "many", "x"), "and nothing is lost");
	ok(access(left, F_OK) == -1, "what a cut merge left is removed");
	corpus_close(&a);
	free(left);
	left = in_dir("1.000000001-1.seg");
	write_file(left, "", 0);
	corpus_open(&a, dir, "us", &e);
	ok(!a.note && !access(left, F_OK), "what is being begun stays");
	corpus_close(&a);
	unlink(left);
	free(left);
}

/* Whoever merges leaves alone what somebody writes to. */
static void merge_beside_writer(void)
{
	struct corpus w, m;
	struct buf big = BUF_INIT;
	struct err e;

	while (big.len < 3u << 20) {
		make_noise();
		buf_add(&big, noise, sizeof(noise));
	}
	corpus_open(&w, dir, "us", &e);
	corpus_add(&w, "big", big.p, big.len, &e);
	corpus_open(&m, dir, "us", &e);
	ok(files("*.seg") == 1, "a file that is being written stays");
	add(&w, "late", "and gets more");
	corpus_close(&m);
	corpus_close(&w);
	corpus_open(&m, dir, "us", &e);
	ok(holds(&m, "late", "and gets more"), "which is not lost");
	corpus_close(&m);
	buf_release(&big);
}

/* Somebody else's, by name of the one and the other. */
static void stale(void)
{
	struct corpus c;
	struct err e;
	char *path = in_dir("corpus.cts");

	corpus_open(&c, dir, "them", &e);
	ok(c.note && strstr(c.note, "another engine"), "a stale one is said");
	ok(absent(&c, "k") && corpus_entries(&c) == 0, "and not believed");
	add(&c, "k", "theirs");
	corpus_close(&c);
	corpus_open(&c, dir, "them", &e);
	ok(!c.note && holds(&c, "k", "theirs"), "then recorded anew");
	corpus_close(&c);
	write_file(path, "PK\3\4 something else", 19);
	corpus_open(&c, dir, "them", &e);
	ok(c.note && strstr(c.note, "not a corpus"), "a foreign file is said");
	ok(holds(&c, "k", "theirs"), "the rest holds");
	corpus_close(&c);
	ok(access(path, F_OK) == -1, "and it is gone");
	free(path);
}

/* A finished file of three entries: its bytes, and its path. */
static void make_file(const char *path, struct buf *out)
{
	struct corpus c;
	struct err e;

	corpus_create_file(&c, path, "us", &e);
	add(&c, "a", "alpha");
	corpus_add(&c, "n", noise, sizeof(noise), &e);
	add(&c, "z", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz");
	ok(access(path, F_OK) == -1, "a file isn't there before its end");
	ok(!corpus_finish(&c, &e), "it is finished");
	corpus_close(&c);
	buf_read_file(out, path, 1 << 20, &e);
}

/* Right or absent, never wrong: 1 if all three are there. */
static int check(const char *path, bool *wrong)
{
	static const char z[] =
		"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";
	const struct { const char *key, *p; size_t n; } v[] = {
		{ "a", "alpha", 5 }, { "n", noise, sizeof(noise) },
		{ "z", z, sizeof(z) - 1 },
	};
	struct buf b = BUF_INIT;
	struct corpusfile f;
	struct err e;
	size_t i;
	int all = 1, rc;

	if (corpusfile_open(&f, path, &e))
		return 0;
	for (i = 0; i < 3; i++) {
		buf_reset(&b);
		rc = corpusfile_find(&f, v[i].key, &b, &e);
		if (rc != 1)
			all = 0;
		else if (b.len != v[i].n || memcmp(b.p, v[i].p, v[i].n))
			*wrong = true;
	}
	buf_release(&b);
	corpusfile_close(&f);
	return all;
}

static void hostile(void)
{
	char *path = in_dir("one.cts"), *bad = in_dir("bad.cts");
	struct buf b = BUF_INIT;
	struct corpus c;
	struct err e;
	bool wrong = false;
	size_t i, whole = 0, step;

	make_file(path, &b);
	ok(check(path, &wrong) == 1, "all of it is found");
	ok(!corpus_open_file(&c, path, &e) && holds(&c, "a", "alpha"),
	   "as one file, too");
	ok(corpus_add(&c, "q", "q", 1, &e), "which is only read");
	corpus_close(&c);

	/* The noise between is all alike. */
	for (i = 0; i < b.len; i += step) {
		step = i > 400 && i < 4500 ? 97 : 1;
		b.p[i] ^= 0x11;
		write_file(bad, b.p, b.len);
		whole += (size_t)check(bad, &wrong);
		b.p[i] ^= 0x11;
	}
	ok(!wrong, "a damaged byte gives no wrong entry");
	ok(whole < b.len / 4, "and is seen nearly everywhere (%zu)", whole);
	for (i = 0; i < b.len; i += step) {
		step = i > 400 && i < 4500 ? 97 : 1;
		write_file(bad, b.p, i);
		check(bad, &wrong);
	}
	ok(!wrong, "nor does a cut");
	write_file(bad, b.p, b.len - 1);
	ok(corpus_open_file(&c, bad, &e), "a cut file is no whole one");
	ok(strstr(e.msg, "torn after 3 entries"), "and it says so");
	write_file(bad, b.p, b.len);
	ok(truncate(bad, 12) == 0 && corpus_open_file(&c, bad, &e) &&
	   e.code == EX_BADINPUT, "nor is the beginning of a head");
	/* Byte order, as another machine would write it. */
	memcpy(b.p + 12, "\1\2\3\4", 4);
	write_file(bad, b.p, b.len);
	ok(corpus_open_file(&c, bad, &e) && strstr(e.msg, "byte order"),
	   "another byte order is said");
	ok(corpus_open_file(&c, "/dev/null", &e) && e.code == EX_BADINPUT,
	   "a device is no corpus");
	ok(corpus_open_file(&c, "/nonexistent/x", &e) &&
	   e.code == EX_ENVIRON, "nor is nothing");
	buf_release(&b);
	free(path);
	free(bad);
}

/*
 * A segment that is cut anywhere: all before the cut counts, and what was lost
 * can be recorded again.  Half an entry of a living writer is no damage.
 */
static void torn_segment(void)
{
	char *cmd = xasprintf("rm -rf '%s'/*", dir);
	char *path = in_dir("1.000000001-1.seg");
	bool wrong = false, lost = false, said = true, right = true;
	struct corpuswriter w;
	struct buf b = BUF_INIT;
	struct corpus c;
	struct err e;
	size_t i, head;

	if (system(cmd))
		exit(4);
	corpuswriter_open(&w, path, "us", false, &e);
	head = (size_t)w.at;
	corpuswriter_add(&w, "a", "alpha", 5, &e);
	corpuswriter_add(&w, "b", "beta", 4, &e);
	corpuswriter_add(&w, "c", "gamma", 5, &e);
	buf_read_file(&b, path, 1 << 20, &e);
	if (truncate(path, (off_t)w.at - 9))
		exit(4);
	corpus_open(&c, dir, "us", &e);
	ok(!c.note && holds(&c, "b", "beta") && absent(&c, "c") &&
	   files("*.seg") == 1, "what is half written is no damage");
	corpus_close(&c);
	corpuswriter_drop(&w);
	for (i = 1; i <= b.len; i++) {
		size_t k;

		if (system(cmd))
			exit(4);
		write_file(path, b.p, i);
		corpus_open(&c, dir, "us", &e);
		wrong |= !(holds(&c, "a", "alpha") || absent(&c, "a")) ||
			!(holds(&c, "c", "gamma") || absent(&c, "c"));
		/* No more is lost than the entries that the cut takes. */
		k = i < head ? 0 : 3 * (i - head) / (b.len - head);
		lost |= corpus_entries(&c) != k;
		/* A cut between entries looks like a writer's last one. */
		said &= !c.note == (i >= head &&
				    (i - head) % ((b.len - head) / 3) == 0);
		add(&c, "a", "alpha");
		add(&c, "b", "beta");
		add(&c, "c", "gamma");
		corpus_close(&c);
		corpus_open(&c, dir, "us", &e);
		right &= !c.note && holds(&c, "a", "alpha") &&
			holds(&c, "b", "beta") && holds(&c, "c", "gamma");
		corpus_close(&c);
	}
	ok(!wrong, "a cut segment gives no wrong entry");
	ok(!lost, "and all of those before the cut");
	ok(said, "it is said, wherever that can be seen");
	ok(right, "and said once: it is put right");
	buf_release(&b);
	free(path);
	free(cmd);
}

/* A torn corpus.cts: what is whole of it counts, and it is put right. */
static void torn(void)
{
	char *main_file = in_dir("corpus.cts"), *one = in_dir("one.cts");
	char *cmd = xasprintf("rm -f '%s'/*.seg", dir);
	struct corpus c;
	struct stat st;
	struct err e;

	if (system(cmd) || rename(one, main_file) ||
	    stat(main_file, &st) || truncate(main_file, st.st_size - 120))
		exit(4);
	free(cmd);
	corpus_open(&c, dir, "us", &e);
	ok(c.note && strstr(c.note, "torn after 2 entries"), "torn: said");
	ok(holds(&c, "a", "alpha") && absent(&c, "z"), "what is whole counts");
	add(&c, "z", "again");
	corpus_close(&c);
	corpus_open(&c, dir, "us", &e);
	ok(!c.note, "it is put right");
	ok(holds(&c, "z", "again"), "the rest is recorded anew");
	corpus_close(&c);
	free(main_file);
	free(one);
}

int main(void)
{
	struct corpus c;
	struct err e;
	char *cmd;

	make_noise();
	if (!mkdtemp(dir))
		return 4;
	folder();
	merge_beside_writer();
	stale();
	hostile();
	torn();
	torn_segment();
	ok(corpus_open(&c, "/dev/null/x", "us", &e) && e.code == EX_ENVIRON,
	   "a folder that can't be made is an error");
	cmd = xasprintf("rm -rf '%s'", dir);
	ok(!system(cmd), "cleaned up");
	free(cmd);
	return done();
}
