// The dispatcher: which overloads exist, which were reached, and what serves
// them on a device.
#include "ctt.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/DispatchKeySet.h>
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

using ctt_detail::full_name;
using ctt_detail::guarded;

namespace {

c10::DispatchKey backend_key(const at::Device &device)
{
	static std::unordered_map<std::string, c10::DispatchKey> known;
	auto it = known.find(device.str());

	if (it != known.end())
		return it->second;
	at::Tensor t = at::empty({0}, at::TensorOptions().device(device));
	c10::DispatchKey k = c10::legacyExtractDispatchKey(t.key_set());

	known.emplace(device.str(), k);
	return k;
}

const char *kernel_of(const c10::OperatorHandle &op, c10::DispatchKey key)
{
	using K = c10::DispatchKey;

	if (op.hasKernelForDispatchKey(key))
		return "own";
	if (op.hasKernelForDispatchKey(K::CompositeExplicitAutograd) ||
	    op.hasKernelForDispatchKey(
		    K::CompositeExplicitAutogradNonFunctional))
		return "composite_explicit";
	if (op.hasKernelForDispatchKey(K::CompositeImplicitAutograd))
		return "composite";
	if (c10::Dispatcher::singleton().hasBackendFallbackForDispatchKey(key))
		return "fallback";
	return "none";
}

// Those that every PyTorch since 2.7 has.
const struct { at::Tag tag; const char *name; } known_tags[] = {
	{at::Tag::core, "core"},
	{at::Tag::pointwise, "pointwise"},
	{at::Tag::data_dependent_output, "data_dependent_output"},
	{at::Tag::dynamic_output_shape, "dynamic_output_shape"},
	{at::Tag::inplace_view, "inplace_view"},
	{at::Tag::nondeterministic_bitwise, "nondeterministic_bitwise"},
	{at::Tag::nondeterministic_seeded, "nondeterministic_seeded"},
	{at::Tag::view_copy, "view_copy"},
};

const char *surface_of(const c10::OperatorHandle &op)
{
	const c10::FunctionSchema &s = op.schema();
	bool tensor_in = false, writes = false, out = false, view = false;

	for (const auto &a : s.arguments()) {
		if (a.type()->str().find("Tensor") != std::string::npos)
			tensor_in = true;
		if (a.alias_info() && a.alias_info()->isWrite()) {
			writes = true;
			out = out || a.is_out();
		}
	}
	for (const auto &r : s.returns())
		if (r.alias_info() && !r.alias_info()->isWrite())
			view = true;
	if (out)
		return "out";
	if (writes)
		return "inplace";
	if (view)
		return "view";
	if (op.hasTag(at::Tag::nondeterministic_seeded))
		return "random";
	return tensor_in ? "functional" : "factory";
}

// What trace_begin() set up and the callback fills.
struct trace {
	at::Device device{at::kCPU};
	at::CallbackHandle handle = 0;
	std::vector<c10::OperatorName> seen, fell_back;
	std::optional<c10::OperatorName> last;
	bool on = false;
};

thread_local trace current;

bool touches(const c10::IValue &v, c10::DeviceType type)
{
	if (v.isTensor())
		return v.toTensor().defined() &&
		       v.toTensor().device().type() == type;
	if (v.isDevice())
		return v.toDevice().type() == type;
	if (v.isTensorList())
		for (const at::Tensor &t : v.toTensorVector())
			if (t.defined() && t.device().type() == type)
				return true;
	return false;
}

void note(std::vector<c10::OperatorName> &v, const c10::OperatorName &name)
{
	if (std::find(v.begin(), v.end(), name) == v.end())
		v.push_back(name);
}

std::unique_ptr<at::ObserverContext> on_call(const at::RecordFunction &fn)
{
	auto name = fn.operator_name();

	if (!name || !current.on)
		return nullptr;
	for (const c10::IValue &v : fn.inputs()) {
		if (!touches(v, current.device.type()))
			continue;
		// How PyTorch's CPU fallback begins, inside the op's kernel.
		if (name->name == "aten::_to_cpu" && current.last) {
			note(current.fell_back, *current.last);
			break;
		}
		note(current.seen, *name);
		current.last = *name;
		break;
	}
	return nullptr;
}

void stop()
{
	if (current.handle)
		at::removeCallback(current.handle);
	current.handle = 0;
	current.on = false;
}

} // namespace

int ctt_trace_begin(const char *device)
{
	return guarded([&] {
		stop();
		current.device = at::Device(device);
		current.seen.clear();
		current.fell_back.clear();
		current.last.reset();
		current.handle = at::addThreadLocalCallback(
			at::RecordFunctionCallback(on_call).needsInputs(true)
			.scopes({at::RecordScope::FUNCTION}));
		current.on = true;
	});
}

int ctt_trace_end(void (*fn)(void *, const char *, const char *), void *ctx)
{
	return guarded([&] {
		stop();
		if (current.seen.empty())
			return;
		const c10::DispatchKey key = backend_key(current.device);

		for (const c10::OperatorName &n : current.seen) {
			auto op = c10::Dispatcher::singleton().findOp(n);
			std::string k = op ? kernel_of(*op, key) : "none";
			auto &fell = current.fell_back;

			if (std::find(fell.begin(), fell.end(), n) !=
			    fell.end())
				k = "fallback";
			fn(ctx, full_name(n).c_str(),
			   k == "own" ? "device" :
			   k == "fallback" ? "fallback" : "composite");
		}
	});
}

int ctt_overloads(const char *device,
		  void (*fn)(void *, const ctt_overload *), void *ctx)
{
	return guarded([&] {
		auto &dispatcher = c10::Dispatcher::singleton();
		const c10::DispatchKey key = backend_key(at::Device(device));
		std::vector<c10::OperatorName> names =
			dispatcher.getAllOpNames();

		std::sort(names.begin(), names.end(),
			  [](const auto &a, const auto &b) {
				  return full_name(a) < full_name(b);
			  });
		for (const c10::OperatorName &n : names) {
			if (n.name.rfind("aten::", 0) != 0)
				continue;
			auto op = dispatcher.findSchema(n);

			if (!op)
				continue;
			std::string name = full_name(n), tags;
			std::string schema = c10::toString(op->schema());

			for (const auto &tag : known_tags) {
				if (!op->hasTag(tag.tag))
					continue;
				if (!tags.empty())
					tags += ',';
				tags += tag.name;
			}
			ctt_overload o = {name.c_str(), schema.c_str(),
				kernel_of(*op, key), surface_of(*op),
				tags.c_str()};
			fn(ctx, &o);
		}
	});
}
