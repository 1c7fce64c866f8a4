// SPDX-License-Identifier: GPL-2.0
#include "rotor/newcomers.h"

#include "context.h"
#include "jobs/budget.h"
#include "jobs/interactive.h"
#include "jobs/tasks.h"
#include "policy/bins.h"
#include "policy/newcomers.h"
#include "rotor/plan.h"
#include "rotor/roster.h"
#include "rotor/round.h"
#include "rotor/state.h"
#include "rotor/turn.h"
#include "rotor/users.h"

/* A newcomer whose pause limit the round breaks is exempt until the next one, if there is room. */
static bool is_let_in_for_its_limit(const struct mts_job *job, u32 bin, u64 demand)
{
	u64 own = mts_job_own_limit(job);

	if (bin != MTS_BIN_NONE && mts_limit_allows(own, mts_rotor.round.bins[bin].pause_ns))
		return false;
	return own && mts_rotor_plan_take_room(demand);
}

/* Of overlapping bins: it runs at once if it fits beside those that run, else it waits for them. */
static u32 new_group(const struct mts_newcomers *all, u64 demand)
{
	u32 bin = mts_round_add_bin(mts_newcomers_fits_beside(all, demand));

	if (bin != MTS_BIN_NONE)
		mts_turn_add_group(bin);
	return bin;
}

static void take(struct mts_newcomers *all, u32 bin, u64 demand)
{
	if (!mts_rotor.round.plan.overlaps)
		mts_newcomers_take(all, bin, demand);
	else if (mts_rotor.round.bins[bin].runs)
		mts_newcomers_take_beside(all, demand);
}

static void place(struct mts_job *job, struct mts_newcomers *all)
{
	u64 demand;
	u32 bin;

	if (mts_roster_is_resident(job)) {
		mts_round_place(job, MTS_BIN_EVERY, 0);
		return;
	}
	demand = mts_newcomers_demand(all, job->parent, job->demand);
	bin = mts_rotor.round.plan.overlaps ?
		      new_group(all, demand) :
		      mts_newcomers_bin(all, mts_rotor.phase.running, demand);
	if (is_let_in_for_its_limit(job, bin, demand)) {
		job->limited = true;
		bin = MTS_BIN_EVERY;
	} else if (bin != MTS_BIN_NONE) {
		take(all, bin, demand);
	}
	mts_round_place(job, bin, demand);
}

static bool is_placed(const struct mts_job *job)
{
	return job->bin != MTS_BIN_NONE;
}

static bool is_new(const struct mts_job *job)
{
	return !is_placed(job);
}

/*
 * An adopted cgroup arrives with all its memory. A job that waits for the next round is frozen, and
 * needs the same as when it came.
 */
static bool has_to_be_measured(const struct mts_job *job)
{
	return is_new(job) && !READ_ONCE(job->frozen);
}

void mts_newcomers_place(void)
{
	struct mts_newcomers all;
	struct mts_job *job;
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		if (has_to_be_measured(mts_rotor.roster.jobs[i]))
			mts_roster_measure_job(mts_rotor.roster.jobs[i]);
	mts_tasks_scan();
	mutex_lock(&mts_lock);
	if (mts_rotor.planning.long_pause_ns)
		mts_tasks_scan_attended();
	mts_users_entitle(is_new);
	mts_newcomers_begin(&all, mts_rotor.round.bins, mts_rotor.round.nbins,
			    mts_rotor.round.plan.capacity, mts_rotor.roster.n, mts_rotor.scratch);
	for (i = 0; i < mts_rotor.roster.n; i++) {
		job = mts_rotor.roster.jobs[i];
		if (is_placed(job))
			mts_newcomers_note(&all, job->parent, job->demand);
	}
	for (i = 0; i < mts_rotor.roster.n; i++)
		if (is_new(mts_rotor.roster.jobs[i]))
			place(mts_rotor.roster.jobs[i], &all);
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
}

static void take_in(struct mts_job *job)
{
	u64 takes = mts_roster_bin_bytes(job);

	mts_round_exempt(job, takes);
	mts_budget_hold(job);
	mts_roster_note_interactive(job);
	job->kept_bytes = 0;
	/* It runs, whatever was evicted of it. */
	job->ran_since_evict = true;
}

/* A job that runs for a call alone keeps its bin: it is frozen again when the call is over. */
static bool has_to_be_resident(const struct mts_job *job)
{
	return job->realtime || mts_job_is_spared(job) || mts_job_is_interactive(job);
}

bool mts_newcomers_take_in(void)
{
	struct mts_plan_bin running;
	u32 i, n = 0;
	bool fits;

	mutex_lock(&mts_lock);
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->bin >= mts_rotor.round.nbins || !has_to_be_resident(job))
			continue;
		take_in(job);
		n++;
	}
	if (n)
		mts_jobs_changed();
	running = mts_round_running();
	fits = running.demand <=
	       mts_add_sat(mts_rotor.round.plan.capacity, mts_rotor.round.plan.capacity / 8);
	mutex_unlock(&mts_lock);
	/* A key must not make the host switch, if it can be helped. */
	return !n || fits;
}
