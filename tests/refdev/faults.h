/*
 * Faults on request: a plan of rules, each a match and an action.
 * docs/fault-plans.md is the reference.
 */
#ifndef REFDEV_FAULTS_H
#define REFDEV_FAULTS_H

#include "refdev.h"

namespace refdev::faults {

/* Reads the plan that CTS_REFDEV_FAULTS names, if any. */
void load();
/* Work on a device is waited for. */
void at_sync();
/* Whether some rule may want this call. */
bool wanted(const c10::OperatorHandle &op, const c10::Stack &stack);

/* One call that a rule wants, from before its arguments are wrapped. */
class Visit {
public:
	Visit(const c10::OperatorHandle &op, c10::Stack &stack, bool wanted);
	bool done() const { return done_; }
	bool mixed_ok() const { return mixed_; }
	/* Around the CPU's kernel; the stack holds CPU tensors. */
	void run(c10::Stack &stack, const std::function<void()> &kernel);
	/* The stack holds the device results. */
	void after(c10::Stack &stack);

private:
	bool done_ = false;
	bool mixed_ = false;
};

}

#endif
