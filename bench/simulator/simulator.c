// SPDX-License-Identifier: GPL-2.0
/* The rotation of a scenario; and the ideal: the same jobs, all at once, where memory suffices. */
#include "policy/plan.h"
#include "simulator.h"

#include <stdlib.h>
#include <string.h>

static void *room_for(size_t n, size_t size)
{
	void *memory = calloc(n + 1, size);

	if (!memory) {
		fputs("simulator: no memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	return memory;
}

void simulation_begin(struct simulation *s, const struct scenario *scenario)
{
	u32 n = scenario->njobs;

	*s = (struct simulation){
		.scenario = scenario,
		.njobs = n,
		.jobs = room_for(n, sizeof(*s->jobs)),
		.running = room_for(n, sizeof(*s->running)),
		.plan_jobs = room_for(n, sizeof(*s->plan_jobs)),
		.bins = room_for(n, sizeof(*s->bins)),
		.shown_bins = room_for(n, sizeof(*s->shown_bins)),
		.scratch = room_for(1, mts_plan_scratch(n)),
		.current = MTS_BIN_NONE,
		.figures.jain = 1,
	};
	memcpy(s->jobs, scenario->jobs, n * sizeof(*s->jobs));
}

void simulation_end(struct simulation *s)
{
	free(s->jobs);
	free(s->running);
	free(s->plan_jobs);
	free(s->bins);
	free(s->shown_bins);
	free(s->scratch);
}

int main(int argc, char **argv)
{
	struct simulation s, ideal;
	struct scenario scenario, roomy;

	scenario_parse(&scenario, argc, argv);
	roomy = scenario;
	roomy.memory = NEVER / 2;
	roomy.usable = NEVER / 2;
	roomy.config.mode = MTS_MODE_OFF;
	roomy.limit_ns = NEVER;
	roomy.rounds = false;

	simulation_begin(&ideal, &roomy);
	rotor_run(&ideal);
	simulation_begin(&s, &scenario);
	rotor_run(&s);
	report(&s, &ideal);
	simulation_end(&s);
	simulation_end(&ideal);
	free(scenario.jobs);
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
