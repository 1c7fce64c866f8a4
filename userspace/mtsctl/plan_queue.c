// SPDX-License-Identifier: GPL-2.0
/* What jobs get done that begin when there is room for them, in place of turns. */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"
#include "policy/queue.h"

/* Without --work: all jobs have as much. */
#define UNIT_NS 1000000000ull

static u32 count_foretold(const struct mts_queue_line *line)
{
	u32 n = 0;

	for (u32 i = 0; i < line->nwaiting; i++)
		n += line->waiting[i].starts_ns != U64_MAX;
	return n;
}

/* The policy looks some ends ahead at a time. With none that runs there is nothing to wait for. */
static void foretell_all(struct mts_queue_line *line)
{
	mts_queue_decide(line);
	while (count_foretold(line) < line->nwaiting && line->nbegun)
		mts_queue_foretell(line);
}

u32 plan_starts_after(const struct plan *plan, u32 i)
{
	u32 n = 0;

	for (u32 j = 0; j < plan->njobs; j++)
		n += plan->starts_ns[j] + plan->runs_ns <= plan->starts_ns[i];
	return n;
}

static void take_result(struct plan *plan, const struct mts_queue_waiting *waiting)
{
	for (u32 i = 0; i < plan->njobs; i++) {
		plan->starts_ns[i] = waiting[i].starts_ns;
		plan->queue_ns = mts_max(plan->queue_ns, plan->starts_ns[i] + plan->runs_ns);
	}
	plan->work_as_queue =
		mul_u64_u64_div_u64(1000 * plan->runs_ns, plan->njobs, plan->queue_ns);
}

int plan_queue(struct plan *plan)
{
	struct mts_queue_line line = {
		.capacity = plan->result.capacity,
		.processors = plan->conf.processors,
		.is_settled = true,
		.begun = calloc(plan->njobs, sizeof(*line.begun)),
		.waiting = calloc(plan->njobs, sizeof(*line.waiting)),
		.nwaiting = plan->njobs,
	};
	bool is_complete;

	plan->runs_ns = plan->work_ns ? plan->work_ns : UNIT_NS;
	plan->starts_ns = calloc(plan->njobs, sizeof(*plan->starts_ns));
	is_complete = line.begun && line.waiting && plan->starts_ns;
	for (u32 i = 0; is_complete && i < plan->njobs; i++)
		line.waiting[i] = (struct mts_queue_waiting){
			.need = plan->jobs[i].demand,
			.runs_ns = plan->runs_ns,
		};
	if (is_complete) {
		foretell_all(&line);
		take_result(plan, line.waiting);
	}
	free(line.begun);
	free(line.waiting);
	return is_complete ? 0 : -ENOMEM;
}
