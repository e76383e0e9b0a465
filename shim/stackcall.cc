// Calling an overload as the dispatcher itself does, with a stack of values,
// and recording what overloads are called with.
#include "ctt.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/csrc/utils/tensor_memoryformats.h>
#include <cstring>
#include <map>
#include <set>
#include <vector>

using ctt_detail::full_name;
using ctt_detail::guarded;

namespace {

const char space[] = "aten::";
constexpr size_t RECORDS_MAX = 4096;

// The table lives as long as the process, and so do its handles.
const c10::OperatorHandle *find(const std::string &name)
{
	static std::map<std::string, c10::OperatorHandle> known;
	auto it = known.find(name);

	if (it != known.end())
		return &it->second;
	const size_t dot = name.find('.');
	const bool plain = dot == std::string::npos;
	auto op = c10::Dispatcher::singleton().findSchema(
		{space + name.substr(0, dot),
		 plain ? "" : name.substr(dot + 1)});

	return op ? &known.emplace(name, *op).first->second : nullptr;
}

// Threads of a backend may want Python while the call waits for them.
struct without_gil {
	PyThreadState *state = PyEval_SaveThread();
	~without_gil() { PyEval_RestoreThread(state); }
};

// Memory as it comes, but zero where nobody has written: the same each time.
struct zeroing final : public c10::Allocator {
	c10::Allocator *under = nullptr;
	c10::DataPtr allocate(size_t n) override
	{
		c10::DataPtr p = under->allocate(n);

		if (p.get())
			memset(p.get(), 0, n);
		return p;
	}
	c10::DeleterFnPtr raw_deleter() const override
	{
		return under->raw_deleter();
	}
	void copy_data(void *to, const void *from, size_t n) const override
	{
		default_copy_data(to, from, n);
	}
};

// A call as it was made: values that nothing changes any more.
struct record {
	const c10::OperatorHandle *op;
	std::vector<c10::IValue> values;
};

struct recorder {
	at::CallbackHandle handle = 0;
	std::string only;		// "": every overload
	std::set<std::string> seen;
	std::vector<record> calls;
	bool busy = false;
};

thread_local recorder current;

c10::IValue kept(ctt_copier c, const c10::IValue &v);

at::Tensor kept_tensor(ctt_copier c, const at::Tensor &t)
{
	ctt_tensor src{t.detach()};
	ctt copy;

	if (!t.defined())
		return t;
	TORCH_CHECK(t.is_cpu() && !ctt_copier_tensor(c, &src, 0, &copy),
		    "no tensor of the CPU's own");
	at::Tensor ret = copy->t;

	delete copy;
	return ret;
}

c10::IValue kept_list(ctt_copier c, const c10::IValue &v)
{
	c10::impl::GenericList from = v.toList(), to(from.elementType());

	for (const c10::IValue &x : from)
		to.push_back(kept(c, x));
	return to;
}

c10::IValue kept(ctt_copier c, const c10::IValue &v)
{
	if (v.isTensor())
		return kept_tensor(c, v.toTensor());
	TORCH_CHECK(!v.isStorage() && !v.isGenerator(), "no value");
	return v.isTensorList() || v.isOptionalTensorList() ?
		kept_list(c, v) : v;
}

void keep(const c10::OperatorHandle *op, c10::ArrayRef<const c10::IValue> in)
{
	at::NoGradGuard no_grad;
	record r{op, {}};
	ctt_copier c = nullptr;

	if (ctt_copier_new("cpu", 0, &c))
		return;
	// What can't be copied is not what a sample can be made of.
	if (!guarded([&] {
			for (const c10::IValue &v : in)
				r.values.push_back(kept(c, v));
		}))
		current.calls.push_back(std::move(r));
	ctt_copier_free(c);
}

std::unique_ptr<at::ObserverContext> on_call(const at::RecordFunction &fn)
{
	auto name = fn.operator_name();

	if (!name || current.busy || current.calls.size() >= RECORDS_MAX ||
	    name->name.rfind(space, 0) != 0)
		return nullptr;
	const std::string text = full_name(*name).substr(sizeof(space) - 1);

	if ((!current.only.empty() && text != current.only) ||
	    !current.seen.insert(text).second)
		return nullptr;
	const c10::OperatorHandle *op = find(text);

	current.busy = true;
	if (op && op->schema().arguments().size() == fn.inputs().size())
		keep(op, fn.inputs());
	current.busy = false;
	return nullptr;
}

void stop()
{
	if (current.handle)
		at::removeCallback(current.handle);
	current.handle = 0;
	ctt_zero_memory(false);
}

// A value as Python has it: in a stack, a dtype is a number.
py::object value_of(const c10::IValue &v, const c10::Type &type)
{
	auto object = [](auto *p) {
		return py::reinterpret_borrow<py::object>(
			reinterpret_cast<PyObject *>(p));
	};

	if (v.isNone())
		return py::none();
	switch (type.kind()) {
	case c10::TypeKind::OptionalType:
		return value_of(v, *type.expectRef<c10::OptionalType>()
				.getElementType());
	case c10::TypeKind::ScalarTypeType:
		return object(torch::getTHPDtype(v.toScalarType()));
	case c10::TypeKind::LayoutType:
		return object(torch::getTHPLayout(v.toLayout()));
	case c10::TypeKind::MemoryFormatType:
		return object(torch::utils::getTHPMemoryFormat(
			v.toMemoryFormat()));
	default:
		return torch::jit::toPyObject(v);
	}
}

// (name, positional arguments, others), less what the schema supplies itself.
py::tuple call_of(const record &r)
{
	const auto &schema = r.op->schema().arguments();
	size_t n = schema.size();
	py::list args;
	py::dict kwargs;
	auto standard = [&](size_t i) {
		const auto &d = schema[i].default_value();

		return d && !r.values[i].isTensor() &&
		       c10::_fastEqualsForContainer(*d, r.values[i]);
	};

	while (n > 0 && (schema[n - 1].kwarg_only() || standard(n - 1)))
		n--;
	for (size_t i = 0; i < schema.size(); i++) {
		if (i >= n && standard(i))
			continue;
		py::object o = value_of(r.values[i], *schema[i].real_type());

		if (i < n)
			args.append(o);
		else
			kwargs[schema[i].name().c_str()] = o;
	}
	return py::make_tuple(
		full_name(r.op->operator_name()).substr(sizeof(space) - 1),
		py::tuple(args), kwargs);
}

} // namespace

const void *ctt_overload_find(const char *name)
{
	const void *op = nullptr;

	guarded([&] { op = find(name); });
	return op;
}

void *ctt_boxed_call(const void *overload, void *args, void *kwargs)
{
	HANDLE_TH_ERRORS
	auto op = static_cast<const c10::OperatorHandle *>(overload);
	auto positional = py::reinterpret_borrow<py::tuple>(
		static_cast<PyObject *>(args));
	auto named = kwargs ? py::reinterpret_borrow<py::kwargs>(
		static_cast<PyObject *>(kwargs)) : py::kwargs();
	torch::jit::Stack stack = torch::jit::createStackForSchema(
		op->schema(), torch::jit::tuple_slice(positional), named,
		std::nullopt);
	{
		without_gil released;

		op->callBoxed(stack);
	}
	return torch::jit::createPyObjectForStack(std::move(stack))
		.release().ptr();
	END_HANDLE_TH_ERRORS
}

void ctt_zero_memory(bool on)
{
	static auto *const z = new zeroing;	// tensors may outlive all else
	c10::Allocator *now = c10::GetCPUAllocator();

	if (on && now != z) {
		z->under = now;
		c10::SetCPUAllocator(z);
	} else if (!on && now == z) {
		c10::SetCPUAllocator(z->under);
	}
}

int ctt_record_begin(const char *only)
{
	return guarded([&] {
		stop();
		current.only = only ? only : "";
		current.seen.clear();
		current.calls.clear();
		ctt_zero_memory(true);
		current.handle = at::addThreadLocalCallback(
			at::RecordFunctionCallback(on_call).needsInputs(true)
			.scopes({at::RecordScope::FUNCTION}));
	});
}

void *ctt_record_end()
{
	HANDLE_TH_ERRORS
	py::list list;
	std::vector<record> calls;

	stop();
	calls.swap(current.calls);
	for (const record &r : calls)
		list.append(call_of(r));
	return list.release().ptr();
	END_HANDLE_TH_ERRORS
}
