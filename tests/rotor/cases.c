// SPDX-License-Identifier: GPL-2.0
#include "cases.h"

#include "check.h"
#include "context/virtual/machine.h"
#include "host.h"
#include "world.h"

const struct host usual_host = {
	.memory = 8 * GIB,
	.swap = 32 * GIB,
	.processors = 4,
	.bulk_ns = 10000,
	.page_ns = 3000,
	.fault_ns = 100000,
	.request_ns = 20000,
};

struct mts_config config_of(u32 mode)
{
	return (struct mts_config){
		.mask = MTS_CONFIG_ALL,
		.mode = mode,
		.pack = MTS_DEFAULT_PACK,
		.evict = MTS_DEFAULT_EVICT,
		.slice_ns = MTS_DEFAULT_SLICE_NS,
		.min_slice_ns = MTS_DEFAULT_MIN_SLICE_NS,
		.max_pause_ns = MTS_DEFAULT_MAX_PAUSE_NS,
		.overhead = MTS_DEFAULT_OVERHEAD,
		.interactive = MTS_DEFAULT_INTERACTIVE,
		.demand = MTS_DEFAULT_DEMAND,
		.step = MTS_STEP_BIN, /* of groups: window_cases.c */
	};
}

void case_begin(const struct host *given, u32 mode)
{
	struct mts_config config = config_of(mode);

	host_begin_plain(given);
	check_begin(false);
	world_load(&config);
}

u64 wait_until(bool (*is)(void *data), void *data, u64 ns)
{
	u64 began = machine_now();

	while (!is(data) && machine_now() - began < ns) {
		machine_sleep(MS);
		host_advance();
	}
	return machine_now() - began;
}

static const struct a_case *const lists[] = {
	rotor_cases, window_cases, limit_cases,	 queue_cases, fair_cases,
	token_cases, auto_cases,   weight_cases, pause_cases, freezer_cases,
};

static int case_main(void *does)
{
	((void (*)(void))does)();
	return 0;
}

static const struct a_case *find(const char *name)
{
	const struct a_case *a_case;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (a_case = lists[i]; a_case->name; a_case++)
			if (!strcmp(a_case->name, name))
				return a_case;
	return NULL;
}

void cases_run(const char *name, u64 seed)
{
	const struct a_case *a_case = find(name);

	NEED(a_case, "no case is called %s", name);
	machine_begin(seed);
	machine_run(case_main, (void *)a_case->does);
}

void cases_print(FILE *to)
{
	const struct a_case *a_case;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (a_case = lists[i]; a_case->name; a_case++)
			fprintf(to, "%s\n", a_case->name);
}
