/* A manifest as Python source, in the manner of TorchCTS. */
#include "manifest_impl.h"

#include <string.h>

static void value(struct buf *b, const cJSON *x, int indent);

/* A JSON string is a Python string too. */
static void quoted(struct buf *b, const char *s)
{
	cJSON *x = cJSON_CreateString(s);
	char *text = cJSON_PrintUnformatted(x);

	buf_addstr(b, text);
	cJSON_free(text);
	cJSON_Delete(x);
}

static void dict(struct buf *b, const cJSON *o, int indent)
{
	bool dtypes = o->string && !strcmp(o->string, "supported_dtypes");
	const cJSON *x;

	if (!o->child) {
		buf_addstr(b, "{}");
		return;
	}
	buf_addstr(b, "{\n");
	cJSON_ArrayForEach(x, o) {
		buf_addf(b, "%*s", indent, "");
		if (dtypes)
			buf_addf(b, "torch.%s", x->string);
		else
			quoted(b, x->string);
		buf_addstr(b, ": ");
		value(b, x, indent + 4);
		buf_addstr(b, ",\n");
	}
	buf_addf(b, "%*s}", indent - 4, "");
}

static void value(struct buf *b, const cJSON *x, int indent)
{
	const cJSON *y;
	char *text;

	if (cJSON_IsObject(x)) {
		dict(b, x, indent);
	} else if (cJSON_IsArray(x)) {
		buf_addch(b, '[');
		cJSON_ArrayForEach(y, x) {
			if (y != x->child)
				buf_addstr(b, ", ");
			value(b, y, indent);
		}
		buf_addch(b, ']');
	} else if (cJSON_IsBool(x)) {
		buf_addstr(b, cJSON_IsTrue(x) ? "True" : "False");
	} else {
		text = cJSON_PrintUnformatted(x);
		buf_addstr(b, text);
		cJSON_free(text);
	}
}

void manifest_write_py(const struct manifest *m, struct buf *out)
{
	buf_addstr(out, "import torch\n\nmanifest = ");
	dict(out, m->json, 4);
	buf_addch(out, '\n');
}
