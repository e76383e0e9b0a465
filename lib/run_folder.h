/*
 * run_folder: a run, as a user names it: its folder, its stream file (plain
 * or gzip), "-", or a reference such as results/cpu_x86_64_latest.json, which
 * holds {"v":1,"run":"path relative to the reference"}.
 */
#ifndef CTS_RUN_FOLDER_H
#define CTS_RUN_FOLDER_H

#include "err.h"

/*
 * The path of the stream that name means; new, the caller frees it.  NULL with
 * e set where there is none, or where a reference is not one or leads out of
 * the folder that it lies in.  "-" is returned as it is.
 */
char *run_folder_stream(const char *name, struct err *e);

#endif
