// The shim's table and its functions on single tensors.
#include "ctt.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/autograd/python_variable.h>
#include <cstring>

using ctt_detail::guarded;
using ctt_detail::wrap;

namespace {

thread_local std::string last_error;
thread_local const char *last_type = "RuntimeError";
at::Tensor rng_mark;

const char *error()
{
	return last_error.c_str();
}

const char *error_type()
{
	return last_type;
}

bool is_tensor(void *obj)
{
	return THPVariable_Check(static_cast<PyObject *>(obj));
}

int from_py(void *obj, ctt *ret_t)
{
	return guarded([&] {
		TORCH_CHECK(is_tensor(obj), "not a tensor");
		*ret_t = wrap(THPVariable_Unpack(
			static_cast<PyObject *>(obj)));
	});
}

int to_py(ctt t, void **ret_obj)
{
	return guarded([&] {
		PyObject *o = THPVariable_Wrap(t->t);

		if (!o) {
			PyErr_Clear();
			TORCH_CHECK(false, "unable to wrap a tensor");
		}
		*ret_obj = o;
	});
}

void free_tensor(ctt t)
{
	// A tensor's destructor may run a backend's code.
	guarded([&] { delete t; });
}

ctt_layout layout_of(const at::Tensor &t)
{
	switch (t.layout()) {
	case at::kStrided: return CTT_STRIDED;
	case at::kSparse: return CTT_SPARSE_COO;
	case at::kSparseCsr: return CTT_SPARSE_CSR;
	case at::kSparseCsc: return CTT_SPARSE_CSC;
	case at::kSparseBsr: return CTT_SPARSE_BSR;
	case at::kSparseBsc: return CTT_SPARSE_BSC;
	case at::kMkldnn: return CTT_MKLDNN;
	case at::kJagged: return CTT_JAGGED;
	default: return CTT_LAYOUT_OTHER;
	}
}

// Several layouts and wrapper subclasses have no strides or sizes to show.
void fill_geometry(const at::Tensor &t, ctt_meta *m)
{
	m->nested = t.is_nested();
	if (m->nested)
		return;
	TORCH_CHECK(t.dim() <= CTT_MAX_DIM, "tensor of ", t.dim(),
		    " dimensions");
	m->ndim = static_cast<int>(t.dim());
	m->numel = t.numel();
	for (int i = 0; i < m->ndim; i++)
		m->sizes[i] = t.size(i);
	if (m->layout != CTT_STRIDED)
		return;
	guarded([&] {
		auto strides = t.strides();

		for (int i = 0; i < m->ndim; i++)
			m->strides[i] = strides[i];
		m->has_strides = true;
		m->offset = t.storage_offset();
	});
}

int meta(ctt h, ctt_meta *m)
{
	return guarded([&] {
		const at::Tensor &t = h->t;
		std::string device = t.device().str();

		std::memset(m, 0, sizeof(*m));
		TORCH_CHECK(t.defined(), "undefined tensor");
		m->scalar_type = static_cast<int>(t.scalar_type());
		m->layout = layout_of(t);
		m->itemsize = t.dtype().itemsize();
		m->is_cpu = t.is_cpu();
		m->conj = t.is_conj();
		m->neg = t.is_neg();
		m->zerotensor = t._is_zerotensor();
		m->requires_grad = t.requires_grad();
		m->quantized = t.is_quantized();
		m->impl = t.unsafeGetTensorImpl();
		if (!t.is_inference())
			m->version = static_cast<uint32_t>(t._version());
		if (m->layout == CTT_STRIDED && t.has_storage())
			m->storage = t.storage().unsafeGetStorageImpl();
		std::strncpy(m->device, device.c_str(), sizeof(m->device) - 1);
		fill_geometry(t, m);
	});
}

int read(ctt h, ctt *ret_c, const void **p, size_t *n)
{
	return guarded([&] {
		at::NoGradGuard no_grad;
		at::Tensor t = h->t.detach();

		if (t._is_zerotensor())
			t = at::zeros(t.sizes(), t.options().device(at::kCPU));
		else
			t = ctt_detail::to_host(t);
		if (t.is_quantized())
			t = t.int_repr();
		t = t.resolve_conj().resolve_neg().contiguous();
		*p = t.const_data_ptr();
		*n = static_cast<size_t>(t.numel()) * t.dtype().itemsize();
		*ret_c = wrap(std::move(t));
	});
}

int parts(ctt h, ctt out[3], const char *names[3])
{
	int n = 0;
	int rc = guarded([&] {
		at::NoGradGuard no_grad;
		at::Tensor t = h->t.detach();
		auto add = [&](const char *name, at::Tensor part) {
			names[n] = name;
			out[n++] = wrap(std::move(part));
		};

		switch (layout_of(t)) {
		case CTT_SPARSE_COO:
			add("indices", t._indices());
			add("values", t._values());
			break;
		case CTT_SPARSE_CSR:
		case CTT_SPARSE_BSR:
			add("crow_indices", t.crow_indices());
			add("col_indices", t.col_indices());
			add("values", t.values());
			break;
		case CTT_SPARSE_CSC:
		case CTT_SPARSE_BSC:
			add("ccol_indices", t.ccol_indices());
			add("row_indices", t.row_indices());
			add("values", t.values());
			break;
		case CTT_MKLDNN:
			add("dense", t.to_dense());
			break;
		default:
			TORCH_CHECK(false, "a tensor of this layout can't be "
				    "taken apart");
		}
	});

	if (rc == 0)
		return n;
	while (n > 0)
		free_tensor(out[--n]);
	return -1;
}

at::Generator generator_of(const char *name)
{
	c10::Device device(name);

	return device.is_cpu() ? at::detail::getDefaultCPUGenerator() :
		at::globalContext().defaultGenerator(device);
}

// Its state as bytes that can be compared.
at::Tensor state_of(const char *device)
{
	at::Generator g = generator_of(device);
	std::lock_guard<std::mutex> lock(g.mutex());
	at::Tensor t = g.get_state();

	TORCH_CHECK(t.is_cpu() && t.is_contiguous(), "no state to look at");
	return t;
}

int seed_device(const char *device, uint64_t seed)
{
	// Asked for each sample: an exception costs more than many calls do.
	static std::string without;
	int rc = -1;

	if (without != device)
		rc = guarded([&] {
			at::Generator g = generator_of(device);
			std::lock_guard<std::mutex> lock(g.mutex());

			g.set_current_seed(seed);
		});
	if (rc)
		without = device;
	return rc;
}

int mark_rng(const char *device)
{
	return guarded([&] { rng_mark = state_of(device); });
}

int rng_moved(const char *device)
{
	bool moved = true;

	if (guarded([&] {
		at::Tensor now = state_of(device);

		moved = !rng_mark.defined() ||
			now.nbytes() != rng_mark.nbytes() ||
			std::memcmp(now.const_data_ptr(),
				    rng_mark.const_data_ptr(), now.nbytes());
	    }))
		return -1;
	return moved;
}

const ctt_api table = {
	CTT_ABI, error, error_type, is_tensor, from_py, to_py, free_tensor,
	meta, read, parts, ctt_body_of, ctt_storage_of, ctt_build,
	ctt_lay_tensor, ctt_copier_new, ctt_copier_tensor, ctt_copier_changes,
	ctt_copier_follow, ctt_copier_lead, ctt_copier_bytes,
	ctt_copier_free, seed_device, mark_rng, rng_moved,
	ctt_trace_begin, ctt_trace_end, ctt_overloads,
	ctt_overload_find, ctt_boxed_call, ctt_zero_memory, ctt_record_begin,
	ctt_record_end,
};

} // namespace

// A backend may let its own wrapper out: on the CPU by name, with no memory.
at::Tensor ctt_detail::to_host(const at::Tensor &t)
{
	namespace fn = at::functionalization::impl;
	at::Tensor h = t;

	while (fn::isFunctionalTensor(h)) {
		fn::sync(h);
		h = fn::from_functional_tensor(h);
	}
	h = h.to(at::kCPU);
	TORCH_CHECK(!h.has_storage() || !h.numel() ||
		    h.layout() != at::kStrided || h.is_nested() ||
		    h.const_data_ptr(), "a tensor on the CPU without memory");
	return h;
}

void ctt_detail::set_error(const char *what, const char *type) noexcept
{
	last_type = type;
	try {
		last_error = what;
	} catch (...) {
		last_error.clear();
	}
}

extern "C" __attribute__((visibility("default")))
const ctt_api *ctt_open(int abi)
{
	return abi == CTT_ABI ? &table : nullptr;
}
