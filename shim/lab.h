/*
 * lab: what a process needs to run cases: Python, PyTorch, the shim, a device.
 */
#ifndef CTS_LAB_H
#define CTS_LAB_H

#include <stdbool.h>
#include <cjson/cJSON.h>
#include "adapter.h"
#include "call.h"
#include "cts_torch.h"

struct lab {
	const struct ctt_api *api;
	struct call_types types;
	struct adapter adapter;
	bool has_device;
	bool trace;		/* record overloads */
	bool unsynced;		/* reading a result is all the waiting */
	char *torch, *python;	/* versions */
};

/*
 * Start Python, import torch with one thread, load the shim.  dev, which may
 * be NULL, has its environment set first.  0, or -1 with e set (EX_ENVIRON).
 */
int lab_open(struct lab *lab, const struct device *dev, struct err *e);

/*
 * Reach a device; the one that is open is kept where it is the same.  imports:
 * a JSON array of module names that replace the adapter's, or NULL; override:
 * a manifest's "adapter", or NULL.
 */
int lab_device(struct lab *lab, const char *device, const cJSON *imports,
	       const cJSON *override, struct err *e);
void lab_close(struct lab *lab);

#endif
