/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers that are the same everywhere for the same seed: Sebastiano Vigna's splitmix64,
 * a step of the state and its mixing. No floating point, no state but 64 bits.
 */
#ifndef LAB_RANDOM_H
#define LAB_RANDOM_H

#include <stdint.h>

static inline uint64_t random_mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
	return value ^ (value >> 31);
}

/* 64 random bits. */
static inline uint64_t random_next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return random_mix(*state);
}

/* The state to begin with: processes of one seed differ by their index. */
static inline uint64_t random_start(uint64_t seed, uint64_t index)
{
	return random_mix(seed) + random_mix(index + 1u);
}

/* 0..limit-1, as even as 64 bits allow (the error is limit / 2^64). */
static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return (uint64_t)(((unsigned __int128)random_next(state) * limit) >> 64);
}

#endif /* LAB_RANDOM_H */
