#include "edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vocab.h"

/* As edit.py has them, and "lay", which is ours: it is no sample's affair. */
static const char *const words[] = {
	"lay", "one", "half", "rest", "shorter", "later", "less", "flat",
	"dense", "packed", "ones", "rounded", "fewer", "without", NULL
};

#define NUMBER_MAX 64

/* The word and the number of an edit: 0, or -1 with e set. */
static int split(const char *edit, char word[16], int *number, struct err *e)
{
	size_t n = strcspn(edit, " "), i;
	const char *near;
	char *end;
	long v = -1;

	if (n < 16 && edit[n]) {
		memcpy(word, edit, n);
		word[n] = '\0';
		if (edit[n + 1] >= '0' && edit[n + 1] <= '9')
			v = strtol(edit + n + 1, &end, 10);
		if (v < 0 || v > NUMBER_MAX || *end)
			return err_set(e, EX_BADINPUT, "the edit '%.40s' needs "
				       "a word and a number of at most %d",
				       edit, NUMBER_MAX);
		for (i = 0; words[i]; i++)
			if (!strcmp(words[i], word)) {
				*number = (int)v;
				return 0;
			}
	}
	snprintf(word, 16, "%.*s", (int)n, edit);
	near = vocab_nearest(word, words);
	return err_set(e, EX_BADINPUT, "unknown edit '%.40s', expected a word "
		       "such as '%s' and a number", edit, near ? near :
		       words[0]);
}

int edit_check(const struct case_rec *c, struct err *e)
{
	const cJSON *item;
	char word[16];
	int number;

	cJSON_ArrayForEach(item, c->edits)
		if (split(item->valuestring, word, &number, e))
			return -1;
	return 0;
}

/*
 * "lay 0": no operand is laid out anew; "lay N": the N-th alone is.  False
 * where that changes nothing.
 */
static bool lay(struct form *v, int *operand, int number)
{
	if (!form_lays(v) || (number && *operand >= 0))
		return false;
	if (number)
		*operand = number - 1;
	else
		memset(&v->lay, 0, sizeof(v->lay));
	return true;
}

int edit_apply(const struct case_rec *c, PyObject *sample, struct form *v,
	       int *operand, PyObject **ret, struct err *e)
{
	PyObject *list = PyList_New(0), *fn, *text;
	const char *mode = v->mode;
	const cJSON *item;
	char word[16];
	int number;

	*ret = NULL;
	cJSON_ArrayForEach(item, c->edits) {
		if (!list || split(item->valuestring, word, &number, e))
			break;
		if (!strcmp(word, "lay")) {
			if (lay(v, operand, number))
				continue;
			Py_DECREF(list);
			return 0;
		}
		text = PyUnicode_FromString(item->valuestring);
		if (!text || PyList_Append(list, text))
			Py_CLEAR(list);
		Py_XDECREF(text);
	}
	fn = list && !item ? py_attr("edit", "apply", e) : NULL;
	if (fn) {
		*ret = PyObject_CallFunction(fn, "ssOO", c->op, mode, sample,
					     list);
		Py_DECREF(fn);
	}
	Py_XDECREF(list);
	if (!*ret)
		return PyErr_Occurred() ? py_error(e, EX_ENVIRON, NULL) : -1;
	if (*ret == Py_None)
		Py_CLEAR(*ret);
	return 0;
}
