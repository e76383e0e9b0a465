#include "script.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "jw.h"

static void put_list(struct jw *w, const char *key, char **v)
{
	jw_key(w, key);
	jw_arr(w);
	for (; v && *v; v++)
		jw_str(w, *v);
	jw_arr_end(w);
}

/* How the device is reached, for a program that does without us. */
static void put_device(struct buf *b, const struct case_rec *c,
		       const struct device *d)
{
	const cJSON *x;
	struct jw w;

	jw_init(&w, b);
	jw_obj(&w);
	jw_kstr(&w, "string", d->string);
	if (c->backend_import && c->backend_import->child) {
		jw_key(&w, "imports");
		jw_arr(&w);
		cJSON_ArrayForEach(x, c->backend_import)
			jw_str(&w, x->valuestring);
		jw_arr_end(&w);
	} else {
		put_list(&w, "imports", d->imports);
	}
	put_list(&w, "init", d->init);
	put_list(&w, "env", d->env);
	put_list(&w, "path", d->path);
	if (d->sync)
		jw_kstr(&w, "sync", d->sync);
	jw_obj_end(&w);
}

static int put_all(int fd, const char *p, size_t n, struct err *e)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_sys(e, errno, "cannot write");
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int script_write(const struct script *s, const struct lab *lab,
		 const struct case_rec *c, PyObject *sample, PyObject *args,
		 PyObject *kwargs, const struct how *how,
		 const struct form *v, int out, struct err *e)
{
	PyObject *fn = py_attr("script", "write", e), *ret = NULL;
	struct buf device = BUF_INIT;
	const char *text, *why;
	int rc = -1;

	if (!fn)
		return -1;
	put_device(&device, c, &lab->adapter.dev);
	ret = PyObject_CallFunction(fn, "sssssOOOKK", s->record, s->verdict,
				     device.p, v->mode, lab->torch,
				     PyTuple_GET_ITEM(sample, 0), args, kwargs,
				     (unsigned long long)how->host,
				     (unsigned long long)how->seed);
	if (!ret || !PyArg_ParseTuple(ret, "ss", &text, &why))
		py_error(e, EX_NEGATIVE, NULL);
	else if (*why)
		err_set(e, EX_NEGATIVE, "%s", why);
	else
		rc = put_all(out, text, strlen(text), e) ? -1 : 1;
	buf_release(&device);
	Py_XDECREF(ret);
	Py_DECREF(fn);
	return rc;
}
