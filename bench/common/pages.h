/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory with pages that can be checked. The first word of each is a tag of this page of this
 * process, plus the number of visits to the page. The rest begins as random numbers, which do not
 * compress.
 */
#ifndef LAB_PAGES_H
#define LAB_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "random.h"

struct pages {
	uint64_t *memory;
	uint64_t count; /* pages */
	uint32_t words; /* of 8 bytes in a page */
	uint64_t key; /* of the tags */
};

/**
 * pages_get() - map memory and write all of it
 * @size: bytes, a multiple of a page
 * @random: state of the random numbers; advanced
 *
 * Returns false if there is no memory to be had (errno says why).
 */
bool pages_get(struct pages *pages, uint64_t size, uint64_t *random);

static inline uint64_t pages_tag(const struct pages *pages, uint64_t page)
{
	return random_mix(pages->key + page);
}

/*
 * Adds one to every word of a page that was visited `times` times before: a read and a write of
 * 4 KiB. Returns false if its contents have changed since the last visit.
 */
static inline bool pages_visit(const struct pages *pages, uint64_t page, uint64_t times)
{
	uint64_t *word = pages->memory + page * pages->words;

	if (*word != pages_tag(pages, page) + times)
		return false;
	for (uint32_t i = 0; i < pages->words; i++)
		word[i]++;
	return true;
}

#endif /* LAB_PAGES_H */
