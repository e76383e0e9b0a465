/*
 * Inside of the fault plans: rules, what they match, what they do.
 */
#ifndef REFDEV_PLAN_H
#define REFDEV_PLAN_H

#include "faults.h"

#include <cjson/cJSON.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>

namespace refdev::faults {

using at::Tensor;
using c10::IValue;
using c10::OperatorHandle;
using c10::Stack;

/* A condition on a number, a truth value or a word; any of several. */
struct Cond {
	struct One {
		enum Op { EQ, NE, LT, LE, GT, GE, RANGE, MULTIPLE, WORD } op;
		double a, b;
		std::string word;
	};
	std::vector<One> any;

	bool operator()(double v) const;
	bool operator()(const std::string &s) const;	/* glob */
	bool numeric() const;
};

/* A condition on arguments. */
struct Pred {
	std::string arg;		/* name, number, "any", "all" */
	bool negate = false;
	std::vector<std::pair<std::string, Cond>> conds;
	std::vector<std::pair<std::string, std::string>> relations;
	std::vector<int64_t> shape;	/* -1: any */
	bool has_shape = false;
	int64_t size_dim = 0;
	bool has_size = false;
	Cond size;
};

struct Action;

struct Rule {
	std::string name, op;
	int line = 0;
	std::vector<std::string> ops, dtypes, forms, cases;
	std::vector<Pred> preds;
	Cond nth;
	bool has_nth = false;
	std::string after;
	std::atomic<bool> after_ran{false};
	double prob = 1;
	std::mt19937_64 rng;
	std::mutex lock;
	int grad = -1, autocast = -1;
	const Action *action = nullptr;
	std::map<std::string, const cJSON *> params;
	cJSON *json = nullptr;		/* owns what params point to */

	std::atomic<int64_t> matched{0}, fired{0}, vain{0};
	std::vector<Tensor> kept;	/* of an earlier call */

	double num(const char *key, double def) const;
	std::string str(const char *key, const char *def) const;
	bool has(const char *key) const { return params.count(key) > 0; }
	/* Counts that the rule changed something, and says so in the log. */
	void fire();
	/* Says in the log, once, that a change had no effect on a call. */
	void in_vain();
};

/* One call under one rule. */
struct Site {
	const OperatorHandle &op;
	Rule &rule;
	Level level;
	Stack &stack;			/* arguments, after run() results */
	Stack args;			/* the arguments as they were */
	std::function<void()> kernel;

	void run() { kernel(); }
	/* Where it can be seen by comparison, a change must have an effect. */
	void fire()
	{
		if (compared)
			hit = true;
		else
			rule.fire();
	}

	/* Index of the argument that the rule's key names; -1: none. */
	int arg(const char *key, const char *def) const;
	bool writes(int i) const;	/* the schema says: argument i */
	/*
	 * f on each tensor of argument i, in place; true if it changed one.
	 * What takes the place of a written argument is given back after
	 * run() by restore().
	 */
	bool map_arg(int i, const std::function<Tensor(const Tensor &)> &f);
	void restore();
	/* f on each result tensor that the rule's "out" names. */
	bool map_out(const std::function<Tensor(const Tensor &)> &f);
	/* The same, but written arguments where nothing is returned. */
	bool edit_out(const std::function<bool(Tensor &)> &f);

	std::vector<std::pair<Tensor, Tensor>> swapped;	/* new, old */
	bool compared = false, hit = false;
};

/* What an overload must have for an action to show on it. */
enum Need : unsigned {
	N_TENSOR = 1,		/* a tensor argument */
	N_TWO = 2,		/* two of them */
	N_RESULT = 4,		/* a tensor result */
	N_FRESH = 8,		/* a result that aliases nothing */
	N_VIEW = 16,		/* a result that is a view */
	N_WRITE = 32,		/* a written argument */
	N_OUT = 64,		/* an out argument */
	N_DIM = 128,		/* an argument that names a dimension */
	N_RANDOM = 256,
	N_LIST = 512,		/* a list of results */
	N_DEFAULT = 1024,	/* an argument with a default */
	N_GRAD = 2048,		/* differentiable */
	N_MANY = 4096,		/* several results */
	N_SORT = 8192,
	N_ZEROS = 16384,
	N_NEVER = 32768,	/* only where a plan knows what it does */
};

/* Where an action acts. */
enum Place { AROUND, BEFORE, AFTER, ABOVE };

struct Action {
	const char *name, *group;
	Place place;
	unsigned need;
	const char *params;		/* known keys, blank separated */
	void (*fn)(Site &);		/* AROUND, AFTER, ABOVE: calls run() */
	bool (*before)(Site &);		/* BEFORE: true if it served */
};

struct Table {
	const Action *v;
	size_t n;
};
Table misread_actions();
Table compute_actions();
Table contract_actions();
Table error_actions();
Table process_actions();
Table rng_actions();
Table autograd_actions();
Table placement_actions();
std::vector<const Action *> all_actions();
const Action *find_action(const std::string &name);

/*
 * words.cc: what a rule's values may be.  Each throws what is wrong with one,
 * and the nearest word that would not be.
 */
[[noreturn]] void bad(const std::string &what);
[[noreturn]] void unknown(const char *kind, const std::string &word,
    const std::vector<std::string> &known);
bool truth(const std::string &key, const cJSON *j);
double number_in(const std::string &key, const cJSON *j, double lo, double hi);
int64_t integer_in(const std::string &key, const cJSON *j, double lo,
    double hi);
void check_cond(const std::string &key, const Cond &c, const cJSON *j);
void check_dtypes(const std::vector<std::string> &globs);

/* The words of s, which blanks part. */
std::vector<std::string> split(const char *s);

void check_param(const char *action, const std::string &key, const cJSON *j);
/* The rule's ops, and the arguments that it names, are such as there are. */
void check_schema(const Rule &r);
/* plan.cc */
std::vector<Rule *> rules();
uint64_t generation();	/* another whenever the rules are others */
bool any_rules() noexcept;
void set_pending(const std::string &what);	/* raised at synchronise */
void set_poison(const std::string &what);	/* raised from now on */
const std::string &poison();
/* match.cc */
at::ScalarType dtype_named(const std::string &name);	/* throws */
std::vector<std::string> dtype_names();
bool glob_op(const std::string &glob, const std::string &full);
bool matches(Rule &r, const OperatorHandle &op, const Stack &stack);
bool in_backward();
std::string stride_class(const Tensor &t);
/* A dense CPU tensor of the same values, conj and neg resolved. */
Tensor values_of(const Tensor &t);
/* Which of a float tensor's elements are of the kind that a "what" names. */
Tensor which_are(const Tensor &t, const std::string &what);

}

#endif
