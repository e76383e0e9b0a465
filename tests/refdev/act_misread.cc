/*
 * Faults in how a kernel reads its arguments.
 */
#include "plan.h"

#include <cstring>

namespace refdev::faults {
namespace {

std::vector<int64_t> dense_strides(at::IntArrayRef size)
{
	std::vector<int64_t> s(size.size());
	int64_t n = 1;

	for (size_t i = size.size(); i-- > 0;) {
		s[i] = n;
		n *= std::max<int64_t>(size[i], 1);
	}
	return s;
}

/*
 * t's storage read with other strides and offset.  Where that stays inside it
 * is a view, so that writes go astray too; else a copy, with zeros for what
 * lies outside.
 */
Tensor reread(const Tensor &t, at::IntArrayRef strides, int64_t offset)
{
	int64_t item = static_cast<int64_t>(t.itemsize());
	int64_t have = static_cast<int64_t>(t.storage().nbytes()) / item;
	int64_t last = offset;

	for (int64_t i = 0; i < t.dim(); i++)
		last += (t.size(i) - 1) * strides[static_cast<size_t>(i)];
	if (!t.numel())
		return t;
	Tensor flat = at::empty({0}, t.options());
	flat.set_(t.storage(), 0, {have}, {1});
	Tensor r;
	if (last < have) {
		r = flat.as_strided(t.sizes(), strides, offset);
	} else {
		Tensor big = at::zeros({last + 1}, t.options());
		big.narrow(0, 0, have).copy_(flat);
		r = big.as_strided(t.sizes(), strides, offset).clone();
	}
	r.unsafeGetTensorImpl()->_set_conj(t.is_conj());
	r.unsafeGetTensorImpl()->_set_neg(t.is_neg());
	return r;
}

bool plain(const Tensor &t)
{
	return t.layout() == at::kStrided && !t.is_nested() &&
	    !t.is_quantized() && t.has_storage() && !t._is_zerotensor();
}

using Change = std::function<Tensor(Site &, const Tensor &)>;

/* Runs with the named argument changed, and gives written ones back. */
void with_arg(Site &s, const Change &f)
{
	bool hit = s.map_arg(s.arg("arg", "tensor"), [&](const Tensor &t) {
		return f(s, t);
	});

	s.run();
	s.restore();
	if (hit)
		s.fire();
}

void dense(Site &s)
{
	with_arg(s, [](Site &, const Tensor &t) {
		if (!plain(t) || t.is_contiguous() || !t.numel())
			return t;
		return reread(t, dense_strides(t.sizes()), t.storage_offset());
	});
}

void no_offset(Site &s)
{
	with_arg(s, [](Site &, const Tensor &t) {
		if (!plain(t) || !t.storage_offset() || !t.numel())
			return t;
		return reread(t, t.strides(), 0);
	});
}

/* A kernel that knows nothing of stride 0 finds values only once. */
void no_expand(Site &s)
{
	with_arg(s, [](Site &, const Tensor &t) {
		if (!plain(t) || !t.numel())
			return t;
		Tensor r;
		for (int64_t i = 0; i < t.dim(); i++) {
			if (t.size(i) < 2 || t.stride(i))
				continue;
			if (!r.defined())
				r = t.clone(at::MemoryFormat::Contiguous);
			r.narrow(i, 1, t.size(i) - 1).zero_();
		}
		return r.defined() ? r : t;
	});
}

void no_bit(Site &s, bool conj)
{
	with_arg(s, [=](Site &, const Tensor &t) {
		if (conj ? !t.is_conj() : !t.is_neg())
			return t;
		Tensor r = t.alias();
		if (conj)
			r.unsafeGetTensorImpl()->_set_conj(false);
		else
			r.unsafeGetTensorImpl()->_set_neg(false);
		return r;
	});
}

void no_conj(Site &s)
{
	no_bit(s, true);
}

void no_neg(Site &s)
{
	no_bit(s, false);
}

/* The operand's elements go round in memory order over the last dims. */
void broadcast(Site &s)
{
	int k = s.arg("arg", "1");
	Tensor big;

	for (auto &v : s.args)
		if (v.isTensor() && v.toTensor().defined() &&
		    (!big.defined() || v.toTensor().dim() > big.dim() ||
		        v.toTensor().numel() > big.numel()))
			big = v.toTensor();
	bool hit = s.map_arg(k, [&](const Tensor &t) {
		if (!plain(t) || !plain(big) || t.is_same(big) ||
		    t.sizes() == big.sizes() || t.numel() < 2)
			return t;
		std::vector<int64_t> size;
		try {
			size = at::infer_size(t.sizes(), big.sizes());
		} catch (const c10::Error &) {
			return t;
		}
		int64_t n = 1;
		for (int64_t d : size)
			n *= d;
		if (!n)
			return t;
		Tensor flat = t.clone(at::MemoryFormat::Contiguous).flatten();
		Tensor wrong = flat.repeat_interleave(
		    (n + flat.numel() - 1) / flat.numel()).narrow(0, 0, n)
		    .view(size);
		return wrong.equal(t.expand(size)) ? t : wrong;
	});
	s.run();
	s.restore();
	if (hit)
		s.fire();
}

/* A square operand is read with its last two dimensions exchanged. */
void transpose(Site &s)
{
	with_arg(s, [](Site &, const Tensor &t) {
		int64_t d = t.dim();
		if (!plain(t) || d < 2 || t.size(d - 1) != t.size(d - 2) ||
		    t.size(d - 1) < 2)
			return t;
		return t.transpose(d - 1, d - 2);
	});
}

void swap_args(Site &s)
{
	int a = s.arg("arg", "0"), b = s.arg("with", "1");

	if (a >= 0 && b >= 0 && a != b && !s.writes(a) && !s.writes(b)) {
		IValue &x = s.stack[static_cast<size_t>(a)];
		IValue &y = s.stack[static_cast<size_t>(b)];
		if (x.tagKind() == y.tagKind() && !x.is(y)) {
			std::swap(x, y);
			s.fire();
		}
	}
	s.run();
}

IValue from_json(const cJSON *j, const IValue &old)
{
	if (old.isBool() || cJSON_IsBool(j))
		return cJSON_IsTrue(j) ||
		    (cJSON_IsNumber(j) && j->valuedouble != 0);
	if (cJSON_IsString(j) && !old.isString() &&
	    !strcmp(j->valuestring, "none"))
		return IValue();
	if (cJSON_IsString(j))
		return IValue(std::string(j->valuestring));
	if (cJSON_IsArray(j)) {
		std::vector<int64_t> v;
		const cJSON *e;
		cJSON_ArrayForEach(e, j)
			v.push_back(e->valueint);
		return IValue(v);
	}
	if (old.isInt())
		return IValue(static_cast<int64_t>(j->valuedouble));
	return IValue(j->valuedouble);
}

/* An argument without effect: its default, none, zeros, or a given value. */
void ignore(Site &s)
{
	int k = s.arg("arg", "1");

	if (k >= 0) {
		size_t i = static_cast<size_t>(k);
		const auto &a = s.op.schema().arguments()[i];
		IValue &v = s.stack[i];
		bool tensor = v.isTensor() && v.toTensor().defined();
		if (s.rule.has("value")) {
			IValue n = from_json(s.rule.params.at("value"), v);
			if (tensor && !n.isNone()) {
				double d = s.rule.num("value", 0);
				s.map_arg(k, [&](const Tensor &t) {
					return at::full_like(t, d);
				});
			} else {
				v = n;
			}
			s.fire();
		} else if (a.default_value()) {
			IValue d = *a.default_value();
			bool same = d.isNone() ? v.isNone() :
			    !d.isTensor() && d.tagKind() == v.tagKind() &&
			    (d.isInt() ? d.toInt() == v.toInt() :
			        d.isBool() ? d.toBool() == v.toBool() :
			        d.isDouble() ? d.toDouble() == v.toDouble() :
			        false);
			if (!same) {
				v = d;
				s.fire();
			}
		} else if (a.type()->kind() == c10::TypeKind::OptionalType) {
			if (!v.isNone()) {
				v = IValue();
				s.fire();
			}
		} else if (tensor) {
			bool hit = s.map_arg(k, [](const Tensor &t) {
				return t.numel() ? at::zeros_like(t) : t;
			});
			if (hit)
				s.fire();
		}
	}
	s.run();
	s.restore();
}

/* The values that the same argument had at the call before. */
void stale(Site &s)
{
	int k = s.arg("arg", "tensor");
	std::vector<Tensor> now;
	size_t n = 0;

	std::unique_lock<std::mutex> hold(s.rule.lock);
	auto old = s.rule.kept;
	bool hit = s.map_arg(k, [&](const Tensor &t) {
		now.push_back(plain(t) ?
		    t.clone(at::MemoryFormat::Contiguous) : Tensor());
		size_t i = n++;
		if (i < old.size() && old[i].defined() && plain(t) &&
		    old[i].sizes() == t.sizes() &&
		    old[i].scalar_type() == t.scalar_type() && t.numel() &&
		    !old[i].equal(now.back()))
			return old[i].clone();
		return t;
	});
	s.rule.kept = now;
	hold.unlock();
	s.run();
	s.restore();
	if (hit)
		s.fire();
}

/* A dimension argument names the next dimension instead. */
void wrong_dim(Site &s)
{
	static const char *const names[] = {"dim", "dims", "dim0", "axis"};
	const auto &a = s.op.schema().arguments();
	int64_t rank = 0;

	for (auto &v : s.args)
		if (v.isTensor() && v.toTensor().defined()) {
			rank = v.toTensor().dim();
			break;
		}
	for (size_t i = 0; i < a.size() && rank > 1; i++) {
		IValue &v = s.stack[i];
		if (std::none_of(names, names + 4, [&](const char *n) {
			    return a[i].name() == n;
		    }))
			continue;
		if (v.isInt()) {
			int64_t d = v.toInt();
			v = (d < 0 ? d + rank : d) == rank - 1 ? 0 :
			    (d < 0 ? d + rank : d) + 1;
			s.fire();
		} else if (v.isIntList() && v.toIntVector().size() == 1) {
			int64_t d = v.toIntVector()[0];
			v = std::vector<int64_t>{((d < 0 ? d + rank : d) + 1) %
			    rank};
			s.fire();
		} else {
			continue;
		}
		break;
	}
	s.run();
}

/* Values that a kernel is given lose what makes them special. */
void lose_input(Site &s)
{
	std::string what = s.rule.str("what", "nan");

	with_arg(s, [&](Site &, const Tensor &t) {
		if (!plain(t) || !t.is_floating_point() || !t.numel())
			return t;
		Tensor d = t.clone(at::MemoryFormat::Contiguous);
		Tensor m = which_are(d, what);
		if (!m.any().item<bool>())
			return t;
		d.masked_fill_(m, 0);
		return d;
	});
}

/* All slices along a dimension are the first. */
void no_stride(Site &s)
{
	int64_t dim = static_cast<int64_t>(s.rule.num("dim", 0));

	with_arg(s, [=](Site &, const Tensor &t) {
		if (!plain(t) || t.dim() <= dim || t.dim() < -dim ||
		    !t.dim() || t.size(dim) < 2 || !t.stride(dim))
			return t;
		return t.narrow(dim, 0, 1).expand(t.sizes()).clone();
	});
}

/* All but the first element are zero. */
void first_only(Site &s)
{
	with_arg(s, [](Site &, const Tensor &t) {
		if (!plain(t) || t.numel() < 2)
			return t;
		Tensor r = at::zeros_like(t, at::MemoryFormat::Contiguous);
		r.view({-1})[0].copy_(t.flatten()[0]);
		return r.equal(t) ? t : r;
	});
}

const Action table[] = {
	{"dense", "misread", AROUND, N_TENSOR, "arg", dense, nullptr},
	{"no_offset", "misread", AROUND, N_TENSOR, "arg", no_offset, nullptr},
	{"no_expand", "misread", AROUND, N_TENSOR, "arg", no_expand, nullptr},
	{"no_conj", "misread", AROUND, N_TENSOR, "arg", no_conj, nullptr},
	{"no_neg", "misread", AROUND, N_TENSOR, "arg", no_neg, nullptr},
	{"broadcast", "misread", AROUND, N_TWO, "arg", broadcast, nullptr},
	{"transpose", "misread", AROUND, N_TENSOR, "arg", transpose, nullptr},
	{"swap", "misread", AROUND, N_TWO, "arg with", swap_args, nullptr},
	{"ignore", "misread", AROUND, N_DEFAULT, "arg value", ignore, nullptr},
	{"stale", "misread", AROUND, N_TENSOR, "arg", stale, nullptr},
	{"no_stride", "misread", AROUND, N_TENSOR, "arg dim", no_stride,
	    nullptr},
	{"first_only", "misread", AROUND, N_TENSOR, "arg", first_only,
	    nullptr},
	{"wrong_dim", "misread", AROUND, N_DIM, "", wrong_dim, nullptr},
	{"lose_input", "misread", AROUND, N_TENSOR, "arg what", lose_input,
	    nullptr},
};

}

Table misread_actions()
{
	return {table, sizeof(table) / sizeof(*table)};
}

}
