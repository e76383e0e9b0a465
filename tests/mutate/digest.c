#include "digest.h"

#include "seed.h"
#include "xalloc.h"

uint64_t digest_obs(uint64_t sum, cJSON *obs)
{
	static const char *const apart[] = { "t_ref_us", "t_dev_us", "where",
					     "version" };
	size_t i;
	char *s;

	for (i = 0; i < sizeof(apart) / sizeof(*apart); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(obs, apart[i]);
	s = cJSON_PrintUnformatted(obs);
	if (!s)
		BUG("no text of an observation");
	sum = seed_for_case(s, sum);
	cJSON_free(s);
	return sum;
}
