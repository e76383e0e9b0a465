/*
 * Ops that need no CPU kernel: allocation and the views on which all other
 * views are built.
 */
#include "refdev.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>

#include <map>

namespace refdev {
namespace {

using at::IntArrayRef;
using at::Tensor;
using c10::KernelFunction;
using std::optional;

c10::DispatchKeySet dense()
{
	return c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);
}

/* Allocation goes to the current device: make that the one asked for. */
c10::DeviceGuard guard_for(optional<c10::Device> d, optional<bool> pin,
    optional<at::Layout> layout)
{
	c10::Device dev = d.value_or(c10::Device(DEV));

	TORCH_CHECK(!pin.value_or(false),
	    "Only dense CPU tensors can be pinned");
	TORCH_CHECK_NOT_IMPLEMENTED(
	    layout.value_or(at::kStrided) == at::kStrided,
	    "refdev: no empty tensors of layout ", *layout);
	if (!dev.has_index())
		dev.set_index(static_cast<c10::DeviceIndex>(current_device()));
	TORCH_CHECK(dev.index() < device_count(), "refdev: no device ",
	    static_cast<int>(dev.index()));
	return c10::DeviceGuard(dev);
}

at::ScalarType type_of(optional<at::ScalarType> t)
{
	return t.value_or(c10::typeMetaToScalarType(at::get_default_dtype()));
}

Tensor empty(IntArrayRef size, optional<at::ScalarType> dtype,
    optional<at::Layout> layout, optional<c10::Device> device,
    optional<bool> pin, optional<at::MemoryFormat> format)
{
	auto guard = guard_for(device, pin, layout);

	return at::detail::empty_generic(size, allocator(), dense(),
	    type_of(dtype), format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride,
    optional<at::ScalarType> dtype, optional<at::Layout> layout,
    optional<c10::Device> device, optional<bool> pin)
{
	auto guard = guard_for(device, pin, layout);

	return at::detail::empty_strided_generic(size, stride, allocator(),
	    dense(), type_of(dtype));
}

Tensor as_strided(const Tensor &self, IntArrayRef size, IntArrayRef stride,
    optional<int64_t> offset)
{
	return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

Tensor view(const Tensor &self, IntArrayRef size)
{
	return at::native::view(self, size);
}

Tensor reshape_alias(const Tensor &self, IntArrayRef size, IntArrayRef stride)
{
	return at::native::_reshape_alias(self, size, stride);
}

Tensor unfold(const Tensor &self, int64_t dim, int64_t size, int64_t step)
{
	return at::native::unfold(self, dim, size, step);
}

Tensor alias(const Tensor &self)
{
	return at::native::alias(self);
}

Tensor view_as_real(const Tensor &self)
{
	return at::native::view_as_real(self);
}

Tensor view_as_complex(const Tensor &self)
{
	return at::native::view_as_complex(self);
}

Tensor efficientzerotensor(IntArrayRef size, optional<at::ScalarType> dtype,
    optional<at::Layout>, optional<c10::Device> device, optional<bool>)
{
	int d = device && device->has_index() ? device->index() :
	    current_device();

	return zero_tensor(size, type_of(dtype), d);
}

/* All work is done when asked for: nothing to wait for. */
void record_stream(Tensor &, c10::Stream)
{
}

const std::map<std::string, KernelFunction> &table()
{
#define K(f) KernelFunction::makeFromUnboxedRuntimeFunction(f)
	static const auto *t = new std::map<std::string, KernelFunction>{
		{"aten::empty.memory_format", K(empty)},
		{"aten::empty_strided", K(empty_strided)},
		{"aten::as_strided", K(as_strided)},
		{"aten::view", K(view)},
		{"aten::_reshape_alias", K(reshape_alias)},
		{"aten::unfold", K(unfold)},
		{"aten::alias", K(alias)},
		{"aten::view_as_real", K(view_as_real)},
		{"aten::view_as_complex", K(view_as_complex)},
		{"aten::_efficientzerotensor", K(efficientzerotensor)},
		{"aten::record_stream", K(record_stream)},
	};
#undef K
	return *t;
}

}

Tensor zero_tensor(IntArrayRef size, at::ScalarType type, int device)
{
	struct Nothing final : public c10::Allocator {
		explicit Nothing(int d) : dev(DEV,
		    static_cast<c10::DeviceIndex>(d))
		{
		}

		c10::DataPtr allocate(size_t) override
		{
			return c10::DataPtr(nullptr, dev);
		}

		void copy_data(void *, const void *, size_t) const override
		{
		}

		c10::Device dev;
	} nothing(device);

	return at::detail::empty_generic(size, &nothing,
	    dense().add(c10::DispatchKey::ZeroTensor), type, std::nullopt);
}

const KernelFunction *native_for(const c10::OperatorName &name)
{
	auto it = table().find(c10::toString(name));

	return it == table().end() ? nullptr : &it->second;
}

std::vector<std::string> native_names()
{
	std::vector<std::string> v;

	for (auto &e : table())
		v.push_back(e.first);
	return v;
}

}
