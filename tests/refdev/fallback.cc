/*
 * The one kernel that serves every op: it lends the CPU the device's memory
 * (wrap.cc) and runs the CPU's kernel for the op.  It is registered wherever
 * the CPU has a kernel of its own, so that both sides see the same ops.
 */
#include "refdev.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/DispatchKeySet.h>

#include <atomic>
#include <mutex>
#include <set>
#include <unordered_map>

#include "faults.h"

namespace refdev {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::OperatorHandle;

/* Arguments of these may live on different devices. */
const std::set<std::string> MIXED = {
	"aten::copy_", "aten::_copy_from", "aten::_copy_from_and_resize",
	"aten::index.Tensor", "aten::index.Tensor_out", "aten::index_put_",
	"aten::index_put", "aten::index_put.out", "aten::_index_put_impl_",
	"aten::_index_put_impl.out", "aten::_index_put_impl",
	"aten::_unsafe_index.Tensor", "aten::_unsafe_index_put",
	"aten::_unsafe_masked_index", "aten::_unsafe_masked_index_put_accumulate",
	"aten::_pack_padded_sequence", "aten::_pack_padded_sequence.out",
	"aten::copy", "aten::copy.out", "aten::_foreach_copy_",
	"aten::_foreach_copy", "aten::_foreach_copy.out",
	"aten::_nested_view_from_buffer", "aten::_nested_view_from_buffer_copy",
	"aten::_nested_tensor_from_mask_left_aligned",
	"aten::_nested_from_padded", "aten::_nested_from_padded.out",
	"aten::copy_sparse_to_sparse_", "aten::set_data",
};

/* Left to their composite kernels: they are about where a tensor lives. */
const std::set<std::string> LEFT = {
	"aten::_to_copy", "aten::_to_copy.out", "aten::is_pinned",
	"aten::_pin_memory", "aten::_pin_memory.out", "aten::_lazy_clone",
};

/* Served though the CPU has no kernel under this name. */
const std::set<std::string> ALSO = {
	"aten::copy_", "aten::record_stream",
};

/* Which of their results is on the host whatever the device: a bit each. */
const std::unordered_map<std::string, unsigned> HOST = {
	{"aten::_pack_padded_sequence", 2}, {"aten::_nested_tensor_size", 1},
	{"aten::_nested_tensor_strides", 1},
	{"aten::_nested_tensor_storage_offsets", 1},
};

struct Info {
	unsigned host = 0;
	const c10::KernelFunction *native = nullptr, *own = nullptr;
	bool mixed = false;
	bool seeded = false;
	int generator = -1;
	std::atomic<int64_t> count{0};
};

std::mutex info_lock;
std::unordered_map<c10::OperatorName, Info *> infos;
std::vector<std::string> served_names;

Info &info_of(const OperatorHandle &op)
{
	std::lock_guard<std::mutex> hold(info_lock);
	Info *&i = infos[op.operator_name()];

	if (i)
		return *i;
	i = new Info;
	std::string name = c10::toString(op.operator_name());
	i->native = native_for(op.operator_name());
	i->own = own_for(op.operator_name());
	i->mixed = MIXED.count(name) > 0;
	auto host = HOST.find(name);
	i->host = host == HOST.end() ? 0 : host->second;
	i->seeded = op.hasTag(at::Tag::nondeterministic_seeded);
	const auto &args = op.schema().arguments();
	for (size_t k = 0; k < args.size(); k++)
		if (args[k].type()->str().find("Generator") !=
		    std::string::npos)
			i->generator = static_cast<int>(k);
	return *i;
}

/*
 * An op that draws without being given a generator takes the CPU's default
 * one: ours is put in its place for the length of the call.
 */
class Draw {
public:
	Draw(bool on, int device)
	{
		if (!on)
			return;
		auto cpu = at::detail::getDefaultCPUGenerator();
		ours_ = inner(default_generator(device));
		cpu_ = at::check_generator<at::CPUGeneratorImpl>(cpu);
		saved_ = cpu_->get_state();
		cpu_->set_state(*ours_.unsafeGetGeneratorImpl()->get_state());
	}

	~Draw()
	{
		if (!cpu_)
			return;
		ours_.unsafeGetGeneratorImpl()->set_state(*cpu_->get_state());
		cpu_->set_state(*saved_);
	}

	Draw(const Draw &) = delete;
	Draw &operator=(const Draw &) = delete;

private:
	at::Generator ours_;
	at::CPUGeneratorImpl *cpu_ = nullptr;
	c10::intrusive_ptr<c10::TensorImpl> saved_;
};

DispatchKey cpu_key(DispatchKeySet ks)
{
	DispatchKey f = c10::toFunctionalityKey(ks.highestPriorityTypeId());

	switch (f) {
	case DispatchKey::Sparse:
	case DispatchKey::SparseCsr:
	case DispatchKey::Quantized:
	case DispatchKey::NestedTensor:
		return c10::toRuntimePerBackendFunctionalityKey(f,
		    c10::BackendComponent::CPUBit);
	default:
		return DispatchKey::CPU;
	}
}

void on_cpu(const OperatorHandle &op, DispatchKeySet ks, c10::Stack *stack,
    const c10::KernelFunction *own)
{
	DispatchKeySet cpu(cpu_key(ks));

	if (own)
		own->callBoxed(op, cpu, stack);
	else
		op.redispatchBoxed(cpu, stack);
}

/* Runs op on the stack, whose only entries are its arguments. */
void serve(const OperatorHandle &op, DispatchKeySet ks, c10::Stack *stack,
    Info &info)
{
	at::AutoDispatchBelowADInplaceOrView below;
	c10::impl::ExcludeDispatchKeyGuard plain(c10::autocast_dispatch_keyset);
	faults::Visit visit(op, *stack, faults::KERNEL);

	if (info.native && !visit.wanted() &&
	    cpu_key(ks) == DispatchKey::CPU) {
		info.native->callBoxed(op, ks, stack);
		return;
	}
	if (visit.wanted() && visit.before(*stack))
		return;
	Call call(op, *stack, info.mixed || visit.mixed_ok());
	c10::DeviceGuard guard(c10::Device(DEV,
	    static_cast<c10::DeviceIndex>(call.device())));
	bool draw = info.seeded;
	if (info.generator >= 0) {
		auto &v = (*stack)[static_cast<size_t>(info.generator)];
		if (v.isNone())
			v = inner(default_generator(call.device()));
		draw = false;
	}
	try {
		Draw swap(draw, call.device());
		if (visit.wanted())
			visit.run(*stack,
			    [&] { on_cpu(op, ks, stack, info.own); });
		else
			on_cpu(op, ks, stack, info.own);
	} catch (...) {
		call.sync();
		throw;
	}
	call.finish(*stack, info.host);
	if (visit.wanted())
		visit.after(*stack);
}

std::vector<torch::Library *> libraries;

}

void boxed(const OperatorHandle &op, DispatchKeySet ks, c10::Stack *stack)
{
	Info &info = info_of(op);
	size_t n = op.schema().arguments().size();

	init_device();
	info.count++;
	if (stack->size() == n) {
		serve(op, ks, stack, info);
		return;
	}
	c10::Stack own(stack->end() - static_cast<std::ptrdiff_t>(n),
	    stack->end());
	stack->resize(stack->size() - n);
	serve(op, ks, &own, info);
	for (auto &v : own)
		stack->push_back(std::move(v));
}

/* One kernel for every backend, of ops that PyTorch decomposes explicitly. */
static bool composed(const c10::OperatorHandle &h)
{
	using K = DispatchKey;

	return h.hasKernelForDispatchKey(K::CompositeExplicitAutograd) ||
	    h.hasKernelForDispatchKey(
		K::CompositeExplicitAutogradNonFunctional);
}

void register_ops()
{
	static const struct {
		DispatchKey cpu, dev;
	} keys[] = {
		{DispatchKey::CPU, DispatchKey::PrivateUse1},
		{DispatchKey::SparseCPU, DispatchKey::SparsePrivateUse1},
		{DispatchKey::SparseCsrCPU, DispatchKey::SparseCsrPrivateUse1},
		{DispatchKey::QuantizedCPU, DispatchKey::QuantizedPrivateUse1},
		{DispatchKey::NestedTensorCPU,
		    DispatchKey::NestedTensorPrivateUse1},
	};
	auto &d = c10::Dispatcher::singleton();
	auto f = [] {
		return torch::CppFunction::makeFromBoxedFunction<&boxed>();
	};

	for (auto &k : keys) {
		auto lib = new torch::Library(torch::Library::IMPL, "aten",
		    k.dev, __FILE__, __LINE__);
		libraries.push_back(lib);
		for (auto &name : d.getAllOpNames()) {
			auto h = d.findSchema(name);
			std::string full = c10::toString(name);
			if (!h || full.compare(0, 6, "aten::") ||
			    LEFT.count(full))
				continue;
			bool has = h->hasKernelForDispatchKey(k.cpu);
			if (k.cpu == DispatchKey::CPU)
				has = has || ALSO.count(full) ||
				      own_for(name) || composed(*h);
			if (!has)
				continue;
			lib->impl(full.substr(6).c_str(), f());
			if (k.cpu == DispatchKey::CPU)
				served_names.push_back(full);
		}
		/* Ops of other libraries. */
		auto rest = new torch::Library(torch::Library::IMPL, "_",
		    k.dev, __FILE__, __LINE__);
		rest->fallback(f());
		libraries.push_back(rest);
	}
}

std::vector<std::pair<std::string, int64_t>> served()
{
	std::lock_guard<std::mutex> hold(info_lock);
	std::vector<std::pair<std::string, int64_t>> v;

	for (auto &e : infos)
		if (int64_t n = e.second->count.exchange(0))
			v.emplace_back(c10::toString(e.first), n);
	return v;
}

std::vector<std::string> overloads()
{
	return served_names;
}

}
