#include "table.h"

#include <string.h>
#include "buf.h"
#include "json.h"
#include "banned.h"

#define TABLE_MAX (16u << 20)

cJSON *table_read(const char *path, struct err *e)
{
	struct buf b = BUF_INIT;
	cJSON *all, *o;
	char *s, *end, *nl;
	int line = 0;

	if (buf_read_file(&b, path, TABLE_MAX, e) < 0) {
		buf_release(&b);
		return NULL;
	}
	all = cJSON_CreateArray();
	end = b.p + b.len;
	for (s = b.p; s < end; s = nl + 1) {
		line++;
		nl = memchr(s, '\n', (size_t)(end - s));
		if (!nl)
			nl = end;
		if (s + strspn(s, " \t\r") >= nl)
			continue;
		o = json_parse(s, (size_t)(nl - s), e);
		if (o && !cJSON_IsObject(o)) {
			cJSON_Delete(o);
			o = NULL;
			err_set(e, EX_BADINPUT, "not an object");
		}
		if (!o) {
			err_prefix(e, "%s:%d", path, line);
			cJSON_Delete(all);
			all = NULL;
			break;
		}
		cJSON_AddItemToArray(all, o);
	}
	buf_release(&b);
	return all;
}
