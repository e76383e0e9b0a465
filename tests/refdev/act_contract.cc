/*
 * Faults against what an op promises about its results and its arguments, and
 * faults of autograd.
 */
#include "plan.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace refdev::faults {
namespace {

bool plain(const Tensor &t)
{
	return t.defined() && t.layout() == at::kStrided && !t.is_nested() &&
	    !t.is_quantized() && t.has_storage() && !t._is_zerotensor();
}

bool shares(const Tensor &a, const Tensor &b)
{
	return a.defined() && b.defined() && a.has_storage() &&
	    b.has_storage() && a.storage().is_alias_of(b.storage());
}

std::vector<Tensor> tensors_of(const IValue &v)
{
	if (v.isTensor())
		return {v.toTensor()};
	if (v.isTensorList())
		return v.toTensorVector();
	return {};
}

bool shares_arg(Site &s, const Tensor &t)
{
	for (auto &v : s.args)
		for (auto &a : tensors_of(v))
			if (shares(a, t))
				return true;
	return false;
}

void run_map(Site &s, const std::function<Tensor(const Tensor &)> &f)
{
	s.run();
	if (s.map_out(f))
		s.fire();
}

void dtype(Site &s)
{
	std::string want = s.rule.str("to", "float64");
	at::ScalarType to = dtype_named(want);

	run_map(s, [=](const Tensor &t) {
		if (!plain(t))
			return t;
		if (t.is_complex())
			return t.scalar_type() == at::kComplexFloat ?
			    t.to(at::kComplexDouble) :
			    t.to(at::kComplexFloat);
		/* Without "to", whatever the dtype is, another. */
		if (t.scalar_type() == to)
			return s.rule.has("to") ? t : t.to(at::kFloat);
		return t.to(to);
	});
}

void shape(Site &s)
{
	std::string how = s.rule.str("how", "unsqueeze");

	run_map(s, [=](const Tensor &t) {
		if (!plain(t))
			return t;
		if (how == "flatten")
			return t.dim() == 1 ? t : t.reshape({-1});
		if (how == "squeeze") {
			Tensor r = t.squeeze();
			return r.dim() == t.dim() ? t : r;
		}
		if (how == "grow")
			return t.dim() && t.numel() ? at::cat({t,
			    t.narrow(-1, t.size(-1) - 1, 1)}, -1) : t;
		return t.unsqueeze(0);
	});
}

/* The same values under other strides. */
void strides(Site &s)
{
	std::string as = s.rule.str("as", "transposed");

	run_map(s, [=](const Tensor &t) {
		if (!plain(t) || !t.numel())
			return t;
		Tensor r;
		if (as == "contiguous") {
			r = t.clone(at::MemoryFormat::Contiguous);
		} else if (as == "channels_last") {
			if (t.dim() != 4)
				return t;
			r = t.clone(at::MemoryFormat::ChannelsLast);
		} else if (as == "stepped") {
			std::vector<int64_t> size = t.sizes().vec();
			if (size.empty())
				return t;
			size.back() *= 2;
			r = at::empty(size, t.options()).slice(-1, 0,
			    size.back(), 2);
			r.copy_(t);
		} else {
			if (t.dim() < 2)
				return t;
			r = t.transpose(0, -1).contiguous().transpose(0, -1);
		}
		return r.strides() == t.strides() ? t : r;
	});
}

/* One result fewer, or undefined where their number is fixed. */
void drop_output(Site &s)
{
	s.run();
	for (auto &v : s.stack)
		if (v.isTensorList() && !v.toTensorVector().empty()) {
			auto l = v.toTensorVector();
			l.pop_back();
			v = c10::List<Tensor>(l);
			s.fire();
			return;
		}
	for (size_t i = s.stack.size(); i-- > 1;)
		if (s.stack[i].isTensor() && s.stack[i].toTensor().defined()) {
			s.stack[i] = Tensor();
			s.fire();
			return;
		}
}

void extra_output(Site &s)
{
	s.run();
	for (auto &v : s.stack)
		if (v.isTensorList() && !v.toTensorVector().empty()) {
			auto l = v.toTensorVector();
			l.push_back(l.back().alias());
			v = c10::List<Tensor>(l);
			s.fire();
			return;
		}
}

void view_copy(Site &s)
{
	s.run();
	std::string which = s.rule.str("out", "all");
	bool hit = false;
	size_t n = 0;
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
	auto one = [&](const Tensor &t) {
		bool mine = which == "all" || std::to_string(n) == which;
		n++;
		if (!mine || !plain(t) || !shares_arg(s, t))
			return t;
		hit = true;
		return t.clone();
	};
	for (auto &v : s.stack)
		if (v.isTensor()) {
			v = one(v.toTensor());
		} else if (v.isTensorList()) {
			c10::List<Tensor> l;
			for (const Tensor &t : v.toTensorVector())
				l.push_back(one(t));
			v = l;
		}
	if (hit)
		s.fire();
}

/* A result that equals an argument comes back as a view of it. */
/* a's memory below a storage that knows nothing of it. */
Tensor in_secret(const Tensor &a)
{
	auto own = std::make_unique<Tensor>(a);
	c10::Storage hidden(c10::Storage::use_byte_size_t(),
	    a.storage().nbytes(),
	    c10::DataPtr(const_cast<void *>(a.storage().data()),
	        own.get(), [](void *p) { delete static_cast<Tensor *>(p); },
	        a.device()));

	own.release();
	return at::empty({0}, a.options()).set_(hidden, a.storage_offset(),
	    a.sizes(), a.strides());
}

void share(Site &s, bool hidden)
{
	run_map(s, [&](const Tensor &t) {
		if (!plain(t) || shares_arg(s, t))
			return t;
		for (auto &v : s.args)
			for (auto &a : tensors_of(v))
				if (plain(a) && a.numel() == t.numel() &&
				    a.scalar_type() == t.scalar_type() &&
				    a.numel() && a.is_contiguous() &&
				    (a.sizes() == t.sizes() ?
				        a.strides() == t.strides() :
				        t.is_contiguous()) &&
				    values_of(a).view({-1}).equal(
				        values_of(t).view({-1})))
					return (hidden ? in_secret(a) : a)
					    .view(t.sizes());
		return t;
	});
}

void copy_view(Site &s)
{
	share(s, false);
}

void hidden_view(Site &s)
{
	share(s, true);
}

void no_bits(Site &s)
{
	run_map(s, [](const Tensor &t) {
		if (!plain(t) || (!t.is_conj() && !t.is_neg()))
			return t;
		Tensor r = t.alias();
		r.unsafeGetTensorImpl()->_set_conj(false);
		r.unsafeGetTensorImpl()->_set_neg(false);
		return r;
	});
}

/* What should be written is written to a temporary. */
void unwritten(Site &s)
{
	bool hit = false;

	for (size_t i = 0; i < s.args.size(); i++)
		if (s.writes(static_cast<int>(i)))
			s.map_arg(static_cast<int>(i), [](const Tensor &t) {
				return plain(t) && t.numel() ? t.clone() : t;
			});
	auto swapped = s.swapped;
	s.run();
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
	bool returned = s.rule.str("returns", "temporary") == "temporary";
	for (auto &p : swapped) {
		hit = hit || p.first.sizes() != p.second.sizes() ||
		    !p.first.equal(p.second);
		if (returned)
			continue;
		for (auto &v : s.stack)
			if (v.isTensor() && v.toTensor().is_same(p.first))
				v = p.second;
	}
	s.swapped.clear();
	if (hit)
		s.fire();
}

/* The written argument is right, and is not what comes back. */
void not_returned(Site &s)
{
	run_map(s, [&](const Tensor &t) {
		for (size_t i = 0; i < s.args.size(); i++)
			if (s.writes(static_cast<int>(i)))
				for (auto &a : tensors_of(s.args[i]))
					if (a.is_same(t) && plain(t))
						return t.clone();
		return t;
	});
}

/* An out of the wrong size keeps it, with what fits. */
void not_resized(Site &s)
{
	std::vector<std::pair<Tensor, std::vector<int64_t>>> outs;

	for (size_t i = 0; i < s.args.size(); i++)
		if (s.writes(static_cast<int>(i)))
			for (auto &t : tensors_of(s.args[i]))
				if (plain(t))
					outs.emplace_back(t, t.sizes().vec());
	s.run();
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
	for (auto &o : outs)
		if (o.first.sizes() != at::IntArrayRef(o.second)) {
			o.first.resize_(o.second);
			s.fire();
		}
}

/* An out of the right size becomes flat. */
void resized(Site &s)
{
	s.run();
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
	for (size_t i = 0; i < s.args.size(); i++)
		if (s.writes(static_cast<int>(i)))
			for (auto &t : tensors_of(s.args[i]))
				if (plain(t) && t.dim() != 1) {
					t.resize_({t.numel()});
					s.fire();
				}
}

void mutates(Site &s)
{
	int k = s.arg("arg", "tensor");

	s.run();
	if (k < 0 || s.writes(k))
		return;
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
	for (auto &t : tensors_of(s.args[static_cast<size_t>(k)])) {
		if (!plain(t) || !t.numel())
			continue;
		Tensor one = t.as_strided({}, {}, t.storage_offset());
		if (t.scalar_type() == at::kBool) {
			one.logical_not_();
		} else {
			Tensor was = one.clone();
			one.add_(1);
			if (one.equal(was))
				one.zero_();
		}
		s.fire();
		return;
	}
}

/* Bytes that are not the result's: beside it, or in its gaps. */
void overrun(Site &s)
{
	std::string where = s.rule.str("where", "after");
	int64_t want = static_cast<int64_t>(s.rule.num("bytes", 4));
	/* Beyond the storage there is only so much that is ours to spoil. */
	constexpr int64_t GUARD = 64;

	auto spoil = [&](Tensor &t) {
		if (!plain(t) || !t.numel() || t.device().type() != DEV)
			return false;
		int64_t item = static_cast<int64_t>(t.itemsize());
		int64_t lo = t.storage_offset(), hi = lo;
		for (int64_t i = 0; i < t.dim(); i++)
			hi += (t.size(i) - 1) * t.stride(i);
		int64_t all = static_cast<int64_t>(t.storage().nbytes());
		char *base = static_cast<char *>(t.storage().mutable_data());
		if (where == "gap") {
			std::vector<bool> used(
			    static_cast<size_t>(hi - lo + 1));
			Tensor pos = at::arange(hi - lo + 1,
			    at::kLong).as_strided(t.sizes(), t.strides(), 0)
			    .contiguous().view({-1});
			auto p = pos.data_ptr<int64_t>();
			for (int64_t i = 0; i < pos.numel(); i++)
				used[static_cast<size_t>(p[i])] = true;
			bool hit = false;
			for (int64_t i = lo; i <= hi; i++)
				if (!used[static_cast<size_t>(i - lo)]) {
					memset(base + i * item, 0x3c,
					    static_cast<size_t>(item));
					hit = true;
				}
			if (hit)
				s.fire();
			return hit;
		}
		int64_t from = where == "before" ? lo * item - want :
		    (hi + 1) * item;
		int64_t n = want;
		if (from < -GUARD) {
			n -= -GUARD - from;
			from = -GUARD;
		}
		n = std::min(n, all + GUARD - from);
		if (n < 1)
			return false;
		memset(base + from, 0x3c, static_cast<size_t>(n));
		s.fire();
		return true;
	};
	if (!s.rule.has("arg")) {
		s.edit_out(spoil);
		return;
	}
	int k = s.arg("arg", "tensor");
	if (k < 0)
		return;
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
	for (auto &t : tensors_of(s.args[static_cast<size_t>(k)]))
		spoil(t);
}

void version(Site &s)
{
	std::vector<std::pair<Tensor, int64_t>> was;

	for (size_t i = 0; i < s.args.size(); i++)
		if (s.writes(static_cast<int>(i)))
			for (auto &t : tensors_of(s.args[i]))
				if (t.defined() && !t.is_inference())
					was.emplace_back(t, t._version());
	s.run();
	for (auto &w : was)
		if (w.first._version() != w.second) {
			c10::VariableVersion v = w.first
			    .unsafeGetTensorImpl()->version_counter();
			v.set_version(w.second);
			s.fire();
		}
}

void uninitialised(Site &s)
{
	s.run();
	s.edit_out([&](Tensor &t) {
		if (!plain(t) || !t.numel())
			return false;
		if (t.is_floating_point() || t.is_complex())
			t.fill_(std::nan(""));
		else if (t.scalar_type() == at::kBool)
			t.fill_(true);
		else
			t.fill_(0x4b);
		s.fire();
		return true;
	});
}

const Action contract_table[] = {
	{"dtype", "contract", AROUND, N_FRESH, "to out", dtype, nullptr},
	{"shape", "contract", AROUND, N_FRESH, "how out", shape, nullptr},
	{"strides", "contract", AROUND, N_FRESH, "as out", strides, nullptr},
	{"drop_output", "contract", AROUND, N_LIST, "", drop_output, nullptr},
	{"extra_output", "contract", AROUND, N_LIST, "", extra_output,
	    nullptr},
	{"view_copy", "contract", AROUND, N_VIEW, "out", view_copy, nullptr},
	{"copy_view", "contract", AROUND, N_TENSOR | N_FRESH, "out", copy_view,
	    nullptr},
	{"hidden_view", "contract", AFTER, N_TENSOR | N_FRESH, "out",
	    hidden_view, nullptr},
	{"no_bits", "contract", AROUND, N_VIEW, "out", no_bits, nullptr},
	{"unwritten", "contract", AROUND, N_WRITE, "returns", unwritten,
	    nullptr},
	{"not_returned", "contract", ABOVE, N_NEVER, "out",
	    not_returned, nullptr},
	{"not_resized", "contract", AROUND, N_OUT, "", not_resized, nullptr},
	{"resized", "contract", AROUND, N_OUT, "", resized, nullptr},
	{"mutates", "contract", AROUND, N_TENSOR, "arg", mutates, nullptr},
	{"overrun", "contract", AFTER, N_WRITE, "where bytes arg out", overrun,
	    nullptr},
	{"version", "contract", ABOVE, N_WRITE, "", version, nullptr},
	{"uninitialised", "contract", AROUND, N_ZEROS, "out", uninitialised,
	    nullptr},
};

/* Autograd. */

using torch::autograd::variable_list;
using List = variable_list;

struct Pre final : public torch::autograd::FunctionPreHook {
	std::function<Tensor(const Tensor &)> f;

	variable_list operator()(const variable_list &grads) override
	{
		List v;
		for (auto &g : grads)
			v.push_back(g.defined() ? f(g) : g);
		return v;
	}
};

struct Post final : public torch::autograd::FunctionPostHook {
	std::function<List(const List &)> f;

	variable_list operator()(const variable_list &out,
	    const variable_list &) override
	{
		return f(out);
	}
};

/* Runs, then hooks the node of each result that has one. */
void with_node(Site &s,
    const std::function<void(torch::autograd::Node &, const Tensor &)> &f)
{
	s.run();
	std::vector<torch::autograd::Node *> seen;
	for (auto &v : s.stack)
		for (auto &t : tensors_of(v)) {
			if (!t.defined() || !t.grad_fn())
				continue;
			auto n = t.grad_fn().get();
			if (std::count(seen.begin(), seen.end(), n))
				continue;
			seen.push_back(n);
			f(*n, t);
		}
}

void before_node(Site &s, std::function<Tensor(Rule &, const Tensor &)> f)
{
	Rule *r = &s.rule;

	with_node(s, [&](torch::autograd::Node &n, const Tensor &) {
		auto h = std::make_unique<Pre>();
		h->f = [=](const Tensor &g) {
			Tensor x = f(*r, g);
			if (!x.is_same(g))
				r->fire();
			return x;
		};
		n.add_pre_hook(std::move(h));
	});
}

/* Nothing that could be told apart, in values or in the graph. */
bool alike(const Tensor &a, const Tensor &b)
{
	if (!a.defined() || !b.defined())
		return a.defined() == b.defined();
	return a.layout() == at::kStrided && b.layout() == at::kStrided &&
	    a.scalar_type() == b.scalar_type() && !a.requires_grad() &&
	    !b.requires_grad() && a.equal(b);
}

/* Twice a gradient of zero, as that of a draw is, is zero. */
void fire_unless_alike(Rule &r, const List &was, const List &now)
{
	if (std::equal(was.begin(), was.end(), now.begin(), now.end(), alike))
		r.in_vain();
	else
		r.fire();
}

void after_node(Site &s, std::function<bool(Rule &, List &)> f)
{
	Rule *r = &s.rule;

	with_node(s, [&](torch::autograd::Node &n, const Tensor &) {
		auto h = std::make_unique<Post>();
		h->f = [=](const List &out) {
			List v = out;
			if (f(*r, v))
				fire_unless_alike(*r, out, v);
			return v;
		};
		n.add_post_hook(std::move(h));
	});
}

/* An expanded incoming gradient: only the memory that it has is right. */
void grad_no_expand(Site &s)
{
	before_node(s, [](Rule &, const Tensor &g) {
		if (g.layout() != at::kStrided)
			return g;
		Tensor r;
		for (int64_t i = 0; i < g.dim(); i++)
			if (g.size(i) > 1 && !g.stride(i)) {
				if (!r.defined())
					r = g.detach().clone(
					    at::MemoryFormat::Contiguous);
				r.narrow(i, 1, g.size(i) - 1).zero_();
			}
		return r.defined() ? r : g;
	});
}

/* A strided incoming gradient is read in memory order. */
void grad_dense(Site &s)
{
	before_node(s, [](Rule &, const Tensor &g) {
		if (g.layout() != at::kStrided || g.is_contiguous() ||
		    !g.is_non_overlapping_and_dense())
			return g;
		return at::empty({0}, g.options()).set_(g.storage(),
		    g.storage_offset(), {g.numel()}, {1}).clone()
		    .view(g.sizes());
	});
}

/* Broadcast dimensions are not summed over: one slice stands for all. */
void grad_no_reduce(Site &s)
{
	Rule *r = &s.rule;
	auto args = s.args;

	with_node(s, [&](torch::autograd::Node &n, const Tensor &out) {
		std::vector<int64_t> dims;
		for (auto &v : args)
			for (auto &t : tensors_of(v)) {
				if (!t.defined() || !t.requires_grad())
					continue;
				int64_t lead = out.dim() - t.dim();
				for (int64_t i = 0; i < out.dim(); i++)
					if (out.size(i) > 1 && (i < lead ||
					    t.size(i - lead) == 1))
						dims.push_back(i);
			}
		if (dims.empty())
			return;
		auto h = std::make_unique<Pre>();
		h->f = [=](const Tensor &g) {
			Tensor x = g.clone(at::MemoryFormat::Contiguous);
			for (int64_t d : dims)
				if (d < x.dim() && x.size(d) > 1)
					x.narrow(d, 1, x.size(d) - 1).zero_();
			r->fire();
			return x;
		};
		n.add_pre_hook(std::move(h));
	});
}

/* With only some of the inputs differentiated, their gradient is wrong. */
void grad_mask(Site &s)
{
	Rule *r = &s.rule;

	with_node(s, [&](torch::autograd::Node &n, const Tensor &) {
		size_t live = 0;
		for (auto &e : n.next_edges())
			live += e.is_valid();
		if (live == n.num_outputs() || !live)
			return;
		auto h = std::make_unique<Post>();
		h->f = [=](const List &out) {
			List v = out;
			for (auto &g : v)
				if (g.defined())
					g = g * 0;
			fire_unless_alike(*r, out, v);
			return v;
		};
		n.add_post_hook(std::move(h));
	});
}

/*
 * f on the gradient of each input, or of the argument that "input" names.
 * Which of the node's gradients that is, its edges say.
 */
void on_grads(Site &s, const std::function<Tensor(const Tensor &)> &f)
{
	bool all = !s.rule.has("input");
	int k = all ? -1 : s.arg("input", "");
	List mine;

	if (k >= 0)
		mine = tensors_of(s.args[static_cast<size_t>(k)]);
	Rule *r = &s.rule;
	with_node(s, [&](torch::autograd::Node &n, const Tensor &) {
		std::set<size_t> which;
		for (size_t i = 0; i < n.num_outputs(); i++) {
			bool want = all;
			for (auto &t : mine)
				want = want || (t.defined() &&
				    t.requires_grad() && n.next_edge(i) ==
				    torch::autograd::impl::gradient_edge(t));
			if (want)
				which.insert(i);
		}
		auto h = std::make_unique<Post>();
		h->f = [=](const List &out) {
			List v = out;
			for (size_t i : which)
				if (i < v.size() && v[i].defined()) {
					v[i] = f(v[i]);
					r->fire();
				}
			return v;
		};
		n.add_post_hook(std::move(h));
	});
}

void grad_scale(Site &s)
{
	double by = s.rule.num("by", 2);

	on_grads(s, [=](const Tensor &g) { return g * by; });
}

/* No gradient for an input that should have one. */
void grad_drop(Site &s)
{
	on_grads(s, [](const Tensor &) { return Tensor(); });
}

/* First derivatives are right; those of the gradient are doubled. */
void grad_double(Site &s)
{
	after_node(s, [](Rule &, List &v) {
		bool hit = false;
		if (!at::GradMode::is_enabled())
			return false;
		for (auto &g : v)
			if (g.defined() && g.requires_grad()) {
				g = g + (g - g.detach());
				hit = true;
			}
		return hit;
	});
}

/* The result is not part of the graph. */
void grad_detach(Site &s)
{
	s.run();
	for (auto &v : s.stack)
		if (v.isTensor() && v.toTensor().defined() &&
		    v.toTensor().requires_grad()) {
			v = v.toTensor().detach();
			s.fire();
		}
}

const Action autograd_table[] = {
	{"grad_no_expand", "autograd", ABOVE, N_GRAD, "", grad_no_expand,
	    nullptr},
	{"grad_dense", "autograd", ABOVE, N_GRAD, "", grad_dense, nullptr},
	{"grad_no_reduce", "autograd", ABOVE, N_GRAD | N_TWO, "",
	    grad_no_reduce, nullptr},
	{"grad_mask", "autograd", ABOVE, N_GRAD | N_TWO, "", grad_mask,
	    nullptr},
	{"grad_scale", "autograd", ABOVE, N_GRAD, "by input", grad_scale,
	    nullptr},
	{"grad_drop", "autograd", ABOVE, N_GRAD, "input", grad_drop, nullptr},
	{"grad_double", "autograd", ABOVE, N_GRAD, "", grad_double, nullptr},
	{"grad_detach", "autograd", ABOVE, N_GRAD, "", grad_detach, nullptr},
};

}

Table contract_actions()
{
	return {contract_table,
	    sizeof(contract_table) / sizeof(*contract_table)};
}

Table autograd_actions()
{
	return {autograd_table,
	    sizeof(autograd_table) / sizeof(*autograd_table)};
}

}
