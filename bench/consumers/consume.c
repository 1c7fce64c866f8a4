// SPDX-License-Identifier: GPL-2.0
/* A consumer: the algorithm of section 4.1, line by line. */
#include "consumers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "clock.h"
#include "random.h"
#include "signals.h"
#include "work.h"

struct result {
	const char *outcome;
	uint64_t started_ns, planned_ns, ended_ns; /* of the activity */
	uint64_t cycles;
	uint64_t longest_ns; /* cycle, its sleep included */
};

/* Lines 6 to 10: W writes, each at a random byte. */
static void write_cycle(const struct options *options, unsigned char *memory, uint64_t *random)
{
	for (uint64_t k = 0; k < options->writes; k++) {
		unsigned char value = (unsigned char)random_below(random, 256);

		memory[random_below(random, options->size)] = value;
	}
	/* They are never read: the compiler must not know. */
	__asm__ volatile("" : : "r"(memory) : "memory");
}

static void run(const struct options *options, struct result *result, struct work_slot *slot)
{
	uint64_t random = random_start(options->seed, options->index);
	unsigned char *memory;
	uint64_t now;

	clock_sleep(options->lead_ns + options->index * options->delay_ns); /* 1 */
	result->started_ns = clock_now();
	memory = malloc(options->size); /* 2 */
	if (!memory) {
		result->outcome = "no memory";
		return;
	}
	result->planned_ns = result->started_ns + options->active_ns; /* 3, 4 */
	for (now = result->started_ns; now <= result->planned_ns && !signalled;) { /* 5 */
		uint64_t began = now;

		write_cycle(options, memory, &random);
		work_add(slot, options->writes);
		result->cycles++;
		clock_sleep(options->sleep_ns); /* 11 */
		now = clock_now();
		if (now - began > result->longest_ns)
			result->longest_ns = now - began;
	}
	result->ended_ns = now;
	result->outcome = signalled ? "interrupted" : "done";
	free(memory); /* 13 */
}

int consume(const struct options *options)
{
	struct result result = { .outcome = "" };
	struct work_slot *slot;
	struct rusage usage;
	char name[32];

	snprintf(name, sizeof(name), "consumer%" PRIu64, options->index);
	/* No cycle is shorter than its sleep. */
	slot = work_join(name, (options->active_ns / options->sleep_ns + 1) * options->writes);
	run(options, &result, slot);
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"program\": \"consumers\", \"part\": \"consume\", \"index\": %" PRIu64
	       ", \"outcome\": \"%s\", \"started\": %.6f, \"planned\": %.6f, \"ended\": %.6f"
	       ", \"cycles\": %" PRIu64 ", \"writes\": %" PRIu64 ", \"longest_cycle\": %.6f"
	       ", \"minor_faults\": %ld, \"major_faults\": %ld}\n",
	       options->index, result.outcome, clock_seconds(result.started_ns),
	       clock_seconds(result.planned_ns), clock_seconds(result.ended_ns), result.cycles,
	       result.cycles * options->writes, clock_seconds(result.longest_ns), usage.ru_minflt,
	       usage.ru_majflt);
	fflush(stdout);
	if (!result.ended_ns)
		return EXIT_FAILURE;
	return signalled ? 4 : EXIT_SUCCESS;
}
