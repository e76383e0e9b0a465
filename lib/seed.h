/*
 * seed: the random seed of a case, from its id and the run's seed and nothing
 * else, so that order, sharding and resumption can't change what is computed.
 */
#ifndef CTS_SEED_H
#define CTS_SEED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEED_DEFAULT 67

/* FNV-1a over the id, mixed with the run's seed by splitmix64's finaliser. */
uint64_t seed_for_case(const char *id, uint64_t run_seed);

/* Next draw of a splitmix64 generator whose state is *s. */
uint64_t seed_next(uint64_t *s);

#ifdef __cplusplus
}
#endif

#endif
