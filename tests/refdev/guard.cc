/*
 * Devices, streams and events.  Work is done when it is asked for, so a stream
 * is always idle and an event is complete once recorded; the bookkeeping that
 * callers can see (current stream, identity, time, misuse) is real.
 */
#include "refdev.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <pthread.h>
#include <time.h>

#include "faults.h"

namespace refdev {
namespace {

thread_local int current = 0;
thread_local std::map<int, c10::StreamId> streams;

std::atomic<bool> used{false};
std::atomic<bool> bad_fork{false};
std::atomic<c10::StreamId> next_stream{1};

struct Event {
	int device;
	bool timed;
	int64_t ns;
};

int64_t now_ns()
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

void child()
{
	if (used.load())
		bad_fork.store(true);
}

const int watch_fork = pthread_atfork(nullptr, nullptr, child);

c10::Stream stream_of(int device, c10::StreamId id)
{
	return c10::Stream(c10::Stream::UNSAFE,
	    c10::Device(DEV, static_cast<c10::DeviceIndex>(device)), id);
}

int index_of(c10::Device d)
{
	return d.has_index() ? d.index() : current;
}

struct Guard final : public c10::impl::DeviceGuardImplInterface {
	c10::DeviceType type() const override
	{
		return DEV;
	}

	c10::Device exchangeDevice(c10::Device d) const override
	{
		c10::Device old = getDevice();

		setDevice(d);
		return old;
	}

	c10::Device getDevice() const override
	{
		return c10::Device(DEV, static_cast<c10::DeviceIndex>(current));
	}

	void setDevice(c10::Device d) const override
	{
		TORCH_CHECK(d.type() == DEV, "refdev: not my device: ", d);
		set_device(index_of(d));
	}

	void uncheckedSetDevice(c10::Device d) const noexcept override
	{
		if (d.type() == DEV && d.has_index() && d.index() >= 0 &&
		    d.index() < device_count())
			current = d.index();
	}

	c10::Stream getStream(c10::Device d) const override
	{
		return current_stream(index_of(d));
	}

	c10::Stream getDefaultStream(c10::Device d) const override
	{
		return stream_of(index_of(d), 0);
	}

	c10::Stream
	getStreamFromGlobalPool(c10::Device d, bool = false) const override
	{
		return getNewStream(d, 0);
	}

	c10::Stream getNewStream(c10::Device d, int = 0) const override
	{
		return stream_of(index_of(d), next_stream++);
	}

	c10::Stream exchangeStream(c10::Stream s) const override
	{
		int device = index_of(s.device());
		c10::Stream old = current_stream(device);

		streams[device] = s.id();
		return old;
	}

	c10::DeviceIndex deviceCount() const noexcept override
	{
		return static_cast<c10::DeviceIndex>(device_count());
	}

	void record(void **event, const c10::Stream &s,
	    const c10::DeviceIndex, const c10::EventFlag flag) const override
	{
		if (!*event)
			*event = new Event{index_of(s.device()),
			    flag == c10::EventFlag::BACKEND_DEFAULT, 0};
		auto e = static_cast<Event *>(*event);
		TORCH_CHECK(e->device == index_of(s.device()),
		    "refdev: event of device ", e->device,
		    " recorded on a stream of device ", s.device_index());
		e->ns = now_ns();
	}

	void block(void *, const c10::Stream &) const override
	{
	}

	bool queryEvent(void *) const override
	{
		return true;
	}

	void destroyEvent(void *event,
	    const c10::DeviceIndex) const noexcept override
	{
		delete static_cast<Event *>(event);
	}

	bool queryStream(const c10::Stream &) const override
	{
		return true;
	}

	void synchronizeStream(const c10::Stream &s) const override
	{
		synchronize(s.device_index());
	}

	void synchronizeEvent(void *event) const override
	{
		if (event)
			synchronize(static_cast<Event *>(event)->device);
	}

	void synchronizeDevice(const c10::DeviceIndex device) const override
	{
		synchronize(device < 0 ? current : device);
	}

	void recordDataPtrOnStream(const c10::DataPtr &,
	    const c10::Stream &) const override
	{
	}

	double elapsedTime(void *a, void *b,
	    const c10::DeviceIndex) const override
	{
		auto from = static_cast<Event *>(a);
		auto to = static_cast<Event *>(b);

		TORCH_CHECK(from && to,
		    "Both events must be recorded before calculating "
		    "elapsed time.");
		TORCH_CHECK(from->timed && to->timed,
		    "Both events must be created with argument "
		    "'enable_timing=True'.");
		return static_cast<double>(to->ns - from->ns) / 1e6;
	}
};

const c10::impl::DeviceGuardImplRegistrar registered(DEV, new Guard);

}

int device_count() noexcept
{
	static const int n = [] {
		const char *s = getenv("CTS_REFDEV_DEVICES");
		int v = s && *s ? atoi(s) : 2;
		return v < 1 ? 1 : v > 16 ? 16 : v;
	}();
	return n;
}

int current_device() noexcept
{
	return current;
}

void set_device(int device)
{
	TORCH_CHECK(device >= 0 && device < device_count(),
	    "refdev: invalid device ordinal ", device);
	current = device;
}

c10::Stream current_stream(int device)
{
	auto it = streams.find(device);

	return stream_of(device, it == streams.end() ? 0 : it->second);
}

void synchronize(int device)
{
	TORCH_CHECK(device >= 0 && device < device_count(),
	    "refdev: invalid device ordinal ", device);
	init_device();
	faults::at_sync();
}

void init_device()
{
	TORCH_CHECK(!bad_fork.load(),
	    "Cannot re-initialize refdev in forked subprocess. To use refdev "
	    "with multiprocessing, you must use the 'spawn' start method");
	used.store(true);
}

bool in_bad_fork() noexcept
{
	return bad_fork.load();
}

bool initialized() noexcept
{
	return used.load();
}

}
