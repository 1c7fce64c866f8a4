// SPDX-License-Identifier: GPL-2.0
/*
 * Measures latencies: from a key to its echo, from a request to its answer, and from the time at
 * which a task should wake up until it does. Questions do not wait for the answer to the last one,
 * because people and clients do not know of each other. So a delay also counts for all questions
 * that are due meanwhile. A question without an answer counts with the time that it has waited.
 */
#include "latency.h"

#include <err.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "proc.h"
#include "random.h"
#include "signals.h"

#define PRIORITY 2

void be_on_time(void)
{
	static const struct sched_param param = { .sched_priority = PRIORITY };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		warn("no real-time priority: answers may be seen late");
	proc_lock();
}

void memory_get(struct memory *memory, const struct options *options)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);

	memory->random = random_start(options->seed, 0);
	memory->touch = options->touch / page_size;
	if (!pages_get(&memory->pages, options->size, &memory->random))
		err(EXIT_FAILURE, "no memory");
	memory->visits = calloc(memory->pages.count, sizeof(*memory->visits));
	if (!memory->visits)
		err(EXIT_FAILURE, "no memory");
}

void memory_use(struct memory *memory)
{
	for (uint64_t i = 0; i < memory->touch; i++) {
		uint64_t page = random_below(&memory->random, memory->pages.count);

		if (!pages_visit(&memory->pages, page, memory->visits[page]++))
			errx(EXIT_FAILURE, "data lost");
	}
}

void schedule_make(struct schedule *schedule, const struct options *options)
{
	uint64_t random = random_start(options->seed, 1);
	uint64_t whole = options->skip_ns + options->duration_ns;

	schedule->count = (whole + options->period_ns - 1) / options->period_ns;
	schedule->due_ns = calloc(schedule->count, sizeof(*schedule->due_ns));
	if (!schedule->due_ns)
		err(EXIT_FAILURE, "no memory");
	schedule->first = (options->skip_ns + options->period_ns - 1) / options->period_ns;
	for (uint64_t i = 0; i < schedule->count; i++) {
		uint64_t later = random_below(&random, options->jitter_ns + 1);

		schedule->due_ns[i] = i * options->period_ns + later;
	}
}

int main(int argc, char **argv)
{
	struct options options;
	enum part part = options_parse(&options, argc, argv);

	signals_catch();
	switch (part) {
	case PART_TYPE:
		return ask(&options, true);
	case PART_ASK:
		return ask(&options, false);
	case PART_EDIT:
		return answer(&options, true);
	case PART_SERVE:
		return answer(&options, false);
	default:
		return tick(&options);
	}
}
