// SPDX-License-Identifier: GPL-2.0
/* The rotation of a scenario; and the ideal: the same jobs, all at once, where memory suffices. */
#include "policy/plan.h"
#include "simulator.h"

#include <stdlib.h>

#include "context/virtual/machine.h"

void mts_user_bug(const char *file, int line, const char *format, ...)
{
	va_list args;

	machine_print_log(stderr);
	fprintf(stderr, "simulator: %s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\n", stderr);
	exit(EXIT_FAILURE);
}

static u64 ideal_ns(const struct scenario *scenario)
{
	struct scenario roomy = *scenario;

	roomy.memory = NEVER / 2;
	roomy.usable = NEVER / 2;
	roomy.limit_ns = NEVER;
	roomy.count_from_ns = 0;
	figures_begin(roomy.njobs);
	host_run(&roomy, false);
	host_free();
	return figures.time_ns;
}

int main(int argc, char **argv)
{
	struct scenario scenario;
	u64 ideal;

	scenario_parse(&scenario, argc, argv);
	ideal = ideal_ns(&scenario);
	figures_begin(scenario.njobs);
	host_run(&scenario, true);
	report(&scenario, ideal);
	host_free();
	free(figures.bins);
	free(scenario.demands);
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
