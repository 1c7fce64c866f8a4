// SPDX-License-Identifier: GPL-2.0
#include "rotor/rotor.h"

#include "context.h"
#include "events/promise.h"
#include "events/stats.h"
#include "events/trace.h"
#include "events/wake.h"
#include "events/words.h"
#include "jobs/enrol.h"
#include "jobs/freezer.h"
#include "policy/plan.h"
#include "rotor/admission.h"
#include "rotor/choice.h"
#include "rotor/fit.h"
#include "rotor/freeze.h"
#include "rotor/idle.h"
#include "rotor/onset.h"
#include "rotor/plan.h"
#include "rotor/protection.h"
#include "rotor/queue.h"
#include "rotor/roster.h"
#include "rotor/sharing.h"
#include "rotor/slice.h"
#include "rotor/spent.h"
#include "rotor/state.h"
#include "rotor/status.h"
#include "rotor/switch.h"
#include "rotor/turn.h"

static struct task_struct *rotor_thread;

static bool is_to_go_round(enum mts_slice_end end)
{
	return end <= MTS_SLICE_EMPTY;
}

static void run_round(void)
{
	u64 began = ktime_get_ns();
	u32 bin;
	enum mts_slice_end end = MTS_SLICE_GOES_ON;
	bool whole;

	mts_state_begin_round();
	mts_stats_inc(rounds);
	trace_mts_round(mts_rotor.phase.round, &mts_rotor.round.plan, mts_rotor.roster.n);

	mts_turn_begin_round();
	mts_fit_begin_round();
	while (is_to_go_round(end) && (bin = mts_turn_next()) != MTS_BIN_NONE) {
		if (mts_switch_to(bin))
			return;
		/* A round may be long, and others may have reset a setting. */
		mts_protection_update(true);
		end = mts_slice_run(bin);
		if (is_to_go_round(end)) {
			mts_slice_look_at_waits();
			if (mts_rotor_plan_breaks_limit())
				end = MTS_SLICE_ATTENDED;
		}
		mts_slice_close(bin, end);
		/* The jobs had not grown when it was planned: of one bin it is known now. */
		if (mts_rotor.onset.is_on)
			break;
	}
	whole = is_to_go_round(end) && !mts_rotor.onset.is_on;
	mts_fit_end_round(whole);
	mts_admit_judge(began, whole);
}

static int rotor_main(void *unused)
{
	bool filling = false, looked;

	/* The rotor thaws and freezes the jobs, so it must not wait for the CPU behind them. */
	set_user_nice(current, MIN_NICE);

	while (!kthread_should_stop()) {
		u32 gate = mts_gate_reason(), nbins;
		struct mts_spent spent;

		mts_job_reap(mts_promise_step);
		mts_roster_muster();
		if (gate) {
			mts_idle_wait_for_gate(gate);
			continue;
		}
		spent = mts_spent_begin();
		mts_onset_begin(filling);
		filling = false;
		/*
		 * While it watches it measures rarely; but turns begin with what jobs need now.
		 */
		looked = mts_admit_look();
		mts_idle_measure(looked && mts_admit_turns_pay(ktime_get_ns()) ?
					 MTS_REASON_OVERCOMMIT :
					 mts_rotor.phase.reason);
		/* The plan is made with the configuration of now. */
		mts_rotor_take_events(BIT(MTS_ROTOR_EV_CONFIG));
		nbins = mts_rotor_plan_round(looked);
		mts_queue_step();
		if (nbins >= 2) {
			mts_sharing_end();
			mts_status_answer();
			mts_protection_update(true);
			run_round();
		} else {
			filling = mts_idle(mts_spent_since(&spent));
		}
	}
	mts_sharing_end();
	mts_freeze_thaw_all();
	mts_roster_dismiss();
	return 0;
}

static void free_memory(void)
{
	kvfree(mts_rotor.round.bins);
	kvfree(mts_rotor.roster.jobs);
	kvfree(mts_rotor.bring.moved);
	kvfree(mts_rotor.evict.outgoing);
	kvfree(mts_rotor.evict.end_of_bin);
	kvfree(mts_rotor.turns.order);
	kvfree(mts_rotor.turns.place);
	kvfree(mts_rotor.planning.plan_jobs);
	kvfree(mts_rotor.planning.claims);
	kvfree(mts_rotor.planning.claimants);
	kvfree(mts_rotor.planning.ties);
	kvfree(mts_rotor.scratch);
	mts_queue_exit();
}

int mts_rotor_init(void)
{
	mts_state_init();
	mts_rotor.round.bins = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.round.bins), GFP_KERNEL);
	mts_rotor.roster.jobs = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.roster.jobs), GFP_KERNEL);
	mts_rotor.bring.moved = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.bring.moved), GFP_KERNEL);
	mts_rotor.evict.outgoing =
		kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.evict.outgoing), GFP_KERNEL);
	mts_rotor.evict.end_of_bin =
		kvcalloc(MTS_MAX_JOBS + 1, sizeof(*mts_rotor.evict.end_of_bin), GFP_KERNEL);
	mts_rotor.turns.order = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.turns.order), GFP_KERNEL);
	mts_rotor.turns.place = kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.turns.place), GFP_KERNEL);
	mts_rotor.planning.plan_jobs =
		kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.planning.plan_jobs), GFP_KERNEL);
	mts_rotor.planning.claims =
		kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.planning.claims), GFP_KERNEL);
	mts_rotor.planning.claimants =
		kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.planning.claimants), GFP_KERNEL);
	mts_rotor.planning.ties =
		kvcalloc(MTS_MAX_JOBS, sizeof(*mts_rotor.planning.ties), GFP_KERNEL);
	mts_rotor.scratch =
		kvzalloc(max(mts_plan_scratch(MTS_MAX_JOBS), mts_auto_scratch()), GFP_KERNEL);
	if (!mts_queue_init() || !mts_rotor.round.bins || !mts_rotor.roster.jobs ||
	    !mts_rotor.bring.moved || !mts_rotor.evict.outgoing || !mts_rotor.evict.end_of_bin ||
	    !mts_rotor.turns.order || !mts_rotor.turns.place || !mts_rotor.planning.plan_jobs ||
	    !mts_rotor.planning.claims || !mts_rotor.planning.claimants ||
	    !mts_rotor.planning.ties || !mts_rotor.scratch)
		goto out_free;
	rotor_thread = kthread_create(rotor_main, NULL, "mts_rotor");
	if (!IS_ERR(rotor_thread)) {
		/* Held, so that kthread_stop() is safe even if an oops has ended it. */
		get_task_struct(rotor_thread);
		wake_up_process(rotor_thread);
		return 0;
	}

out_free:
	free_memory();
	return -ENOMEM;
}

void mts_rotor_exit(void)
{
	kthread_stop(rotor_thread);
	put_task_struct(rotor_thread);
	free_memory();
}
