/*
 * try: whether the suite notices a mutant of the reference device.
 *
 * reads	mutant records
 * writes	them again with what came of each: a process forked for it
 *		loads its rule and runs its cases until one doesn't pass
 * exit		0 done, 2 usage, 3 bad input, 4 environment
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "digest.h"
#include "json.h"
#include "jw.h"
#include "proc.h"
#include "prog.h"
#include "rec.h"
#include "xalloc.h"
#include "zygote.h"

static const char usage_text[] =
"usage: try -m MANIFEST [-t SECONDS] --zygote PATH --work DIR\n"
"           CTS-EXEC CTS-COMPARE [FILE...]\n"
"\n"
"Run each mutant's cases on it, judge them, and say whether it was caught.\n"
"A case that is silent for SECONDS (10) hangs.  DIR is in PYTHONPATH.\n";

struct try {
	const char *manifest, *zygote_path, *work, *exec, *compare;
	double silence;
	struct zygote z;
	struct buf out;
};

/* One mutant at work. */
struct trial {
	const cJSON *mutant, *cases, *running;
	pid_t worker, judge;
	int from_worker, to_judge, from_judge;
	struct buf in, verdicts;	/* what has no LF yet */
	uint64_t digest;
	double heard;
	/* What came of it. */
	const char *result;
	char check[64];
	const cJSON *by;		/* the case that noticed */
	size_t ran;			/* cases with a verdict */
	size_t same;			/* ... and the very observations */
	bool advice, ended, blind;	/* blind: values were not looked at */
};

/* Files of a mutant: its rule, a module that loads it, its cases. */
static int write_file(const char *path, const struct buf *b, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	ssize_t n = fd < 0 ? -1 : write(fd, b->p, b->len);

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)b->len ? 0 :
		err_sys(e, errno, "cannot write '%s'", path);
}

static void add_json(struct buf *b, const cJSON *o)
{
	char *s = cJSON_PrintUnformatted(o);

	buf_addf(b, "%s\n", s);
	cJSON_free(s);
}

static void add_case(struct buf *b, const cJSON *c, const char *name)
{
	cJSON *o = cJSON_Duplicate(c, 1);
	const char *const imports[] = { "torch_refdev", name };

	cJSON_DeleteItemFromObjectCaseSensitive(o, "backend_import");
	cJSON_AddItemToObject(o, "backend_import",
			      cJSON_CreateStringArray(imports, 2));
	add_json(b, o);
	cJSON_Delete(o);
}

static int prepare(const struct try *t, const struct trial *r,
		   const char *name, struct err *e)
{
	static const char *const ends[] = { ".jsonl", ".py", ".cases" };
	struct buf b[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	const cJSON *c;
	int i, rc = 0;

	add_json(&b[0], json_get(r->mutant, "rule"));
	buf_addf(&b[1], "import os\nimport torch_refdev\n"
		 "os.environ[\"CTS_REFDEV_FAULTS_LOG\"] = \"%s/%s.log\"\n"
		 "torch_refdev.load_faults(\"%s/%s.jsonl\")\n",
		 t->work, name, t->work, name);
	cJSON_ArrayForEach(c, r->cases)
		add_case(&b[2], json_get(c, "case"),
			 name);
	for (i = 0; i < 3; i++) {
		char *path = xasprintf("%s/%s%s", t->work, name, ends[i]);

		rc = rc ? rc : write_file(path, &b[i], e);
		free(path);
		buf_release(&b[i]);
	}
	return rc;
}

/* What the rule did, as its log says. */
struct deeds {
	bool fired;		/* it changed something */
	bool vain;		/* it did, and a call was the same as ever */
};

static struct deeds read_log(const struct try *t, const char *name)
{
	char *path = xasprintf("%s/%s.log", t->work, name);
	struct buf b = BUF_INIT;
	struct deeds d = { false, false };

	if (!buf_read_file(&b, path, 1 << 20, NULL)) {
		d.fired = strstr(b.p, "\"when\":\"first\"");
		d.vain = strstr(b.p, "\"when\":\"vain\"");
	}
	buf_release(&b);
	free(path);
	return d;
}

static void clean_up(const struct try *t, const char *name)
{
	static const char *const ends[] = { ".jsonl", ".py", ".cases", ".err",
					    ".log" };
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		char *path = xasprintf("%s/%s%s", t->work, name, ends[i]);

		unlink(path);
		free(path);
	}
}

static int start_judge(const struct try *t, struct trial *r, struct err *e)
{
	char *argv[] = { (char *)t->compare, "-q", "-m", (char *)t->manifest,
			 "--blobs", NULL, "-", NULL };
	struct proc_spec s = { .argv = argv, .err = STDERR_FILENO,
			       .flags = PROC_PDEATH };
	char *blobs = xasprintf("%s/blobs", t->work);
	int in[2], out[2];

	argv[5] = blobs;
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return err_sys(e, errno, "cannot make a pipe");
	s.in = in[0];
	s.out = out[1];
	r->judge = proc_spawn(&s, e);
	close(in[0]);
	close(out[1]);
	free(blobs);
	r->to_judge = in[1];
	r->from_judge = out[0];
	return r->judge < 0 ? -1 : 0;
}

static int start_worker(struct try *t, struct trial *r, const char *name,
			struct err *e)
{
	char *cases = xasprintf("%s/%s.cases", t->work, name);
	char *err = xasprintf("%s/%s.err", t->work, name);
	int in = open(cases, O_RDONLY | O_CLOEXEC), out[2];
	int err_fd = open(err, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			  0666);

	if (in < 0 || err_fd < 0 || pipe2(out, O_CLOEXEC) < 0)
		return err_sys(e, errno, "cannot start '%s'", name);
	r->worker = zygote_fork(&t->z, in, out[1], err_fd, e);
	if (r->worker == 0)
		err_set(e, EX_ENVIRON, "the zygote doesn't fork");
	r->from_worker = out[0];
	close(in);
	close(out[1]);
	close(err_fd);
	free(cases);
	free(err);
	return r->worker <= 0 ? -1 : 0;
}

static const cJSON *find_case(const struct trial *r, const char *id)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, r->cases)
		if (!strcmp(rec_str_opt(c, "id", ""), id))
			return c;
	return NULL;
}

static void caught(struct trial *r, const cJSON *by, const char *check)
{
	if (r->result)
		return;
	r->result = "caught";
	r->by = by;
	snprintf(r->check, sizeof(r->check), "%s", check);
}

/* The first contract that a verdict says is broken, or its outcome. */
static const char *first_broken(const cJSON *verdict)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, json_get(verdict,
							       "checks"))
		if (!rec_bool_opt(c, "ok", true) &&
		    !strcmp(rec_str_opt(c, "class", ""), "contract"))
			return c->string;
	return rec_str_opt(verdict, "outcome", "");
}

/* Advice that the healthy device followed in this case and this one doesn't. */
static void look_at_advice(struct trial *r, const cJSON *healthy,
			   const cJSON *verdict)
{
	const cJSON *known = json_get(healthy,
							      "advice");
	const cJSON *c, *k;
	bool old;

	cJSON_ArrayForEach(c, json_get(verdict,
							       "checks")) {
		if (rec_bool_opt(c, "ok", true))
			continue;
		old = false;
		cJSON_ArrayForEach(k, known)
			old = old || !strcmp(k->valuestring, c->string);
		/* A backend claims must_not_fall_back of what it serves. */
		if (!old && !strcmp(c->string, "fallback"))
			caught(r, healthy, c->string);
		if (old || r->advice)
			continue;
		r->advice = true;
		r->by = healthy;
		snprintf(r->check, sizeof(r->check), "%s", c->string);
	}
}

static void take_verdict(struct trial *r, const char *line)
{
	cJSON *v = cJSON_Parse(line);
	const cJSON *c = v ? find_case(r, rec_str_opt(v, "id", "")) : NULL;

	if (c && !strcmp(rec_str_opt(v, "kind", ""), "verdict")) {
		r->ran++;
		if (!strcmp(rec_str_opt(v, "outcome", ""), "pass"))
			look_at_advice(r, c, v);
		else
			caught(r, c, first_broken(v));
	}
	cJSON_Delete(v);
}

/* Whether the device's values were not looked at. */
static bool unseen(const cJSON *obs)
{
	const cJSON *o = json_get(obs, "dev"), *out;

	o = json_get(o, "outs");
	cJSON_ArrayForEach(out, o)
		if (rec_bool_opt(out, "meta", false) ||
		    cJSON_HasObjectItem(out, "lost"))
			return true;
	return false;
}

static void take_record(struct trial *r, const char *line, size_t n)
{
	cJSON *o = cJSON_ParseWithLength(line, n);
	const char *kind = o ? rec_str_opt(o, "kind", "") : "";
	char hex[17];

	if (!strcmp(kind, "start")) {
		r->running = find_case(r, rec_str_opt(o, "id", ""));
		r->digest = 0;
	} else if (!strcmp(kind, "obs")) {
		r->digest = digest_obs(r->digest, o);
		r->blind = r->blind || unseen(o);
	} else if (!strcmp(kind, "end") && r->running) {
		snprintf(hex, sizeof(hex), "%016" PRIx64, r->digest);
		r->same += !strcmp(hex, rec_str_opt(r->running, "digest", ""));
		r->running = NULL;
	}
	cJSON_Delete(o);
}

/* Read what fd has; false at its end. */
static bool fill(struct buf *b, int fd)
{
	char tmp[65536];
	ssize_t n = read(fd, tmp, sizeof(tmp));

	if (n > 0)
		buf_add(b, tmp, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

/* Hand whole lines to f, keep the rest. */
static void whole_lines(struct trial *r, struct buf *b, bool verdicts)
{
	char *s = b->p, *nl;
	struct err e;
	size_t n;

	while ((nl = memchr(s, '\n', b->len - (size_t)(s - b->p)))) {
		n = (size_t)(nl - s);
		*nl = '\0';
		if (verdicts) {
			take_verdict(r, s);
		} else {
			take_record(r, s, n);
			if (r->to_judge >= 0 &&
			    rec_write(r->to_judge, s, n, &e)) {
				close(r->to_judge);
				r->to_judge = -1;
			}
		}
		s = nl + 1;
	}
	n = b->len - (size_t)(s - b->p);
	memmove(b->p, s, n);
	b->len = n;
}

/* No more comes from the worker: it is done, or died in the middle. */
static void worker_ended(struct trial *r)
{
	r->ended = true;
	if (r->to_judge >= 0)
		close(r->to_judge);
	r->to_judge = -1;
}

/* Follow both processes until a case doesn't pass or all are judged. */
static void follow(const struct try *t, struct trial *r)
{
	struct pollfd p[2] = { { .fd = r->from_worker, .events = POLLIN },
			       { .fd = r->from_judge, .events = POLLIN } };
	const char *death = "crash";

	r->heard = proc_now();
	while (!r->result) {
		p[0].fd = r->ended ? -1 : r->from_worker;
		if (poll(p, 2, 200) < 0 && errno != EINTR)
			break;
		if (!r->ended && proc_now() - r->heard > t->silence) {
			death = "hang";
			worker_ended(r);
		}
		if (p[0].revents) {
			r->heard = proc_now();
			if (!fill(&r->in, r->from_worker))
				worker_ended(r);
			whole_lines(r, &r->in, false);
		}
		if (p[1].revents) {
			if (!fill(&r->verdicts, r->from_judge))
				break;
			whole_lines(r, &r->verdicts, true);
		}
	}
	if (!r->result && r->running)
		caught(r, r->running, death);
}

static void stop(struct try *t, struct trial *r)
{
	struct zygote_msg m;

	if (r->worker > 0)
		proc_kill(r->worker, SIGKILL);
	if (r->judge > 0) {
		kill(r->judge, SIGKILL);
		waitpid(r->judge, NULL, 0);
	}
	close(r->from_worker);
	close(r->from_judge);
	if (r->to_judge >= 0)
		close(r->to_judge);
	while (t->z.sock >= 0 && zygote_next(&t->z, &m) > 0)
		;
	buf_release(&r->in);
	buf_release(&r->verdicts);
}

/*
 * What no case failed on.  An action whose whole effect an observation shows,
 * and whose every observation is the healthy device's, had none; nor had one
 * whose changes left every call what it was.
 */
static const char *missed(const struct trial *r, struct deeds did)
{
	size_t n = (size_t)cJSON_GetArraySize(r->cases);

	if (r->ran < n)
		return "broken";
	if (r->advice)
		return "permitted";
	if (!did.fired)
		return did.vain ? "no_effect" : "not_reached";
	if (rec_bool_opt(r->mutant, "advice", false))
		return "permitted";
	if (r->same == n && !r->blind &&
	    rec_bool_opt(r->mutant, "recorded", false))
		return "no_effect";
	return "survived";
}

static int report(struct try *t, const struct trial *r, struct err *e)
{
	const cJSON *k, *c = json_get(r->by, "case");
	bool all = strcmp(r->result, "caught");
	struct jw w;
	char *s;

	buf_reset(&t->out);
	jw_init(&w, &t->out);
	jw_obj(&w);
	cJSON_ArrayForEach(k, r->mutant) {
		if (!strcmp(k->string, "cases"))
			continue;
		s = cJSON_PrintUnformatted(k);
		jw_key(&w, k->string);
		jw_raw(&w, s, strlen(s));
		cJSON_free(s);
	}
	jw_kstr(&w, "result", r->result);
	jw_kint(&w, "ran", (int64_t)r->ran);
	if (r->by) {
		jw_kstr(&w, "check", r->check);
		jw_kstr(&w, "by", rec_str_opt(r->by, "id", ""));
		jw_kstr(&w, "variant", rec_str_opt(c, "variant", ""));
		jw_kint(&w, "level", rec_int_opt(c, "level", 0));
	}
	if (all) {
		jw_key(&w, "cases");
		jw_arr(&w);
		cJSON_ArrayForEach(k, r->cases)
			jw_str(&w, rec_str_opt(k, "id", ""));
		jw_arr_end(&w);
	}
	jw_obj_end(&w);
	return rec_write_buf(STDOUT_FILENO, &t->out, e);
}

static int try_one(struct try *t, const cJSON *mutant, struct err *e)
{
	struct trial r = { .mutant = mutant, .in = BUF_INIT,
			   .verdicts = BUF_INIT, .to_judge = -1,
			   .from_worker = -1, .from_judge = -1 };
	const char *name = rec_str_opt(mutant, "id", "");
	struct deeds did;
	int rc;

	r.cases = json_get(mutant, "cases");
	if (!*name || strchr(name, '/') || strchr(name, '"'))
		return err_set(e, EX_BADINPUT, "no name for a mutant: '%s'",
			       name);
	rc = prepare(t, &r, name, e) || start_judge(t, &r, e) ||
		start_worker(t, &r, name, e);
	if (!rc)
		follow(t, &r);
	stop(t, &r);
	did = read_log(t, name);
	clean_up(t, name);
	if (rc)
		return -1;
	if (!r.result)
		r.result = missed(&r, did);
	return report(t, &r, e);
}

static int try_all(struct try *t, char **files, size_t n, struct err *e)
{
	char *argv[] = { (char *)t->exec, "--blobs", NULL, NULL };
	struct rec_reader *in;
	struct rec rec;
	int rc;

	argv[2] = xasprintf("%s/blobs", t->work);
	rc = zygote_open(&t->z, t->zygote_path, argv, 300, e);
	free(argv[2]);
	if (rc)
		return rc;
	in = rec_open(files, n);
	while ((rc = rec_next(in, &rec, e)) > 0) {
		rc = !strcmp(rec_str_opt(rec.json, "kind", ""), "mutant") ?
			try_one(t, rec.json, e) :
			rec_write(STDOUT_FILENO, rec.line, rec.len, e);
		if (rc)
			break;
	}
	rec_close(in);
	zygote_close(&t->z);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "manifest", required_argument, NULL, 'm' },
		{ "timeout", required_argument, NULL, 't' },
		{ "zygote", required_argument, NULL, 'z' },
		{ "work", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	struct try t = { .silence = 10, .out = BUF_INIT };
	struct err e;
	int c, rc;

	prog_init("try", usage_text);
	while ((c = prog_getopt(argc, argv, "m:t:hV", longs)) != -1)
		switch (c) {
		case 'm': t.manifest = optarg; break;
		case 't': t.silence = prog_num("timeout", optarg, 0.1, 1e6);
			break;
		case 'z': t.zygote_path = optarg; break;
		case 'w': t.work = optarg; break;
		}
	if (argc - optind < 2 || !t.manifest || !t.zygote_path || !t.work)
		return prog_usage("want manifest, zygote, work and two tools");
	t.exec = argv[optind];
	t.compare = argv[optind + 1];
	rc = try_all(&t, argv + optind + 2, (size_t)(argc - optind - 2), &e);
	buf_release(&t.out);
	return prog_finish(rc < 0 ? prog_fail_err(&e) : 0);
}
