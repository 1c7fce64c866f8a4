// SPDX-License-Identifier: GPL-2.0
/*
 * unit MIB PASSES: a compiler's work, without the compiler. It fills MIB MiB of memory and passes
 * over all of it PASSES times, one each 200 ms if it can: between it waits, as for its files. What
 * it reads must be what it has written.
 *
 * exit status: 0; 1: memory has changed, or there is none; 2: usage
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096UL
#define WAIT_US 200000

/* A page's first word tells its number, and how often it was passed over; the first fills it. */
static int pass(char *memory, size_t pages, unsigned long passes)
{
	size_t i;

	for (i = 0; i < pages; i++) {
		uint64_t *at = (uint64_t *)(memory + i * PAGE);

		if (*at != (passes ? i + passes - 1 : 0))
			return 1;
		*at = i + passes;
	}
	return 0;
}

int main(int argc, char **argv)
{
	size_t pages = argc == 3 ? strtoul(argv[1], NULL, 10) * (1048576 / PAGE) : 0;
	unsigned long passes = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long i;
	char *memory;

	if (!pages || !passes) {
		fputs("usage: unit MIB PASSES\n", stderr);
		return 2;
	}
	memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED) {
		perror("unit");
		return 1;
	}
	for (i = 0; i <= passes; i++) {
		if (pass(memory, pages, i)) {
			fputs("unit: memory has changed\n", stderr);
			return 1;
		}
		usleep(WAIT_US);
	}
	return 0;
}
