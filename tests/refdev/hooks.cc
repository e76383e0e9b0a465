/*
 * What PyTorch asks of a backend, and pinned host memory.
 */
#include "refdev.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace refdev {
namespace {

struct Pins {
	std::mutex lock;
	std::map<uintptr_t, size_t> blocks;
};

Pins &pins()
{
	static Pins *p = new Pins;
	return *p;
}

void unpin(void *ptr)
{
	Pins &p = pins();
	std::lock_guard<std::mutex> hold(p.lock);

	p.blocks.erase(reinterpret_cast<uintptr_t>(ptr));
	free(ptr);
}

struct PinnedAlloc final : public c10::Allocator {
	c10::DataPtr allocate(size_t n) override
	{
		void *mem = nullptr;
		Pins &p = pins();

		if (posix_memalign(&mem, 64, n ? n : 1))
			TORCH_CHECK_WITH(OutOfMemoryError, false,
			    "refdev: no pinned memory of ", n, " bytes");
		std::lock_guard<std::mutex> hold(p.lock);
		p.blocks[reinterpret_cast<uintptr_t>(mem)] = n ? n : 1;
		return c10::DataPtr(mem, mem, unpin,
		    c10::Device(c10::DeviceType::CPU));
	}

	c10::DeleterFnPtr raw_deleter() const override
	{
		return unpin;
	}

	void copy_data(void *dest, const void *src, size_t n) const override
	{
		default_copy_data(dest, src, n);
	}
};

struct Hooks final : public at::PrivateUse1HooksInterface {
	/* Not all versions of PyTorch that we know have these two. */
	virtual bool isBuilt() const
	{
		return true;
	}

	virtual bool isAvailable() const
	{
		return true;
	}

	const at::Generator &
	getDefaultGenerator(c10::DeviceIndex device) const override
	{
		return default_generator(device);
	}

	at::Generator getNewGenerator(c10::DeviceIndex device) const override
	{
		return new_generator(device);
	}

	at::Device getDeviceFromPtr(void *data) const override
	{
		int d = owner_of(data);

		TORCH_CHECK(d >= 0, "refdev: not a device pointer");
		return at::Device(DEV, static_cast<c10::DeviceIndex>(d));
	}

	bool isPinnedPtr(const void *data) const override
	{
		return is_pinned(data);
	}

	at::Allocator *getPinnedMemoryAllocator() const override
	{
		return pinned_allocator();
	}

	bool hasPrimaryContext(c10::DeviceIndex) const override
	{
		return true;
	}

	void init() const override
	{
	}

	c10::DeviceIndex deviceCount() const override
	{
		return static_cast<c10::DeviceIndex>(device_count());
	}

	void setCurrentDevice(c10::DeviceIndex device) const override
	{
		set_device(device);
	}

	c10::DeviceIndex getCurrentDevice() const override
	{
		return static_cast<c10::DeviceIndex>(current_device());
	}

	c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override
	{
		c10::DeviceIndex old = getCurrentDevice();

		set_device(device);
		return old;
	}

	c10::DeviceIndex
	maybeExchangeDevice(c10::DeviceIndex device) const override
	{
		return device < 0 ? getCurrentDevice() : exchangeDevice(device);
	}

	void resizePrivateUse1Bytes(const c10::Storage &storage,
	    size_t n) const override
	{
		c10::DataPtr fresh =
			alloc_on(storage.device().index(), n, true);
		size_t keep = std::min(n, storage.nbytes());

		if (keep)
			memcpy(fresh.get(), storage.data(), keep);
		storage.unsafeGetStorageImpl()->set_data_ptr(std::move(fresh));
		storage.set_nbytes(n);
	}
};

const bool registered =
    (at::RegisterPrivateUse1HooksInterface(new Hooks), true);

}

c10::Allocator *pinned_allocator()
{
	static PinnedAlloc *a = new PinnedAlloc;
	return a;
}

bool is_pinned(const void *ptr)
{
	auto a = reinterpret_cast<uintptr_t>(ptr);
	Pins &p = pins();
	std::lock_guard<std::mutex> hold(p.lock);

	auto it = p.blocks.upper_bound(a);
	if (it == p.blocks.begin())
		return false;
	--it;
	return a < it->first + it->second;
}

}
