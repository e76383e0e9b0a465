/*
 * Device memory is host memory between two rows of guard bytes.  Fresh memory
 * is filled with a pattern, so that a kernel that forgets to write is seen;
 * the guards are looked at when a block is freed or when somebody asks.
 */
#include "refdev.h"

#if __has_include(<c10/core/CachingDeviceAllocator.h>)
#include <c10/core/CachingDeviceAllocator.h>
#endif

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <unistd.h>

namespace refdev {
namespace {

constexpr size_t GUARD = 64;
constexpr int POISON = 0xcb;
constexpr int FENCE = 0xa5;
constexpr int MAXDEV = 16;

struct Block {
	size_t size;
	int device;
	bool reported;
};

/* Leaked on purpose: blocks are freed after static destructors have run. */
struct Heap {
	std::mutex lock;
	std::map<uintptr_t, Block> blocks;
	Stats stats[MAXDEV];
};

Heap &heap()
{
	static Heap *h = new Heap;
	return *h;
}

bool intact(uintptr_t p, const Block &b)
{
	auto lo = reinterpret_cast<const unsigned char *>(p - GUARD);
	auto hi = reinterpret_cast<const unsigned char *>(p + b.size);

	for (size_t i = 0; i < GUARD; i++)
		if (lo[i] != FENCE || hi[i] != FENCE)
			return false;
	return true;
}

void note_damage(uintptr_t p, Block &b)
{
	if (b.reported || intact(p, b))
		return;
	b.reported = true;
	heap().stats[b.device].guard_errors++;
}

void release(void *ptr)
{
	auto p = reinterpret_cast<uintptr_t>(ptr);
	Heap &h = heap();

	if (!ptr)
		return;
	std::lock_guard<std::mutex> hold(h.lock);
	auto it = h.blocks.find(p);
	if (it == h.blocks.end()) {
		static const char msg[] = "refdev: free of an unknown block\n";
		if (write(2, msg, sizeof(msg) - 1) < 0)
			return;
		return;
	}
	note_damage(p, it->second);
	Stats &s = h.stats[it->second.device];
	s.current -= static_cast<int64_t>(it->second.size);
	s.freed += static_cast<int64_t>(it->second.size);
	s.blocks--;
	s.frees++;
	h.blocks.erase(it);
	free(reinterpret_cast<void *>(p - GUARD));
}

#if TORCH_FROM(9)
using Base = c10::DeviceAllocator;
#else
using Base = c10::Allocator;
#endif

#if TORCH_FROM(9)
c10::CachingDeviceAllocator::DeviceStats device_stats(int device)
{
	c10::CachingDeviceAllocator::DeviceStats d;
	Stats s = stats(device);
	auto bytes = [&](c10::CachingAllocator::StatArray &a) {
		a[0].current = s.current;
		a[0].peak = s.peak;
		a[0].allocated = s.total;
		a[0].freed = s.freed;
	};
	auto count = [&](c10::CachingAllocator::StatArray &a) {
		a[0].current = s.blocks;
		a[0].peak = s.peak_blocks;
		a[0].allocated = s.allocs;
		a[0].freed = s.frees;
	};

	bytes(d.allocated_bytes);
	bytes(d.reserved_bytes);
	bytes(d.active_bytes);
	bytes(d.requested_bytes);
	count(d.allocation);
	count(d.segment);
	count(d.active);
	d.num_ooms = s.ooms;
	d.num_device_alloc = s.allocs;
	d.num_device_free = s.frees;
	return d;
}
#endif

struct Alloc final : public Base {
	c10::DataPtr allocate(size_t n) override
	{
		return alloc_on(current_device(), n, true);
	}

	c10::DeleterFnPtr raw_deleter() const override
	{
		return release;
	}

	void copy_data(void *dest, const void *src, size_t n) const override
	{
		default_copy_data(dest, src, n);
	}

#if TORCH_FROM(9)
	bool initialized() override
	{
		return true;
	}

	void emptyCache(c10::MempoolId_t = {0, 0}) override
	{
	}

	void recordStream(const c10::DataPtr &, c10::Stream) override
	{
	}

	c10::CachingDeviceAllocator::DeviceStats
	getDeviceStats(c10::DeviceIndex device) override
	{
		return device_stats(device);
	}

	void resetAccumulatedStats(c10::DeviceIndex device) override
	{
		reset_accumulated(device);
	}

	void resetPeakStats(c10::DeviceIndex device) override
	{
		reset_peak(device);
	}

	std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device)
#if TORCH_FROM(10)
	    override
#endif
	{
		size_t used = static_cast<size_t>(stats(device).current);
		size_t all = memory_limit();

		return {all > used ? all - used : 0, all};
	}
#endif
};

Alloc *instance()
{
	static Alloc *a = new Alloc;
	return a;
}

const bool registered = (c10::SetAllocator(DEV, instance()), true);

}

c10::Allocator *allocator()
{
	return instance();
}

size_t memory_limit()
{
	static const size_t limit = [] {
		const char *s = getenv("CTS_REFDEV_MEMORY");
		if (s && *s)
			return static_cast<size_t>(strtoull(s, nullptr, 10));
		return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) *
		    static_cast<size_t>(sysconf(_SC_PAGESIZE));
	}();
	return limit;
}

c10::DataPtr alloc_on(int device, size_t n, bool poison)
{
	c10::Device dev(DEV, static_cast<c10::DeviceIndex>(device));
	Heap &h = heap();
	void *mem = nullptr;

	init_device();
	TORCH_CHECK(device >= 0 && device < device_count(),
	    "refdev: no device ", device);
	if (!n)
		return c10::DataPtr(nullptr, dev);
	std::unique_lock<std::mutex> hold(h.lock);
	Stats &s = h.stats[device];
	size_t used = static_cast<size_t>(s.current);
	size_t limit = memory_limit();
	if (n > limit || used > limit - n ||
	    posix_memalign(&mem, GUARD, n + 2 * GUARD)) {
		s.ooms++;
		hold.unlock();
		TORCH_CHECK_WITH(OutOfMemoryError, false,
		    "refdev out of memory. Tried to allocate ", n,
		    " bytes; ", used, " of ", limit,
		    " bytes are allocated on refdev:", device);
	}
	auto base = static_cast<unsigned char *>(mem);
	memset(base, FENCE, GUARD);
	if (poison)
		memset(base + GUARD, POISON, n);
	memset(base + GUARD + n, FENCE, GUARD);
	void *p = base + GUARD;
	h.blocks[reinterpret_cast<uintptr_t>(p)] = Block{n, device, false};
	s.current += static_cast<int64_t>(n);
	s.total += static_cast<int64_t>(n);
	s.peak = std::max(s.peak, s.current);
	s.blocks++;
	s.allocs++;
	s.peak_blocks = std::max(s.peak_blocks, s.blocks);
	return c10::DataPtr(p, p, release, dev);
}

Stats stats(int device)
{
	Heap &h = heap();
	std::lock_guard<std::mutex> hold(h.lock);

	TORCH_CHECK(device >= 0 && device < device_count(),
	    "refdev: no device ", device);
	return h.stats[device];
}

void reset_peak(int device)
{
	Heap &h = heap();
	std::lock_guard<std::mutex> hold(h.lock);
	Stats &s = h.stats[device];

	s.peak = s.current;
	s.peak_blocks = s.blocks;
}

void reset_accumulated(int device)
{
	Heap &h = heap();
	std::lock_guard<std::mutex> hold(h.lock);
	Stats &s = h.stats[device];

	s.total = s.freed = 0;
	s.allocs = s.frees = s.ooms = 0;
}

int owner_of(const void *ptr)
{
	auto p = reinterpret_cast<uintptr_t>(ptr);
	Heap &h = heap();
	std::lock_guard<std::mutex> hold(h.lock);

	auto it = h.blocks.upper_bound(p);
	if (it == h.blocks.begin())
		return -1;
	--it;
	return p < it->first + it->second.size ? it->second.device : -1;
}

int64_t check_guards()
{
	Heap &h = heap();
	std::lock_guard<std::mutex> hold(h.lock);
	int64_t n = 0;

	for (auto &b : h.blocks)
		note_damage(b.first, b.second);
	for (auto &s : h.stats)
		n += s.guard_errors;
	return n;
}

}
