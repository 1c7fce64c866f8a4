/* SPDX-License-Identifier: GPL-2.0 */
/* Latencies: their percentiles, as JSON. */
#ifndef LATENCY_SAMPLES_H
#define LATENCY_SAMPLES_H

#include <stdint.h>
#include <stdio.h>

/**
 * samples_percentile() - the least value that so many of a hundred do not exceed (nearest rank)
 * @sorted: in rising order
 * @count: not 0
 * @percent: 1 to 100
 */
uint64_t samples_percentile(const uint64_t *sorted, uint64_t count, unsigned int percent);

/**
 * samples_print() - an object of what is known of them, without a newline
 * @values: nanoseconds in their order; sorted then
 * @missing: so many of these never ended, and are at least so long
 */
void samples_print(FILE *out, uint64_t *values, uint64_t count, uint64_t missing);

/**
 * samples_differences() - by how much each value differs from the one before it
 * @differences: room for @count - 1
 * @values: in their order
 *
 * Return: how many differences.
 */
uint64_t samples_differences(uint64_t *differences, const uint64_t *values, uint64_t count);

#endif /* LATENCY_SAMPLES_H */
