// SPDX-License-Identifier: GPL-2.0
/*
 * A scanner (section 3.3): "allocates a single 384MB buffer using the malloc routine in the C
 * runtime library, and then writes sequentially to the entire buffer one byte at a time. When it
 * gets to the end of the buffer, it returns to the beginning".
 *
 * The bytes are noise, other ones in each page and pass, so that no compressed swap makes the
 * work smaller, and the first byte of each page is checked before it is written again.
 */
#include "scanners.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "clock.h"
#include "random.h"
#include "signals.h"
#include "work.h"

#define PAGE 4096u

struct result {
	const char *outcome;
	uint64_t elapsed_ns;
	uint64_t pages; /* written, in all passes */
};

static inline unsigned char tag(uint64_t page, uint64_t pass)
{
	return (unsigned char)random_mix(page * 1000003u + pass);
}

static void write_page(volatile unsigned char *bytes, const unsigned char *noise, unsigned char tag)
{
	for (unsigned int i = 0; i < PAGE; i++)
		bytes[i] = noise[i] ^ tag;
}

static void run(const struct options *options, struct result *result, struct work_slot *slot)
{
	unsigned char noise[PAGE];
	uint64_t random = random_start(options->seed, 0);
	uint64_t pages = options->size / PAGE;
	uint64_t start = clock_now();
	uint64_t end = options->duration_ns ? start + options->duration_ns : UINT64_MAX;
	unsigned char *buffer = malloc(options->size);

	if (!buffer) {
		result->outcome = "no memory";
		return;
	}
	for (unsigned int i = 0; i < PAGE; i++)
		noise[i] = (unsigned char)random_next(&random);
	result->outcome = "done";
	while (!signalled && clock_now() < end) {
		uint64_t page = result->pages % pages, pass = result->pages / pages;
		unsigned char *bytes = buffer + page * PAGE;

		if (pass && bytes[0] != (noise[0] ^ tag(page, pass - 1))) {
			result->outcome = "data lost";
			break;
		}
		write_page(bytes, noise, tag(page, pass));
		result->pages++;
		work_add(slot, 1);
	}
	if (signalled)
		result->outcome = "interrupted";
	result->elapsed_ns = clock_now() - start;
	free(buffer);
}

int scan(const struct options *options)
{
	uint64_t pages = options->size / PAGE;
	struct result result = { 0 };
	struct work_slot *slot;
	struct rusage usage;

	prctl(PR_SET_NAME, options->name);
	if (options->nice && setpriority(PRIO_PROCESS, 0, options->nice))
		perror("scanners: --nice");
	slot = work_join(options->name, options->goal * pages);
	run(options, &result, slot);
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"program\": \"scanners\", \"part\": \"scan\", \"name\": \"%s\""
	       ", \"size\": %" PRIu64
	       ", \"outcome\": \"%s\", \"elapsed\": %.6f, \"pages\": %" PRIu64
	       ", \"passes\": %.6f, \"minor_faults\": %ld, \"major_faults\": %ld}\n",
	       options->name, options->size, result.outcome, clock_seconds(result.elapsed_ns),
	       result.pages, (double)result.pages / (double)pages, usage.ru_minflt,
	       usage.ru_majflt);
	fflush(stdout);
	if (signalled)
		return 4;
	return result.outcome[0] == 'd' && result.outcome[1] == 'o' ? EXIT_SUCCESS : EXIT_FAILURE;
}
