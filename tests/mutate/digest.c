#include "digest.h"

#include "seed.h"
#include "xalloc.h"

uint64_t digest_obs(uint64_t sum, cJSON *obs)
{
	static const char *const times[] = { "t_ref_us", "t_dev_us" };
	size_t i;
	char *s;

	for (i = 0; i < sizeof(times) / sizeof(*times); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(obs, times[i]);
	s = cJSON_PrintUnformatted(obs);
	if (!s)
		BUG("no text of an observation");
	sum = seed_for_case(s, sum);
	cJSON_free(s);
	return sum;
}
