/* knowncrash: ranges of versions. */
#include "knowncrash.h"
#include "tap.h"

static const struct { const char *range, *version; int want; } table[] = {
	{ "*", "2.13.0", 1 },
	{ ">=2.9", "2.9.0", 1 }, { ">=2.9", "2.13.0+cpu", 1 },
	{ ">=2.9", "2.8.1", 0 }, { ">2.9", "2.9", 0 }, { ">2.9", "2.9.1", 1 },
	{ "<2.14", "2.13.9", 1 }, { "<2.14", "2.14.0", 0 },
	{ "<=2.14", "2.14.0", 1 }, { "==2.13", "2.13.0", 1 },
	{ "==2.13", "2.13.1", 0 }, { ">=2.9,<2.14", "2.10.0", 1 },
	{ ">=2.9,<2.14", "2.14.0", 0 }, { ">=2.9,<2.14,>3", "2.10", 0 },
	{ "", "2.9", -1 }, { "2.9", "2.9", -1 }, { "=2.9", "2.9", -1 },
	{ ">=", "2.9", -1 }, { ">=2.9,", "2.9", -1 }, { "~2.9", "2.9", -1 },
	{ ">=x", "2.9", -1 }, { ">=2.9 <3", "2.9", -1 },
	{ "<3", "nightly", -1 },
};

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		is_int(knowncrash_in_range(table[i].range, table[i].version),
		       table[i].want, "'%s' and %s", table[i].range,
		       table[i].version);
	return done();
}
