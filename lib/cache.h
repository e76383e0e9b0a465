/*
 * cache: the folder for what is asked of PyTorch once, named after that PyTorch
 * and what asks it.  $CTS_CACHE, $XDG_CACHE_HOME/cts or ~/.cache/cts.
 */
#ifndef CTS_CACHE_H
#define CTS_CACHE_H

#include "err.h"

/*
 * The folder of the PyTorch that the toolkit was built for (new; it may not be
 * there yet) and that PyTorch's version in *torch (new).  NULL with e set
 * (EX_ENVIRON) where there is no such PyTorch.
 */
char *cache_dir(char **torch, struct err *e);

/* mkdir -p.  0, or -1 with e set (EX_ENVIRON). */
int cache_make(const char *dir, struct err *e);

/* Remove the folder of that PyTorch.  0, or -1 with e set. */
int cache_forget(struct err *e);

/* Append the names and bytes of the *.py files of a folder. */
struct buf;
void cache_add_suites(struct buf *b, const char *folder);

#endif
