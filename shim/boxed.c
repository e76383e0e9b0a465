#include "boxed.h"

#include <structmember.h>

/* One table for the process, as for the interpreter. */
static const struct ctt_api *api;

struct overload {
	PyObject_HEAD
	const void *op;
	PyObject *name;
};

static PyObject *overload_call(PyObject *self, PyObject *args,
			       PyObject *kwargs)
{
	return api->boxed(((struct overload *)self)->op, args, kwargs);
}

static void overload_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF(((struct overload *)self)->name);
	type->tp_free(self);
	Py_DECREF(type);
}

static PyMemberDef overload_members[] = {
	{ "overload", T_OBJECT_EX, offsetof(struct overload, name), READONLY,
	  "its name, \"add.Tensor\"" },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot overload_slots[] = {
	{ Py_tp_call, overload_call },
	{ Py_tp_dealloc, overload_dealloc },
	{ Py_tp_members, overload_members },
	{ 0, NULL },
};

static PyType_Spec overload_spec = {
	.name = "boxed.Overload", .basicsize = sizeof(struct overload),
	.flags = Py_TPFLAGS_DEFAULT, .slots = overload_slots,
};

static PyObject *overload_type;

static PyObject *find(PyObject *self, PyObject *name)
{
	const char *s = PyUnicode_AsUTF8(name);
	const void *op = s ? api->overload(s) : NULL;
	struct overload *o;

	(void)self;
	if (!s)
		return NULL;
	if (!op)
		Py_RETURN_NONE;
	o = PyObject_New(struct overload, (PyTypeObject *)overload_type);
	if (o) {
		o->op = op;
		o->name = Py_NewRef(name);
	}
	return (PyObject *)o;
}

static PyObject *record(PyObject *self, PyObject *args)
{
	PyObject *fn, *fn_args, *fn_kwargs, *ret, *list, *type, *value, *tb;
	const char *only = NULL;

	(void)self;
	if (!PyArg_ParseTuple(args, "OO!O!|z", &fn, &PyTuple_Type, &fn_args,
			      &PyDict_Type, &fn_kwargs, &only))
		return NULL;
	if (api->record_begin(only))
		return PyErr_Format(PyExc_RuntimeError, "%s", api->error());
	ret = PyObject_Call(fn, fn_args, fn_kwargs);
	PyErr_Fetch(&type, &value, &tb);
	list = api->record_end();
	/* What it raised says more than what came before that. */
	if (!ret) {
		Py_CLEAR(list);
		PyErr_Restore(type, value, tb);
	}
	Py_XDECREF(ret);
	return list;
}

static PyMethodDef methods[] = {
	{ "find", find, METH_O, "the overload of that name, or None" },
	{ "record", record, METH_VARARGS, "what overloads fn calls" },
	{ NULL, NULL, 0, NULL },
};

static PyModuleDef module = {
	PyModuleDef_HEAD_INIT, .m_name = "boxed", .m_size = -1,
	.m_methods = methods,
};

int boxed_init(const struct ctt_api *table, struct err *e)
{
	PyObject *m = PyModule_Create(&module);

	api = table;
	overload_type = m ? PyType_FromSpec(&overload_spec) : NULL;
	if (!overload_type ||
	    PyDict_SetItemString(PyImport_GetModuleDict(), "boxed", m)) {
		Py_XDECREF(m);
		return py_error(e, EX_ENVIRON, NULL);
	}
	Py_DECREF(m);
	return 0;
}
