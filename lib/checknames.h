/* checknames: the invariants' names, for those who only name them. */
#ifndef CTS_CHECKNAMES_H
#define CTS_CHECKNAMES_H

#include <stdbool.h>

bool checkname_known(const char *name);
/* The nearest to a mistyped one, or NULL. */
const char *checkname_nearest(const char *name);

#endif
