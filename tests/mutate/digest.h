/*
 * digest: what a case showed, as one number: every field of its observations
 * but the times, the overloads on the way and the version counters, of which
 * advice checks tell.
 */
#ifndef MUTATE_DIGEST_H
#define MUTATE_DIGEST_H

#include <stdint.h>
#include <cjson/cJSON.h>

/* Add an observation to the digest so far, 0 at first. */
uint64_t digest_obs(uint64_t sum, const cJSON *obs);

#endif
