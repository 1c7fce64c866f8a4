// SPDX-License-Identifier: GPL-2.0
/* Programs of SPEC CPU as the papers describe them: gcc and bzip2. */
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CHUNK_PAGES 64u

/* Reads and writes a page, as the word says that it finds in it. */
static void visit(struct run *run, uint64_t *page)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < PAGE_WORDS; i++) {
		sum += page[i];
		page[i] ^= sum;
	}
	run_check(run, sum);
	run_did(run, 1);
}

static void fill(struct run *run, uint64_t *page)
{
	for (unsigned int i = 0; i < PAGE_WORDS; i++)
		page[i] = random_next(&run->random);
}

/*
 * gcc's memory over its work, from figure 7 as the text reads it: a small base, and two spikes,
 * the second with 7 % more memory than the first. In thousandths of the work: from where on, up
 * to where it climbs, until where it stays.
 */
static const struct spike {
	uint64_t from, climbed, until;
	uint64_t percent; /* of --size */
} spikes[] = {
	{ 200, 300, 400, 93 },
	{ 600, 700, 900, 100 },
};

#define BASE_PERCENT 20u

/* Pages that gcc wants after `done` units of `work`, of `pages` at its largest. */
static uint64_t gcc_wants(uint64_t done, uint64_t work, uint64_t pages)
{
	uint64_t now = (uint64_t)((unsigned __int128)done * 1000 / work);
	uint64_t base = pages * BASE_PERCENT / 100;

	for (size_t i = 0; i < sizeof(spikes) / sizeof(spikes[0]); i++) {
		const struct spike *spike = &spikes[i];
		uint64_t top = pages * spike->percent / 100;

		if (now < spike->from || now >= spike->until)
			continue;
		if (now >= spike->climbed)
			return top;
		return base + (top - base) * (now - spike->from) / (spike->climbed - spike->from);
	}
	return base;
}

struct chunks {
	uint64_t **chunk;
	uint64_t count;
};

static void resize(struct run *run, struct chunks *chunks, uint64_t count)
{
	while (chunks->count > count) {
		munmap(chunks->chunk[chunks->count - 1], CHUNK_PAGES * PAGE_BYTES);
		chunks->count--;
	}
	while (chunks->count < count) {
		uint64_t *chunk = run_memory(CHUNK_PAGES * PAGE_BYTES);

		for (unsigned int page = 0; page < CHUNK_PAGES; page++)
			fill(run, chunk + page * PAGE_WORDS);
		chunks->chunk[chunks->count++] = chunk;
	}
}

/*
 * A compiler: "successive CPU-intensive computations on more localized areas" (Goichon et al.,
 * section 4.2), and memory that comes and goes. Of ten visits nine go to a window of an eighth
 * of the memory, page after page and over again, and one anywhere; the window moves on by half
 * after four rounds.
 */
static void run_gcc(struct run *run)
{
	uint64_t pages = run->size / PAGE_BYTES;
	uint64_t most = (pages + CHUNK_PAGES - 1) / CHUNK_PAGES;
	struct chunks chunks = { .chunk = calloc(most, sizeof(*chunks.chunk)) };
	uint64_t start = 0, step = 0;

	if (!chunks.chunk) {
		fputs("patterns: no memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	while (!run_over(run)) {
		uint64_t wanted = gcc_wants(run->done, run->work, pages) / CHUNK_PAGES;
		uint64_t all, window, page;

		if (wanted < 1)
			wanted = 1;
		if (wanted != chunks.count)
			resize(run, &chunks, wanted);
		all = chunks.count * CHUNK_PAGES;
		window = all / 8;
		if (run->done % 10 == 9) {
			page = random_below(&run->random, all);
		} else {
			page = (start + step++ % window) % all;
			if (step >= 4 * window) {
				step = 0;
				start = (start + window / 2) % all;
			}
		}
		visit(run, chunks.chunk[page / CHUNK_PAGES] + page % CHUNK_PAGES * PAGE_WORDS);
	}
}

/*
 * A compressor of bzip2's kind: "it needs to scan all the data multiple times" (Goichon et al.,
 * section 4.2). All of it, page after page, again and again, byte by byte: the bytes' frequencies
 * are counted, as for a Huffman code, and the page is changed by them.
 */
static void run_blocks(struct run *run)
{
	uint64_t pages = run->size / PAGE_BYTES;
	uint64_t *memory = run_memory(pages * PAGE_BYTES);
	uint32_t frequency[256] = { 0 };

	for (uint64_t page = 0; page < pages; page++)
		fill(run, memory + page * PAGE_WORDS);
	while (!run_over(run)) {
		for (uint64_t page = 0; page < pages && !run_over(run); page++) {
			unsigned char *bytes = (unsigned char *)(memory + page * PAGE_WORDS);

			for (unsigned int i = 0; i < PAGE_BYTES; i++)
				frequency[bytes[i]]++;
			for (unsigned int i = 0; i < PAGE_BYTES; i++)
				bytes[i] = (unsigned char)(bytes[i] + frequency[bytes[i]]);
			run_check(run, frequency[bytes[0]]);
			run_did(run, 1);
		}
	}
}

const struct pattern pattern_gcc = {
	.name = "gcc",
	.what = "a compiler: memory in two spikes, the second 7 % larger, and local work",
	.run = run_gcc,
};

const struct pattern pattern_blocks = {
	.name = "blocks",
	.what = "a compressor (as bzip2): scans all its data again and again, byte by byte",
	.run = run_blocks,
};
