/*
 * py: the embedded Python interpreter.  This and the files below shim/ that
 * include Python.h are the only places that see it.
 */
#ifndef CTS_PY_H
#define CTS_PY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "err.h"

/*
 * Start the interpreter of the Python that the toolkit was built for
 * (CTS_PYTHON), with its site-packages, without a current-folder entry on
 * sys.path and without signal handlers.  0, or -1 with e set.
 */
int py_start(struct err *e);

/*
 * Turn the pending exception into one line, "FILE:LINE: Type: message" where
 * it has a place in a file (the innermost frame in the file only, when that is
 * not NULL), and clear it.  Returns -1.
 */
int py_error(struct err *e, int code, const char *only);

/* Put a folder at the front of sys.path. */
int py_add_path(const char *dir, struct err *e);

/* Call a function of Python's module gc; what it raises is let go. */
void py_gc(const char *what);

/*
 * Around imports: what they make stays, so that to look for garbage in it is
 * in vain, then and ever after; and workers that a zygote forks share memory
 * that no collector writes to.  py_imported() may fail to say so, never more.
 */
void py_importing(void);
void py_imported(void);

/* Import module, get attribute (dotted) of it: new reference or NULL, e set. */
PyObject *py_attr(const char *module, const char *attr, struct err *e);

#endif
