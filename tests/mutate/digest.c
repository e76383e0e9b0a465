#include "digest.h"

#include "seed.h"
#include "xalloc.h"

uint64_t digest_obs(uint64_t sum, const cJSON *obs)
{
	static const char *const apart[] = { "t_ref_us", "t_dev_us", "where",
					     "version" };
	cJSON *rest = cJSON_Duplicate(obs, 1);
	size_t i;
	char *s;

	for (i = 0; i < sizeof(apart) / sizeof(*apart); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(rest, apart[i]);
	s = cJSON_PrintUnformatted(rest);
	if (!s)
		BUG("no text of an observation");
	sum = seed_for_case(s, sum);
	cJSON_free(s);
	cJSON_Delete(rest);
	return sum;
}
