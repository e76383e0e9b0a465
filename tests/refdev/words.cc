/*
 * What the values in a rule may be: words, ranges, names of ops and arguments.
 */
#include "plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace refdev::faults {
namespace {

const char DTYPE[] = "dtype";	/* any that PyTorch has */

/* A value of an action's key.  The first line that fits is meant. */
const struct Param {
	const char *action;	/* nullptr: any other */
	const char *key;
	enum { WORD, INT, NUM, NUMBER_OR_WORD, INT_OR_WORD, TEXT, ARG,
	       ANY } type;
	const char *words;	/* blank separated */
	double lo, hi;
} params[] = {
	{nullptr, "arg", Param::ARG, "", -64, 64},
	{nullptr, "with", Param::ARG, "", -64, 64},
	{nullptr, "input", Param::ARG, "", -64, 64},
	{nullptr, "out", Param::INT_OR_WORD, "all", 0, 1e6},
	{"index_wraps", "at", Param::INT, "", 1, 1e15},
	{nullptr, "at", Param::INT_OR_WORD, "first middle last all random",
	    -1e15, 1e15},
	{nullptr, "k", Param::INT, "", -0x1p53, 0x1p53},
	{nullptr, "by", Param::NUM, "", -1e308, 1e308},
	{"set", "value", Param::NUMBER_OR_WORD, "nan inf -inf", -1e308, 1e308},
	{"set_where", "value", Param::NUMBER_OR_WORD, "nan inf -inf", -1e308,
	    1e308},
	{"ignore", "value", Param::ANY, "", 0, 0},
	{nullptr, "value", Param::NUM, "", -1e308, 1e308},
	{"lose", "to", Param::NUMBER_OR_WORD, "nan inf -inf", -1e308, 1e308},
	{nullptr, "to", Param::WORD, DTYPE, 0, 0},
	{"strides", "as", Param::WORD,
	    "transposed stepped channels_last contiguous", 0, 0},
	{nullptr, "as", Param::WORD, DTYPE, 0, 0},
	{"set_where", "what", Param::WORD, "-inf inf nan zero negative big24",
	    0, 0},
	{nullptr, "what", Param::WORD, "nan inf negzero subnormal extreme",
	    0, 0},
	{nullptr, "leaves", Param::WORD, "zero garbage", 0, 0},
	{nullptr, "how", Param::WORD, "unsqueeze squeeze flatten grow", 0, 0},
	{nullptr, "returns", Param::WORD, "temporary self", 0, 0},
	{nullptr, "where", Param::WORD, "after before gap", 0, 0},
	{nullptr, "type", Param::WORD, "runtime index value type "
	    "not_implemented oom linalg assert", 0, 0},
	{nullptr, "signal", Param::WORD,
	    "SEGV ABRT BUS FPE ILL KILL TERM STOP TRAP SYS PIPE", 0, 0},
	{nullptr, "of", Param::WORD, "device host", 0, 0},
	{nullptr, "call", Param::TEXT, "", 0, 0},
	{nullptr, "message", Param::TEXT, "", 0, 0},
	{nullptr, "multiple", Param::INT, "", 1, 1e15},
	{nullptr, "dim", Param::INT, "", -64, 64},
	{nullptr, "bits", Param::INT, "", 1, 62},
	{nullptr, "rate", Param::NUM, "", 0, 1},
	{nullptr, "lane", Param::INT, "", 1, 1e9},
	{nullptr, "bytes", Param::INT, "", 1, 1e15},
	{nullptr, "status", Param::INT, "", 0, 255},
	{nullptr, "seconds", Param::NUM, "", 0, 1e9},
};

/* What a predicate's words may be; none: numbers, or true and false. */
const struct {
	const char *key, *words;
} preds[] = {
	{"strides", "dense transposed channels_last channels_last_3d expanded "
	    "stepped overlapping noncontiguous"},
	{"layout", "strided sparse_coo sparse_csr sparse_csc sparse_bsr "
	    "sparse_bsc other"},
	{"contains", "nan inf negzero subnormal zero negative big24 big31 "
	    "big53 equal ties"},
	{"type", "int float bool complex string list tensor none other"},
	{"dtype", DTYPE},
};
const char *const truths[] = {
	"conj", "neg", "requires_grad", "defined", "host", "wrapped", "none",
};

/* Those of a table's entry. */
std::vector<std::string> listed(const char *s)
{
	return s == DTYPE ? dtype_names() : split(s);
}

size_t distance(const std::string &a, const std::string &b)
{
	std::vector<size_t> row(b.size() + 1);

	for (size_t j = 0; j <= b.size(); j++)
		row[j] = j;
	for (size_t i = 1; i <= a.size(); i++) {
		size_t diag = row[0];
		row[0] = i;
		for (size_t j = 1; j <= b.size(); j++) {
			size_t up = row[j];
			row[j] = std::min({row[j] + 1, row[j - 1] + 1,
			    diag + (a[i - 1] != b[j - 1])});
			diag = up;
		}
	}
	return row[b.size()];
}

std::string nearest(const std::string &word,
    const std::vector<std::string> &known)
{
	std::string best;
	size_t least = SIZE_MAX;

	for (auto &k : known)
		if (size_t d = distance(word, k); d < least) {
			least = d;
			best = k;
		}
	return best;
}

}

std::vector<std::string> split(const char *s)
{
	std::vector<std::string> v;
	std::string w;

	for (; *s; s++)
		if (*s == ' ') {
			if (!w.empty())
				v.push_back(w);
			w.clear();
		} else {
			w += *s;
		}
	if (!w.empty())
		v.push_back(w);
	return v;
}

void bad(const std::string &what)
{
	throw std::runtime_error(what);
}

void unknown(const char *kind, const std::string &word,
    const std::vector<std::string> &known)
{
	bad(std::string("unknown ") + kind + " '" + word + "', did you mean '" +
	    nearest(word, known) + "'?");
}

bool truth(const std::string &key, const cJSON *j)
{
	if (!cJSON_IsBool(j))
		bad("'" + key + "' is not true or false");
	return cJSON_IsTrue(j);
}

double number_in(const std::string &key, const cJSON *j, double lo, double hi)
{
	if (!cJSON_IsNumber(j))
		bad("'" + key + "' is not a number");
	if (!(j->valuedouble >= lo && j->valuedouble <= hi)) {
		char range[64];
		snprintf(range, sizeof(range), "%g to %g", lo, hi);
		bad("'" + key + "' is not in " + range);
	}
	return j->valuedouble;
}

int64_t integer_in(const std::string &key, const cJSON *j, double lo,
    double hi)
{
	double v = number_in(key, j, lo, hi);

	if (v != std::floor(v))
		bad("'" + key + "' is not a whole number");
	return static_cast<int64_t>(v);
}

/* A glob that one of the words fits. */
static void check_word(const char *kind, const std::string &glob,
    const std::vector<std::string> &known)
{
	for (auto &k : known)
		if (glob_op(glob, k))
			return;
	unknown(kind, glob, known);
}

void check_dtypes(const std::vector<std::string> &globs)
{
	for (auto &g : globs)
		check_word("dtype", g, dtype_names());
}

void check_cond(const std::string &key, const Cond &c, const cJSON *j)
{
	if (key == "value")
		return;
	for (auto &p : preds)
		if (key == p.key) {
			for (auto &o : c.any) {
				if (o.op != Cond::One::WORD)
					bad("'" + key + "' is not a word");
				check_word(key.c_str(), o.word,
				    listed(p.words));
			}
			return;
		}
	for (auto t : truths)
		if (key == t) {
			truth(key, j);
			return;
		}
	for (auto &o : c.any)
		if (o.op == Cond::One::WORD)
			bad("not a condition for '" + key + "': '" + o.word +
			    "'");
	if (cJSON_IsBool(j))
		bad("'" + key + "' is not a number");
}

void check_param(const char *action, const std::string &key, const cJSON *j)
{
	auto p = std::find_if(std::begin(params), std::end(params),
	    [&](const Param &q) {
		    return key == q.key &&
			(!q.action || !strcmp(q.action, action));
	    });
	if (p == std::end(params))
		bad("'" + key + "' has no meaning for '" + action + "'");
	if (p->type == Param::ANY)
		return;
	bool words = p->type == Param::WORD || p->type == Param::INT_OR_WORD ||
	    p->type == Param::NUMBER_OR_WORD;
	if (p->type == Param::TEXT ? !cJSON_IsString(j) :
	    p->type == Param::WORD && !cJSON_IsString(j))
		bad("'" + key + "' is not a string");
	if (words && cJSON_IsString(j)) {
		auto known = listed(p->words);
		if (std::find(known.begin(), known.end(), j->valuestring) ==
		    known.end())
			unknown(key.c_str(), j->valuestring, known);
		return;
	}
	if (p->type == Param::TEXT || (p->type == Param::ARG &&
	    cJSON_IsString(j)))
		return;
	if (p->type == Param::NUM || p->type == Param::NUMBER_OR_WORD)
		number_in(key, j, p->lo, p->hi);
	else
		integer_in(key, j, p->lo, p->hi);
}

void check_schema(const Rule &r)
{
	auto &all = c10::Dispatcher::singleton();
	std::vector<std::string> ops, args{"tensor", "any", "all"};
	bool found = false, own = false;

	for (auto &name : all.getAllOpNames()) {
		std::string full = c10::toString(name);
		bool fits = false;
		for (auto &g : r.ops)
			fits = fits || glob_op(g, full);
		auto h = all.findSchema(name);
		if (!full.compare(0, 6, "aten::"))
			ops.push_back(full.substr(6));
		if (!h || !fits)
			continue;
		found = true;
		for (auto &a : h->schema().arguments())
			args.push_back(a.name());
	}
	for (auto &g : r.ops)	/* of another library, or no op at all */
		own = own || g.find("::") != std::string::npos;
	if (!found && !own)
		unknown("op", r.ops[0], ops);
	if (!found || own)
		return;
	auto known = [&](const std::string &a) {
		if (!a.empty() && a.find_first_not_of("-0123456789") ==
		    std::string::npos)
			return;
		if (std::find(args.begin(), args.end(), a) == args.end())
			unknown("argument", a, args);
	};
	if (!strcmp(r.action->name, "instead")) {
		std::string call = r.str("call", "");
		if (std::find(ops.begin(), ops.end(), call) == ops.end())
			unknown("op", call, ops);
	}
	for (auto key : {"arg", "with", "input"})
		if (r.has(key))
			known(r.str(key, ""));
	for (auto &p : r.preds) {
		known(p.arg);
		for (auto &rel : p.relations)
			known(rel.second);
	}
}

}
