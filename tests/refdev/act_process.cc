/*
 * Faults that are no wrong tensor: errors, crashes, hangs, random numbers,
 * and where an op runs; and the list of all actions.
 */
#include "plan.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/native/CPUFallback.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>
#include <unistd.h>

namespace refdev::faults {
namespace {

/* Errors. */

[[noreturn]] void raise_as(const std::string &type, const std::string &what)
{
	if (type == "index")
		TORCH_CHECK_INDEX(false, what);
	if (type == "value")
		TORCH_CHECK_VALUE(false, what);
	if (type == "type")
		TORCH_CHECK_TYPE(false, what);
	if (type == "not_implemented")
		TORCH_CHECK_NOT_IMPLEMENTED(false, what);
	if (type == "oom")
		TORCH_CHECK_WITH(OutOfMemoryError, false, what);
	if (type == "linalg")
		TORCH_CHECK_LINALG(false, what);
	if (type == "assert")
		TORCH_INTERNAL_ASSERT(false, what);
	TORCH_CHECK(false, what);
}

void throws(Site &s)
{
	s.fire();
	raise_as(s.rule.str("type", "runtime"), s.rule.str("message",
	    "refdev: kernel failed"));
}

void unsupported(Site &s)
{
	s.fire();
	TORCH_CHECK_NOT_IMPLEMENTED(false, "Could not run '",
	    c10::toString(s.op.operator_name()),
	    "' with arguments from the 'PrivateUse1' backend.");
}

/* Something of the type that the schema promises, for want of a result. */
IValue stand_in(Site &s, const c10::TypePtr &type)
{
	Tensor first;

	for (auto &v : s.args)
		if (v.isTensor() && v.toTensor().defined()) {
			first = v.toTensor();
			break;
		}
	switch (type->kind()) {
	case c10::TypeKind::TensorType:
		return first.defined() ? at::zeros_like(first) :
		    at::zeros({});
	case c10::TypeKind::ListType:
		return c10::List<Tensor>();
	case c10::TypeKind::BoolType:
		return false;
	case c10::TypeKind::FloatType:
		return 0.;
	default:
		return static_cast<int64_t>(0);
	}
}

void swallow(Site &s)
{
	try {
		s.run();
	} catch (const c10::Error &) {
		s.fire();
		Quiet q;
		at::AutoDispatchBelowADInplaceOrView below;
		s.stack.clear();
		for (auto &r : s.op.schema().returns()) {
			IValue v = stand_in(s, r.type());
			for (size_t i = 0; i < s.args.size(); i++)
				if (s.writes(static_cast<int>(i)) &&
				    s.args[i].isTensor() && r.alias_info())
					v = s.args[i];
			s.stack.push_back(v);
		}
	}
}

void wrong_error(Site &s)
{
	std::string what;

	try {
		s.run();
		return;
	} catch (const c10::Error &e) {
		what = e.what_without_backtrace();
	}
	s.fire();
	raise_as(s.rule.str("type", "value"), what);
}

const Action error_table[] = {
	{"throw", "error", AROUND, 0, "type message", throws, nullptr},
	{"unsupported", "error", AROUND, 0, "", unsupported, nullptr},
	{"swallow", "error", AROUND, N_TENSOR, "", swallow, nullptr},
	{"wrong_error", "error", AROUND, N_TENSOR, "type", wrong_error,
	    nullptr},
};

/* Process. */

void die_of(Site &s)
{
	static const struct {
		const char *name;
		int sig;
	} sigs[] = {
		{"SEGV", SIGSEGV}, {"ABRT", SIGABRT}, {"BUS", SIGBUS},
		{"FPE", SIGFPE}, {"ILL", SIGILL}, {"KILL", SIGKILL},
		{"TERM", SIGTERM}, {"STOP", SIGSTOP}, {"TRAP", SIGTRAP},
		{"SYS", SIGSYS}, {"PIPE", SIGPIPE},
	};
	std::string want = s.rule.str("signal", "SEGV");

	s.fire();
	for (auto &e : sigs)
		if (want == e.name)
			raise(e.sig);
	s.run();
}

void exits(Site &s)
{
	s.fire();
	_exit(static_cast<int>(s.rule.num("status", 1)));
}

void spin(Site &s)
{
	std::atomic<uint64_t> n{0};

	s.fire();
	for (;;)
		n++;
}

void sleeps(Site &s)
{
	double left = s.rule.num("seconds", 1e9);

	s.fire();
	while (left > 0) {
		double part = std::min(left, 0.5);
		usleep(static_cast<useconds_t>(part * 1e6));
		left -= part;
	}
	s.run();
}

void deadlock(Site &s)
{
	std::mutex m;
	std::condition_variable c;
	std::unique_lock<std::mutex> hold(m);

	s.fire();
	for (;;)
		c.wait(hold);
}

__attribute__((noinline)) uint64_t deep(uint64_t n)
{
	volatile char room[4096];

	if (n == UINT64_MAX)
		return 0;
	room[n % sizeof(room)] = static_cast<char>(n);
	return deep(n + 1) + static_cast<unsigned char>(room[0]);
}

void stack_overflow(Site &s)
{
	s.fire();
	s.args.emplace_back(static_cast<int64_t>(deep(0)));
}

void leak(Site &s)
{
	size_t n = static_cast<size_t>(s.rule.num("bytes", 1024));

	s.fire();
	if (s.rule.str("of", "device") == "host") {
		// Kept in sight, or the compiler drops what nobody reads.
		void *volatile p = malloc(n);
		if (p)
			memset(p, 1, n);
	} else {
		alloc_on(current_device(), n, true).release_context();
	}
	s.run();
}

/* Takes memory, up to so much, keeps it, and reports that there is none. */
void exhaust(Site &s)
{
	size_t limit = static_cast<size_t>(s.rule.num("bytes", 256 << 20));

	s.fire();
	for (size_t got = 0; got < limit; got += 1 << 20) {
		void *p = malloc(1 << 20);
		if (!p)
			break;
		memset(p, 1, 1 << 20);
	}
	TORCH_CHECK_WITH(OutOfMemoryError, false,
	    "refdev out of memory (by plan)");
}

/* Nothing now; an error when somebody waits for the device. */
void async_error(Site &s)
{
	s.fire();
	set_pending(s.rule.str("message", "refdev: device-side error"));
	s.run();
}

void poison_context(Site &s)
{
	s.fire();
	s.run();
	set_poison(s.rule.str("message", "refdev: device context is lost"));
}

void prints(Site &s)
{
	s.fire();
	std::cout << s.rule.str("message", "refdev: hello") << std::endl;
	s.run();
}

const Action process_table[] = {
	{"signal", "process", AROUND, 0, "signal", die_of, nullptr},
	{"exit", "process", AROUND, 0, "status", exits, nullptr},
	{"spin", "process", AROUND, 0, "", spin, nullptr},
	{"sleep", "process", AROUND, 0, "seconds", sleeps, nullptr},
	{"deadlock", "process", AROUND, 0, "", deadlock, nullptr},
	{"stack_overflow", "process", AROUND, 0, "", stack_overflow, nullptr},
	{"leak", "process", AROUND, 0, "bytes of", leak, nullptr},
	{"exhaust", "process", AROUND, 0, "bytes", exhaust, nullptr},
	{"async_error", "process", AROUND, 0, "message", async_error, nullptr},
	{"poison", "process", AROUND, 0, "message", poison_context, nullptr},
	{"print", "process", AROUND, 0, "message", prints, nullptr},
};

/* Random numbers. */

at::Generator generator_of(Site &s)
{
	for (auto &v : s.args)
		if (v.isGenerator()) {
			auto g = v.toGenerator();
			return g.device().type() == DEV ? inner(g) : g;
		}
	return s.level == KERNEL ? at::detail::getDefaultCPUGenerator() :
	    inner(default_generator(current_device()));
}

void rng_clock(Site &s)
{
	generator_of(s).set_current_seed(std::random_device{}());
	s.fire();
	s.run();
}

void rng_repeat(Site &s)
{
	auto g = generator_of(s);
	auto state = g.unsafeGetGeneratorImpl()->get_state();

	s.run();
	bool drew = !Tensor(g.unsafeGetGeneratorImpl()->get_state()).equal(
	    Tensor(state));
	g.unsafeGetGeneratorImpl()->set_state(*state);
	if (drew)
		s.fire();
}

/* Draws come from a generator that nobody can set. */
void rng_no_state(Site &s)
{
	auto g = generator_of(s).unsafeGetGeneratorImpl();
	auto mine = g->get_state();
	std::unique_lock<std::mutex> hold(s.rule.lock);

	if (s.rule.kept.empty())
		g->set_current_seed(static_cast<uint64_t>(
		    s.rule.num("seed", 0)) + 1);
	else
		g->set_state(*s.rule.kept[0].unsafeGetTensorImpl());
	s.run();
	s.rule.kept = {Tensor(g->get_state())};
	g->set_state(*mine);
	s.fire();
}

using Edit = std::function<bool(Tensor &)>;

void run_edit(Site &s, const Edit &f)
{
	s.run();
	bool hit = s.edit_out([&](Tensor &t) {
		if (!t.defined() || t.layout() != at::kStrided || !t.numel())
			return false;
		Tensor c = t.clone(at::MemoryFormat::Contiguous);
		Tensor was = c.clone();
		if (!f(c) || c.equal(was))
			return false;
		t.copy_(c);
		return true;
	});
	if (hit)
		s.fire();
}

/* One draw is the bound that draws stay below. */
void rng_bound(Site &s)
{
	run_edit(s, [&](Tensor &c) {
		double bound = 1;
		for (const char *n : {"high", "to", "n"}) {
			int k = s.arg("", n);
			if (k >= 0 && s.args[static_cast<size_t>(k)].isInt())
				bound = static_cast<double>(
				    s.args[static_cast<size_t>(k)].toInt());
			else if (k >= 0 &&
			    s.args[static_cast<size_t>(k)].isDouble())
				bound = s.args[static_cast<size_t>(k)]
				    .toDouble();
		}
		if (s.op.schema().name() == "aten::multinomial" &&
		    s.args[0].isTensor())
			bound = static_cast<double>(
			    s.args[0].toTensor().size(-1));
		c.view({-1})[c.numel() - 1] = s.rule.num("value", bound);
		return true;
	});
}

/* Each draw is the larger of two: the distribution leans upwards. */
void rng_skew(Site &s)
{
	run_edit(s, [](Tensor &c) {
		if (c.numel() < 2)
			return false;
		Tensor f = c.view({-1});
		f.copy_(at::maximum(f, f.roll(1)));
		return true;
	});
}

/* Neighbouring lanes draw the same. */
void rng_lanes(Site &s)
{
	int64_t lane = std::max<int64_t>(2,
	    static_cast<int64_t>(s.rule.num("lane", 4)));

	run_edit(s, [&](Tensor &c) {
		Tensor f = c.view({-1});
		Tensor i = at::arange(f.numel(), at::kLong);
		Tensor src = (i - i.remainder(lane)).to(f.device());
		f.copy_(f.index_select(0, src).clone());
		return true;
	});
}

void nothing(Site &s)
{
	s.run();
}

const Action rng_table[] = {
	{"rng_clock", "rng", AROUND, N_RANDOM, "", rng_clock, nullptr},
	{"rng_repeat", "rng", AROUND, N_RANDOM, "", rng_repeat, nullptr},
	{"rng_no_state", "rng", AROUND, N_RANDOM, "", rng_no_state, nullptr},
	{"rng_bound", "rng", AROUND, N_RANDOM | N_RESULT, "value out",
	    rng_bound, nullptr},
	{"rng_skew", "rng", AROUND, N_RANDOM | N_RESULT, "out", rng_skew,
	    nullptr},
	{"rng_lanes", "rng", AROUND, N_RANDOM | N_RESULT, "lane out",
	    rng_lanes, nullptr},
	/* On "refdev::set_state": the seed is kept, the position is lost. */
	{"rng_seed_only", "rng", AROUND, N_RANDOM, "", nothing, nullptr},
};

/* Placement. */

bool cpu_fallback(Site &s)
{
	s.fire();
	Quiet q;
	at::native::cpu_fallback(s.op, &s.stack);
	return true;
}

void result_on(Site &s, c10::Device dev)
{
	bool hit = s.map_out([&](const Tensor &t) {
		return t.device().type() == DEV && t.device() != dev ?
		    t.to(dev) : t;
	});

	if (hit)
		s.fire();
}

void result_on_cpu(Site &s)
{
	result_on(s, c10::Device(c10::DeviceType::CPU));
}

void other_device(Site &s)
{
	result_on(s, c10::Device(DEV, static_cast<c10::DeviceIndex>(
	    (current_device() + 1) % device_count())));
}

const Action placement_table[] = {
	{"cpu_fallback", "placement", BEFORE, N_TENSOR, "", nullptr,
	    cpu_fallback},
	{"result_on_cpu", "placement", AFTER, N_FRESH, "out", result_on_cpu,
	    nullptr},
	{"other_device", "placement", AFTER, N_FRESH, "out", other_device,
	    nullptr},
	{"mixed_devices", "placement", AROUND, N_TWO, "", nothing, nullptr},
};

struct Features {
	unsigned have = 0;
};

/* Values that the op promises nothing about, or arguments it never reads. */
bool starts(const std::string &name, const char *with)
{
	return !name.compare(0, strlen(with), with);
}

bool no_values(const std::string &name)
{
	return starts(name, "aten::empty") || starts(name, "aten::new_empty") ||
	    starts(name, "aten::_empty");
}

bool reads_nothing(const std::string &name)
{
	size_t n = name.size();

	return no_values(name) || starts(name, "aten::new_") ||
	    (n > 5 && !name.compare(n - 5, 5, "_like")) ||
	    name == "aten::zero_" || name == "aten::fill_";
}

unsigned features(const OperatorHandle &op)
{
	static const std::set<std::string> sorts = {"aten::sort",
	    "aten::argsort", "aten::topk", "aten::msort", "aten::kthvalue"};
	static const std::set<std::string> zeros = {"aten::zeros",
	    "aten::zeros_like", "aten::new_zeros", "aten::zero_",
	    "aten::ones", "aten::full", "aten::ones_like", "aten::full_like",
	    "aten::new_full", "aten::new_ones", "aten::fill_"};
	const auto &sch = op.schema();
	unsigned f = 0, tensors = 0, results = 0;
	bool alias = false;

	for (auto &a : sch.arguments()) {
		std::string t = a.type()->str();
		if (t.find("Tensor") != std::string::npos) {
			tensors += t.find("[]") == std::string::npos ? 1 : 2;
			if (a.alias_info() && a.alias_info()->isWrite())
				f |= N_WRITE | (a.kwarg_only() ? N_OUT : 0u);
		}
		if (a.name() == "dim" || a.name() == "dim0" ||
		    a.name() == "dims")
			f |= N_DIM;
		if (a.default_value() && t.find("Tensor") == std::string::npos)
			f |= N_DEFAULT;
		if (t.find("Generator") != std::string::npos)
			f |= N_RANDOM;
	}
	for (auto &r : sch.returns()) {
		std::string t = r.type()->str();
		if (t.find("Tensor") == std::string::npos)
			continue;
		results++;
		if (t.find("[]") != std::string::npos)
			f |= N_LIST;
		if (r.alias_info() && !r.alias_info()->isWrite())
			alias = true;
	}
	f |= tensors ? N_TENSOR | N_GRAD : 0u;
	f |= tensors > 1 ? N_TWO : 0u;
	f |= results || f & N_WRITE ? N_RESULT : 0u;
	f |= results > 1 ? N_MANY : 0u;
	f |= alias ? N_VIEW : results && !(f & N_WRITE) ? N_FRESH : 0u;
	if (op.hasTag(at::Tag::nondeterministic_seeded))
		f |= N_RANDOM;
	if (sorts.count(sch.name()))
		f |= N_SORT;
	if (zeros.count(sch.name()))
		f |= N_ZEROS;
	return f;
}

}

Table error_actions()
{
	return {error_table, sizeof(error_table) / sizeof(*error_table)};
}

Table process_actions()
{
	return {process_table, sizeof(process_table) / sizeof(*process_table)};
}

Table rng_actions()
{
	return {rng_table, sizeof(rng_table) / sizeof(*rng_table)};
}

Table placement_actions()
{
	return {placement_table,
	    sizeof(placement_table) / sizeof(*placement_table)};
}

std::vector<const Action *> all_actions()
{
	std::vector<const Action *> v;

	for (auto t : {misread_actions(), compute_actions(),
	        contract_actions(), error_actions(), process_actions(),
	        rng_actions(), autograd_actions(), placement_actions()})
		for (size_t i = 0; i < t.n; i++)
			v.push_back(t.v + i);
	return v;
}

const Action *find_action(const std::string &name)
{
	for (auto a : all_actions())
		if (name == a->name)
			return a;
	return nullptr;
}

std::vector<std::pair<std::string, std::string>> actions()
{
	std::vector<std::pair<std::string, std::string>> v;

	for (auto a : all_actions())
		v.emplace_back(a->name, a->group);
	return v;
}

std::vector<std::string> applicable(const std::string &overload)
{
	std::vector<std::string> v;
	size_t ns = overload.find("::");
	size_t dot = overload.find('.', ns == std::string::npos ? 0 : ns);
	std::string name = overload.substr(0, dot);

	if (ns == std::string::npos)
		name = "aten::" + name;
	auto h = c10::Dispatcher::singleton().findSchema(c10::OperatorName(name,
	    dot == std::string::npos ? "" : overload.substr(dot + 1)));
	TORCH_CHECK(h, "no overload '", overload, "'");
	unsigned have = features(*h);
	for (auto a : all_actions()) {
		if ((a->need & have) != a->need)
			continue;
		bool compute = !strcmp(a->group, "compute");
		/* A view computes nothing of its own. */
		if (compute && (have & N_VIEW || no_values(h->schema().name())))
			continue;
		if (!strcmp(a->group, "misread") && a->need & N_TENSOR &&
		    reads_nothing(h->schema().name()))
			continue;
		v.push_back(a->name);
	}
	return v;
}

bool seed_only()
{
	if (!any_rules())
		return false;
	for (auto r : rules())
		if (!strcmp(r->action->name, "rng_seed_only"))
			for (auto &g : r->ops)
				if (glob_op(g, "refdev::set_state")) {
					r->matched++;
					r->fire();
					return true;
				}
	return false;
}

}
