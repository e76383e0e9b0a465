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
	struct device dev;
	char *asked;		/* the device string it was opened with */
	PyObject *sync;		/* callable, or NULL */
	PyObject *seed;		/* callable taking an int, or NULL */
};

/* Set the environment that the device asks for; before torch is imported. */
void adapter_environ(const struct device *d);

/*
 * Import the device's modules (and those in extra, NULL-terminated, may be NULL)
 * and make its calls.  0, or -1 with e set (EX_ENVIRON).
 */
int adapter_open(struct adapter *a, const char *root, const char *device,
		 char *const *extra, struct err *e);
void adapter_close(struct adapter *a);

/* Wait for the device.  0, or -1 with the Python exception still pending. */
int adapter_sync(const struct adapter *a);

/* Seed the device's generator, if it has one that can be reached. */
void adapter_seed(const struct adapter *a, uint64_t seed);

#endif
