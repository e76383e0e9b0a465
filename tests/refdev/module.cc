/*
 * torch_refdev._C: the device's functions that have no ATen op.
 */
#include <torch/csrc/Generator.h>

#include "faults.h"

#include <exception>

namespace {

using namespace refdev;

/* A C++ exception becomes a Python one of the kind that PyTorch raises. */
template <class F> PyObject *guarded(F f)
{
	try {
		return f();
	} catch (const c10::Error &e) {
		PyErr_SetString(PyExc_RuntimeError,
		    e.what_without_backtrace());
	} catch (const std::exception &e) {
		PyErr_SetString(PyExc_RuntimeError, e.what());
	}
	return nullptr;
}

PyObject *none()
{
	Py_RETURN_NONE;
}

/* Takes one int; -1 stands for the current device. */
template <class F> PyObject *with_device(PyObject *arg, F f)
{
	long d = PyLong_AsLong(arg);

	if (d == -1 && PyErr_Occurred())
		return nullptr;
	return guarded([&] {
		return f(static_cast<int>(d < 0 ? current_device() : d));
	});
}

/* A plan that can't be read is a reason not to be imported. */
PyObject *py_init(PyObject *, PyObject *)
{
	try {
		faults::load_env();
	} catch (const std::exception &e) {
		PyErr_SetString(PyExc_ImportError, e.what());
		return nullptr;
	}
	return guarded([] {
		register_ops();
		faults::interpose();
		return none();
	});
}

PyObject *py_load_faults(PyObject *, PyObject *arg)
{
	const char *file = PyUnicode_AsUTF8(arg);

	if (!file)
		return nullptr;
	try {
		faults::load(file);
	} catch (const std::exception &e) {
		PyErr_SetString(PyExc_ValueError, e.what());
		return nullptr;
	}
	return guarded([] {
		faults::interpose();
		return none();
	});
}

PyObject *py_clear_faults(PyObject *, PyObject *)
{
	return guarded([] {
		faults::clear();
		return none();
	});
}

/* A list of what f makes of each of v; f returns a new reference. */
template <class V, class F> PyObject *list_of(const V &v, F f)
{
	PyObject *l = PyList_New(0);

	if (!l)
		return nullptr;
	for (auto &e : v) {
		PyObject *o = f(e);
		if (!o || PyList_Append(l, o) < 0) {
			Py_XDECREF(o);
			Py_DECREF(l);
			return nullptr;
		}
		Py_DECREF(o);
	}
	return l;
}

PyObject *py_faults(PyObject *, PyObject *)
{
	return guarded([] {
		return list_of(faults::counts(), [](const faults::Count &c) {
			return Py_BuildValue("{s:s,s:s,s:i,s:L,s:L}", "rule",
			    c.name.c_str(), "action", c.action.c_str(), "line",
			    c.line, "matched",
			    static_cast<long long>(c.matched), "fired",
			    static_cast<long long>(c.fired));
		});
	});
}

PyObject *py_actions(PyObject *, PyObject *)
{
	return guarded([] {
		return list_of(faults::actions(), [](const auto &a) {
			return Py_BuildValue("ss", a.first.c_str(),
			    a.second.c_str());
		});
	});
}

PyObject *py_applicable(PyObject *, PyObject *arg)
{
	const char *op = PyUnicode_AsUTF8(arg);

	if (!op)
		return nullptr;
	return guarded([&] {
		return list_of(faults::applicable(op), [](const auto &a) {
			return PyUnicode_FromString(a.c_str());
		});
	});
}

PyObject *py_device_count(PyObject *, PyObject *)
{
	return PyLong_FromLong(device_count());
}

PyObject *py_current_device(PyObject *, PyObject *)
{
	return PyLong_FromLong(current_device());
}

PyObject *py_set_device(PyObject *, PyObject *arg)
{
	return with_device(arg, [](int d) {
		set_device(d);
		return none();
	});
}

PyObject *py_synchronize(PyObject *, PyObject *arg)
{
	return with_device(arg, [](int d) {
		synchronize(d);
		return none();
	});
}

PyObject *py_in_bad_fork(PyObject *, PyObject *)
{
	return PyBool_FromLong(in_bad_fork());
}

PyObject *py_initialized(PyObject *, PyObject *)
{
	return PyBool_FromLong(initialized());
}

PyObject *py_generator(PyObject *, PyObject *arg)
{
	return with_device(arg, [](int d) {
		return THPGenerator_initDefaultGenerator(default_generator(d));
	});
}

PyObject *py_stats(PyObject *, PyObject *arg)
{
	return with_device(arg, [](int d) {
		Stats s = stats(d);
		auto n = [](int64_t v) { return static_cast<long long>(v); };

		return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,"
				     "s:L,s:L,s:L,s:L,s:L}",
		    "current", n(s.current), "peak", n(s.peak), "total",
		    n(s.total), "freed", n(s.freed), "blocks", n(s.blocks),
		    "peak_blocks", n(s.peak_blocks), "allocs", n(s.allocs),
		    "frees", n(s.frees), "ooms", n(s.ooms), "guard_errors",
		    n(s.guard_errors));
	});
}

PyObject *py_reset_peak(PyObject *, PyObject *arg)
{
	return with_device(arg, [](int d) {
		reset_peak(d);
		return none();
	});
}

PyObject *py_reset_accumulated(PyObject *, PyObject *arg)
{
	return with_device(arg, [](int d) {
		reset_accumulated(d);
		return none();
	});
}

PyObject *py_memory_limit(PyObject *, PyObject *)
{
	return PyLong_FromSize_t(memory_limit());
}

PyObject *py_check_guards(PyObject *, PyObject *)
{
	return PyLong_FromLongLong(check_guards());
}

PyObject *py_served(PyObject *, PyObject *)
{
	PyObject *d = PyDict_New();

	if (!d)
		return nullptr;
	for (auto &e : served()) {
		PyObject *n = PyLong_FromLongLong(e.second);
		if (!n || PyDict_SetItemString(d, e.first.c_str(), n) < 0) {
			Py_XDECREF(n);
			Py_DECREF(d);
			return nullptr;
		}
		Py_DECREF(n);
	}
	return d;
}

PyObject *py_overloads(PyObject *, PyObject *)
{
	return list_of(overloads(), [](const std::string &o) {
		return PyUnicode_FromString(o.c_str());
	});
}

PyMethodDef methods[] = {
	{"_init", py_init, METH_NOARGS, nullptr},
	{"device_count", py_device_count, METH_NOARGS, nullptr},
	{"current_device", py_current_device, METH_NOARGS, nullptr},
	{"set_device", py_set_device, METH_O, nullptr},
	{"synchronize", py_synchronize, METH_O, nullptr},
	{"in_bad_fork", py_in_bad_fork, METH_NOARGS, nullptr},
	{"initialized", py_initialized, METH_NOARGS, nullptr},
	{"default_generator", py_generator, METH_O, nullptr},
	{"stats", py_stats, METH_O, nullptr},
	{"reset_peak", py_reset_peak, METH_O, nullptr},
	{"reset_accumulated", py_reset_accumulated, METH_O, nullptr},
	{"memory_limit", py_memory_limit, METH_NOARGS, nullptr},
	{"check_guards", py_check_guards, METH_NOARGS, nullptr},
	{"served", py_served, METH_NOARGS, nullptr},
	{"overloads", py_overloads, METH_NOARGS, nullptr},
	{"load_faults", py_load_faults, METH_O, nullptr},
	{"clear_faults", py_clear_faults, METH_NOARGS, nullptr},
	{"faults", py_faults, METH_NOARGS, nullptr},
	{"actions", py_actions, METH_NOARGS, nullptr},
	{"applicable", py_applicable, METH_O, nullptr},
	{nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "torch_refdev._C", nullptr,
    -1, methods, nullptr, nullptr, nullptr, nullptr};

}

extern "C" __attribute__((visibility("default"))) PyObject *PyInit__C(void);

PyObject *PyInit__C(void)
{
	return PyModule_Create(&definition);
}
