// SPDX-License-Identifier: GPL-2.0
/*
 * For tests: prints what samples_print() says of the numbers of its command line; after
 * "differences", of those between them.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

int main(int argc, char **argv)
{
	const bool differences = argc > 1 && !strcmp(argv[1], "differences");
	uint64_t values[4096], between[4096];
	uint64_t count = 0;

	for (int i = 1 + differences; i < argc; i++) {
		if (count == 4096)
			return 2;
		values[count++] = strtoull(argv[i], NULL, 10);
	}
	if (differences)
		count = samples_differences(between, values, count);
	samples_print(stdout, differences ? between : values, count, 0);
	putchar('\n');
	return 0;
}
