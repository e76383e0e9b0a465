// Copies of a call's tensors: same aliasing, same layout, on another device.
#include "ctt.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

using ctt_detail::guarded;
using ctt_detail::wrap;

namespace {

// Bytes of pattern behind the data, a cache line's worth on most devices.
constexpr int64_t guard_bytes = 128;

struct view {
	int input;
	at::Tensor src;		// what was copied, for its geometry
	at::Tensor copy;	// undefined: laid over no storage
};

// One storage that was copied as a whole.
struct store {
	at::Tensor before;	// flat, on the CPU: data, then guard
	at::Tensor flat;	// the same on the target device
	std::vector<view> views;
};

at::ScalarType hp_type(at::ScalarType t)
{
	if (at::isComplexType(t))
		return at::kComplexDouble;
	return at::isFloatingType(t) ? at::kDouble : t;
}

bool has_storage(const at::Tensor &t)
{
	return t.layout() == at::kStrided && t.has_storage() &&
	       t.storage().data_ptr().get() != nullptr;
}

bool same_bits(const at::Tensor &a, const at::Tensor &b)
{
	if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type())
		return false;
	at::Tensor x = a.contiguous(), y = b.contiguous();

	return !std::memcmp(x.const_data_ptr(), y.const_data_ptr(),
			    x.nbytes());
}

// The bytes of src's storage as a flat CPU tensor of src's dtype, plus a guard.
at::Tensor flatten(const at::Tensor &src, bool guard)
{
	const int64_t size = static_cast<int64_t>(src.dtype().itemsize());
	const int64_t n = static_cast<int64_t>(src.storage().nbytes()) / size;
	const int64_t extra = guard ? guard_bytes / size : 0;
	at::Tensor flat = at::empty({n + extra}, src.options());
	char *p = static_cast<char *>(flat.mutable_data_ptr());

	ctt_detail::fill_pattern(flat);
	std::memcpy(p, src.storage().data(), static_cast<size_t>(n * size));
	return flat;
}

} // namespace

struct ctt_copying {
	at::Device device{at::kCPU};
	bool guard = false, hp = false;
	std::unordered_map<const void *, std::unique_ptr<store>> stores;
	std::unordered_map<const void *, at::Tensor> same, bases;
	std::vector<std::pair<view, at::Tensor>> whole;

	at::ScalarType type(const at::Tensor &src) const
	{
		return hp ? hp_type(src.scalar_type()) : src.scalar_type();
	}

	at::Tensor copy_whole(const at::Tensor &src, int input)
	{
		at::Tensor t = src.detach();

		if (hp && type(src) != src.scalar_type())
			t = t.to(type(src));
		t = t.to(device);
		// to() gives back its argument when there is nothing to do.
		if (device.is_cpu() && t.scalar_type() == src.scalar_type())
			t = src.detach().clone();
		whole.push_back({{input, src, {}}, t});
		return t;
	}

	// Null where the device shows no storage to lay views over.
	store *store_for(const at::Tensor &src)
	{
		const void *key = src.storage().unsafeGetStorageImpl();
		auto it = stores.find(key);

		if (it != stores.end())
			return it->second.get();
		auto s = std::make_unique<store>();

		s->before = flatten(src, guard && !hp);
		s->flat = hp ? s->before.to(type(src)) : s->before;
		if (device.is_cpu())
			s->flat = s->flat.clone();
		else
			s->flat = s->flat.to(device);
		if (!has_storage(s->flat) && s->flat.numel())
			return nullptr;
		return (stores[key] = std::move(s)).get();
	}

	// What src is a view of, as the device holds it.
	at::Tensor base_for(const at::Tensor &src)
	{
		at::Tensor &base =
			bases[src.storage().unsafeGetStorageImpl()];

		if (!base.defined())
			base = flatten(src, false).to(type(src)).to(device);
		return base;
	}

	// A view on a device that shows no storage, for what an op may see of
	// its base; undefined where the device doesn't make it right.
	at::Tensor copy_view(const at::Tensor &src, int input)
	{
		const size_t size = src.dtype().itemsize();
		at::Tensor t;

		if (src.storage().nbytes() ==
		    static_cast<size_t>(src.numel()) * size ||
		    src.is_conj() || src.is_neg())
			return t;
		if (guarded([&] {
			t = base_for(src);
			TORCH_CHECK(t.scalar_type() == type(src));
			t = t.as_strided(src.sizes(), src.strides(),
					 src.storage_offset());
			TORCH_CHECK(same_bits(src.to(type(src)),
					      ctt_detail::to_host(t)));
			whole.push_back({{input, src, {}}, t});
		}))
			t = at::Tensor();
		return t;
	}

	at::Tensor copy(const at::Tensor &src, int input)
	{
		// A tensor without data is the same on every device.
		if (src.is_meta())
			return src;
		if (!has_storage(src) || src.is_quantized() ||
		    src.is_nested() || !src.is_cpu())
			return copy_whole(src, input);
		store *s = store_for(src);

		if (!s) {
			at::Tensor t = copy_view(src, input);

			return t.defined() ? t : copy_whole(src, input);
		}
		at::Tensor flat = s->flat;

		if (flat.scalar_type() != type(src))
			flat = flat.view(type(src));
		at::Tensor t = flat.as_strided(src.sizes(), src.strides(),
					       src.storage_offset()).detach();

		t._set_conj(src.is_conj());
		t._set_neg(src.is_neg());
		s->views.push_back({input, src, t});
		return t;
	}
};

int ctt_copier_new(const char *device, int flags, ctt_copier *ret_c)
{
	return guarded([&] {
		auto c = std::make_unique<ctt_copying>();

		c->device = at::Device(device);
		c->guard = flags & CTT_COPY_GUARD;
		c->hp = flags & CTT_COPY_HP;
		*ret_c = c.release();
	});
}

int ctt_copier_tensor(ctt_copier c, ctt src, int input, ctt *ret_t)
{
	return guarded([&] {
		at::NoGradGuard no_grad;
		const at::Tensor &t = src->t;
		auto it = c->same.find(t.unsafeGetTensorImpl());

		if (it == c->same.end()) {
			at::Tensor copy = c->copy(t, input);

			if (t.requires_grad())
				copy.set_requires_grad(true);
			it = c->same.emplace(t.unsafeGetTensorImpl(),
					     std::move(copy)).first;
		}
		*ret_t = wrap(it->second);
	});
}

namespace {

// Elements of size bytes that v covers are k's, as far as there are any.
void cover(std::vector<int> &owner, const at::Tensor &v, int64_t size, int k)
{
	const int64_t vsize = static_cast<int64_t>(v.dtype().itemsize());
	const int64_t end = static_cast<int64_t>(owner.size());
	std::vector<int64_t> at(static_cast<size_t>(v.dim()), 0);
	int64_t off = v.storage_offset();

	for (int64_t i = 0, n = v.numel(); i < n; i++) {
		int64_t lo = off * vsize / size;
		int64_t hi = ((off + 1) * vsize - 1) / size;

		for (; lo <= hi && lo < end; lo++)
			owner[static_cast<size_t>(lo)] = k;
		for (int64_t d = v.dim() - 1; d >= 0; d--) {
			off += v.stride(d);
			if (++at[static_cast<size_t>(d)] < v.size(d))
				break;
			off -= v.stride(d) * v.size(d);
			at[static_cast<size_t>(d)] = 0;
		}
	}
}

// A result that is larger than what was given for it is resized, and takes the
// room behind it where its storage has some: that is nobody's from then on.
constexpr int outside = -1, taken = -2;

bool was_resized(const view &v, const store &s)
{
	return v.copy.defined() && v.copy.sizes() != v.src.sizes() &&
	       has_storage(v.copy) && v.copy.storage().is_alias_of(
			s.flat.storage());
}

// For each element of the storage: the view that covers it, or one of these.
std::vector<int> coverage_of(const store &s)
{
	std::vector<int> owner(static_cast<size_t>(s.before.numel()), outside);
	const int64_t size =
		static_cast<int64_t>(s.before.dtype().itemsize());

	for (const view &v : s.views)
		if (was_resized(v, s))
			cover(owner, v.copy, size, taken);
	for (size_t k = s.views.size(); k-- > 0;)
		cover(owner, s.views[k].src, size, static_cast<int>(k));
	return owner;
}

const char *place_of(const std::vector<int> &owner, size_t i)
{
	bool seen_before = false, seen_after = false;

	for (size_t k = 0; k < owner.size(); k++)
		if (owner[k] >= 0)
			(k < i ? seen_before : seen_after) = true;
	if (!seen_before)
		return "before";
	return seen_after ? "gap" : "after";
}

// Report the first changed element inside each view and the first outside.
void compare_store(const store &s, void (*fn)(void *, const ctt_change *),
		   void *ctx)
{
	at::Tensor now = ctt_detail::to_host(s.flat).contiguous();
	const char *a = static_cast<const char *>(s.before.const_data_ptr());
	const char *b = static_cast<const char *>(now.const_data_ptr());
	const size_t size = s.before.dtype().itemsize();

	if (!std::memcmp(a, b, s.before.nbytes()))
		return;
	std::vector<int> owner = coverage_of(s);
	std::vector<bool> told(s.views.size(), false);
	bool stray = false;

	for (size_t i = 0; i < owner.size(); i++) {
		const int k = owner[i];

		if (k == taken ||
		    !std::memcmp(a + i * size, b + i * size, size) ||
		    (k < 0 ? stray : static_cast<bool>(
			     told[static_cast<size_t>(k)])))
			continue;
		ctt_change c = {s.views[static_cast<size_t>(k < 0 ? 0 : k)]
				.input, k >= 0, static_cast<int64_t>(i),
				k < 0 ? place_of(owner, i) : "", false};
		if (k < 0)
			stray = true;
		else
			told[static_cast<size_t>(k)] = true;
		fn(ctx, &c);
	}
}

bool whole_changed(const at::Tensor &src, const at::Tensor &copy)
{
	at::Tensor now = ctt_detail::to_host(copy.detach());

	if (now.layout() != src.layout() || now.is_nested())
		return now.layout() != src.layout();
	if (src.layout() == at::kSparse)
		return !same_bits(src._indices(), now._indices()) ||
		       !same_bits(src._values(), now._values());
	if (src.layout() != at::kStrided || src.is_quantized())
		return false;
	return !same_bits(src.detach().resolve_conj().resolve_neg(),
			  now.resolve_conj().resolve_neg());
}

} // namespace

int ctt_copier_changes(ctt_copier c,
		       void (*fn)(void *, const ctt_change *), void *ctx)
{
	return guarded([&] {
		at::NoGradGuard no_grad;

		// A higher-precision copy is only ever computed from.
		if (c->hp)
			return;
		for (auto &kv : c->stores)
			compare_store(*kv.second, fn, ctx);
		for (auto &w : c->whole) {
			ctt_change ch = {w.first.input, true, 0, "", true};

			if (whole_changed(w.first.src, w.second))
				fn(ctx, &ch);
		}
	});
}

namespace {

at::Tensor private_copy(const at::Tensor &t)
{
	return ctt_detail::to_host(t.detach()).resolve_conj().resolve_neg()
		.contiguous().clone();
}

// Every bit the other way round; of a truth value the only one that it has.
at::Tensor flipped(const at::Tensor &t)
{
	at::Tensor f = t.clone();
	auto p = static_cast<unsigned char *>(f.mutable_data_ptr());
	const unsigned char mask = f.scalar_type() == at::kBool ? 1 : 0xff;

	for (size_t i = 0; i < f.nbytes(); i++)
		p[i] = static_cast<unsigned char>(p[i] ^ mask);
	return f;
}

// Of what has a stride of 0, one element of those that share a place; undefined
// where elements overlap otherwise.
at::Tensor without_overlap(at::Tensor t)
{
	std::vector<std::pair<int64_t, int64_t>> dims;
	int64_t end = 0;

	for (int64_t d = t.dim() - 1; d >= 0; d--)
		if (!t.stride(d) && t.size(d) > 1)
			t = t.select(d, 0);
	for (int64_t d = 0; d < t.dim(); d++)
		if (t.size(d) > 1)
			dims.emplace_back(t.stride(d), t.size(d));
	std::sort(dims.begin(), dims.end());
	// Each dimension must step over all that those within it reach.
	for (auto &d : dims) {
		if (d.first <= end)
			return at::Tensor();
		end += d.first * (d.second - 1);
	}
	return t;
}

// What the inputs' memory is written to by: whole storages, and where a device
// shows none, the inputs themselves.
std::vector<at::Tensor> written_to(const ctt_copying &c)
{
	std::vector<at::Tensor> v;

	for (auto &kv : c.stores)
		v.push_back(kv.second->flat);
	for (auto &w : c.whole) {
		if (!w.second.numel())
			continue;
		v.push_back(without_overlap(w.second));
		TORCH_CHECK(v.back().defined(), "elements overlap");
	}
	return v;
}

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor> &v)
{
	std::vector<at::Tensor> copies;

	for (auto &t : v)
		copies.push_back(private_copy(t));
	return copies;
}

void put_back(std::vector<at::Tensor> &to, const std::vector<at::Tensor> &kept)
{
	for (size_t k = 0; k < to.size(); k++)
		to[k].copy_(kept[k]);
}

} // namespace

int ctt_copier_follow(ctt_copier c, const ctt *outs, size_t n, bool *follow)
{
	return guarded([&] {
		at::NoGradGuard no_grad;
		std::vector<at::Tensor> to = written_to(*c), was;
		std::vector<at::Tensor> kept = copies_of(to);

		for (size_t i = 0; i < n; i++)
			was.push_back(private_copy(outs[i]->t));
		for (size_t k = 0; k < to.size(); k++)
			to[k].copy_(flipped(kept[k]));
		for (size_t i = 0; i < n; i++)
			follow[i] = !same_bits(was[i],
					       private_copy(outs[i]->t));
		put_back(to, kept);
	});
}

namespace {

bool any_changed(const std::vector<at::Tensor> &a,
		 const std::vector<at::Tensor> &b)
{
	for (size_t i = 0; i < a.size(); i++)
		if (!same_bits(a[i], b[i]))
			return true;
	return false;
}

ctt_lead lead_of(const std::vector<at::Tensor> &to, const at::Tensor &out,
		 const std::vector<at::Tensor> &kept)
{
	at::Tensor t = without_overlap(out.detach()), was;
	bool changed;

	if (!t.defined())
		return CTT_LEAD_UNTRIED;
	was = private_copy(t);
	t.copy_(flipped(was));
	changed = any_changed(kept, copies_of(to));
	t.copy_(was);
	return changed ? CTT_LEAD_INPUT : CTT_LEAD_NOWHERE;
}

} // namespace

int ctt_copier_lead(ctt_copier c, const ctt *outs, size_t n, ctt_lead *lead)
{
	return guarded([&] {
		at::NoGradGuard no_grad;
		std::vector<at::Tensor> to = written_to(*c);
		std::vector<at::Tensor> kept = copies_of(to);

		for (size_t i = 0; i < n; i++) {
			lead[i] = CTT_LEAD_UNTRIED;
			// What can't be written to says nothing.
			guarded([&] {
				lead[i] = lead_of(to, outs[i]->t, kept);
			});
		}
		put_back(to, kept);
	});
}

int64_t ctt_copier_bytes(ctt_copier c)
{
	int64_t n = 0;

	for (auto &w : c->whole) {
		const at::Tensor &src = w.first.src;

		if (src.layout() != at::kStrided || src.is_quantized() ||
		    src.is_nested() || w.second.layout() != at::kStrided)
			return -1;
		n += static_cast<int64_t>(src.nbytes());
	}
	for (auto &kv : c->stores)
		n += static_cast<int64_t>(kv.second->before.nbytes());
	return n;
}

void ctt_copier_free(ctt_copier c)
{
	guarded([&] { delete c; });
}
