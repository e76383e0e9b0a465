#include "seed.h"

#define GAMMA UINT64_C(0x9e3779b97f4a7c15)	/* 2^64 / golden ratio, odd */

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t seed_for_case(const char *id, uint64_t run_seed)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *id; id++)
		h = (h ^ (unsigned char)*id) * UINT64_C(0x100000001b3);
	/* Mixed on its own first: no id can cancel a seed out. */
	return mix(h ^ mix(run_seed + GAMMA));
}

uint64_t seed_next(uint64_t *s)
{
	*s += GAMMA;
	return mix(*s);
}
