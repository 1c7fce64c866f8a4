// SPDX-License-Identifier: GPL-2.0
#include "samples.h"

#include <inttypes.h>
#include <stdlib.h>

static int compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

uint64_t samples_percentile(const uint64_t *sorted, uint64_t count, unsigned int percent)
{
	return sorted[(count * percent + 99) / 100 - 1];
}

void samples_print(FILE *out, uint64_t *values, uint64_t count, uint64_t missing)
{
	uint64_t first = count ? values[0] : 0;

	fprintf(out, "{\"count\": %" PRIu64 ", \"missing\": %" PRIu64, count, missing);
	if (count) {
		qsort(values, count, sizeof(*values), compare);
		fprintf(out,
			", \"first_ns\": %" PRIu64 ", \"p50_ns\": %" PRIu64 ", \"p99_ns\": %" PRIu64
			", \"max_ns\": %" PRIu64,
			first, samples_percentile(values, count, 50),
			samples_percentile(values, count, 99), values[count - 1]);
	}
	fputc('}', out);
}

uint64_t samples_differences(uint64_t *differences, const uint64_t *values, uint64_t count)
{
	for (uint64_t i = 1; i < count; i++) {
		uint64_t one = values[i - 1], other = values[i];

		differences[i - 1] = other > one ? other - one : one - other;
	}
	return count ? count - 1 : 0;
}
