/*
 * Does a rule want this call?
 */
#include "plan.h"

#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/graph_task.h>

#include <cmath>
#include <cstring>
#include <fnmatch.h>

namespace refdev::faults {
namespace {

std::string layout_name(at::Layout l)
{
	switch (l) {
	case at::kStrided: return "strided";
	case at::kSparse: return "sparse_coo";
	case at::kSparseCsr: return "sparse_csr";
	case at::kSparseCsc: return "sparse_csc";
	case at::kSparseBsr: return "sparse_bsr";
	case at::kSparseBsc: return "sparse_bsc";
	default: return "other";
	}
}

const std::pair<at::ScalarType, const char *> dtypes[] = {
	{at::kByte, "uint8"}, {at::kChar, "int8"},
	{at::kShort, "int16"}, {at::kInt, "int32"},
	{at::kLong, "int64"}, {at::kHalf, "float16"},
	{at::kFloat, "float32"}, {at::kDouble, "float64"},
	{at::kComplexHalf, "complex32"},
	{at::kComplexFloat, "complex64"},
	{at::kComplexDouble, "complex128"}, {at::kBool, "bool"},
	{at::kBFloat16, "bfloat16"}, {at::kUInt16, "uint16"},
	{at::kUInt32, "uint32"}, {at::kUInt64, "uint64"},
	{at::kFloat8_e4m3fn, "float8_e4m3fn"},
	{at::kFloat8_e5m2, "float8_e5m2"},
};

std::string dtype_name(at::ScalarType t)
{
	for (auto &n : dtypes)
		if (n.first == t)
			return n.second;
	return c10::toString(t);
}

double least_normal(at::ScalarType t)
{
	return t == at::kDouble ? std::numeric_limits<double>::min() :
	    t == at::kHalf ? 0x1p-14 : std::numeric_limits<float>::min();
}

/* Whether any of the values has a property that kernels get wrong. */
bool contains(const Tensor &t, const Cond &want)
{
	Tensor v = values_of(t);

	if (!v.numel())
		return false;
	if (v.is_complex())	/* either part will do */
		v = at::view_as_real(v);
	bool fp = v.is_floating_point();
	auto has = [&](const Tensor &mask) {
		return mask.any().item<bool>();
	};
	Tensor d = v.to(at::kDouble);
	if (want("nan") && fp && has(d.isnan()))
		return true;
	if (want("inf") && fp && has(d.isinf()))
		return true;
	if (want("negzero") && fp && has((d == 0) & d.signbit()))
		return true;
	if (want("subnormal") && fp && has((d != 0) & (d.abs() <
	    least_normal(v.scalar_type()))))
		return true;
	if (want("zero") && has(d == 0))
		return true;
	if (want("negative") && has(d < 0))
		return true;
	if (want("big24") && has(d.abs() > 16777216.))
		return true;
	if (want("big31") && has(d.abs() >= 2147483648.))
		return true;
	if (want("big53") && has(d.abs() > 9007199254740992.))
		return true;
	if (want("equal") && has((d == d.flatten()[0]).all()))
		return true;
	return want("ties") && std::get<0>(at::_unique(d)).numel() < d.numel();
}

const char *type_name(const IValue &v)
{
	return v.isNone() ? "none" : v.isTensor() ? "tensor" :
	    v.isBool() ? "bool" : v.isInt() ? "int" :
	    v.isDouble() ? "float" : v.isComplexDouble() ? "complex" :
	    v.isString() ? "string" : v.isList() ? "list" : "other";
}

bool scalar_value(const IValue &v, const Cond &c)
{
	if (v.isInt())
		return c(static_cast<double>(v.toInt()));
	if (v.isDouble())
		return c(v.toDouble());
	if (v.isBool())
		return c(static_cast<double>(v.toBool()));
	if (v.isString())
		return c(v.toStringRef());
	if (v.isIntList()) {
		for (int64_t x : v.toIntVector())
			if (c(static_cast<double>(x)))
				return true;
		return false;
	}
	if (v.isTensor() && v.toTensor().defined() &&
	    v.toTensor().numel() == 1) {
		Tensor t = values_of(v.toTensor());
		return !t.is_complex() && c(t.to(at::kDouble).item<double>());
	}
	return false;
}

bool tensor_cond(const Tensor &t, const std::string &k, const Cond &c)
{
	if (k == "defined")
		return c(static_cast<double>(t.defined()));
	if (!t.defined())
		return false;
	if (k == "rank")
		return c(static_cast<double>(t.dim()));
	if (k == "numel")
		return c(static_cast<double>(t.numel()));
	if (k == "nbytes")
		return c(static_cast<double>(t.nbytes()));
	if (k == "layout")
		return c(layout_name(t.layout()));
	if (k == "dtype")
		return c(dtype_name(t.scalar_type()));
	if (k == "host")
		return c(static_cast<double>(t.device().is_cpu()));
	if (k == "requires_grad")
		return c(static_cast<double>(t.requires_grad()));
	if (k == "wrapped")
		return c(static_cast<double>(
		    t.unsafeGetTensorImpl()->is_wrapped_number()));
	if (t.layout() != at::kStrided || t.is_nested())
		return false;
	if (k == "conj")
		return c(static_cast<double>(t.is_conj()));
	if (k == "neg")
		return c(static_cast<double>(t.is_neg()));
	if (k == "offset")
		return c(static_cast<double>(t.storage_offset()));
	if (k == "contains")
		return contains(t, c);
	if (k == "strides") {
		std::string s = stride_class(t);
		return c(s) || (s != "dense" && c("noncontiguous"));
	}
	return false;
}

bool relation(const Tensor &a, const Tensor &b, const std::string &k)
{
	if (!a.defined() || !b.defined())
		return false;
	if (k == "is")
		return a.is_same(b);
	if (k == "same_shape")
		return a.sizes() == b.sizes();
	if (k == "same_dtype")
		return a.scalar_type() == b.scalar_type();
	if (k == "shares")
		return a.has_storage() && b.has_storage() &&
		    a.storage().is_alias_of(b.storage());
	return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
	    a.layout() == at::kStrided && b.layout() == at::kStrided &&
	    values_of(a).equal(values_of(b));
}

int index_of(const OperatorHandle &op, const std::string &arg)
{
	const auto &a = op.schema().arguments();

	for (size_t i = 0; i < a.size(); i++)
		if (a[i].name() == arg)
			return static_cast<int>(i);
	char *end;
	long n = strtol(arg.c_str(), &end, 10);
	if (arg.empty() || *end || n >= static_cast<long>(a.size()))
		return -1;
	return static_cast<int>(n < 0 ? n + static_cast<long>(a.size()) : n);
}

std::vector<Tensor> tensors_in(const IValue &v)
{
	std::vector<Tensor> r;

	if (v.isTensor())
		r.push_back(v.toTensor());
	else if (v.isTensorList())
		r = v.toTensorVector();
	else if (v.isOptionalTensorList())
		for (const auto &t : v.toOptionalTensorVector())
			r.push_back(t ? *t : Tensor());
	return r;
}

bool pred_on(const Pred &p, const OperatorHandle &op, const Stack &args,
    const IValue &v, const Tensor *t)
{
	for (auto &c : p.conds) {
		bool ok;
		if (c.first == "none")
			ok = c.second(static_cast<double>(v.isNone()));
		else if (c.first == "type")
			ok = c.second(std::string(type_name(v)));
		else if (c.first == "len")
			ok = v.isList() && c.second(static_cast<double>(
			    v.toListRef().size()));
		else if (c.first == "value")
			ok = scalar_value(v, c.second);
		else
			ok = t && tensor_cond(*t, c.first, c.second);
		if (!ok)
			return false;
	}
	if (p.has_shape) {
		if (!t || !t->defined() ||
		    t->dim() != static_cast<int64_t>(p.shape.size()))
			return false;
		for (size_t i = 0; i < p.shape.size(); i++)
			if (p.shape[i] >= 0 && p.shape[i] !=
			    t->size(static_cast<int64_t>(i)))
				return false;
	}
	if (p.has_size) {
		if (!t || !t->defined() || t->dim() <= p.size_dim ||
		    t->dim() < -p.size_dim ||
		    !p.size(static_cast<double>(t->size(p.size_dim))))
			return false;
	}
	for (auto &r : p.relations) {
		int i = index_of(op, r.second);
		if (i < 0 || !t)
			return false;
		bool ok = false;
		for (auto &o : tensors_in(args[static_cast<size_t>(i)]))
			ok = ok || relation(*t, o, r.first);
		if (!ok)
			return false;
	}
	return true;
}

bool pred_holds(const Pred &p, const OperatorHandle &op, const Stack &args)
{
	bool all = p.arg == "all", any = p.arg == "any";
	bool found = false;
	int only = any || all ? -1 : index_of(op, p.arg);

	if (!any && !all && only < 0)
		return false;
	for (size_t i = 0; i < args.size(); i++) {
		if (only >= 0 && i != static_cast<size_t>(only))
			continue;
		const IValue &v = args[i];
		auto ts = tensors_in(v);
		if (ts.empty()) {
			if ((any || all) && !v.isScalar())
				continue;
			if (all)
				continue;
			if (pred_on(p, op, args, v, nullptr))
				return true;
			continue;
		}
		for (auto &t : ts) {
			bool ok = pred_on(p, op, args, v, &t);
			if (ok && !all)
				return true;
			if (!ok && all)
				return false;
			found = found || ok;
		}
	}
	return found;
}

bool dtype_ok(const Rule &r, const OperatorHandle &op, const Stack &args)
{
	std::string got;

	if (r.dtypes.empty())
		return true;
	for (size_t i = 0; i < args.size() && got.empty(); i++)
		for (auto &t : tensors_in(args[i]))
			if (t.defined()) {
				got = dtype_name(t.scalar_type());
				break;
			}
	for (size_t i = 0; i < args.size() && got.empty(); i++)
		if (op.schema().arguments()[i].name() == "dtype" &&
		    args[i].isInt())
			got = dtype_name(args[i].toScalarType());
	if (got.empty())
		got = dtype_name(c10::typeMetaToScalarType(
		    at::get_default_dtype()));
	for (auto &d : r.dtypes)
		if (glob_op(d, got))
			return true;
	return false;
}

/*
 * Within a kernel autocast is off, whatever it was where the op was called;
 * how many contexts there are around can be asked by entering one.
 */
bool in_autocast()
{
	at::autocast::increment_nesting();
	return at::autocast::decrement_nesting() > 0;
}

/* cts-exec names the case that it runs in the environment. */
bool case_ok(const Rule &r)
{
	const char *id = getenv("CTS_CASE");

	if (r.cases.empty())
		return true;
	for (auto &c : r.cases)
		if (id && fnmatch(c.c_str(), id, 0) == 0)
			return true;
	return false;
}

bool form_ok(const Rule &r, const OperatorHandle &op)
{
	if (r.forms.empty())
		return true;
	bool out = false, inplace = false;
	for (auto &a : op.schema().arguments())
		if (a.alias_info() && a.alias_info()->isWrite()) {
			out = out || a.kwarg_only();
			inplace = inplace || !a.kwarg_only();
		}
	bool back = in_backward();
	for (auto &f : r.forms)
		if (f == "any" || (f == "backward" && back) ||
		    (f == "forward" && !back) || (f == "out" && out) ||
		    (f == "inplace" && inplace) ||
		    (f == "functional" && !out && !inplace))
			return true;
	return false;
}

}

at::ScalarType dtype_named(const std::string &name)
{
	for (auto &n : dtypes)
		if (name == n.second)
			return n.first;
	TORCH_CHECK(false, "fault plan: no dtype '", name, "'");
}

std::vector<std::string> dtype_names()
{
	std::vector<std::string> v;

	for (int i = 0; i < static_cast<int>(at::ScalarType::NumOptions); i++)
		v.push_back(dtype_name(static_cast<at::ScalarType>(i)));
	return v;
}

bool glob_op(const std::string &glob, const std::string &full)
{
	const char *s = full.c_str();

	if (!full.compare(0, 6, "aten::") &&
	    glob.find("::") == std::string::npos)
		s += 6;
	return fnmatch(glob.c_str(), s, 0) == 0;
}

bool in_backward()
{
	return torch::autograd::get_current_graph_task_id() != -1;
}

std::string stride_class(const Tensor &t)
{
	if (t.is_contiguous())
		return "dense";
	if (t.dim() == 4 && t.is_contiguous(at::MemoryFormat::ChannelsLast))
		return "channels_last";
	if (t.dim() == 5 && t.is_contiguous(at::MemoryFormat::ChannelsLast3d))
		return "channels_last_3d";
	for (int64_t i = 0; i < t.dim(); i++)
		if (t.size(i) > 1 && t.stride(i) == 0)
			return "expanded";
	if (t.is_non_overlapping_and_dense())
		return "transposed";
	std::vector<std::pair<int64_t, int64_t>> d;
	for (int64_t i = 0; i < t.dim(); i++)
		if (t.size(i) > 1)
			d.emplace_back(t.stride(i), t.size(i));
	std::sort(d.begin(), d.end());
	int64_t reach = 0;
	for (auto &e : d) {
		if (e.first <= reach)
			return "overlapping";
		reach += e.first * (e.second - 1);
	}
	return "stepped";
}

Tensor values_of(const Tensor &t)
{
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
	Tensor v = t.detach().resolve_conj().resolve_neg();

	return v.device().is_cpu() ? v.contiguous() : v.cpu().contiguous();
}

Tensor which_are(const Tensor &t, const std::string &what)
{
	at::ScalarType type = t.scalar_type();
	int least = type == at::kDouble ? -1022 : type == at::kHalf ? -14 :
	    -126;
	int most = type == at::kDouble ? 1023 : type == at::kHalf ? 15 : 127;

	if (what == "nan")
		return t.isnan();
	if (what == "inf")
		return t.isinf();
	if (what == "negzero")
		return (t == 0) & t.signbit();
	if (what == "extreme")
		return (t.abs() > std::ldexp(1.5, most)) & ~t.isinf();
	return (t != 0) & (t.abs() < std::ldexp(1., least));
}

bool matches(Rule &r, const OperatorHandle &op, const Stack &args)
{
	if (!case_ok(r))
		return false;
	if (!r.after.empty() && !r.after_ran.load())
		return false;
	if (r.grad >= 0 && (r.grad == 1) != at::GradMode::is_enabled())
		return false;
	if (r.autocast >= 0 && (r.autocast == 1) != in_autocast())
		return false;
	if (!form_ok(r, op) || !dtype_ok(r, op, args))
		return false;
	for (auto &p : r.preds)
		if (pred_holds(p, op, args) == p.negate)
			return false;
	int64_t n = ++r.matched;
	if (r.has_nth && !r.nth(static_cast<double>(n)))
		return false;
	if (r.prob < 1) {
		std::lock_guard<std::mutex> hold(r.lock);
		std::uniform_real_distribution<double> u(0, 1);
		return u(r.rng) < r.prob;
	}
	return true;
}

}
