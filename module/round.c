// SPDX-License-Identifier: GPL-2.0
/* A round's plan: who is there, what each needs, which bins that makes. */
#include "mts.h"

#include <linux/mm.h>
#include <linux/swap.h>

#include "config.h"
#include "freezer.h"
#include "ops.h"
#include "rotor.h"
#include "rotor_private.h"
#include "sched_hooks/hooks.h"
#include "tasks.h"

/* The host pays for its shortage if it has reclaimed within this time. */
#define PRESSURE_NS (10 * (u64)NSEC_PER_SEC)

void mts_round_dismiss(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size; i++)
		mts_job_put(mts_rotor.roster[i]);
	mts_rotor.roster_size = 0;
}

void mts_round_muster(void)
{
	struct mts_job *job;

	mts_round_dismiss();
	mutex_lock(&mts_lock);
	mts_job_for_each(job) {
		kref_get(&job->ref);
		mts_rotor.roster[mts_rotor.roster_size++] = job;
	}
	mutex_unlock(&mts_lock);
}

static int measure(struct mts_job *job)
{
	struct mts_usage usage;
	int err;

	mts_rotor_step("memory is measured");
	err = mts_ops->usage(job, &usage);
	if (err)
		return err;
	mutex_lock(&mts_lock);
	job->usage = usage;
	job->demand = mts_policy_demand(&usage);
	job->resident = mts_policy_resident(&usage);
	mutex_unlock(&mts_lock);
	return 0;
}

void mts_round_measure(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster_size && mts_rotor_may_go_on(); i++) {
		/* An error leaves the last figures; a cgroup that is gone is reaped. */
		measure(mts_rotor.roster[i]);
	}
	mts_tasks_scan();
}

/* Why a job is in every bin: it must, or should, or cannot be frozen. */
static bool is_resident(const struct mts_job *job)
{
	return job->flags & MTS_JOB_PIN || job->realtime || job->untouchable || job->foreign ||
	       mts_job_left_out(job);
}

static u64 capacity_now(const struct mts_config *config)
{
	u64 managed = 0;
	u32 i;

	if (config->bin_bytes)
		return config->bin_bytes;
	for (i = 0; i < mts_rotor.roster_size; i++)
		managed = mts_add_sat(managed, mts_rotor.roster[i]->resident);
	return mts_policy_capacity((u64)max(si_mem_available(), 0L) << PAGE_SHIFT, managed,
				   (u64)totalram_pages() << PAGE_SHIFT);
}

/* Return: the number of jobs that can be frozen. */
static u32 fill_plan_jobs(void)
{
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];
		struct mts_plan_job *plan_job = &mts_rotor.plan_jobs[i];

		/* It is asked anew in every round. */
		job->foreign = !job->frozen && mts_ops->freeze_asked(job);
		plan_job->demand = job->foreign ? job->resident : job->demand;
		plan_job->flags = is_resident(job) ? MTS_PLAN_RESIDENT : 0;
		plan_job->prev_bin = job->bin < MTS_MAX_JOBS ? job->bin : MTS_BIN_NONE;
		n += !plan_job->flags;
	}
	return n;
}

static bool has_swap(void)
{
	u32 i;

	if (get_nr_swap_pages() > 0)
		return true;
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_rotor.roster[i]->usage.swap)
			return true;
	return false;
}

static bool pays_for_it(const struct mts_config *config)
{
	u64 last = mts_hooks_last_reclaim();

	if (config->mode == MTS_MODE_ALWAYS || config->bin_bytes)
		return true;
	/* Once it rotates the rotation itself keeps reclaim away. */
	if (mts_rotor.nbins >= 2)
		return true;
	return last && ktime_get_ns() - last < PRESSURE_NS;
}

static u32 admit(const struct mts_config *config, u32 freezable)
{
	if (config->mode == MTS_MODE_OFF)
		return MTS_REASON_NONE;
	if (freezable < 2)
		return MTS_REASON_NO_JOBS;
	if (mts_rotor.plan.nbins < 2)
		return MTS_REASON_FITS;
	if (!has_swap())
		return MTS_REASON_NO_SWAP;
	if (!pays_for_it(config))
		return MTS_REASON_NO_PRESSURE;
	return MTS_REASON_OVERCOMMIT;
}

u32 mts_round_plan(void)
{
	const struct mts_config *config;
	struct mts_plan_conf conf;
	u32 i, freezable;

	mutex_lock(&mts_lock);
	config = mts_config();
	conf = (struct mts_plan_conf){
		.pack = config->pack,
		.evict = config->evict,
		.capacity = capacity_now(config),
		.slice_ns = config->slice_ns,
		.min_slice_ns = config->min_slice_ns,
		.max_pause_ns = config->max_pause_ns - MTS_PAUSE_MARGIN_NS,
		.switch_ns = mts_rotor.switch_ns,
	};
	freezable = fill_plan_jobs();
	mts_plan_round(&conf, mts_rotor.plan_jobs, mts_rotor.roster_size, mts_rotor.bins,
		       &mts_rotor.plan, mts_rotor.scratch);
	mts_rotor.reason = admit(config, freezable);
	mts_rotor.nbins = mts_rotor.reason == MTS_REASON_OVERCOMMIT ? mts_rotor.plan.nbins : 0;
	for (i = 0; i < mts_rotor.roster_size; i++)
		mts_rotor.roster[i]->bin =
			mts_rotor.nbins ? mts_rotor.plan_jobs[i].bin : MTS_BIN_NONE;
	mts_rotor.generation++;
	mutex_unlock(&mts_lock);
	return mts_rotor.nbins;
}

/* What a newcomer will need: as its siblings on average, if it has any. */
static u64 expected_demand(const struct mts_job *newcomer)
{
	u64 sum = 0;
	u32 i, n = 0;

	for (i = 0; newcomer->parent && i < mts_rotor.roster_size; i++) {
		const struct mts_job *job = mts_rotor.roster[i];

		if (job->parent == newcomer->parent && job->bin != MTS_BIN_NONE) {
			sum = mts_add_sat(sum, job->demand);
			n++;
		}
	}
	return max(newcomer->demand, n ? div_u64(sum, n) : 0);
}

static void place(struct mts_job *job)
{
	u64 demand;
	u32 bin;

	if (is_resident(job)) {
		job->bin = MTS_BIN_EVERY;
		return;
	}
	demand = expected_demand(job);
	bin = mts_plan_newcomer(mts_rotor.bins, mts_rotor.nbins, mts_rotor.plan.capacity,
				mts_rotor.running, demand);
	job->bin = bin;
	if (bin == MTS_BIN_NONE)
		return;
	mts_rotor.bins[bin].demand = mts_add_sat(mts_rotor.bins[bin].demand, demand);
	mts_rotor.bins[bin].jobs++;
}

void mts_round_place_newcomers(void)
{
	u32 i;

	/* An adopted cgroup arrives with all its memory. */
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_rotor.roster[i]->bin == MTS_BIN_NONE)
			measure(mts_rotor.roster[i]);
	mts_tasks_scan();
	mutex_lock(&mts_lock);
	for (i = 0; i < mts_rotor.roster_size; i++)
		if (mts_rotor.roster[i]->bin == MTS_BIN_NONE)
			place(mts_rotor.roster[i]);
	mts_rotor.generation++;
	mutex_unlock(&mts_lock);
}

bool mts_round_outgrown(void)
{
	u64 capacity = mts_rotor.plan.capacity, demand = 0;
	u32 i, n = 0;

	for (i = 0; i < mts_rotor.roster_size; i++) {
		struct mts_job *job = mts_rotor.roster[i];

		if (job->bin != mts_rotor.running || measure(job))
			continue;
		demand = mts_add_sat(demand, job->demand);
		n++;
	}
	/*
	 * An eighth of tolerance: the plan was made with demands that move. A bin
	 * that was planned too full (MTS_PACK_RW) must outgrow that plan.
	 */
	return n > 1 && demand > mts_add_sat(capacity, capacity / 8) &&
	       demand > mts_add_sat(mts_rotor.bins[mts_rotor.running].demand, capacity / 8);
}
