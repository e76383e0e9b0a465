#include "lab.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "boxed.h"
#include "crash.h"
#include "prog.h"
#include "xalloc.h"

/*
 * One thread: results don't depend on the machine's cores, and a zygote that
 * has one thread can be forked.  Backends are imported by name, not by entry
 * point, so that a broken one can't keep torch from being imported.
 */
static void set_environ(void)
{
	setenv("OMP_NUM_THREADS", "1", 1);
	setenv("MKL_NUM_THREADS", "1", 1);
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

static char *string_attr(const char *module, const char *attr)
{
	struct err ignored;
	PyObject *o = py_attr(module, attr, &ignored);
	PyObject *str = o ? PyObject_Str(o) : NULL;
	const char *s = str ? PyUnicode_AsUTF8(str) : NULL;
	char *ret = xstrdup(s ? s : "unknown");

	PyErr_Clear();
	Py_XDECREF(str);
	Py_XDECREF(o);
	return ret;
}

static int quiet_python(struct err *e)
{
	PyObject *fn = py_attr("warnings", "simplefilter", e), *ret;

	if (!fn)
		return -1;
	ret = PyObject_CallFunction(fn, "s", "ignore");
	Py_DECREF(fn);
	if (!ret)
		return py_error(e, EX_ENVIRON, NULL);
	Py_DECREF(ret);
	fn = py_attr("faulthandler", "enable", e);
	if (!fn)
		return -1;
	/* Ours first: Python's prints its stack and hands the signal on. */
	crash_install();
	/* By number: sys.stderr may be replaced by a backend. */
	ret = PyObject_CallFunction(fn, "iO", 2, Py_False);
	Py_DECREF(fn);
	if (!ret)
		return py_error(e, EX_ENVIRON, NULL);
	Py_DECREF(ret);
	return 0;
}

static int load_shim(struct lab *lab, struct err *e)
{
	char *path = xasprintf("%s/build/libcts_torch.so", prog_root());
	const struct ctt_api *(*open_shim)(int) = NULL;
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	free(path);
	if (so)
		*(void **)&open_shim = dlsym(so, "ctt_open");
	if (!open_shim)
		return err_set(e, EX_ENVIRON, "unable to load the shim: %s",
			       dlerror());
	lab->api = open_shim(CTT_ABI);
	if (!lab->api)
		return err_set(e, EX_ENVIRON,
			       "the shim is of another version; run make");
	return 0;
}

int lab_open(struct lab *lab, const struct device *dev, struct err *e)
{
	char *dir;
	PyObject *torch;
	int rc;

	memset(lab, 0, sizeof(*lab));
	lab->trace = true;
	set_environ();
	if (py_start(e))
		return -1;
	dir = xasprintf("%s/shim", prog_root());
	rc = py_add_path(dir, e);
	free(dir);
	if (rc || quiet_python(e))
		return -1;
	if (dev)
		adapter_environ(dev);
	py_importing();
	torch = PyImport_ImportModule("torch");
	py_imported();
	if (!torch) {
		py_error(e, EX_ENVIRON, NULL);
		return err_prefix(e, "unable to import 'torch'");
	}
	Py_DECREF(torch);
	lab->torch = string_attr("torch", "__version__");
	lab->python = xstrndup(Py_GetVersion(), strcspn(Py_GetVersion(), " "));
	if (load_shim(lab, e) || boxed_init(lab->api, e) ||
	    call_types_init(&lab->types, e))
		return -1;
	return 0;
}

int lab_device(struct lab *lab, const char *device, const cJSON *imports,
	       const cJSON *override, struct err *e)
{
	if (lab->has_device &&
	    adapter_is(&lab->adapter, device, imports, override))
		return 0;
	if (lab->has_device)
		adapter_close(&lab->adapter);
	py_importing();
	lab->has_device = !adapter_open(&lab->adapter, prog_root(), device,
					imports, override, e);
	py_imported();
	return lab->has_device ? 0 : -1;
}

void lab_close(struct lab *lab)
{
	if (lab->has_device)
		adapter_close(&lab->adapter);
	free(lab->torch);
	free(lab->python);
}
