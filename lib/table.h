/* table: a reviewed file of JSON Lines, each an object, read as a whole. */
#ifndef CTS_TABLE_H
#define CTS_TABLE_H

#include <cjson/cJSON.h>
#include "err.h"

/*
 * An array of the file's objects, in order; new, for cJSON_Delete().  Blank
 * lines are skipped.  NULL with e set, "FILE:LINE: " in front, where a line is
 * no object or the file can't be read.
 */
cJSON *table_read(const char *path, struct err *e);

#endif
