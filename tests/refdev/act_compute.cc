/*
 * Faults in what a kernel computes.
 */
#include "plan.h"

#include <ATen/SparseCsrTensorUtils.h>

#include <cmath>
#include <cstring>

namespace refdev::faults {
namespace {

bool plain(const Tensor &t)
{
	return t.defined() && t.layout() == at::kStrided && !t.is_nested() &&
	    !t.is_quantized() && t.has_storage() && !t._is_zerotensor();
}

/* The strided tensor that holds t's values, if it has one. */
Tensor values_in(Tensor &t)
{
	if (!t.defined() || t.is_nested() || t._is_zerotensor())
		return Tensor();
	if (t.layout() == at::kSparse)
		return t._values();
	if (at::sparse_csr::is_sparse_compressed(t))
		return t.values();
	return plain(t) ? t : Tensor();
}

using Edit = std::function<bool(Tensor &)>;

/* f edits a dense copy of the values; they are written back if it says so. */
void edit(Site &s, const Edit &f)
{
	bool hit = s.edit_out([&](Tensor &out) {
		Tensor t = values_in(out);
		if (!t.defined() || !t.numel())
			return false;
		Tensor c = t.resolve_conj().resolve_neg().clone(
		    at::MemoryFormat::Contiguous);
		if (!f(c))
			return false;
		t.copy_(c);
		return true;
	});

	if (hit)
		s.fire();
}

/* Runs, then edits the values of the results. */
void run_edit(Site &s, const Edit &f)
{
	s.run();
	edit(s, f);
}

/* Positions in n elements that the rule's "at" names. */
std::vector<int64_t> positions(Site &s, int64_t n)
{
	std::string at = s.rule.str("at", "middle");
	std::vector<int64_t> v;

	if (at == "all")
		for (int64_t i = 0; i < n; i++)
			v.push_back(i);
	else if (at == "first")
		v.push_back(0);
	else if (at == "last")
		v.push_back(n - 1);
	else if (at == "middle")
		v.push_back(n / 2);
	else if (at == "random") {
		std::lock_guard<std::mutex> hold(s.rule.lock);
		v.push_back(static_cast<int64_t>(s.rule.rng() %
		    static_cast<uint64_t>(n)));
	} else {
		int64_t i = strtoll(at.c_str(), nullptr, 10);
		if (i < 0)
			i += n;
		if (i >= 0 && i < n)
			v.push_back(i);
	}
	return v;
}

/* Adds k to the magnitude's bits, which is k ulp for a float. */
template <class T> bool add_bits(void *p, int64_t k, T sign)
{
	T bits, mag;

	memcpy(&bits, p, sizeof(T));
	mag = static_cast<T>(bits & static_cast<T>(~sign));
	T to = static_cast<T>(mag + static_cast<T>(k));
	if (sign && (to & sign))
		to = static_cast<T>(mag - static_cast<T>(k));
	bits = static_cast<T>((bits & sign) | to);
	memcpy(p, &bits, sizeof(T));
	return true;
}

bool add_ulp(Tensor &c, int64_t i, int64_t k)
{
	at::ScalarType st = c.scalar_type();
	auto p = static_cast<char *>(c.data_ptr()) +
	    i * static_cast<int64_t>(c.itemsize());
	bool fp = c.is_floating_point() || c.is_complex();
	size_t size = c.is_complex() ? c.itemsize() / 2 : c.itemsize();

	if (st == at::kBool) {
		*p = !*p;
		return true;
	}
	if (c.is_floating_point() &&
	    !std::isfinite(c.flatten()[i].to(at::kDouble).item<double>()))
		return false;
	switch (size) {
	case 1:
		return add_bits<uint8_t>(p, k, fp ? 0x80 : 0);
	case 2:
		return add_bits<uint16_t>(p, k, fp ? 0x8000 : 0);
	case 4:
		return add_bits<uint32_t>(p, k, fp ? 0x80000000u : 0);
	case 8:
		return add_bits<uint64_t>(p, k, fp ? UINT64_C(1) << 63 : 0);
	}
	return false;
}

void ulp(Site &s)
{
	int64_t k = static_cast<int64_t>(s.rule.num("k", 4));

	run_edit(s, [&](Tensor &c) {
		bool hit = false;
		for (int64_t i : positions(s, c.numel()))
			hit = add_ulp(c, i, k) || hit;
		return hit;
	});
}

void scale(Site &s)
{
	double f = s.rule.num("by", 2);

	run_edit(s, [&](Tensor &c) {
		Tensor was = c.clone();
		c.copy_(c.scalar_type() == at::kBool ? c.logical_not() :
		    c * f);
		return !c.equal(was);
	});
}

void add(Site &s)
{
	double d = s.rule.num("value", 1);

	run_edit(s, [&](Tensor &c) {
		Tensor was = c.clone();
		c.copy_(c + d);
		return !c.equal(was);
	});
}

double word_value(const std::string &w, double def)
{
	char *end;
	double v = strtod(w.c_str(), &end);	/* takes nan and inf, too */

	return w.empty() || *end ? def : v;
}

void set_value(Site &s)
{
	double d = word_value(s.rule.str("value", "0"), s.rule.num("value", 0));

	run_edit(s, [&](Tensor &c) {
		Tensor was = c.clone(), flat = c.view({-1});
		for (int64_t i : positions(s, c.numel()))
			flat[i] = d;
		return !c.equal(was);
	});
}

/* The result is an argument's values, unchanged. */
void identity(Site &s)
{
	int k = s.arg("arg", "tensor");

	s.run();
	if (k < 0 || !s.args[static_cast<size_t>(k)].isTensor())
		return;
	Tensor in = s.args[static_cast<size_t>(k)].toTensor();
	edit(s, [&](Tensor &c) {
		if (!plain(in) || in.sizes() != c.sizes() || in.equal(c))
			return false;
		c.copy_(in);
		return true;
	});
}

/*
 * The kernel runs in another dtype, with its arguments and results converted;
 * if it can't, it runs as it should.
 */
void via(Site &s)
{
	at::ScalarType low = dtype_named(s.rule.str("as", "float32"));
	at::ScalarType from = at::kFloat;
	Stack was = s.stack;
	bool found = false;

	for (auto &v : s.args)
		if (v.isTensor() && v.toTensor().defined()) {
			from = v.toTensor().scalar_type();
			found = true;
			break;
		}
	if (!found || from == low) {
		s.run();
		return;
	}
	if (c10::isComplexType(from) && !c10::isComplexType(low))
		low = low == at::kDouble ? at::kComplexDouble :
		    at::kComplexFloat;
	auto down = [&](const Tensor &t) {
		if (!plain(t) || t.scalar_type() != from)
			return t;
		Tensor n = t.to(low);
		if (t.unsafeGetTensorImpl()->is_wrapped_number())
			n.unsafeGetTensorImpl()->set_wrapped_number(true);
		return n;
	};
	const auto &a = s.op.schema().arguments();
	for (size_t i = 0; i < s.stack.size(); i++) {
		s.map_arg(static_cast<int>(i), down);
		if (a[i].name() == "dtype" && s.stack[i].isInt() &&
		    s.stack[i].toScalarType() == from)
			s.stack[i] = static_cast<int64_t>(low);
	}
	try {
		s.run();
	} catch (const c10::Error &) {
		s.swapped.clear();
		s.stack = was;
		s.run();
		return;
	}
	s.restore();
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
	auto up = [&](const Tensor &t) {
		return plain(t) && t.scalar_type() == low ? t.to(from) : t;
	};
	for (auto &v : s.stack)
		if (v.isTensor() && v.toTensor().defined()) {
			v = up(v.toTensor());
		} else if (v.isTensorList()) {
			c10::List<Tensor> l;
			for (const Tensor &t : v.toTensorVector())
				l.push_back(t.defined() ? up(t) : t);
			v = l;
		}
	s.fire();
}

/* The smallest and largest value of an integer dtype. */
bool limits(at::ScalarType t, double *lo, double *hi)
{
	switch (t) {
	case at::kByte: *lo = 0, *hi = 255; return true;
	case at::kChar: *lo = -128, *hi = 127; return true;
	case at::kShort: *lo = -32768, *hi = 32767; return true;
	case at::kInt: *lo = -2147483648., *hi = 2147483647.; return true;
	default: return false;
	}
}

/* Integer results that should wrap are held at the limits of the type. */
void saturate(Site &s)
{
	at::ScalarType want = at::kFloat;
	double lo, hi;
	Stack was = s.stack;

	s.run();
	Stack right = s.stack;
	for (auto &v : right)
		if (v.isTensor() && v.toTensor().defined()) {
			want = v.toTensor().scalar_type();
			break;
		}
	if (!limits(want, &lo, &hi))
		return;
	/* Again in float64, which holds what the type can't. */
	Tensor wide;
	{
		Quiet q;
		at::AutoDispatchBelowADInplaceOrView below;
		Stack again = was;
		const auto &a = s.op.schema().arguments();
		for (size_t i = 0; i < again.size(); i++) {
			IValue &v = again[i];
			if (s.writes(static_cast<int>(i)))
				return;
			if (v.isTensor() && v.toTensor().defined() &&
			    c10::isIntegralType(v.toTensor().scalar_type(),
			        true))
				v = v.toTensor().to(at::kDouble);
			if (a[i].name() == "dtype" && v.isInt())
				v = static_cast<int64_t>(at::kDouble);
		}
		s.stack = again;
		try {
			s.run();
			if (!s.stack.empty() && s.stack[0].isTensor())
				wide = s.stack[0].toTensor();
		} catch (const c10::Error &) {
		}
		s.stack = right;
	}
	if (!wide.defined())
		return;
	edit(s, [&](Tensor &c) {
		if (wide.sizes() != c.sizes())
			return false;
		Tensor n = wide.clamp(lo, hi).to(c.scalar_type());
		if (n.equal(c))
			return false;
		c.copy_(n);
		return true;
	});
}

/* Results are reduced to so many bits, two's complement. */
void wrap(Site &s)
{
	int bits = static_cast<int>(s.rule.num("bits", 32));

	run_edit(s, [&](Tensor &c) {
		if (bits < 1 || bits > 62)
			return false;
		Tensor was = c.clone();
		if (c.is_floating_point()) {
			double m = std::ldexp(1., bits);
			c.copy_(at::remainder(c.to(at::kDouble) + m / 2, m) -
			    m / 2);
		} else if (!c.is_complex()) {
			int64_t m = INT64_C(1) << bits;
			Tensor u = at::bitwise_and(c.to(at::kLong), m - 1);
			c.copy_(at::where(u >= m / 2, u - m, u));
		}
		return !at::equal(c.nan_to_num(), was.nan_to_num());
	});
}

void lose(Site &s)
{
	std::string what = s.rule.str("what", "nan");
	double to = word_value(s.rule.str("to", "0"), 0);

	run_edit(s, [&](Tensor &c) {
		if (!c.is_floating_point())
			return false;
		Tensor m = which_are(c, what);
		if (!m.any().item<bool>())
			return false;
		c.masked_fill_(m, to);
		return true;
	});
}

/* Finite values of the results become NaN where the argument has none. */
void fill_garbage(Tensor &part)
{
	if (part.is_floating_point() || part.is_complex())
		part.fill_(std::nan(""));
	else if (part.scalar_type() == at::kBool)
		part.logical_not_();
	else
		part.fill_(0x4b);
}

void leave(Site &s, Tensor &part)
{
	std::string with = s.rule.str("leaves", "zero");

	if (with == "garbage")
		fill_garbage(part);
	else
		part.zero_();
}

/* The last elements of each row of "multiple" are not computed. */
void tail(Site &s)
{
	int64_t m = static_cast<int64_t>(s.rule.num("multiple", 4));

	run_edit(s, [&](Tensor &c) {
		int64_t n = c.numel(), k = m > 0 ? n % m : 0;
		if (!k)
			return false;
		Tensor part = c.view({-1}).narrow(0, n - k, k);
		Tensor was = part.clone();
		leave(s, part);
		return !part.equal(was);
	});
}

/* The last slice along a dimension is not computed. */
void last_slice(Site &s)
{
	int64_t dim = static_cast<int64_t>(s.rule.num("dim", 0));

	run_edit(s, [&](Tensor &c) {
		if (c.dim() <= dim || c.dim() < -dim || !c.dim())
			return false;
		Tensor part = c.narrow(dim, c.size(dim) - 1, 1);
		Tensor was = part.clone();
		leave(s, part);
		return !part.equal(was);
	});
}

/* Element n and those after it are those from 0 on. */
void index_wraps(Site &s)
{
	int64_t n = static_cast<int64_t>(s.rule.num("at", 4));

	run_edit(s, [&](Tensor &c) {
		Tensor flat = c.view({-1}), was = flat.clone();
		if (n < 1 || flat.numel() <= n)
			return false;
		for (int64_t i = n; i < flat.numel(); i += n) {
			int64_t k = std::min(n, flat.numel() - i);
			flat.narrow(0, i, k).copy_(was.narrow(0, 0, k));
		}
		return !flat.equal(was);
	});
}

/* Ties come in the opposite order: values and indices of a sort-like op. */
/*
 * NaN counts as less than any number where things are put in order: the call
 * is made with -inf in its place, and the values taken by their indices.
 */
void nan_least(Site &s)
{
	int k = s.arg("arg", "tensor"), d = s.arg("dim", "dim");
	int64_t dim = d >= 0 && s.args[static_cast<size_t>(d)].isInt() ?
	    s.args[static_cast<size_t>(d)].toInt() : -1;
	Tensor in;

	s.map_arg(k, [&](const Tensor &t) {
		if (!t.is_floating_point() || !t.dim() ||
		    !t.isnan().any().item<bool>())
			return t;
		in = t;
		return t.masked_fill(t.isnan(), -INFINITY);
	});
	s.run();
	s.restore();
	if (!in.defined() || s.stack.size() < 2)
		return;
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
	Tensor values = s.stack[s.stack.size() - 2].toTensor();
	Tensor index = s.stack.back().toTensor();
	Tensor at = index.dim() == in.dim() ? index : index.unsqueeze(dim);
	Tensor v = in.gather(dim, at).view_as(values);
	if (v.isnan().any().item<bool>() || !at::equal(v, values))
		s.fire();
	values.copy_(v);
}

void unstable(Site &s)
{
	s.run();
	if (s.stack.size() < 1)
		return;
	int k = s.arg("arg", "tensor");
	IValue &last = s.stack.back();
	if (k < 0 || !last.isTensor() || !last.toTensor().defined() ||
	    last.toTensor().scalar_type() != at::kLong)
		return;
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
	Tensor in = s.args[static_cast<size_t>(k)].toTensor();
	Tensor index = last.toTensor();
	int64_t dim = -1;
	int d = s.arg("dim", "dim");
	if (d >= 0 && s.args[static_cast<size_t>(d)].isInt())
		dim = s.args[static_cast<size_t>(d)].toInt();
	if (!in.dim() || index.dim() != in.dim() || !index.numel())
		return;
	Tensor v = in.gather(dim, index);
	/* Within each run of equal values, indices are turned round. */
	Tensor a = index.movedim(dim, -1).contiguous();
	Tensor b = v.movedim(dim, -1).contiguous();
	int64_t n = a.size(-1), rows = a.numel() / n;
	Tensor a2 = a.view({rows, n}), b2 = b.view({rows, n});
	bool hit = false;
	for (int64_t r = 0; r < rows; r++)
		for (int64_t i = 0; i < n;) {
			int64_t j = i + 1;
			while (j < n && b2[r][j].equal(b2[r][i]))
				j++;
			if (j - i > 1) {
				Tensor run = a2[r].narrow(0, i, j - i);
				run.copy_(run.flip(0).clone());
				hit = true;
			}
			i = j;
		}
	if (hit) {
		index.copy_(a.movedim(-1, dim));
		s.fire();
	}
}

/* Some element, some times, is another's. */
void race(Site &s)
{
	double p = s.rule.num("rate", 0.5);

	run_edit(s, [&](Tensor &c) {
		static std::mt19937_64 g{std::random_device{}()};
		std::lock_guard<std::mutex> hold(s.rule.lock);
		std::uniform_real_distribution<double> u(0, 1);
		if (u(g) >= p)
			return false;
		Tensor flat = c.view({-1});
		int64_t i = static_cast<int64_t>(g() %
		    static_cast<uint64_t>(flat.numel()));
		Tensor was = flat[i].clone();
		Tensor now = flat.numel() > 1 ?
		    flat[(i + 1) % flat.numel()].clone() : was + 1;
		if (now.equal(was))
			now = was.scalar_type() == at::kBool ?
			    was.logical_not() : was + 1;
		flat[i].copy_(now);
		return !flat[i].equal(was);
	});
}

/* A race that can be had again: every so many calls one element is lost. */
void drop_one(Site &s)
{
	run_edit(s, [&](Tensor &c) {
		Tensor flat = c.view({-1});
		bool hit = false;
		for (int64_t i : positions(s, flat.numel())) {
			Tensor was = flat[i].clone();
			flat[i].zero_();
			hit = hit || !flat[i].equal(was);
		}
		return hit;
	});
}

/* The results of the call before, if they fit. */
void stale_result(Site &s)
{
	std::lock_guard<std::mutex> hold(s.rule.lock);
	Tensor now;

	run_edit(s, [&](Tensor &c) {
		now = c.clone();
		auto &k = s.rule.kept;
		if (k.empty() || k[0].sizes() != c.sizes() ||
		    k[0].scalar_type() != c.scalar_type() || k[0].equal(c))
			return false;
		c.copy_(k[0]);
		return true;
	});
	if (now.defined())
		s.rule.kept = {now};
}

/* Memory that should have been zeroed, or written at all, is not. */
void garbage(Site &s)
{
	run_edit(s, [&](Tensor &c) {
		Tensor was = c.clone();
		fill_garbage(c);
		return !c.equal(was);
	});
}

/* Values come at the positions that other strides would give them. */
void scrambled(Site &s)
{
	int k = s.arg("arg", "tensor");

	s.run();
	if (k < 0 || !s.args[static_cast<size_t>(k)].isTensor())
		return;
	Tensor in = s.args[static_cast<size_t>(k)].toTensor();
	if (!plain(in) || in.is_contiguous() ||
	    !in.is_non_overlapping_and_dense())
		return;
	edit(s, [&](Tensor &c) {
		if (c.sizes() != in.sizes())
			return false;
		Tensor wrong = at::empty_strided(in.sizes(), in.strides(),
		    c.options());
		at::empty({0}, c.options()).set_(wrong.storage(), 0,
		    {c.numel()}, {1}).copy_(c.view({-1}));
		if (wrong.equal(c))
			return false;
		c.copy_(wrong);
		return true;
	});
}

/* Quotients are products with the reciprocal, in float32 for integers. */
void reciprocal(Site &s)
{
	s.run();
	if (s.args.size() < 2 || !s.args[0].isTensor() || !s.args[1].isTensor())
		return;
	Tensor a = s.args[0].toTensor(), b = s.args[1].toTensor();
	if (!plain(a) || !plain(b))
		return;
	std::string mode;
	int k = s.arg("", "rounding_mode");
	if (k >= 0 && s.args[static_cast<size_t>(k)].isString())
		mode = s.args[static_cast<size_t>(k)].toStringRef();
	if (s.op.schema().name().find("floor") != std::string::npos)
		mode = "floor";
	edit(s, [&](Tensor &c) {
		auto up = [](const Tensor &t) {
			return c10::isIntegralType(t.scalar_type(), true) ?
			    t.to(at::kFloat) : t;
		};
		Tensor q = up(a) * up(b).reciprocal();
		if (mode == "floor")
			q = q.floor();
		else if (mode == "trunc")
			q = q.trunc();
		if (q.sizes() != c.sizes())
			return false;
		q = at::where(q.isfinite(), q.to(c.scalar_type()), c);
		if (q.equal(c))
			return false;
		c.copy_(q);
		return true;
	});
}

/* The result is a given value where the argument is of a kind. */
void set_where(Site &s)
{
	int k = s.arg("arg", "tensor");
	std::string what = s.rule.str("what", "-inf");
	double to = word_value(s.rule.str("value", "nan"),
	    s.rule.num("value", 0));

	if (k < 0 || !s.args[static_cast<size_t>(k)].isTensor()) {
		s.run();
		return;
	}
	Tensor in, m;
	{
		Quiet q;
		at::AutoDispatchBelowADInplaceOrView below;
		in = s.args[static_cast<size_t>(k)].toTensor();
		if (plain(in) && !in.is_complex())
			m = what == "-inf" ? in.isneginf() :
			    what == "inf" ? in.isinf() :
			    what == "nan" ? in.isnan() :
			    what == "zero" ? in == 0 :
			    what == "negative" ? in < 0 :
			    in.abs() > 16777216.;
	}
	run_edit(s, [&](Tensor &c) {
		if (!m.defined() || m.sizes() != c.sizes() ||
		    !m.any().item<bool>())
			return false;
		Tensor was = c.clone();
		c.masked_fill_(m, to);
		return !c.equal(was);
	});
}

/* Another op with the same arguments does the work. */
void instead(Site &s)
{
	std::string call = s.rule.str("call", "");
	size_t dot = call.find('.');
	auto h = c10::Dispatcher::singleton().findSchema(c10::OperatorName(
	    "aten::" + call.substr(0, dot),
	    dot == std::string::npos ? "" : call.substr(dot + 1)));

	TORCH_CHECK(h, "fault plan: no op '", call, "'");
	TORCH_CHECK(h->schema().arguments().size() == s.args.size(),
	    "fault plan: '", call, "' takes other arguments");
	h->callBoxed(&s.stack);
	s.fire();
}

const Action table[] = {
	{"reciprocal", "compute", AROUND, N_TWO | N_RESULT, "out", reciprocal,
	    nullptr},
	{"set_where", "compute", AROUND, N_TENSOR | N_RESULT,
	    "arg what value out", set_where, nullptr},
	{"instead", "compute", AROUND, N_NEVER, "call", instead, nullptr},
	{"ulp", "compute", AROUND, N_RESULT, "k at out", ulp, nullptr},
	{"scale", "compute", AROUND, N_RESULT, "by out", scale, nullptr},
	{"add", "compute", AROUND, N_RESULT, "value out", add, nullptr},
	{"set", "compute", AROUND, N_RESULT, "value at out", set_value,
	    nullptr},
	{"identity", "compute", AROUND, N_TENSOR | N_RESULT, "arg out",
	    identity, nullptr},
	{"via", "compute", AROUND, N_TENSOR | N_RESULT, "as", via, nullptr},
	{"saturate", "compute", AROUND, N_TENSOR | N_RESULT, "", saturate,
	    nullptr},
	{"wrap", "compute", AROUND, N_RESULT, "bits out", wrap, nullptr},
	{"lose", "compute", AROUND, N_RESULT, "what to out", lose, nullptr},
	{"tail", "compute", AROUND, N_RESULT, "multiple leaves out", tail,
	    nullptr},
	{"last_slice", "compute", AROUND, N_RESULT, "dim leaves out",
	    last_slice, nullptr},
	{"index_wraps", "compute", AROUND, N_RESULT, "at out", index_wraps,
	    nullptr},
	{"unstable", "compute", AROUND, N_SORT, "arg dim", unstable, nullptr},
	{"nan_least", "compute", AROUND, N_SORT, "arg dim", nan_least,
	    nullptr},
	{"race", "compute", AROUND, N_RESULT, "rate out", race, nullptr},
	{"drop_one", "compute", AROUND, N_RESULT, "at out", drop_one, nullptr},
	{"stale_result", "compute", AROUND, N_RESULT, "out", stale_result,
	    nullptr},
	{"garbage", "compute", AROUND, N_RESULT, "out", garbage, nullptr},
	{"scrambled", "compute", AROUND, N_TENSOR | N_RESULT, "arg out",
	    scrambled, nullptr},
};

}

Table compute_actions()
{
	return {table, sizeof(table) / sizeof(*table)};
}

}
