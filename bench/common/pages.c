// SPDX-License-Identifier: GPL-2.0
#include "pages.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

bool pages_get(struct pages *pages, uint64_t size, uint64_t *random)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);

	pages->words = (uint32_t)(page_size / sizeof(uint64_t));
	pages->count = size / page_size;
	pages->key = random_next(random);
	pages->memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages->memory == MAP_FAILED)
		return false;
	for (uint64_t page = 0; page < pages->count; page++) {
		uint64_t *word = pages->memory + page * pages->words;

		word[0] = pages_tag(pages, page);
		for (uint32_t i = 1; i < pages->words; i++)
			word[i] = random_next(random);
	}
	return true;
}
