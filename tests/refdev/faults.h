/*
 * Faults on request: a plan of rules, each a match and an action.
 * docs/fault-plans.md is the reference.
 */
#ifndef REFDEV_FAULTS_H
#define REFDEV_FAULTS_H

#include "refdev.h"

namespace refdev::faults {

struct Rule;
struct Call;

/*
 * Where a call is seen: as a backend kernel; as a composite op, of which there
 * is no kernel; or above autograd, with the kernel still to come.
 */
enum Level { KERNEL, COMPOSITE, AUTOGRAD };

/* Reads a plan; throws with "file:line: what". */
void load(const char *file);
/* The plan that CTS_REFDEV_FAULTS names, if any. */
void load_env();
/* After register_ops(): interposes on ops that have no kernel of ours. */
void interpose();
void clear();

struct Count {
	std::string name, action;
	int line;
	int64_t matched, fired;
};
std::vector<Count> counts();
/* Action and group of each, for people and for those who draw plans. */
std::vector<std::pair<std::string, std::string>> actions();
/* Names of the actions that can show on an overload, by its schema. */
std::vector<std::string> applicable(const std::string &overload);

/* Work on a device is waited for. */
void at_sync();
/* Whether a generator forgets its position when its state is set. */
bool seed_only();

/* No rule sees what is called while one of these lives. */
class Quiet {
public:
	Quiet();
	~Quiet();
	Quiet(const Quiet &) = delete;
	Quiet &operator=(const Quiet &) = delete;
};

/* One call of an op; which rules want it is decided on construction. */
class Visit {
public:
	Visit(const c10::OperatorHandle &op, const c10::Stack &stack, Level l);
	~Visit();
	Visit(const Visit &) = delete;
	Visit &operator=(const Visit &) = delete;

	bool wanted() const { return !rules_.empty(); }
	/* Before arguments are wrapped; true if the call was served. */
	bool before(c10::Stack &stack);
	bool mixed_ok() const;
	/* Around the kernel; the stack holds what the kernel is given. */
	void run(c10::Stack &stack, const std::function<void()> &kernel);
	/* The stack holds the device's results. */
	void after(c10::Stack &stack);

private:
	const c10::OperatorHandle &op_;
	Level level_;
	std::vector<Rule *> rules_;
	std::vector<Rule *> after_;	/* that wait for this op */
	c10::Stack args_;	/* kept for actions on the results */
};

}

#endif
