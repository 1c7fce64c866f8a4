// SPDX-License-Identifier: GPL-2.0
#include "rotor/roster.h"

#include "context.h"
#include "events/promise.h"
#include "events/trace.h"
#include "jobs/interactive.h"
#include "jobs/ops.h"
#include "jobs/tasks.h"
#include "policy/working_set.h"
#include "rotor/round.h"
#include "rotor/state.h"

void mts_roster_dismiss(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n; i++)
		mts_job_put(mts_rotor.roster.jobs[i]);
	mts_rotor.roster.n = 0;
}

void mts_roster_muster(void)
{
	struct mts_job *job;

	mts_roster_dismiss();
	mutex_lock(&mts_lock);
	mts_job_for_each(job) {
		/* Pairs with begin() in freezer.c. Jobs in the queue are queue.c's alone. */
		if (smp_load_acquire(&job->held))
			continue;
		kref_get(&job->ref);
		mts_rotor.roster.jobs[mts_rotor.roster.n++] = job;
	}
	mts_round_count_bins();
	mutex_unlock(&mts_lock);
}

u32 mts_roster_index(u32 id)
{
	u32 low = 0, high = mts_rotor.roster.n;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (mts_rotor.roster.jobs[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < mts_rotor.roster.n && mts_rotor.roster.jobs[low]->id == id ?
		       low :
		       mts_rotor.roster.n;
}

u64 mts_roster_unused(const struct mts_job *job, const struct mts_usage *usage)
{
	/*
	 * A job that waits for input uses next to nothing now, and all of its memory at the next
	 * key.
	 */
	if (!mts_rotor.planning.by_use || mts_job_was_used(job))
		return 0;
	return mts_working_set_spare(&job->working_set, mts_policy_demand(usage));
}

/*
 * Counts that follow one another within this time, ns, are one look: a slice's end, and the plan
 * right after it. A busy task sleeps for less.
 */
#define LOOK_NS (50 * (u64)NSEC_PER_MSEC)

void mts_roster_count_threads(struct mts_job *job)
{
	u64 now = ktime_get_ns();
	int n = mts_ops->awake(job);

	lockdep_assert_held(&mts_lock);
	if (n < 0)
		n = 1;
	/* The same look, at a slice's end and for a plan: it may have hit one short sleep. */
	if (now < job->threads_at + LOOK_NS) {
		job->last_threads = max_t(u32, n, job->last_threads);
		job->threads = max(job->threads, job->last_threads);
		return;
	}
	job->threads = max_t(u32, n, job->last_threads);
	job->last_threads = n;
	job->threads_at = now;
}

/* What a job that is measured so needs: its demand, as far as limits of cgroups let it have it. */
static u64 need(const struct mts_job *job, const struct mts_usage *usage)
{
	return min(mts_policy_demand(usage) - mts_roster_unused(job, usage), job->limits.most);
}

static int read_usage(struct mts_job *job, struct mts_usage *usage)
{
	mts_promise_step("memory is measured");
	return mts_ops->usage(job, usage);
}

int mts_roster_peek(struct mts_job *job, u64 *demand, u64 *rss)
{
	struct mts_usage usage;
	int err = read_usage(job, &usage);

	if (err)
		return err;
	*demand = need(job, &usage);
	*rss = mts_policy_resident(&usage);
	return 0;
}

int mts_roster_measure_job(struct mts_job *job)
{
	struct mts_usage usage;
	int err = read_usage(job, &usage);

	if (err)
		return err;
	/* A job in every bin has no slices, so its record would never change: all of it counts. */
	if (mts_roster_is_resident(job) || job->limited)
		mts_ops->use_outdated(job);
	mutex_lock(&mts_lock);
	job->usage = usage;
	mts_ops->limits(job, &job->limits);
	job->unused = mts_roster_unused(job, &usage);
	job->demand = need(job, &usage);
	job->most = max(job->most, job->demand);
	job->rss = mts_policy_resident(&usage);
	job->immovable = mts_policy_immovable(job->demand, &job->limits);
	job->has_no_swap = mts_policy_has_no_swap(job->demand, &job->limits);
	if (!READ_ONCE(job->frozen))
		mts_roster_count_threads(job);
	mutex_unlock(&mts_lock);
	return 0;
}

void mts_roster_measure(void)
{
	u32 i;

	for (i = 0; i < mts_rotor.roster.n && mts_rotor_should_run(); i++) {
		/* An error leaves the last figures; a cgroup that is gone is reaped. */
		mts_roster_measure_job(mts_rotor.roster.jobs[i]);
	}
	mts_tasks_scan();
}

bool mts_roster_is_resident(const struct mts_job *job)
{
	return job->flags & MTS_JOB_PIN || job->realtime || job->untouchable || job->foreign ||
	       job->has_no_swap || job->sleeps || mts_job_left_out(job) || mts_job_is_spared(job) ||
	       mts_job_is_interactive(job);
}

void mts_roster_note_interactive(struct mts_job *job)
{
	u32 is = mts_job_is_interactive(job) ? MTS_INTERACTIVE_YES :
		 mts_job_is_crowded_out(job) ? MTS_INTERACTIVE_CROWDED_OUT :
		 job->kept_bytes	     ? MTS_INTERACTIVE_STAYS :
					       MTS_INTERACTIVE_NO;

	if (job->interactive == is)
		return;
	job->interactive = is;
	trace_mts_interactive(job, is, mts_interactive_age_ms(job));
}

struct mts_job *mts_roster_largest(u32 bin, u32 *n)
{
	struct mts_job *largest = NULL;
	u64 bytes, most = 0;
	u32 i;

	*n = 0;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		if (job->bin != bin || job->kept_bytes || !READ_ONCE(job->frozen) ||
		    mts_ops->resident(job, &bytes))
			continue;
		++*n;
		if (!largest || bytes > most) {
			most = bytes;
			largest = job;
		}
	}
	return largest;
}
