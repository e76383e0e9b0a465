#include "identity.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include "prog.h"
#include "sha256.h"
#include "xalloc.h"

/* Append the digest of the files that match, by name, below the root. */
static void add_digest(struct buf *out, const char *name,
		       const char *const patterns[])
{
	struct buf b = BUF_INIT;
	char *path, hex[65];
	glob_t g;
	size_t i;

	for (; *patterns; patterns++) {
		path = xasprintf("%s/%s", prog_root(), *patterns);
		if (!glob(path, 0, NULL, &g)) {
			for (i = 0; i < g.gl_pathc; i++) {
				buf_addstr(&b, strrchr(g.gl_pathv[i], '/'));
				buf_read_file(&b, g.gl_pathv[i], 256 << 20,
					      NULL);
			}
			globfree(&g);
		}
		free(path);
	}
	sha256_hex(b.p, b.len, hex);
	buf_addf(out, "%s %s\n", name, hex);
	buf_release(&b);
}

/*
 * PyTorch as it is installed: a version of one's own says nothing of what was
 * built since.  To read all of it would take longer than to make samples.
 */
static void add_torch(struct buf *out)
{
	static const char *const patterns[] = {
		"version.py", "lib/libtorch_*.so",
		"testing/_internal/common_*.py",
		"testing/_internal/opinfo/*.py",
		"testing/_internal/opinfo/definitions/*.py", NULL
	};
	struct err ignored;
	PyObject *at = py_attr("torch", "__file__", &ignored);
	const char *file = at ? PyUnicode_AsUTF8(at) : NULL;
	const char *slash = file ? strrchr(file, '/') : NULL;
	struct buf b = BUF_INIT;
	const char *const *p;
	char *path, hex[65];
	struct stat st;
	glob_t g;
	size_t i;

	for (p = patterns; slash && *p; p++) {
		path = xasprintf("%.*s/%s", (int)(slash - file), file, *p);
		if (!glob(path, 0, NULL, &g)) {
			for (i = 0; i < g.gl_pathc; i++)
				if (!stat(g.gl_pathv[i], &st))
					buf_addf(&b, "%s %lld %lld\n",
						 strrchr(g.gl_pathv[i], '/'),
						 (long long)st.st_size,
						 (long long)st.st_mtime);
			globfree(&g);
		}
		free(path);
	}
	PyErr_Clear();
	Py_XDECREF(at);
	sha256_hex(b.p, b.len, hex);
	buf_addf(out, "installed %s\n", hex);
	buf_release(&b);
}

/* What the CPU calls itself: kernels are chosen by that. */
static void add_cpu(struct buf *out)
{
	static const char *const keys[] = { "model name", "CPU part", "cpu" };
	struct buf b = BUF_INIT;
	const char *p = NULL, *q;
	size_t i;

	if (!buf_read_file(&b, "/proc/cpuinfo", 4 << 20, NULL))
		for (i = 0; !p && i < sizeof(keys) / sizeof(*keys); i++)
			p = strstr(b.p, keys[i]);
	p = p ? strchr(p, ':') : NULL;
	q = p ? p + 1 + strspn(p + 1, " \t") : "unknown";
	buf_addf(out, "cpu %.*s\n", (int)strcspn(q, "\n"), q);
	buf_release(&b);
}

/* A text of a Python module, or what a function of it (call) gives. */
static void add_text(struct buf *out, const char *name, const char *module,
		     const char *attr, bool call)
{
	struct err ignored;
	PyObject *o = py_attr(module, attr, &ignored);
	PyObject *s = o && call ? PyObject_CallNoArgs(o) : Py_XNewRef(o);
	const char *p = s && PyUnicode_Check(s) ? PyUnicode_AsUTF8(s) : NULL;

	buf_addf(out, "%s %s\n", name, p ? p : "unknown");
	PyErr_Clear();
	Py_XDECREF(s);
	Py_XDECREF(o);
}

char *identity_new(const struct lab *lab)
{
	static const char *const samples[] = { "shim/opinfo.py", "shim/aten.py",
		"shim/derive.py", "shim/suite.py", NULL };
	/* What runs, and not what it was built from: that may be elsewhere. */
	static const char *const engine[] = { "bin/cts-exec",
		"build/libcts_torch.so", "shim/*.py",
		"coverage/host-args.jsonl", NULL };
	struct buf b = BUF_INIT;
	struct utsname u;

	if (uname(&u))
		memset(&u, 0, sizeof(u));
	buf_addf(&b, "cts %s\ntorch %s\npython %s\n", CTS_VERSION, lab->torch,
		 lab->python);
	buf_addf(&b, "reference cpu %s torch %s\n", u.machine, lab->torch);
	add_text(&b, "numpy", "numpy", "__version__", false);
	add_torch(&b);
	add_cpu(&b);
	add_text(&b, "capability", "torch.backends.cpu",
		 "get_cpu_capability", true);
	add_digest(&b, "samples", samples);
	add_digest(&b, "engine", engine);
	return buf_detach(&b);
}

char *identity_line(const char *identity, const char *name)
{
	size_t n = strlen(name);
	const char *p;

	for (p = identity; *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (!strncmp(p, name, n) && p[n] == ' ')
			return xstrndup(p + n + 1, strcspn(p + n + 1, "\n"));
	return xstrdup("");
}

int identity_match(const char *theirs, const char *ours, struct err *e)
{
	/* A PyTorch's "+cpu" says how it was built, not what it computes. */
	static const struct { const char *name, *what, *until; } same[] = {
		{ "cts", "toolkit", "" }, { "torch", "PyTorch", "+" },
		{ "samples", "code that makes samples", "" },
	};
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < sizeof(same) / sizeof(*same); i++) {
		char *a = identity_line(theirs, same[i].name);
		char *b = identity_line(ours, same[i].name);
		size_t n = strcspn(a, same[i].until);

		if (n != strcspn(b, same[i].until) || strncmp(a, b, n))
			rc = err_set(e, EX_BADINPUT, "recorded with another "
				     "%s, '%.40s', expected '%.40s'",
				     same[i].what, a, b);
		free(a);
		free(b);
	}
	return rc;
}
