// SPDX-License-Identifier: GPL-2.0
/* What jobs get done that begin when there is room for them, in place of turns. */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"
#include "policy/queue.h"

/* Without --work: all jobs have as much. */
#define UNIT_NS 1000000000ull

static bool is_pinned(const struct plan *plan, u32 i)
{
	return plan->jobs[i].flags & MTS_PLAN_RESIDENT;
}

u32 plan_pinned(const struct plan *plan)
{
	u32 n = 0;

	for (u32 i = 0; i < plan->njobs; i++)
		n += is_pinned(plan, i);
	return n;
}

static u32 count_foretold(const struct mts_queue_line *line)
{
	u32 n = 0;

	for (u32 i = 0; i < line->nwaiting; i++)
		n += line->waiting[i].starts_ns != U64_MAX;
	return n;
}

/* The policy looks some ends ahead at a time. */
static void foretell_all(struct mts_queue_line *line)
{
	u32 before, now = 0;

	mts_queue_decide(line);
	do {
		before = now;
		mts_queue_foretell(line);
		now = count_foretold(line);
	} while (now > before && now < line->nwaiting);
}

u32 plan_starts_after(const struct plan *plan, u32 i)
{
	u32 n = 0;

	for (u32 j = 0; j < plan->njobs; j++)
		n += !is_pinned(plan, j) &&
		     mts_add_sat(plan->starts_ns[j], plan->runs_ns) <= plan->starts_ns[i];
	return n;
}

static void take_result(struct plan *plan, const struct mts_queue_waiting *waiting)
{
	u64 runs = plan->runs_ns;
	u32 n = 0;

	for (u32 i = 0; i < plan->njobs; i++) {
		if (is_pinned(plan, i))
			continue;
		plan->starts_ns[i] = waiting[n++].starts_ns;
		plan->queue_ns = mts_max(plan->queue_ns, mts_add_sat(plan->starts_ns[i], runs));
	}
	plan->work_as_queue = n ? mul_u64_u64_div_u64(runs * 1000, n, plan->queue_ns) : 0;
}

int plan_queue(struct plan *plan)
{
	u32 pinned = plan_pinned(plan);
	struct mts_queue_line line = {
		.capacity = plan->result.capacity,
		.processors = mts_max(mts_sub_floor(plan->conf.processors, pinned), 1),
		.is_settled = true,
		.begun = calloc((size_t)plan->njobs + 1, sizeof(*line.begun)),
		.waiting = calloc((size_t)plan->njobs + 1, sizeof(*line.waiting)),
	};
	bool is_complete;

	plan->runs_ns = plan->work_ns ? plan->work_ns : UNIT_NS;
	plan->starts_ns = calloc((size_t)plan->njobs + 1, sizeof(*plan->starts_ns));
	is_complete = line.begun && line.waiting && plan->starts_ns;
	for (u32 i = 0; is_complete && i < plan->njobs; i++)
		if (!is_pinned(plan, i))
			line.waiting[line.nwaiting++] = (struct mts_queue_waiting){
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
