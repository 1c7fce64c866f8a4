// SPDX-License-Identifier: GPL-2.0
/* Faults of the freezer and of what may run out of turn. */
#include "cases.h"

#include "context/virtual/machine.h"
#include "jobs/budget.h"
#include "jobs/freezer.h"
#include "jobs/thaw.h"
#include "world.h"

/* Fault: a job that was removed while the rotor looked at all kept its part of the budget. */
static void a_removed_job_keeps_nothing_of_the_budget(void)
{
	struct model *model, *other;

	case_begin(&usual_host, MTS_MODE_OFF);
	model = host_add(GIB, 0, 0);
	other = host_add(GIB, 0, 0);
	machine_sleep(SECOND);
	kref_get(&model->job->ref);
	host_remove(model);
	mts_budget_set_limit(GIB);
	model->job->demand = GIB;
	other->job->demand = GIB;
	/* The rotor has it in its roster yet. */
	mts_budget_hold(model->job);
	EXPECT(!model->job->lent, "it is lent %llu MiB", model->job->lent / MIB);
	EXPECT(mts_budget_lend(other->job, false), "another job is lent nothing");
	mts_budget_return(other->job);
	mts_job_put(model->job);
	world_unload();
}

static int stop_main(void *unused)
{
	machine_sleep(100 * MS);
	mts_thaw_and_stop(MTS_REASON_USER, "the case");
	return 0;
}

static bool is_thawed(void *job)
{
	return !READ_ONCE(((struct mts_job *)job)->frozen);
}

/* Fault: it was counted as one of those that have begun, and taken off these. */
static void a_held_job_whose_thaw_fails_is_counted_once(void)
{
	struct task_struct *stops;
	struct model *model;

	case_begin(&usual_host, MTS_MODE_AUTO);
	stops = kthread_create(stop_main, NULL, "stops");
	wake_up_process(stops);
	host.hangs[OP_FREEZE] = SECOND;
	host.fails[OP_THAW] = 1;
	model = host_submit(GIB, true, U64_MAX, 60 * SECOND);
	EXPECT(!host.fails[OP_THAW], "no thaw has failed");
	wait_until(is_thawed, model->job, SECOND);
	EXPECT(!model->job->frozen, "it is frozen");
	EXPECT(!mts_freezer_count() && !mts_freezer_held(), "%d are frozen, %d held",
	       (int)mts_freezer_count(), (int)mts_freezer_held());
	put_task_struct(stops);
	world_unload();
}

static u64 thaw_while_open(struct model *model)
{
	u64 began;

	NEED(!mts_freezer_freeze(model->job), "it cannot be frozen");
	model->open = true;
	began = machine_now();
	mts_freezer_thaw(model->job);
	began = machine_now() - began;
	model->open = false;
	return began;
}

/* Fault: only the first process that opened cgroup.freeze to write was waited for. */
static void an_open_file_is_waited_for_every_time(void)
{
	struct model *model;
	u64 took;
	u32 i;

	case_begin(&usual_host, MTS_MODE_AUTO);
	model = host_add(GIB, 0, 0);
	machine_sleep(SECOND);
	for (i = 0; i < 2; i++) {
		took = thaw_while_open(model);
		EXPECT(took >= 15 * MS, "thaw %u takes %llu ms", i, took / MS);
		machine_sleep(SECOND);
	}
	world_unload();
}

const struct a_case freezer_cases[] = {
	CASE(a_removed_job_keeps_nothing_of_the_budget),
	CASE(a_held_job_whose_thaw_fails_is_counted_once),
	CASE(an_open_file_is_waited_for_every_time),
	{ 0 },
};
