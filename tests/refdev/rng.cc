/*
 * A generator of the device holds a CPU generator that draws for it: with the
 * same seed both sides draw the same numbers.
 */
#include "faults.h"

#include <ATen/CPUGeneratorImpl.h>

namespace refdev {
namespace {

struct Gen final : public c10::GeneratorImpl {
	explicit Gen(int device, at::Generator g)
	    : c10::GeneratorImpl(
	          c10::Device(DEV, static_cast<c10::DeviceIndex>(device)),
	          c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
	      cpu(std::move(g))
	{
	}

	void set_current_seed(uint64_t seed) override
	{
		cpu.set_current_seed(seed);
	}

	void set_offset(uint64_t offset) override
	{
		cpu.set_offset(offset);
	}

	uint64_t get_offset() const override
	{
		return cpu.get_offset();
	}

	uint64_t current_seed() const override
	{
		return cpu.current_seed();
	}

	uint64_t seed() override
	{
		return cpu.seed();
	}

	void set_state(const c10::TensorImpl &state) override
	{
		cpu.unsafeGetGeneratorImpl()->set_state(state);
		if (faults::seed_only())
			cpu.set_current_seed(cpu.current_seed());
	}

	c10::intrusive_ptr<c10::TensorImpl> get_state() const override
	{
		return cpu.unsafeGetGeneratorImpl()->get_state();
	}

	at::Generator cpu;

protected:
	Gen *clone_impl() const override
	{
		return new Gen(device().index(), cpu.clone());
	}
};

}

at::Generator new_generator(int device)
{
	if (device < 0)
		device = current_device();
	TORCH_CHECK(device < device_count(), "refdev: no device ", device);
	return at::Generator(c10::make_intrusive<Gen>(device,
	    at::detail::createCPUGenerator()));
}

const at::Generator &default_generator(int device)
{
	/* Leaked: Python may still hold them at exit. */
	static auto *all = [] {
		auto v = new std::vector<at::Generator>;
		for (int i = 0; i < device_count(); i++)
			v->push_back(new_generator(i));
		return v;
	}();

	if (device < 0)
		device = current_device();
	TORCH_CHECK(device < device_count(), "refdev: no device ", device);
	return (*all)[static_cast<size_t>(device)];
}

at::Generator inner(const at::Generator &g)
{
	return static_cast<Gen *>(g.unsafeGetGeneratorImpl())->cpu;
}

}
