/*
 * Reads fault plans and keeps the rules, their counts and their log.
 */
#include "plan.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace refdev::faults {
namespace {

std::mutex plan_lock;
std::vector<Rule *> *plan = new std::vector<Rule *>;
std::atomic<bool> have_rules{false};
std::atomic<uint64_t> loads{1};
std::mutex state_lock;
std::string pending, poisoned;

/* The rule's own keys; an action adds its parameters. */
const char *const RULE_KEYS[] = {
	"name", "op", "dtype", "form", "if", "nth", "after", "prob", "seed",
	"grad", "autocast", "case", "do", "note",
};
const char *const PRED_KEYS[] = {
	"arg", "not", "rank", "numel", "shape", "size", "strides", "offset",
	"layout", "conj", "neg", "dtype", "host", "defined", "requires_grad",
	"wrapped", "value", "none", "len", "contains", "is", "shares",
	"equals", "same_shape", "same_dtype", "nbytes", "type",
};
const char *const FORMS[] = {
	"any", "forward", "backward", "functional", "inplace", "out",
};
const char *const HEADER_KEYS[] = {
	"plan", "source", "backend", "op", "check", "level", "case", "note",
	"kind", "needs",
};

template <size_t N>
std::vector<std::string> words(const char *const (&v)[N])
{
	return std::vector<std::string>(v, v + N);
}

bool number(const char *s, double *v)
{
	char *end;

	errno = 0;
	*v = strtod(s, &end);
	return *s && !*end && !errno && std::isfinite(*v);
}

Cond::One word_cond(const std::string &key, const std::string &s)
{
	static const struct {
		const char *mark;
		Cond::One::Op op;
	} marks[] = {
		{">=", Cond::One::GE}, {"<=", Cond::One::LE},
		{"!=", Cond::One::NE}, {">", Cond::One::GT},
		{"<", Cond::One::LT}, {"=", Cond::One::EQ},
		{"%", Cond::One::MULTIPLE},
	};
	Cond::One c{Cond::One::WORD, 0, 0, s};

	for (auto &m : marks)
		if (!s.compare(0, strlen(m.mark), m.mark)) {
			c.op = m.op;
			if (number(s.c_str() + strlen(m.mark), &c.a) &&
			    (c.op != Cond::One::MULTIPLE || c.a != 0))
				return c;
			bad("not a condition for '" + key + "': '" + s + "'");
		}
	size_t dots = s.find("..");
	if (dots != std::string::npos &&
	    number(s.substr(0, dots).c_str(), &c.a) &&
	    number(s.substr(dots + 2).c_str(), &c.b))
		c.op = Cond::One::RANGE;
	else if (number(s.c_str(), &c.a))
		c.op = Cond::One::EQ;
	return c;
}

Cond cond(const std::string &key, const cJSON *j)
{
	Cond c;
	const cJSON *e;

	if (cJSON_IsNumber(j)) {
		c.any.push_back({Cond::One::EQ, j->valuedouble, 0, ""});
	} else if (cJSON_IsBool(j)) {
		c.any.push_back({Cond::One::EQ, double(cJSON_IsTrue(j)), 0,
		    ""});
	} else if (cJSON_IsString(j)) {
		c.any.push_back(word_cond(key, j->valuestring));
	} else if (cJSON_IsArray(j) && cJSON_GetArraySize(j) > 0) {
		cJSON_ArrayForEach(e, j)
			for (auto &o : cond(key, e).any)
				c.any.push_back(o);
	} else {
		bad("wrong type for '" + key + "'");
	}
	return c;
}

std::string text(const char *key, const cJSON *j)
{
	if (!cJSON_IsString(j))
		bad(std::string("'") + key + "' is not a string");
	return j->valuestring;
}

std::vector<std::string> texts(const char *key, const cJSON *j)
{
	std::vector<std::string> v;
	const cJSON *e;

	if (cJSON_IsString(j))
		v.push_back(j->valuestring);
	else if (cJSON_IsArray(j))
		cJSON_ArrayForEach(e, j)
			v.push_back(text(key, e));
	if (v.empty())
		bad(std::string("'") + key + "' is no string or list of them");
	return v;
}

std::string arg_text(const cJSON *j)
{
	if (cJSON_IsNumber(j))
		return std::to_string(integer_in("arg", j, -64, 64));
	return text("arg", j);
}

Pred pred(const cJSON *j)
{
	static const char *const rel[] = {"is", "shares", "equals",
	    "same_shape", "same_dtype"};
	Pred p;
	const cJSON *e, *d;

	if (!cJSON_IsObject(j))
		bad("'if' holds something that is no object");
	p.arg = "any";
	cJSON_ArrayForEach(e, j) {
		std::string k = e->string;
		auto known = words(PRED_KEYS);
		if (std::find(known.begin(), known.end(), k) == known.end())
			unknown("predicate", k, known);
		if (k == "arg") {
			p.arg = arg_text(e);
		} else if (k == "not") {
			p.negate = truth(k, e);
		} else if (k == "shape") {
			if (!cJSON_IsArray(e))
				bad("'shape' is not a list");
			p.has_shape = true;
			cJSON_ArrayForEach(d, e)
				p.shape.push_back(integer_in(k, d, -1, 1e15));
		} else if (k == "size") {
			if (!cJSON_IsArray(e) || cJSON_GetArraySize(e) != 2 ||
			    !cJSON_IsNumber(cJSON_GetArrayItem(e, 0)))
				bad("'size' is not [dimension, condition]");
			p.has_size = true;
			p.size_dim = integer_in(k,
			    cJSON_GetArrayItem(e, 0), -64, 64);
			p.size = cond(k, cJSON_GetArrayItem(e, 1));
			check_cond(k, p.size, cJSON_GetArrayItem(e, 1));
		} else if (std::find_if(rel, rel + 5, [&](const char *r) {
			           return k == r;
		           }) != rel + 5) {
			p.relations.emplace_back(k, arg_text(e));
		} else {
			p.conds.emplace_back(k, cond(k, e));
			check_cond(k, p.conds.back().second, e);
		}
	}
	return p;
}

void rule_key(Rule &r, const std::string &k, const cJSON *e)
{
	const cJSON *p;

	if (k == "name") {
		r.name = text("name", e);
	} else if (k == "op") {
		r.ops = texts("op", e);
	} else if (k == "dtype") {
		r.dtypes = texts("dtype", e);
		check_dtypes(r.dtypes);
	} else if (k == "case") {
		r.cases = texts("case", e);
	} else if (k == "form") {
		auto known = words(FORMS);
		r.forms = texts("form", e);
		for (auto &f : r.forms)
			if (std::find(known.begin(), known.end(), f) ==
			    known.end())
				unknown("form", f, known);
	} else if (k == "if") {
		if (cJSON_IsArray(e))
			cJSON_ArrayForEach(p, e)
				r.preds.push_back(pred(p));
		else
			r.preds.push_back(pred(e));
	} else if (k == "nth") {
		r.has_nth = true;
		r.nth = cond(k, e);
		check_cond(k, r.nth, e);
	} else if (k == "after") {
		r.after = text("after", e);
	} else if (k == "prob") {
		r.prob = number_in(k, e, 0, 1);
	} else if (k == "seed") {
		r.rng.seed(static_cast<uint64_t>(integer_in(k, e, 0, 0x1p53)));
	} else if (k == "grad") {
		r.grad = truth(k, e);
	} else if (k == "autocast") {
		r.autocast = truth(k, e);
	} else if (k == "note") {
		text("note", e);
	} else if (k != "do") {
		check_param(r.action->name, k, e);
	}
}

Rule *make_rule(cJSON *j)
{
	std::unique_ptr<Rule> r(new Rule);
	auto known = words(RULE_KEYS);
	const cJSON *d = cJSON_GetObjectItemCaseSensitive(j, "do");
	const cJSON *e;

	if (!cJSON_IsString(d))
		bad("no action: 'do' is missing or no string");
	r->action = find_action(d->valuestring);
	if (!r->action) {
		std::vector<std::string> names;
		for (auto a : all_actions())
			names.push_back(a->name);
		unknown("action", d->valuestring, names);
	}
	r->rng.seed(0);
	auto params = split(r->action->params);
	auto all = known;
	all.insert(all.end(), params.begin(), params.end());
	cJSON_ArrayForEach(e, j) {
		std::string k = e->string;
		if (std::find(all.begin(), all.end(), k) == all.end())
			unknown("key", k, all);
		if (r->params.count(k))
			bad("key '" + k + "' twice");
		r->params[k] = e;
		rule_key(*r, k, e);
	}
	if (r->ops.empty())
		bad("no op: 'op' is missing");
	check_schema(*r);
	r->json = j;
	return r.release();
}

/* A line that begins with "plan" describes the plan and matches nothing. */
bool header(const cJSON *j)
{
	auto known = words(HEADER_KEYS);
	const cJSON *e;

	if (!j->child || strcmp(j->child->string, "plan"))
		return false;
	cJSON_ArrayForEach(e, j)
		if (std::find(known.begin(), known.end(), e->string) ==
		    known.end())
			unknown("header key", e->string, known);
		else if (!strcmp(e->string, "level"))
			integer_in("level", e, 1, 8);
		else
			texts(e->string, e);
	return true;
}

void append_log(const std::string &line)
{
	const char *file = getenv("CTS_REFDEV_FAULTS_LOG");

	if (!file || !*file)
		return;
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	ssize_t n = write(fd, line.data(), line.size());
	static_cast<void>(n);
	close(fd);
}

std::string log_line(const Rule &r, const char *when)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "rule", r.name.c_str());
	cJSON_AddStringToObject(o, "action", r.action->name);
	cJSON_AddNumberToObject(o, "line", r.line);
	cJSON_AddStringToObject(o, "when", when);
	cJSON_AddNumberToObject(o, "matched",
	    static_cast<double>(r.matched.load()));
	cJSON_AddNumberToObject(o, "fired",
	    static_cast<double>(r.fired.load()));
	char *s = cJSON_PrintUnformatted(o);
	std::string line = std::string(s ? s : "") + "\n";
	cJSON_free(s);
	cJSON_Delete(o);
	return line;
}

void log_totals()
{
	for (auto r : *plan)
		append_log(log_line(*r, "exit"));
}

}

bool Cond::operator()(double v) const
{
	for (auto &c : any)
		switch (c.op) {
		case One::EQ: if (v == c.a) return true; break;
		case One::NE: if (v != c.a) return true; break;
		case One::LT: if (v < c.a) return true; break;
		case One::LE: if (v <= c.a) return true; break;
		case One::GT: if (v > c.a) return true; break;
		case One::GE: if (v >= c.a) return true; break;
		case One::RANGE: if (v >= c.a && v <= c.b) return true; break;
		case One::MULTIPLE: if (fmod(v, c.a) == 0) return true; break;
		case One::WORD: break;
		}
	return false;
}

bool Cond::operator()(const std::string &s) const
{
	for (auto &c : any)
		if (c.op == One::WORD && glob_op(c.word, s))
			return true;
	return false;
}

bool Cond::numeric() const
{
	return !any.empty() && any[0].op != One::WORD;
}

double Rule::num(const char *key, double def) const
{
	auto it = params.find(key);

	if (it == params.end())
		return def;
	if (cJSON_IsString(it->second)) {
		double v;
		if (number(it->second->valuestring, &v))
			return v;
	}
	if (cJSON_IsBool(it->second))
		return cJSON_IsTrue(it->second);
	if (!cJSON_IsNumber(it->second))
		return def;
	return it->second->valuedouble;
}

std::string Rule::str(const char *key, const char *def) const
{
	auto it = params.find(key);

	if (it == params.end())
		return def;
	if (cJSON_IsNumber(it->second))
		return std::to_string(it->second->valueint);
	return cJSON_IsString(it->second) ? it->second->valuestring : def;
}

void Rule::fire()
{
	if (!fired++)
		append_log(log_line(*this, "first"));
}

void Rule::in_vain()
{
	if (!vain++)
		append_log(log_line(*this, "vain"));
}

void load(const char *file)
{
	std::ifstream in(file);
	std::string s;
	std::vector<Rule *> fresh;
	int line = 0;

	if (!in)
		bad(std::string(file) + ": cannot open: " + strerror(errno));
	in.peek();		/* a folder can be opened, but not read */
	if (in.bad())
		bad(std::string(file) + ": cannot read");
	while (std::getline(in, s)) {
		line++;
		if (s.find_first_not_of(" \t\r") == std::string::npos)
			continue;
		try {
			const char *end = nullptr;
			cJSON *j = cJSON_ParseWithLengthOpts(s.c_str(),
			    s.size() + 1, &end, 1);
			if (!j)
				bad("cannot parse at column " +
				    std::to_string(end ? end - s.c_str() + 1 :
				        1));
			if (!cJSON_IsObject(j))
				bad("not an object");
			if (header(j)) {
				cJSON_Delete(j);
				continue;
			}
			Rule *r = make_rule(j);
			r->line = line;
			if (r->name.empty())
				r->name = "rule" + std::to_string(line);
			fresh.push_back(r);
		} catch (const std::exception &e) {
			std::string what = e.what();
			for (char &c : what)	/* it may quote the plan */
				if (c < ' ' || c > '~')
					c = '?';
			bad(std::string(file) + ":" + std::to_string(line) +
			    ": " + what);
		}
	}
	std::lock_guard<std::mutex> hold(plan_lock);
	static bool logs = !atexit(log_totals) && !at_quick_exit(log_totals);
	static_cast<void>(logs);
	plan->insert(plan->end(), fresh.begin(), fresh.end());
	have_rules.store(!plan->empty());
	loads++;
}

void load_env()
{
	const char *file = getenv("CTS_REFDEV_FAULTS");

	if (!file || !*file)
		return;
	load(file);
}

void clear()
{
	std::lock_guard<std::mutex> hold(plan_lock);

	/* Rules may be in use by another thread: they are only forgotten. */
	plan->clear();
	have_rules.store(false);
	loads++;
	std::lock_guard<std::mutex> s(state_lock);
	pending.clear();
	poisoned.clear();
}

std::vector<Rule *> rules()
{
	std::lock_guard<std::mutex> hold(plan_lock);

	return *plan;
}

uint64_t generation()
{
	return loads.load();
}

bool any_rules() noexcept
{
	return have_rules.load(std::memory_order_relaxed);
}

std::vector<Count> counts()
{
	std::vector<Count> v;

	for (auto r : rules())
		v.push_back(Count{r->name, r->action->name, r->line,
		    r->matched.load(), r->fired.load()});
	return v;
}

void set_pending(const std::string &what)
{
	std::lock_guard<std::mutex> hold(state_lock);

	pending = what;
}

void set_poison(const std::string &what)
{
	std::lock_guard<std::mutex> hold(state_lock);

	poisoned = what;
}

const std::string &poison()
{
	return poisoned;
}

void at_sync()
{
	std::string what;

	if (!any_rules())
		return;
	{
		std::lock_guard<std::mutex> hold(state_lock);
		what.swap(pending);
		if (what.empty())
			what = poisoned;
	}
	TORCH_CHECK(what.empty(), what);
}

}
