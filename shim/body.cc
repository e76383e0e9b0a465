// CPU tensors taken apart and put together again, for what is kept in files.
#include "ctt.hpp"

#include <cstring>

using ctt_detail::guarded;
using ctt_detail::wrap;

namespace {

void add_part(ctt_body *b, at::Tensor t)
{
	b->parts[b->nparts++] = wrap(std::move(t));
}

void take_storage(const at::Tensor &t, ctt_body *b)
{
	if (!t.has_storage())
		return;
	b->kind = CTT_BODY_STRIDED;
	b->storage = t.storage().unsafeGetStorageImpl();
	b->bytes = t.storage().data();
	b->nbytes = t.storage().nbytes();
}

// A number of a file as one of PyTorch's element types.
at::ScalarType scalar_type(int n)
{
	constexpr int all = static_cast<int>(at::ScalarType::NumOptions);

	TORCH_CHECK(n >= 0 && n < all &&
		    !at::isQIntType(static_cast<at::ScalarType>(n)),
		    "no element type ", n);
	return static_cast<at::ScalarType>(n);
}

// More elements than this are none that were recorded; and no sum of several
// tensors' elements overflows.
constexpr int64_t elements_max = int64_t(1) << 36;

// Does every element lie within so many bytes?
bool fits(const ctt_meta *m, size_t itemsize, size_t nbytes)
{
	int64_t last = m->offset, n = 1;

	if (m->offset < 0)
		return false;
	for (int i = 0; i < m->ndim; i++) {
		int64_t step;

		if (m->sizes[i] < 0 || m->strides[i] < 0 ||
		    __builtin_mul_overflow(n, m->sizes[i], &n) ||
		    __builtin_mul_overflow(m->sizes[i] ? m->sizes[i] - 1 : 0,
					   m->strides[i], &step) ||
		    __builtin_add_overflow(last, step, &last))
			return false;
	}
	// Nothing is ever read of a tensor without elements.
	return n == 0 || (n <= elements_max &&
			 static_cast<uint64_t>(last) < nbytes / itemsize);
}

at::Tensor build_strided(const ctt_meta *m, const ctt_body *b)
{
	const at::ScalarType type = scalar_type(m->scalar_type);
	const at::Tensor &flat = b->parts[0]->t;

	TORCH_CHECK(fits(m, c10::elementSize(type), flat.storage().nbytes()),
		    "a tensor that doesn't fit its storage");
	at::Tensor t = at::detail::make_tensor<c10::TensorImpl>(
		c10::Storage(flat.storage()),
		c10::DispatchKeySet(c10::DispatchKey::CPU),
		c10::scalarTypeToTypeMeta(type));
	t.unsafeGetTensorImpl()->set_sizes_and_strides(
		at::IntArrayRef(m->sizes, static_cast<size_t>(m->ndim)),
		at::IntArrayRef(m->strides, static_cast<size_t>(m->ndim)),
		m->offset);
	t._set_conj(m->conj);
	t._set_neg(m->neg);
	return t;
}

at::Layout layout_of(ctt_layout l)
{
	switch (l) {
	case CTT_SPARSE_CSR: return at::kSparseCsr;
	case CTT_SPARSE_CSC: return at::kSparseCsc;
	case CTT_SPARSE_BSR: return at::kSparseBsr;
	case CTT_SPARSE_BSC: return at::kSparseBsc;
	default: TORCH_CHECK(false, "no compressed layout ", l);
	}
}

at::Tensor build_coo(const ctt_meta *m, const ctt_body *b)
{
	at::IntArrayRef sizes(m->sizes, static_cast<size_t>(m->ndim));
	const at::Tensor &i = b->parts[0]->t, &v = b->parts[1]->t;

	at::_validate_sparse_coo_tensor_args(i, v, sizes, b->coalesced);
	return at::_sparse_coo_tensor_unsafe(i, v, sizes, v.options().layout(
		at::kSparse), b->coalesced);
}

at::Tensor build_compressed(const ctt_meta *m, const ctt_body *b)
{
	at::IntArrayRef sizes(m->sizes, static_cast<size_t>(m->ndim));
	const at::Tensor &c = b->parts[0]->t, &p = b->parts[1]->t;
	const at::Tensor &v = b->parts[2]->t;
	const at::Layout layout = layout_of(m->layout);

	at::_validate_sparse_compressed_tensor_args(c, p, v, sizes, layout);
	return at::_sparse_compressed_tensor_unsafe(c, p, v, sizes,
						    v.options().layout(layout));
}

// One element of a nested tensor, as its own geometry, to be checked.
bool nested_fits(const at::Tensor &sizes, const at::Tensor &strides,
		 const at::Tensor &offsets, const at::Tensor &buffer)
{
	const int64_t *offset = offsets.const_data_ptr<int64_t>();

	for (int64_t i = 0; i < sizes.size(0); i++) {
		ctt_meta m = {};

		m.ndim = static_cast<int>(sizes.size(1));
		m.offset = offset[i];
		for (int d = 0; d < m.ndim; d++) {
			m.sizes[d] = sizes.const_data_ptr<int64_t>()
				[i * m.ndim + d];
			m.strides[d] = strides.const_data_ptr<int64_t>()
				[i * m.ndim + d];
		}
		if (!fits(&m, 1, static_cast<size_t>(buffer.numel())))
			return false;
	}
	return true;
}

at::Tensor build_nested(const ctt_body *b)
{
	const at::Tensor &buffer = b->parts[0]->t;
	at::Tensor sizes = b->parts[1]->t.contiguous();
	at::Tensor strides = b->parts[2]->t.contiguous();
	at::Tensor offsets = b->parts[3]->t.contiguous();

	TORCH_CHECK(sizes.scalar_type() == at::kLong && sizes.dim() == 2 &&
		    sizes.size(1) <= CTT_MAX_DIM &&
		    strides.scalar_type() == at::kLong &&
		    strides.sizes() == sizes.sizes() &&
		    offsets.scalar_type() == at::kLong && offsets.dim() == 1 &&
		    offsets.size(0) == sizes.size(0) && buffer.dim() == 1 &&
		    nested_fits(sizes, strides, offsets, buffer),
		    "a nested tensor that doesn't fit its buffer");
	return at::_nested_view_from_buffer(buffer, sizes, strides, offsets);
}

at::Tensor build(const ctt_meta *m, const ctt_body *b)
{
	static const int needed[] = { 1, 2, 3, 4 };

	TORCH_CHECK(b->kind < CTT_BODY_OTHER && b->nparts == needed[b->kind],
		    "a tensor of the wrong parts");
	switch (b->kind) {
	case CTT_BODY_STRIDED: return build_strided(m, b);
	case CTT_BODY_COO: return build_coo(m, b);
	case CTT_BODY_COMPRESSED: return build_compressed(m, b);
	default: return build_nested(b);
	}
}

void take_apart(const at::Tensor &t, ctt_body *b)
{
	const at::Layout layout = t.layout();

	if (!t.defined() || !t.is_cpu() || t.is_quantized() ||
	    t._is_zerotensor() || t.is_inference())
		return;
	if (t.is_nested()) {
		// One of no tensors has no sizes that it could be made from.
		if (layout != at::kStrided ||
		    t._nested_tensor_size().dim() != 2)
			return;
		b->kind = CTT_BODY_NESTED;
		add_part(b, t.values());
		add_part(b, t._nested_tensor_size());
		add_part(b, t._nested_tensor_strides());
		add_part(b, t._nested_tensor_storage_offsets());
	} else if (layout == at::kSparse) {
		b->kind = CTT_BODY_COO;
		b->coalesced = t.is_coalesced();
		add_part(b, t._indices());
		add_part(b, t._values());
	} else if (layout == at::kSparseCsr || layout == at::kSparseBsr) {
		b->kind = CTT_BODY_COMPRESSED;
		add_part(b, t.crow_indices());
		add_part(b, t.col_indices());
		add_part(b, t.values());
	} else if (layout == at::kSparseCsc || layout == at::kSparseBsc) {
		b->kind = CTT_BODY_COMPRESSED;
		add_part(b, t.ccol_indices());
		add_part(b, t.row_indices());
		add_part(b, t.values());
	} else if (layout == at::kStrided) {
		take_storage(t, b);
	}
}

} // namespace

int ctt_body_of(ctt t, ctt_body *b)
{
	std::memset(b, 0, sizeof(*b));
	b->kind = CTT_BODY_OTHER;
	const int rc = guarded([&] {
		at::NoGradGuard no_grad;

		take_apart(t->t.detach(), b);
	});

	while (rc && b->nparts > 0)
		delete b->parts[--b->nparts];
	return rc;
}

int ctt_storage_of(const void *p, size_t n, ctt *ret_t)
{
	return guarded([&] {
		at::Tensor t = at::empty({static_cast<int64_t>(n)}, at::kByte);

		if (n)
			std::memcpy(t.mutable_data_ptr(), p, n);
		*ret_t = wrap(std::move(t));
	});
}

int ctt_build(const ctt_meta *m, const ctt_body *b, ctt *ret_t)
{
	return guarded([&] {
		at::NoGradGuard no_grad;
		at::Tensor t = build(m, b);

		if (m->requires_grad)
			t.set_requires_grad(true);
		*ret_t = wrap(std::move(t));
	});
}
