/*
 * The reference device: a PrivateUse1 backend over host memory.
 *
 *   alloc.cc    device memory: guard bytes, statistics
 *   guard.cc    devices, streams, events
 *   rng.cc      generators
 *   hooks.cc    what PyTorch asks a backend; pinned memory
 *   wrap.cc     a device tensor as a CPU tensor over the same memory, and back
 *   fallback.cc the boxed kernel that serves every op, and its registration
 *   native.cc   ops that need no CPU kernel: allocation, set_, views
 *   own.cc      ops that are asked of other devices than the CPU
 *   autocast.cc which ops autocast touches
 *   module.cc   torch_refdev._C
 *   plan.cc match.cc visit.cc act_*.cc   faults on request (faults.h, plan.h)
 */
#ifndef REFDEV_H
#define REFDEV_H

#include "pch.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace refdev {

constexpr auto DEV = c10::DeviceType::PrivateUse1;

/* alloc.cc */
struct Stats {
	int64_t current = 0, peak = 0, total = 0, freed = 0;
	int64_t blocks = 0, peak_blocks = 0, allocs = 0, frees = 0;
	int64_t ooms = 0, guard_errors = 0;
};
c10::Allocator *allocator();
/* n bytes on device, not poisoned as those of allocate() are. */
c10::DataPtr alloc_on(int device, size_t n, bool poison);
Stats stats(int device);
void reset_peak(int device);
void reset_accumulated(int device);
/* Device that owns the block which holds p, or -1. */
int owner_of(const void *p);
/* Bytes of a damaged block are reported once, when it is freed or here. */
int64_t check_guards();
size_t memory_limit();

/* guard.cc */
int device_count() noexcept;
int current_device() noexcept;
void set_device(int device);
void synchronize(int device);
void init_device();		/* throws in a child of a used parent */
bool in_bad_fork() noexcept;
bool initialized() noexcept;
c10::Stream current_stream(int device);

/* rng.cc */
const at::Generator &default_generator(int device);
at::Generator new_generator(int device);
/* The CPU generator that draws for a generator of ours. */
at::Generator inner(const at::Generator &g);

/* hooks.cc */
c10::Allocator *pinned_allocator();
bool is_pinned(const void *p);

/* wrap.cc: one call of an op, seen from the CPU. */
class Call {
public:
	/* Device arguments on the stack become CPU ones; op is for messages. */
	Call(const c10::OperatorHandle &op, c10::Stack &stack, bool mixed_ok);
	/*
	 * Results of the CPU kernel become device ones, but for those whose
	 * bit is set in host; inputs are synced.
	 */
	void finish(c10::Stack &stack, unsigned host);
	/* What the kernel did to its inputs' metadata, done to ours. */
	void sync();

	at::Tensor to_cpu(const at::Tensor &t);
	at::Tensor to_device(const at::Tensor &t);
	int device() const { return device_; }

private:
	struct Mem {
		c10::Storage dev, cpu;
		void *ptr;
		size_t nbytes;
	};
	struct Pair {
		at::Tensor dev, cpu;
	};

	c10::IValue in(const c10::IValue &v);
	c10::IValue out(const c10::IValue &v);
	at::Tensor make_cpu(const at::Tensor &t);
	at::Tensor make_device(const at::Tensor &t);
	c10::Storage cpu_storage(const c10::Storage &s);
	c10::Storage dev_storage(const c10::Storage &s);
	void sync_pair(Pair &p);
	void sync_mem(Mem &m);
	void see(const c10::Device &d);

	std::vector<Mem> mem_;
	std::vector<Pair> pairs_;
	std::vector<at::Tensor> host_;	/* CPU arguments, passed as they are */
	int device_ = -1;
	bool asked_cpu_ = false;
	bool dense_host_ = false;
};

/* fallback.cc */
void boxed(const c10::OperatorHandle &op, c10::DispatchKeySet ks,
    c10::Stack *stack);
void register_ops();
/* How often an overload was served here, since the last reset. */
std::vector<std::pair<std::string, int64_t>> served();
std::vector<std::string> overloads();

/* native.cc: the kernel of an op that is served without a CPU one, or NULL. */
const c10::KernelFunction *native_for(const c10::OperatorName &name);
std::vector<std::string> native_names();
/* Zeros without memory. */
at::Tensor zero_tensor(at::IntArrayRef size, at::ScalarType type, int device);

/* own.cc: the kernel, on CPU tensors, of an op that the CPU lacks, or NULL. */
const c10::KernelFunction *own_for(const c10::OperatorName &name);

}

#endif
