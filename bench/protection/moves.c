// SPDX-License-Identifier: GPL-2.0
/* Arrays whose elements are moved, merged, or looked up. */
#include "patterns.h"

#include <string.h>

static void fill(struct run *run, uint64_t *words, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		words[i] = random_next(&run->random);
}

static void did_words(struct run *run, uint64_t *words, uint64_t more)
{
	*words += more;
	run_did(run, *words / PAGE_WORDS);
	*words %= PAGE_WORDS;
}

#define BITR_BITS 16u

static uint64_t reversed(uint64_t index)
{
	uint64_t result = 0;

	for (unsigned int bit = 0; bit < BITR_BITS; bit++)
		result |= (index >> bit & 1) << (BITR_BITS - 1 - bit);
	return result;
}

/*
 * Bit-reversal: element i and the element whose number is i with its bits in reverse change
 * places; i goes up in sequence, its partner jumps through the whole array. There are 2^16
 * elements, whatever their size is, so that the array can have any size.
 */
static void run_bitr(struct run *run)
{
	uint64_t width = (run->size >> BITR_BITS) / sizeof(uint64_t);
	uint64_t *array = run_memory(width * sizeof(*array) << BITR_BITS);
	uint64_t words = 0;

	fill(run, array, width << BITR_BITS);
	while (!run_over(run)) {
		for (uint64_t i = 0; i < 1u << BITR_BITS && !run_over(run); i++) {
			uint64_t partner = reversed(i);
			uint64_t *left = array + i * width, *right = array + partner * width;

			if (partner <= i)
				continue;
			for (uint64_t word = 0; word < width; word++) {
				uint64_t value = left[word];

				left[word] = right[word];
				right[word] = value;
			}
			run_check(run, left[0] ^ right[0]);
			did_words(run, &words, 2 * width);
		}
	}
}

/* Merges from[begin..middle) and from[middle..end) into to[begin..end). */
static void merge(const uint64_t *from, uint64_t *to, uint64_t begin, uint64_t middle, uint64_t end)
{
	uint64_t left = begin, right = middle;

	for (uint64_t i = begin; i < end; i++) {
		if (right == end || (left < middle && from[left] <= from[right]))
			to[i] = from[left++];
		else
			to[i] = from[right++];
	}
}

/*
 * Merge sort from the bottom up: every pass reads one half of the memory in two streams and
 * writes the other in one. What is sorted is filled anew.
 */
static void run_sort(struct run *run)
{
	uint64_t count = run->size / 2 / sizeof(uint64_t);
	uint64_t *from = run_memory(2 * count * sizeof(*from));
	uint64_t *to = from + count;
	uint64_t words = 0;

	while (!run_over(run)) {
		fill(run, from, count);
		for (uint64_t width = 1; width < count && !run_over(run); width *= 2) {
			uint64_t *sorted = to;

			for (uint64_t begin = 0; begin < count && !run_over(run);
			     begin += 2 * width) {
				uint64_t middle = begin + width < count ? begin + width : count;
				uint64_t end = middle + width < count ? middle + width : count;

				merge(from, to, begin, middle, end);
				did_words(run, &words, end - begin);
			}
			to = from;
			from = sorted;
			run_check(run, from[0] ^ from[count - 1] ^ from[count / 2]);
		}
	}
}

#define RECORD_WORDS 16u
#define LOOKUPS 8u /* of about 25 probes each and a record: as long as a page's words */

/*
 * A data base in memory: a sorted index of keys, searched by halving, and records that are read
 * and changed. Nine lookups of ten go to a tenth of the records, as some objects are always in
 * use; the tenth moves on.
 */
static void run_records(struct run *run)
{
	uint64_t count = run->size / ((1 + RECORD_WORDS) * sizeof(uint64_t));
	uint64_t *keys = run_memory((1 + RECORD_WORDS) * sizeof(*keys) * count);
	uint64_t *records = keys + count;
	uint64_t hot = 0;

	fill(run, records, count * RECORD_WORDS);
	for (uint64_t i = 0; i < count; i++)
		keys[i] = UINT64_MAX / count * i;
	while (!run_over(run)) {
		for (unsigned int i = 0; i < LOOKUPS; i++) {
			bool often = random_below(&run->random, 10) < 9;
			uint64_t wanted = random_below(&run->random, often ? count / 10 : count);
			uint64_t key = UINT64_MAX / count * ((hot + wanted) % count);
			uint64_t low = 0, high = count;

			while (high - low > 1) {
				uint64_t middle = low + (high - low) / 2;

				if (keys[middle] <= key)
					low = middle;
				else
					high = middle;
			}
			for (unsigned int word = 0; word < RECORD_WORDS; word++) {
				run_check(run, records[low * RECORD_WORDS + word]);
				records[low * RECORD_WORDS + word] += run->check;
			}
		}
		run_did(run, 1);
		hot += !(run->done % 64);
	}
}

const struct pattern pattern_bitr = {
	.name = "bit-r",
	.what = "bit-reversal: elements change places with others far away",
	.run = run_bitr,
};

const struct pattern pattern_sort = {
	.name = "sort",
	.what = "merge sort: passes over all memory in three streams",
	.run = run_sort,
};

const struct pattern pattern_records = {
	.name = "records",
	.what = "lookups in a data base in memory (as of vortex): scattered, a tenth is hot",
	.run = run_records,
};
