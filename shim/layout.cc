// Operands laid out anew: the same shape over other strides and offsets, with
// other values where that is asked for.
#include "ctt.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using ctt_detail::guarded;
using ctt_detail::wrap;

void ctt_detail::fill_pattern(at::Tensor &t)
{
	// As a float32 and as a float64 it is finite and large, as an integer
	// odd.
	constexpr int pattern = 0x5b;

	if (!t.nbytes())
		return;
	auto p = static_cast<unsigned char *>(t.mutable_data_ptr());
	std::memset(p, pattern, t.nbytes());
	// Of truth values all that are not zero are one: have both, in an order
	// without a period.
	if (t.scalar_type() == at::kBool)
		for (size_t i = 0; i < t.nbytes(); i++)
			p[i] = static_cast<unsigned char>(
				__builtin_parityll(i));
}

namespace {

struct geometry {
	std::vector<int64_t> strides;
	int64_t extent = 0;		// elements from the first to the last
	int64_t repeated = -1;		// the dimension whose stride is 0
};

// Strides for sizes when the dimensions lie in this order, outermost first.
geometry strides_in_order(at::IntArrayRef sizes,
			  const std::vector<int64_t> &order, int64_t step)
{
	geometry g;
	int64_t stride = step;

	g.strides.assign(sizes.size(), 0);
	for (size_t i = order.size(); i-- > 0;) {
		const auto d = static_cast<size_t>(order[i]);

		g.strides[d] = stride;
		stride *= std::max<int64_t>(sizes[d], 1);
	}
	g.extent = stride;
	return g;
}

std::vector<int64_t> natural_order(int64_t n)
{
	std::vector<int64_t> order(static_cast<size_t>(n));

	for (size_t i = 0; i < order.size(); i++)
		order[i] = static_cast<int64_t>(i);
	return order;
}

// False where the view makes no difference to a tensor of these sizes.
bool geometry_for(const at::Tensor &src, ctt_view view, geometry *g)
{
	const int64_t n = src.dim();
	std::vector<int64_t> order = natural_order(n);
	int64_t step = 1;

	switch (view) {
	case CTT_VIEW_DENSE:
	case CTT_VIEW_CONJ:
	case CTT_VIEW_NEG:
		break;
	case CTT_VIEW_TRANSPOSED:
		if (n < 2 || src.size(-1) < 2 || src.size(-2) < 2)
			return false;
		std::swap(order[order.size() - 1], order[order.size() - 2]);
		break;
	case CTT_VIEW_REVERSED:
		if (n < 3)
			return false;
		std::reverse(order.begin(), order.end());
		break;
	case CTT_VIEW_CHANNELS_LAST:
		if ((n != 4 && n != 5) || src.size(1) < 2)
			return false;
		order.erase(order.begin() + 1);
		order.push_back(1);
		break;
	case CTT_VIEW_STEPPED:
		if (src.numel() < 2)
			return false;
		step = 2;
		break;
	case CTT_VIEW_EXPANDED:
		for (int64_t d = 0; d < n && g->repeated < 0; d++)
			if (src.size(d) > 1)
				g->repeated = d;
		if (g->repeated < 0)
			return false;
		order.erase(order.begin() + g->repeated);
		break;
	default:
		return false;
	}
	const int64_t repeated = g->repeated;

	*g = strides_in_order(src.sizes(), order, step);
	g->repeated = repeated;
	return true;
}

uint64_t next(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

template <typename T> void put_values(at::Tensor &t, const std::vector<T> &v,
				      uint64_t seed, int one_in)
{
	T *p = t.mutable_data_ptr<T>();

	for (int64_t i = 0; i < t.numel(); i++)
		if (next(&seed) % static_cast<uint64_t>(one_in) == 0)
			p[i] = v[next(&seed) % v.size()];
}

template <typename T> std::vector<T> special_floats()
{
	using L = std::numeric_limits<T>;

	return {L::quiet_NaN(), L::infinity(), -L::infinity(), T(0),
		-T(0), L::denorm_min(), -L::denorm_min(), L::max(),
		L::lowest(), L::min(), L::epsilon()};
}

/*
 * What a sum, a maximum or a product tells of in any order: nothing overflows
 * or vanishes on the way.  NaN and infinities hide each other, and what is not
 * zero hides both from any(), so that each has a tensor without the others,
 * where it is for certain.
 */
template <typename T> void put_sparse(at::Tensor &t, ctt_values kind,
				      uint64_t seed)
{
	using L = std::numeric_limits<T>;
	const bool nan = kind == CTT_VALUES_NAN || kind == CTT_VALUES_LONE_NAN;
	const T inf = next(&seed) % 2 ? L::infinity() : -L::infinity();
	const T about = nan ? L::quiet_NaN() : inf;

	if (kind == CTT_VALUES_LONE_NAN || kind == CTT_VALUES_LONE_INF)
		t.zero_();
	else
		put_values<T>(t, {about, nan ? about : -about, T(0), -T(0)},
			      seed, 16);
	t.mutable_data_ptr<T>()[next(&seed) %
		static_cast<uint64_t>(t.numel())] = about;
}

// Around 2^24, 2^31, 2^53 and the ends, with odd low bits.
template <typename T> std::vector<T> wide_integers()
{
	constexpr int bits = std::numeric_limits<T>::digits;
	const T max = std::numeric_limits<T>::max();
	const T min = std::numeric_limits<T>::min();
	std::vector<T> v = {max, static_cast<T>(max - 2),
			    static_cast<T>(min + 1), T(3)};

	for (int b : {7, 24, 31, 32, 53})
		if (b < bits) {
			const T big = static_cast<T>(uint64_t(1) << b);

			v.push_back(static_cast<T>(big + 1));
			v.push_back(static_cast<T>(0 - (big + 3)));
		}
	return v;
}

// Larger than what a significand can count, and far from the extremes.
template <typename T> std::vector<T> large_floats()
{
	constexpr int digits = std::numeric_limits<T>::digits;
	std::vector<T> v;

	for (int b : {0, 2, 8})
		if (digits + b < std::numeric_limits<T>::max_exponent) {
			v.push_back(
			    static_cast<T>(std::ldexp(1.1875, digits + b)));
			v.push_back(
			    static_cast<T>(-std::ldexp(1.4375, digits + b)));
		}
	return v;
}

// Call f with a value of the element type that it is.  False where it is none
// of these: the floats that take special values, the whole numbers.
template <typename F> bool with_float(at::ScalarType s, F f)
{
	switch (s) {
	case at::kFloat: f(float()); return true;
	case at::kDouble: f(double()); return true;
	case at::kHalf: f(at::Half()); return true;
	case at::kBFloat16: f(at::BFloat16()); return true;
	default: return false;
	}
}

template <typename F> bool with_integer(at::ScalarType s, F f)
{
	switch (s) {
	case at::kByte: f(uint8_t()); return true;
	case at::kChar: f(int8_t()); return true;
	case at::kShort: f(int16_t()); return true;
	case at::kInt: f(int32_t()); return true;
	case at::kLong: f(int64_t()); return true;
	default: return false;
	}
}

bool is_sparse(ctt_values values)
{
	return values >= CTT_VALUES_NAN && values <= CTT_VALUES_LONE_INF;
}

// Put values of that kind into a tensor that takes them.
void put_kind(at::Tensor &t, ctt_values values, uint64_t seed)
{
	if (values == CTT_VALUES_WIDE) {
		with_integer(t.scalar_type(), [&](auto x) {
			put_values(t, wide_integers<decltype(x)>(), seed, 2);
		});
		return;
	}
	with_float(t.scalar_type(), [&](auto x) {
		using T = decltype(x);

		if (values == CTT_VALUES_SPECIAL)
			put_values(t, special_floats<T>(), seed, 3);
		else if (is_sparse(values))
			put_sparse<T>(t, values, seed);
		else
			put_values(t, large_floats<T>(), seed, 2);
	});
}

bool takes_values(const at::Tensor &t, ctt_values values)
{
	const at::ScalarType s = t.scalar_type();

	if (values == CTT_VALUES_SPECIAL || is_sparse(values) ||
	    values == CTT_VALUES_LARGE)
		return with_float(s, [](auto) {});
	if (values == CTT_VALUES_OTHER)
		return at::isFloatingType(s) || at::isComplexType(s);
	if (values == CTT_VALUES_REVERSED)
		return true;
	if (values == CTT_VALUES_WIDE)
		return with_integer(s, [](auto) {});
	return false;
}

// src's values, or others, as a dense CPU tensor.
at::Tensor values_of(const at::Tensor &src, const ctt_lay &lay, bool *applied)
{
	at::Tensor v = src.resolve_conj().resolve_neg().contiguous();

	if (!takes_values(src, lay.values) || !src.numel())
		return v;
	v = v.clone();
	if (lay.values == CTT_VALUES_OTHER)
		v = v.flatten().flip(0).mul(0.5).view(v.sizes());
	else if (lay.values == CTT_VALUES_REVERSED)
		v = v.flatten().flip(0).view(v.sizes());
	else
		put_kind(v, lay.values, lay.seed);
	*applied = true;
	return v;
}

at::Tensor spread(const at::Tensor &v, const geometry &g, int64_t offset)
{
	// Another offset's worth behind, so that a forgotten offset stays
	// inside.
	at::Tensor flat = at::empty({offset + g.extent + offset}, v.options());
	at::Tensor t;

	ctt_detail::fill_pattern(flat);
	t = flat.as_strided(v.sizes(), g.strides, offset);
	if (g.repeated < 0)
		t.copy_(v);
	else if (v.numel())
		t.select(g.repeated, 0).copy_(v.select(g.repeated, 0));
	return t;
}

bool can_lay(const at::Tensor &t)
{
	return t.layout() == at::kStrided && t.is_cpu() && !t.is_quantized() &&
	       !t.is_nested() && !t._is_zerotensor();
}

} // namespace

int ctt_lay_tensor(ctt src, const ctt_lay *lay, ctt *ret_t, bool *applied)
{
	return guarded([&] {
		at::NoGradGuard no_grad;
		at::Tensor t = src->t.detach();
		const bool complex = t.is_complex();
		geometry g;

		*applied = false;
		if (can_lay(t)) {
			at::Tensor v = values_of(t, *lay, applied);
			bool viewed = geometry_for(t, lay->view, &g);

			if (lay->view == CTT_VIEW_CONJ && !complex)
				viewed = false;
			// Eight bits have no negation on the CPU.
			if (lay->view == CTT_VIEW_NEG && !complex &&
			    (!at::isFloatingType(t.scalar_type()) ||
			     c10::elementSize(t.scalar_type()) < 2))
				viewed = false;
			if (!viewed && (*applied || lay->offset))
				viewed = geometry_for(t, CTT_VIEW_DENSE, &g);
			else if (viewed)
				*applied = true;
			if (viewed && lay->view == CTT_VIEW_CONJ && complex) {
				t = spread(v.conj().resolve_conj(), g,
					   lay->offset);
				t._set_conj(true);
			} else if (viewed && lay->view == CTT_VIEW_NEG &&
				   *applied) {
				t = spread(v.neg(), g, lay->offset);
				t._set_neg(true);
			} else if (viewed) {
				t = spread(v, g, lay->offset);
			}
		}
		// A view of the pattern's storage is no leaf's base.
		t = t.detach();
		if (src->t.requires_grad())
			t.set_requires_grad(true);
		*ret_t = wrap(std::move(t));
	});
}
