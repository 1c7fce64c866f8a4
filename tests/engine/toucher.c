// SPDX-License-Identifier: GPL-2.0
/*
 * toucher MIB COUNTER [nap [sparse]]: writes to all of its pages in turn, for ever. COUNTER is a
 * file: the number of pages visited, then 1 when all of them have been written once. With "nap" it
 * sleeps a millisecond after each pass. With "sparse" it also maps 64 TiB in which there is one
 * page.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

int main(int argc, char **argv)
{
	size_t size = argc > 2 ? (size_t)atol(argv[1]) << 20 : 0;
	int fd = argc > 2 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
	volatile uint64_t *counter;
	uint64_t x = 88172645463325252ull;
	char *memory;

	if (fd < 0 || ftruncate(fd, PAGE))
		return 2;
	counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (counter == MAP_FAILED || memory == MAP_FAILED)
		return 1;
	madvise(memory, size, MADV_NOHUGEPAGE);
	if (argc > 4) {
		char *sparse = mmap(NULL, 1ul << 46, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (sparse == MAP_FAILED)
			return 1;
		*sparse = 1;
	}
	for (;;) {
		for (size_t i = 0; i < size; i += PAGE) {
			/* xorshift64 (Marsaglia 2003): what cannot be compressed */
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			*(uint64_t *)(memory + i) = x;
			counter[0]++;
		}
		counter[1] = 1;
		if (argc > 3)
			usleep(1000);
	}
}
