// SPDX-License-Identifier: GPL-2.0
#include "rotor/status.h"

#include "context.h"
#include "events/wake.h"
#include "jobs/freezer.h"
#include "jobs/interactive.h"
#include "rotor/state.h"
#include "sched_hooks/hooks.h"

static bool measure_wanted; /* a reader of the status wants fresh figures */
static DECLARE_WAIT_QUEUE_HEAD(measured);

void mts_status_answer(void)
{
	WRITE_ONCE(measure_wanted, false);
	wake_up(&measured);
}

static const char *const reasons[] = {
	[MTS_REASON_NONE] = "mode is off",
	[MTS_REASON_NO_JOBS] = "fewer than two jobs that could take turns",
	[MTS_REASON_FITS] = "the jobs' demand fits in the capacity",
	[MTS_REASON_NO_PRESSURE] =
		"demand exceeds the capacity, but the host does not reclaim memory",
	[MTS_REASON_NO_SWAP] =
		"demand exceeds the capacity, but there is no swap: add some (swapon)",
	[MTS_REASON_OVERCOMMIT] = "the jobs' demand exceeds the capacity",
	[MTS_REASON_COPES] = "demand exceeds the capacity, but turns would gain the jobs nothing",
	[MTS_REASON_NO_GAIN] =
		"demand exceeds the capacity, but the jobs got less done with the policy: tried again later",
	[MTS_REASON_SLOW_SWAP] =
		"switches take so long that turns would give the jobs less than they have without, or exceed max_pause: tried again later",
	[MTS_REASON_EXEMPT] =
		"exempt jobs leave no room for any other job: unpin some, or add memory; tried again later",
	[MTS_REASON_SHADOW] = "mode=shadow: with mode=auto mts would act now",
	[MTS_REASON_POLICY] =
		"demand exceeds the capacity, and policy=none leaves that to the kernel",
	[MTS_REASON_FAIR] =
		"demand exceeds the capacity: jobs that swap more than their share are delayed",
	[MTS_REASON_TOKEN] = "demand exceeds the capacity: one job at a time keeps its memory",
};

const char *mts_status_explain(u32 reason)
{
	return reason < ARRAY_SIZE(reasons) && reasons[reason] ? reasons[reason] : "";
}

static const char swap_full[] =
	"the jobs' demand exceeds the capacity, and swap is full (or a zram is): add some (swapon)";

static const char copes_under_all[] =
	"demand exceeds the capacity, but no policy would gain the jobs anything";

static const char *explain(u32 reason)
{
	lockdep_assert_held(&mts_lock);
	if (reason == MTS_REASON_COPES && mts_rotor_config()->policy == MTS_POLICY_AUTO)
		return copes_under_all;
	if (reason == MTS_REASON_OVERCOMMIT && mts_rotor_is_swap_full())
		return swap_full;
	/* "": the gate has been opened, and the rotor has not seen it. */
	return mts_status_explain(reason);
}

/*
 * An idle rotor does not measure, so a reader has it measure. A rotation measures anyway, and a
 * stopped rotor must not be woken.
 */
static void refresh(void)
{
	u32 state = READ_ONCE(mts_rotor.phase.state);

	if (mts_gate_reason() || state == MTS_STATE_RUNNING || state == MTS_STATE_SWITCHING ||
	    state == MTS_STATE_SHARING)
		return;
	WRITE_ONCE(measure_wanted, true);
	mts_wake_rotor(MTS_ROTOR_EV_MEASURE);
	wait_event_interruptible_timeout(measured, !READ_ONCE(measure_wanted), HZ / 2);
}

static void count_residents(struct mts_status *status)
{
	struct mts_job *job;

	lockdep_assert_held(&mts_lock);
	mts_job_for_each(job) {
		status->interactive += mts_job_is_interactive(job);
		status->crowded_out += mts_job_is_crowded_out(job);
		status->limited += job->limited;
	}
}

void mts_status_get(struct mts_status *status)
{
	u32 gate;

	refresh();
	memset(status, 0, sizeof(*status));
	mutex_lock(&mts_lock);
	status->abi = MTS_ABI_VERSION;
	status->state = mts_rotor.phase.state;
	status->reason = mts_rotor.phase.reason;
	status->each_how = mts_hooks_each_how();
	status->jobs = mts_job_count();
	status->bins = mts_rotor.round.nbins;
	status->current_bin = mts_rotor.phase.running;
	status->frozen = mts_freezer_count();
	status->generation = mts_jobs_generation();
	status->now_ns = ktime_get_ns();
	status->capacity = mts_rotor.round.plan.capacity;
	status->demand = mts_rotor.round.plan.demand;
	status->resident_demand = mts_rotor.round.plan.resident_demand;
	status->round = mts_rotor.phase.round;
	status->slice_ends_ns = mts_rotor.phase.slice_ends;
	status->round_ns = mts_rotor.round.plan.round_ns;
	status->longest_pause_ns = mts_rotor.round.plan.longest_pause_ns;
	if (mts_rotor.round.nbins) {
		status->evict = mts_rotor.costs.switches.evict;
		/* As evict.c does. */
		if (mts_rotor.round.plan.overlaps && status->evict == MTS_EVICT_FULL)
			status->evict = MTS_EVICT_NEED;
		status->max_pause_ns = mts_rotor.planning.max_pause_ns;
		status->limited_by = mts_rotor.planning.limited_by;
	}
	status->sees = mts_hooks_see();
	count_residents(status);
	strscpy(status->detail, explain(mts_rotor.phase.reason), sizeof(status->detail));
	mutex_unlock(&mts_lock);

	/* The gate may be closed before the rotor has noticed. */
	gate = mts_gate_reason();
	if (gate) {
		status->state = gate == MTS_REASON_SUSPEND ? MTS_STATE_PAUSED : MTS_STATE_STOPPED;
		status->reason = gate;
		mts_gate_detail(status->detail, sizeof(status->detail));
	}
}

static struct mts_page_way way_of(const struct mts_page_cost *cost, u64 now)
{
	if (!mts_disk_is_known(cost, now))
		return (struct mts_page_way){ 0 };
	return (struct mts_page_way){
		.elapsed_ns = cost->elapsed_ns,
		.worked_ns = cost->worked_ns,
		.waited_ns = cost->waited_ns,
		.age_ns = mts_sub_floor(now, cost->at_ns),
	};
}

void mts_status_disk(struct mts_disk_info *info)
{
	const struct mts_disk *disk = &mts_rotor.costs.disk;
	u64 now;

	mutex_lock(&mts_lock);
	now = ktime_get_ns();
	*info = (struct mts_disk_info){
		.out = way_of(&disk->out, now),
		.in = way_of(&disk->in, now),
		.request_ns = mts_disk_request_ns(disk, now),
		.flags = (mts_disk_is_waited_for(disk, now) ? MTS_DISK_WAITED_FOR : 0) |
			 (mts_disk_needs_rows(disk, now) ? MTS_DISK_NEEDS_ROWS : 0),
	};
	mutex_unlock(&mts_lock);
}

u32 mts_status_bins(struct mts_bin_info *bins, u32 n)
{
	u32 i;

	lockdep_assert_held(&mts_lock);
	for (i = 0; i < min(n, mts_rotor.round.nbins); i++) {
		bins[i].jobs = mts_rotor.round.bins[i].jobs;
		bins[i].flags = (mts_rotor.round.bins[i].runs ? MTS_BIN_RUNS : 0) |
				(mts_rotor.round.plan.overlaps ? MTS_BIN_OVERLAPS : 0);
		bins[i].demand = mts_rotor.round.bins[i].demand;
		bins[i].slice_ns = mts_rotor.round.bins[i].slice_ns;
	}
	return mts_rotor.round.nbins;
}

bool mts_status_is_wanted(void)
{
	return READ_ONCE(measure_wanted);
}
