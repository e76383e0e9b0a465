/*
 * A device tensor as a CPU tensor over the very same memory, and back.
 *
 * Per call, each device storage gets one CPU storage that doesn't own its
 * memory, and each device tensor one CPU tensor with the same sizes, strides,
 * offset and bits.  A CPU kernel that writes, aliases, resizes or returns one
 * of them thereby does so to the device's.  Storages that the kernel made
 * itself are copied to device memory, once each, so that results which share
 * memory still do.
 */
#include "refdev.h"

#include <ATen/NestedTensorImpl.h>
#include <ATen/SparseCsrTensorImpl.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/SparseTensorImpl.h>
#include <ATen/native/SparseTensorUtils.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>

#include <cstring>

namespace refdev {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::Storage;

c10::Device device_at(int i)
{
	return c10::Device(DEV, static_cast<c10::DeviceIndex>(i));
}

Storage borrow(void *p, size_t n, c10::Device dev, c10::Allocator *a)
{
	return Storage(c10::make_intrusive<c10::StorageImpl>(
	    c10::StorageImpl::use_byte_size_t(), n, c10::DataPtr(p, dev), a,
	    true));
}

void copy_bits(const Tensor &from, const Tensor &to)
{
	auto f = from.unsafeGetTensorImpl();
	auto t = to.unsafeGetTensorImpl();

	if (f->is_conj() != t->is_conj())
		t->_set_conj(f->is_conj());
	if (f->is_neg() != t->is_neg())
		t->_set_neg(f->is_neg());
	if (f->is_wrapped_number())
		t->set_wrapped_number(true);
}

/* Sizes and the like of from, given to to; true if anything differed. */
void copy_shape(const Tensor &from, const Tensor &to)
{
	auto f = from.unsafeGetTensorImpl();
	auto t = to.unsafeGetTensorImpl();

	if (f->sizes() != t->sizes() || f->strides() != t->strides())
		t->set_sizes_and_strides(f->sizes(), f->strides());
	if (f->storage_offset() != t->storage_offset())
		t->set_storage_offset(f->storage_offset());
}

bool is_csr(const Tensor &t)
{
	return at::sparse_csr::is_sparse_compressed(t);
}

at::SparseCsrTensorImpl *csr(const Tensor &t)
{
	return at::sparse_csr::get_sparse_csr_impl(t);
}

at::SparseTensorImpl *coo(const Tensor &t)
{
	return at::sparse::get_sparse_impl(t);
}

using Map = std::function<Tensor(const Tensor &)>;

Tensor like_coo(const Tensor &t, DispatchKey key, const Map &map)
{
	Tensor r = at::detail::make_tensor<at::SparseTensorImpl>(
	    DispatchKeySet(key), t.dtype());
	auto from = coo(t), to = coo(r);

	to->raw_resize_(from->sparse_dim(), from->dense_dim(), t.sizes());
	to->set_indices_and_values_unsafe(map(from->indices()),
	    map(from->values()));
	to->set_coalesced(from->coalesced());
	return r;
}

Tensor like_csr(const Tensor &t, DispatchKey key, c10::Device dev,
    const Map &map)
{
	Tensor r = at::detail::make_tensor<at::SparseCsrTensorImpl>(
	    DispatchKeySet(key), dev, t.layout(), t.dtype());
	auto from = csr(t);

	csr(r)->set_member_tensors(map(from->compressed_indices()),
	    map(from->plain_indices()), map(from->values()), t.sizes());
	return r;
}

Tensor like_nested(const Tensor &t, DispatchKey key, Storage s)
{
	auto from = static_cast<at::native::NestedTensorImpl *>(
	    t.unsafeGetTensorImpl());

	return at::detail::make_tensor<at::native::NestedTensorImpl>(
	    std::move(s),
	    DispatchKeySet({key, DispatchKey::AutogradNestedTensor}), t.dtype(),
	    from->get_nested_sizes(),
	    from->get_nested_strides(), from->get_storage_offsets());
}

at::QuantizerPtr like_quantizer(const Tensor &t, const Map &map)
{
	at::QuantizerPtr q = at::get_qtensorimpl(t)->quantizer();

	if (q->qscheme() == at::kPerChannelAffine) {
		auto p = static_cast<at::PerChannelAffineQuantizer *>(q.get());
		return c10::make_intrusive<at::PerChannelAffineQuantizer>(
		    q->scalar_type(), map(p->scales()), map(p->zero_points()),
		    p->axis());
	}
	if (q->qscheme() == at::kPerChannelAffineFloatQParams) {
		auto p = static_cast<
		    at::PerChannelAffineFloatQParamsQuantizer *>(q.get());
		return c10::make_intrusive<
		    at::PerChannelAffineFloatQParamsQuantizer>(
		    q->scalar_type(), map(p->scales()), map(p->zero_points()),
		    p->axis());
	}
	return q;
}

Tensor like_quantized(const Tensor &t, DispatchKey key, Storage s,
    const Map &map)
{
	return at::detail::make_tensor<at::QTensorImpl>(std::move(s),
	    DispatchKeySet(key), t.dtype(), like_quantizer(t, map));
}

}

void Call::see(const c10::Device &d)
{
	if (d.type() == DEV && device_ < 0)
		device_ = d.index();
}

Storage Call::cpu_storage(const Storage &s)
{
	auto impl = s.unsafeGetStorageImpl();

	if (s.device_type() != DEV)
		return s;
	for (auto &m : mem_)
		if (m.dev.unsafeGetStorageImpl() == impl)
			return m.cpu;
	void *p = impl->mutable_data();
	mem_.push_back(Mem{s, borrow(p, impl->nbytes(),
	    c10::Device(c10::DeviceType::CPU), at::getCPUAllocator()), p,
	    impl->nbytes()});
	return mem_.back().cpu;
}

Storage Call::dev_storage(const Storage &s)
{
	auto impl = s.unsafeGetStorageImpl();

	for (auto &m : mem_)
		if (m.cpu.unsafeGetStorageImpl() == impl) {
			sync_mem(m);
			return m.dev;
		}
	size_t n = impl->nbytes();
	c10::DataPtr p = alloc_on(device_, n, false);
	if (n)
		memcpy(p.get(), impl->data(), n);
	Storage dev(c10::make_intrusive<c10::StorageImpl>(
	    c10::StorageImpl::use_byte_size_t(), n, std::move(p), allocator(),
	    true));
	mem_.push_back(Mem{dev, s, impl->mutable_data(), n});
	return dev;
}

Tensor Call::make_cpu(const Tensor &t)
{
	Map map = [this](const Tensor &x) { return to_cpu(x); };

	if (t.layout() == at::kSparse)
		return like_coo(t, DispatchKey::SparseCPU, map);
	if (is_csr(t))
		return like_csr(t, DispatchKey::SparseCsrCPU,
		    c10::Device(c10::DeviceType::CPU), map);
	if (t._is_zerotensor())
		return at::_efficientzerotensor(t.sizes(),
		    t.options().device(c10::DeviceType::CPU));
	if (t.is_nested())
		return like_nested(t, DispatchKey::NestedTensorCPU,
		    cpu_storage(t.unsafeGetTensorImpl()->unsafe_storage()));
	TORCH_CHECK_NOT_IMPLEMENTED(t.layout() == at::kStrided,
	    "refdev: no tensors of layout ", t.layout());
	Storage s = cpu_storage(t.storage());
	Tensor r = t.is_quantized() ?
	    like_quantized(t, DispatchKey::QuantizedCPU, std::move(s), map) :
	    at::detail::make_tensor<c10::TensorImpl>(std::move(s),
	        DispatchKeySet(DispatchKey::CPU), t.dtype());
	copy_shape(t, r);
	copy_bits(t, r);
	return r;
}

Tensor Call::make_device(const Tensor &t)
{
	Map map = [this](const Tensor &x) { return to_device(x); };

	if (t.layout() == at::kSparse)
		return like_coo(t, DispatchKey::SparsePrivateUse1, map);
	if (is_csr(t))
		return like_csr(t, DispatchKey::SparseCsrPrivateUse1,
		    device_at(device_), map);
	if (t._is_zerotensor())
		return zero_tensor(t.sizes(), t.scalar_type(), device_);
	if (t.is_nested())
		return like_nested(t, DispatchKey::NestedTensorPrivateUse1,
		    dev_storage(t.unsafeGetTensorImpl()->unsafe_storage()));
	TORCH_CHECK_NOT_IMPLEMENTED(t.layout() == at::kStrided,
	    "refdev: no tensors of layout ", t.layout());
	Storage s = dev_storage(t.storage());
	Tensor r = t.is_quantized() ?
	    like_quantized(t, DispatchKey::QuantizedPrivateUse1, std::move(s),
	        map) :
	    at::detail::make_tensor<c10::TensorImpl>(std::move(s),
	        DispatchKeySet(DispatchKey::PrivateUse1), t.dtype());
	copy_shape(t, r);
	copy_bits(t, r);
	return r;
}

Tensor Call::to_cpu(const Tensor &t)
{
	if (!t.defined())
		return t;
	if (t.device().type() != DEV) {
		if (t.device().is_cpu()) {
			host_.push_back(t);
			dense_host_ = dense_host_ || t.dim() > 0;
		}
		return t;
	}
	for (auto &p : pairs_)
		if (p.dev.is_same(t))
			return p.cpu;
	see(t.device());
	Tensor c = make_cpu(t);
	/* Some kernels save more for backward if it will be asked for. */
	if (t.requires_grad() && !c.is_inference())
		c.unsafeGetTensorImpl()->set_requires_grad(true);
	pairs_.push_back(Pair{t, c});
	return c;
}

Tensor Call::to_device(const Tensor &t)
{
	if (!t.defined() || !t.device().is_cpu())
		return t;
	for (size_t i = 0; i < pairs_.size(); i++)
		if (pairs_[i].cpu.is_same(t)) {
			sync_pair(pairs_[i]);
			return pairs_[i].dev;
		}
	for (auto &h : host_)
		if (h.is_same(t) || (h.has_storage() && t.has_storage() &&
		    h.storage().is_alias_of(t.storage())))
			return t;
	if (asked_cpu_) {
		/* Fresh on the host, as asked; a view stays on the device. */
		bool ours = false;
		for (auto &m : mem_)
			ours = ours || (t.has_storage() &&
			    m.cpu.is_alias_of(t.storage()));
		if (!ours)
			return t;
	}
	if (device_ < 0)
		device_ = current_device();
	Tensor d = make_device(t);
	pairs_.push_back(Pair{d, t});
	return d;
}

void Call::sync_mem(Mem &m)
{
	auto c = m.cpu.unsafeGetStorageImpl();
	auto d = m.dev.unsafeGetStorageImpl();

	if (c->data() == m.ptr && c->nbytes() == m.nbytes)
		return;
	if (c->data() != m.ptr) {
		c10::DataPtr p = alloc_on(d->device().index(), c->nbytes(),
		    false);
		if (c->nbytes())
			memcpy(p.get(), c->data(), c->nbytes());
		d->set_data_ptr(std::move(p));
	}
	d->set_nbytes(c->nbytes());
	m.ptr = c->mutable_data();
	m.nbytes = c->nbytes();
}

void Call::sync_pair(Pair &p)
{
	Tensor d = p.dev, c = p.cpu;

	if (d.layout() == at::kSparse) {
		auto from = coo(c), to = coo(d);
		Tensor i = to_device(from->indices());
		Tensor v = to_device(from->values());
		if (from->sizes() != to->sizes() ||
		    from->sparse_dim() != to->sparse_dim())
			to->raw_resize_(from->sparse_dim(), from->dense_dim(),
			    from->sizes());
		if (!i.is_same(to->indices_) || !v.is_same(to->values_))
			to->set_indices_and_values_unsafe(i, v);
		to->set_coalesced(from->coalesced());
		return;
	}
	if (is_csr(d)) {
		auto from = csr(c), to = csr(d);
		Tensor a = to_device(from->compressed_indices());
		Tensor b = to_device(from->plain_indices());
		Tensor v = to_device(from->values());
		if (!a.is_same(to->compressed_indices()) ||
		    !b.is_same(to->plain_indices()) ||
		    !v.is_same(to->values()) || from->sizes() != to->sizes())
			to->set_member_tensors(a, b, v, from->sizes());
		return;
	}
	if (d.is_nested() || d._is_zerotensor())
		return;
	auto s = dev_storage(c.storage());
	if (s.unsafeGetStorageImpl() != d.storage().unsafeGetStorageImpl())
		d.unsafeGetTensorImpl()->set_storage_keep_dtype(std::move(s));
	copy_shape(c, d);
	copy_bits(c, d);
	if (d.is_quantized())
		at::set_quantizer_(d, like_quantizer(c,
		    [this](const Tensor &x) { return to_device(x); }));
}

void Call::sync()
{
	for (size_t i = 0; i < mem_.size(); i++)
		sync_mem(mem_[i]);
	for (size_t i = 0; i < pairs_.size(); i++) {
		Pair p = pairs_[i];
		sync_pair(p);
	}
}

c10::IValue Call::in(const c10::IValue &v)
{
	if (v.isTensor())
		return to_cpu(v.toTensor());
	if (v.isTensorList()) {
		c10::List<Tensor> l;
		for (const Tensor &t : v.toTensorVector())
			l.push_back(to_cpu(t));
		return l;
	}
	if (v.isOptionalTensorList()) {
		c10::List<std::optional<Tensor>> l;
		for (const auto &t : v.toOptionalTensorVector())
			l.push_back(t ? std::optional<Tensor>(to_cpu(*t)) :
			    std::nullopt);
		return l;
	}
	if (v.isStorage()) {
		see(v.toStorage().device());
		return cpu_storage(v.toStorage());
	}
	if (v.isGenerator()) {
		TORCH_CHECK(v.toGenerator().device().type() == DEV,
		    "Expected a 'refdev' device type for generator but found '",
		    v.toGenerator().device().type(), "'");
		return inner(v.toGenerator());
	}
	return v;
}

c10::IValue Call::out(const c10::IValue &v)
{
	if (v.isTensor())
		return to_device(v.toTensor());
	if (v.isTensorList()) {
		c10::List<Tensor> l;
		for (const Tensor &t : v.toTensorVector())
			l.push_back(to_device(t));
		return l;
	}
	if (v.isOptionalTensorList()) {
		c10::List<std::optional<Tensor>> l;
		for (const auto &t : v.toOptionalTensorVector())
			l.push_back(t ? std::optional<Tensor>(to_device(*t)) :
			    std::nullopt);
		return l;
	}
	return v;
}

Call::Call(const c10::OperatorHandle &op, c10::Stack &stack, bool mixed_ok)
{
	const auto &args = op.schema().arguments();
	size_t base = stack.size() - args.size();
	int want = -1;

	for (size_t i = 0; i < args.size(); i++) {
		c10::IValue &v = stack[base + i];
		if (!v.isDevice()) {
			if (args[i].name() == "pin_memory" && v.isBool())
				TORCH_CHECK(!v.toBool(),
				    "Only dense CPU tensors can be pinned");
			v = in(v);
			continue;
		}
		c10::Device d = v.toDevice();
		if (d.type() == DEV) {
			want = d.has_index() ? d.index() : current_device();
			TORCH_CHECK(want < device_count(),
			    "refdev: no device ", want);
			v = c10::Device(c10::DeviceType::CPU);
		} else {
			asked_cpu_ = true;
		}
	}
	if (!mixed_ok) {
		TORCH_CHECK(!(dense_host_ && !pairs_.empty()),
		    "Expected all tensors to be on the same device, but found "
		    "at least two devices, refdev:", device_, " and cpu!");
		for (auto &p : pairs_)
			TORCH_CHECK(p.dev.device().index() == device_,
			    "Expected all tensors to be on the same device, "
			    "but found at least two devices, refdev:", device_,
			    " and ", p.dev.device(), "!");
		/* A host tensor, even of no dimensions, can't be written. */
		for (size_t i = 0; i < args.size(); i++) {
			const c10::IValue &v = stack[base + i];
			auto a = args[i].alias_info();
			TORCH_CHECK(pairs_.empty() || !a || !a->isWrite() ||
			    !v.isTensor() || !v.toTensor().defined() ||
			    std::none_of(host_.begin(), host_.end(),
			        [&](const Tensor &h) {
				        return h.is_same(v.toTensor());
			        }),
			    "Expected all tensors to be on the same device, "
			    "but found at least two devices, refdev:", device_,
			    " and cpu!");
		}
	}
	if (want >= 0)
		device_ = want;
	else if (device_ < 0)
		device_ = current_device();
}

void Call::finish(c10::Stack &stack, unsigned host)
{
	sync();
	for (size_t i = 0; i < stack.size(); i++)
		if (!(i < 32 && host >> i & 1))
			stack[i] = out(stack[i]);
}

}
