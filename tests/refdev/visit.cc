/*
 * A call under the rules that want it, and where calls are caught that have
 * no kernel of ours: composite ops, and autograd's own kernels.
 */
#include "plan.h"

#include <ATen/native/CPUFallback.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>
#include <unordered_map>

namespace refdev::faults {
namespace {

thread_local int quiet = 0;

std::mutex cache_lock;
/* Per op: the rules whose glob it fits, and whose "after" it is. */
struct Fit {
	std::vector<Rule *> want, after;
};
std::unordered_map<c10::OperatorName, Fit> cache;
uint64_t cached_for = 0;

bool fits(const std::vector<std::string> &globs, const std::string &full)
{
	for (auto &g : globs)
		if (glob_op(g, full))
			return true;
	return false;
}

/* By value: another thread may load a plan, which empties the cache. */
Fit fit_of(const OperatorHandle &op)
{
	std::lock_guard<std::mutex> hold(cache_lock);
	uint64_t now = generation();
	auto all = rules();

	if (cached_for != now) {
		cache.clear();
		cached_for = now;
	}
	auto it = cache.find(op.operator_name());
	if (it != cache.end())
		return it->second;
	Fit f;
	std::string full = c10::toString(op.operator_name());
	for (auto r : all) {
		if (fits(r->ops, full))
			f.want.push_back(r);
		if (!r->after.empty() && glob_op(r->after, full))
			f.after.push_back(r);
	}
	return cache[op.operator_name()] = f;
}

/* Edits of tensors here are not autograd's business. */
struct Raw {
	Quiet q;
	at::AutoDispatchBelowADInplaceOrView below;
};

std::vector<Tensor> list_of(const IValue &v)
{
	if (v.isTensor())
		return {v.toTensor()};
	if (v.isTensorList())
		return v.toTensorVector();
	return {};
}

bool map_value(IValue &v, const std::function<Tensor(const Tensor &)> &f)
{
	bool hit = false;
	auto one = [&](const Tensor &t) {
		if (!t.defined())
			return t;
		Tensor n = f(t);
		hit = hit || !n.is_same(t);
		return n;
	};

	if (v.isTensor()) {
		v = one(v.toTensor());
	} else if (v.isTensorList()) {
		c10::List<Tensor> l;
		for (const Tensor &t : v.toTensorVector())
			l.push_back(one(t));
		v = l;
	} else if (v.isOptionalTensorList()) {
		c10::List<std::optional<Tensor>> l;
		for (const auto &t : v.toOptionalTensorVector())
			l.push_back(t ? std::optional<Tensor>(one(*t)) :
			    std::nullopt);
		v = l;
	}
	return hit;
}

/* Bytes of a tensor's values, with all that tells one from another. */
std::string image(const Tensor &t)
{
	if (!t.defined())
		return "-";
	std::ostringstream o;
	o << t.scalar_type() << t.layout();
	if (t.is_nested() || t.is_quantized() || t._is_zerotensor())
		return o.str() + "?";
	o << t.sizes();
	if (t.layout() == at::kSparse)
		return o.str() + image(t._indices()) + image(t._values());
	if (t.layout() != at::kStrided)
		return o.str() + "?";
	Tensor v = values_of(t);
	return o.str() + std::string(static_cast<const char *>(v.data_ptr()),
	    v.nbytes());
}

/* What a call did: its results, and the arguments that it may write. */
std::string outcome(Site &s)
{
	Raw raw;
	std::string r;

	for (auto &v : s.stack) {
		for (auto &t : list_of(v))
			r += image(t);
		if (!v.isTensor() && !v.isTensorList()) {
			std::ostringstream o;
			o << v;
			r += o.str();
		}
	}
	for (size_t i = 0; i < s.args.size(); i++)
		if (s.writes(static_cast<int>(i)))
			for (auto &t : list_of(s.args[i]))
				r += image(t);
	return r;
}

/*
 * The same call as it should be, on copies of what it writes; "" where that
 * can't be had without disturbing something.
 */
std::string healthy(const OperatorHandle &op, Rule &rule, const Stack &args,
    Stack &stack, const std::function<void()> &kernel)
{
	Stack keep = stack;
	std::string r;
	Site s{op, rule, KERNEL, stack, args, kernel, {}};

	for (auto &v : args)
		if (v.isGenerator())
			return r;
	if (op.hasTag(at::Tag::nondeterministic_seeded))
		return r;
	for (size_t i = 0; i < args.size(); i++)
		if (s.writes(static_cast<int>(i))) {
			if (!args[i].isTensor() ||
			    !args[i].toTensor().defined())
				return r;
			Tensor t = args[i].toTensor();
			if (t.layout() != at::kStrided || t.is_quantized())
				return r;
			Raw raw;
			IValue c = t.clone();
			s.args[i] = c;
			stack[i] = c;
		}
	try {
		s.run();
		r = outcome(s);
	} catch (const std::exception &e) {
		r = "raised";
	}
	stack = keep;
	return r;
}

bool comparable(const Action *a)
{
	static const std::set<std::string> more = {"via", "instead",
	    "saturate"};

	return !strcmp(a->group, "misread") || more.count(a->name);
}

}

Quiet::Quiet()
{
	quiet++;
}

Quiet::~Quiet()
{
	quiet--;
}

int Site::arg(const char *key, const char *def) const
{
	std::string want = rule.str(key, def);
	const auto &a = op.schema().arguments();

	if (want == "tensor") {
		for (size_t i = 0; i < a.size(); i++)
			if (!list_of(args[i]).empty())
				return static_cast<int>(i);
		return -1;
	}
	for (size_t i = 0; i < a.size(); i++)
		if (a[i].name() == want)
			return static_cast<int>(i);
	char *end;
	long n = strtol(want.c_str(), &end, 10);
	if (want.empty() || *end)
		return -1;
	if (n < 0)
		n += static_cast<long>(a.size());
	return n < 0 || n >= static_cast<long>(a.size()) ? -1 :
	    static_cast<int>(n);
}

bool Site::writes(int i) const
{
	auto a = op.schema().arguments()[static_cast<size_t>(i)].alias_info();

	return a && a->isWrite();
}

bool Site::map_arg(int i, const std::function<Tensor(const Tensor &)> &f)
{
	if (i < 0)
		return false;
	Raw raw;
	bool w = writes(i);
	return map_value(stack[static_cast<size_t>(i)], [&](const Tensor &t) {
		Tensor n = f(t);
		if (w && !n.is_same(t))
			swapped.emplace_back(n, t);
		return n;
	});
}

void Site::restore()
{
	Raw raw;

	for (auto &p : swapped) {
		if (!(p.first.has_storage() && p.second.has_storage() &&
		    p.first.storage().is_alias_of(p.second.storage())) &&
		    p.first.sizes() == p.second.sizes())
			p.second.copy_(p.first);
		for (auto &v : stack)
			map_value(v, [&](const Tensor &t) {
				return t.is_same(p.first) ? p.second : t;
			});
	}
	swapped.clear();
}

bool Site::map_out(const std::function<Tensor(const Tensor &)> &f)
{
	std::string which = rule.str("out", "0");
	bool all = which == "all", hit = false;
	size_t only = all ? 0 : strtoul(which.c_str(), nullptr, 10);
	size_t n = 0;
	Raw raw;

	for (auto &v : stack)
		map_value(v, [&](const Tensor &t) {
			bool mine = all || n == only;
			n++;
			if (!mine)
				return t;
			Tensor r = f(t);
			hit = hit || !r.is_same(t);
			return r;
		});
	return hit;
}

bool Site::edit_out(const std::function<bool(Tensor &)> &f)
{
	std::string which = rule.str("out", "0");
	bool all = which == "all", hit = false;
	size_t only = all ? 0 : strtoul(which.c_str(), nullptr, 10);
	std::vector<Tensor> ts;
	Raw raw;

	for (auto &v : stack)
		for (auto &t : list_of(v))
			ts.push_back(t);
	if (ts.empty())
		for (size_t i = 0; i < args.size(); i++)
			if (writes(static_cast<int>(i)))
				for (auto &t : list_of(args[i]))
					ts.push_back(t);
	for (size_t i = 0; i < ts.size(); i++)
		if ((all || i == only) && ts[i].defined())
			hit = f(ts[i]) || hit;
	return hit;
}

Visit::Visit(const OperatorHandle &op, const Stack &stack, Level l)
    : op_(op), level_(l)
{
	if (!any_rules() || quiet)
		return;
	const std::string &p = poison();
	TORCH_CHECK(p.empty(), p);
	Fit f = fit_of(op);
	after_ = f.after;
	for (auto r : f.want) {
		bool above = r->action->place == ABOVE;
		if (above ? l == KERNEL : l == AUTOGRAD)
			continue;
		if (!matches(*r, op, stack))
			continue;
		rules_.push_back(r);
		if (r->action->place == AFTER)
			args_ = stack;
	}
}

/* What a composite op is made of runs before it has run itself. */
Visit::~Visit()
{
	for (auto r : after_)
		r->after_ran.store(true);
}

bool Visit::mixed_ok() const
{
	return std::any_of(rules_.begin(), rules_.end(), [](Rule *r) {
		return !strcmp(r->action->name, "mixed_devices");
	});
}

bool Visit::before(Stack &stack)
{
	for (auto r : rules_)
		if (r->action->place == BEFORE) {
			Site s{op_, *r, level_, stack, stack, nullptr, {}};
			if (r->action->before(s))
				return true;
		}
	return false;
}

void Visit::run(Stack &stack, const std::function<void()> &kernel)
{
	std::function<void()> f = kernel;
	/* The first rule of the plan is the outermost. */
	for (size_t i = rules_.size(); i-- > 0;) {
		Rule *r = rules_[i];
		if (r->action->place != AROUND && r->action->place != ABOVE)
			continue;
		f = [this, r, &stack, inner = std::move(f)] {
			Site s{op_, *r, level_, stack, stack, inner, {}};
			std::string want;
			if (level_ == KERNEL && comparable(r->action))
				want = healthy(op_, *r, s.args, stack, inner);
			s.compared = !want.empty();
			try {
				r->action->fn(s);
			} catch (...) {
				if (s.compared && want != "raised")
					r->fire();
				throw;
			}
			if (s.hit && outcome(s) != want)
				r->fire();
			else if (s.hit)
				r->in_vain();
		};
	}
	f();
}

void Visit::after(Stack &stack)
{
	for (auto r : rules_)
		if (r->action->place == AFTER) {
			Site s{op_, *r, level_, stack, args_, [] {}, {}};
			r->action->fn(s);
		}
}

namespace {

std::set<std::string> interposed, ours;

/*
 * A composite op, or the autograd kernel of one that we serve: the kernel that
 * the CPU has in the same place does the work, on device tensors.
 */
void above(const OperatorHandle &op, c10::DispatchKeySet ks, Stack *stack)
{
	size_t n = op.schema().arguments().size();
	Stack own(stack->end() - static_cast<std::ptrdiff_t>(n), stack->end());
	bool autograd = ks.highestPriorityTypeId() ==
	    c10::DispatchKey::AutogradPrivateUse1;
	auto key = autograd ? c10::DispatchKey::AutogradCPU :
	    c10::DispatchKey::CPU;
	bool served = ours.count(c10::toString(op.operator_name())) > 0;
	Visit visit(op, own, served ? AUTOGRAD : COMPOSITE);

	stack->resize(stack->size() - n);
	if (!visit.before(own)) {
		visit.run(own, [&] {
#if TORCH_FROM(9)
			auto k = op.getComputedKernelForDispatchKey(key);
			k.callBoxed(op, ks, &own);
#else
			TORCH_CHECK_NOT_IMPLEMENTED(!served,
			    "faults of autograd need PyTorch 2.9");
			op.redispatchBoxed(c10::DispatchKeySet(key), &own);
#endif
		});
		visit.after(own);
	}
	for (auto &v : own)
		stack->push_back(std::move(v));
}

}

void interpose()
{
	static auto lib = new torch::Library(torch::Library::IMPL, "aten",
	    c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
	static auto auto_lib = new torch::Library(torch::Library::IMPL, "aten",
	    c10::DispatchKey::AutogradPrivateUse1, __FILE__, __LINE__);
	auto served = overloads();
	ours.insert(served.begin(), served.end());
	auto f = [] {
		return torch::CppFunction::makeFromBoxedFunction<&above>();
	};

	if (!any_rules())
		return;
	for (auto &name : c10::Dispatcher::singleton().getAllOpNames()) {
		auto h = c10::Dispatcher::singleton().findSchema(name);
		std::string full = c10::toString(name);
		if (!h || full.compare(0, 6, "aten::"))
			continue;
		bool want = false, up = false;
		for (auto r : rules())
			if (fits(r->ops, full)) {
				want = true;
				up = up || r->action->place == ABOVE;
			} else if (!r->after.empty() &&
			    glob_op(r->after, full)) {
				want = true;
			}
		bool have = ours.count(full) > 0;
		if (!want || (have && !up) || !interposed.insert(full).second)
			continue;
		bool composite = h->hasKernelForDispatchKey(
		    c10::DispatchKey::CompositeImplicitAutograd);
		if (!have)
			lib->impl(full.substr(6).c_str(), f());
		if (have || composite)
			auto_lib->impl(full.substr(6).c_str(), f());
	}
}

}
