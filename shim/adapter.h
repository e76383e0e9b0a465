/*
 * adapter: a device as a running Python reaches it: struct device's words made
 * into calls.
 */
#ifndef CTS_ADAPTER_H
#define CTS_ADAPTER_H

#include <stdint.h>
#include "device.h"
#include "py.h"

struct adapter {
	bool reference;		/* the CPU: nothing to wait for, or to lose */
	struct device dev;
	char *asked;		/* the device string it was opened with */
	char *how;		/* what it was opened with beside: text */
	PyObject *sync;		/* callable, or NULL */
	PyObject *seed;		/* callable taking an int, or NULL */
	PyObject *memory;	/* callable: bytes in use; or NULL */
	PyObject *empty;	/* callable: caches given back; or NULL */
	PyObject *ask_count;	/* callable: how many there are; or NULL */
	int count;		/* its answer; -1: it has none, -2: not asked */
};

/* The device that "auto" means: new, or NULL where PyTorch knows of none. */
char *adapter_accelerator(void);

/* Set the environment that the device asks for; before torch is imported. */
void adapter_environ(const struct device *d);

/*
 * Import the device's modules (or those in imports, an array of strings that
 * may be NULL) and make its calls; override, which may be NULL, replaces what
 * is known of it.  0, or -1 with e set (EX_ENVIRON): an import fails, or
 * PyTorch knows no device of that name then.  Uses no device: a process that
 * did only this may be forked.
 */
int adapter_open(struct adapter *a, const char *root, const char *device,
		 const cJSON *imports, const cJSON *override, struct err *e);

/*
 * Ask, once, how many devices there are (a->count).  0, or -1 with e set
 * (EX_ENVIRON) where there is none, or none of the index that was asked for.
 */
int adapter_there(struct adapter *a, struct err *e);

/* Is it open for just that? */
bool adapter_is(const struct adapter *a, const char *device,
		const cJSON *imports, const cJSON *override);
void adapter_close(struct adapter *a);

/* Wait for the device.  0, or -1 with the Python exception still pending. */
int adapter_sync(const struct adapter *a);

/* Bytes in use on the device; -1 where nobody can tell. */
double adapter_memory(const struct adapter *a);
/* Give cached memory back, where the device can. */
void adapter_empty(const struct adapter *a);

/* Seed the device's generator, if it has one that can be reached; 63 bits. */
void adapter_seed(const struct adapter *a, uint64_t seed);

#endif
