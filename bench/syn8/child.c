// SPDX-License-Identifier: GPL-2.0
/*
 * SYN8: the work of one child.
 *
 * Each page has a word of check: the exclusive-or of its 512 words is a number that belongs to
 * this page of this child. An access changes a random word of a random page, and the check with
 * it, by the same random number; so after any number of accesses every page proves that it is
 * itself and whole, and the checks of all pages together prove that none is an older copy.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "random.h"
#include "syn8.h"

/* Accesses between two looks at the shared counter. */
#define BATCH 64u

/* What the words of a page give together. */
static uint64_t page_tag(uint64_t key, uint64_t page)
{
	return random_mix(key + page);
}

/* Returns the checks of all pages, by exclusive-or. */
static uint64_t fill(uint64_t *memory, uint64_t pages, unsigned int words, uint64_t key,
		     uint64_t *random)
{
	uint64_t all = 0;

	for (uint64_t page = 0; page < pages; page++) {
		uint64_t *word = memory + page * words;
		uint64_t check = page_tag(key, page);

		/* random, so that pages do not compress */
		for (unsigned int i = 1; i < words; i++) {
			word[i] = random_next(random);
			check ^= word[i];
		}
		word[0] = check;
		all ^= check;
	}
	return all;
}

/* Returns how many pages are wrong; one at least if only their sum is. */
static uint32_t verify(const uint64_t *memory, uint64_t pages, unsigned int words, uint64_t key,
		       uint64_t all)
{
	uint32_t bad = 0;

	for (uint64_t page = 0; page < pages; page++) {
		const uint64_t *word = memory + page * words;
		uint64_t sum = 0;

		for (unsigned int i = 0; i < words; i++)
			sum ^= word[i];
		bad += sum != page_tag(key, page);
		all ^= word[0];
	}
	return bad ? bad : all != 0;
}

int child_run(const struct options *options, unsigned int index, struct child_slot *slot,
	      struct work_slot *work)
{
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint32_t words = (uint32_t)(page_size / sizeof(uint64_t));
	const uint64_t pages = options->size / page_size;
	uint64_t random = random_start(options->seed, index);
	const uint64_t key = random_next(&random);
	uint64_t all, done = 0;
	uint64_t *memory;

	memory = mmap(NULL, options->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED) {
		slot->error = CHILD_NO_MEMORY;
		return EXIT_FAILED;
	}
	all = fill(memory, pages, words, key, &random);
	while (done < options->accesses) {
		uint64_t left = options->accesses - done;
		uint64_t batch = left < BATCH ? left : BATCH;

		for (uint64_t i = 0; i < batch; i++) {
			uint64_t value = random_next(&random);
			/* uniform: the upper half chooses the page, the lower half the word */
			uint64_t *page = memory + ((value >> 32) * pages >> 32) * words;

			page[1 + ((value & 0xffffffffu) * (words - 1) >> 32)] ^= value;
			page[0] ^= value;
			all ^= value;
		}
		done += batch;
		atomic_store_explicit(&slot->done, done, memory_order_relaxed);
		if (work)
			work_add(work, batch);
	}
	slot->bad_pages = verify(memory, pages, words, key, all);
	if (slot->bad_pages) {
		slot->error = CHILD_LOST_DATA;
		return EXIT_FAILED;
	}
	slot->finished_ns = clock_now();
	return EXIT_DONE;
}
