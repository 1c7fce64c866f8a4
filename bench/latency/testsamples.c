// SPDX-License-Identifier: GPL-2.0
/* For tests: prints what samples_print() says of the numbers of its command line. */
#include <stdlib.h>

#include "samples.h"

int main(int argc, char **argv)
{
	uint64_t values[4096];
	int count = argc - 1;

	if (count > 4096)
		return 2;
	for (int i = 0; i < count; i++)
		values[i] = strtoull(argv[i + 1], NULL, 10);
	samples_print(stdout, values, (uint64_t)count, 0);
	putchar('\n');
	return 0;
}
