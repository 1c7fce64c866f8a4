// SPDX-License-Identifier: GPL-2.0
#include "rotor/queue.h"

#include "context.h"
#include "events/promise.h"
#include "events/stats.h"
#include "jobs/freezer.h"
#include "policy/queue.h"
#include "rotor/roster.h"
#include "rotor/state.h"

/*
 * A job of which nothing is known beforehand has shown what it needs when its demand has not grown
 * by GROWS_PART of it for SETTLED_NS. A thread writes new memory at 1 GB/s or more, so that one
 * that fills memory grows by an eighth of it within 10 s up to 80 GB. GROWS_LEAST: a page here and
 * there is no growth.
 */
#define SETTLED_NS (10 * (u64)NSEC_PER_SEC)
#define GROWS_PART 8
#define GROWS_LEAST (1 * 1024 * 1024ULL)

/* A job made by a process of a job, and so on: so far it is looked for the one with a size. */
#define ANCESTORS 16

bool mts_queue_waits(void)
{
	return mts_freezer_held();
}

/* ---- jobs that have begun ---------------------------------------------------------------- */

static bool is_exempt(const struct mts_job *job)
{
	return mts_roster_is_resident(job) || job->limited;
}

/* The job of the roster with this id; NULL: there is none. */
static struct mts_job *job_of(u32 id)
{
	u32 i = mts_roster_index(id);

	return i < mts_rotor.roster.n ? mts_rotor.roster.jobs[i] : NULL;
}

/* With --each a job's size is that of its family: what the children have is not claimed twice. */
static void take_from_family(struct mts_job *job)
{
	struct mts_job *parent = job;
	u32 i;

	for (i = 0; i < ANCESTORS && parent && parent->parent; i++) {
		parent = job_of(parent->parent);
		if (parent && parent->size) {
			parent->unclaimed = mts_sub_floor(parent->unclaimed, job->demand);
			return;
		}
	}
}

static u64 claim_of(const struct mts_job *job)
{
	return max(job->demand, job->unclaimed);
}

/*
 * Threads of a job of the queue that want to run at a time. One that has begun just now is busy
 * with that, whether or not it was seen.
 */
static u32 threads_of(const struct mts_job *job, u64 now)
{
	if (!(job->flags & MTS_JOB_QUEUE))
		return 0;
	return now - job->began < SETTLED_NS ? max(job->threads, 1U) : job->threads;
}

/* For how long it will still run; U64_MAX: not known, also if it runs for longer than before. */
static u64 time_left(const struct mts_job *job, u64 now)
{
	u64 ran = mts_sub_floor(now - job->began, job->frozen_total);

	return job->runs_ns != U64_MAX && ran < job->runs_ns ? job->runs_ns - ran : U64_MAX;
}

/* Note whether it grows. Return: it does. */
static bool grows(struct mts_job *job, u64 now)
{
	if (job->demand > job->grown_to + max(job->grown_to / GROWS_PART, GROWS_LEAST)) {
		job->grown_to = job->demand;
		job->grown_at = now;
	}
	return now - max(job->grown_at, job->began) < SETTLED_NS;
}

/* Return: what a job needs of which nothing is known: the mean of the jobs that have begun. */
static u64 list_begun(struct mts_queue_line *line, u64 now)
{
	u64 sum = 0;
	u32 i, n = 0;

	line->capacity = mts_rotor.round.plan.capacity;
	line->processors = num_online_cpus();
	line->is_settled = true;
	for (i = 0; i < mts_rotor.roster.n; i++)
		mts_rotor.roster.jobs[i]->unclaimed = mts_rotor.roster.jobs[i]->size;
	for (i = 0; i < mts_rotor.roster.n; i++)
		take_from_family(mts_rotor.roster.jobs[i]);
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		/* The plan has taken its demand off the capacity, but not what it will need. */
		if (is_exempt(job)) {
			line->capacity = mts_sub_floor(line->capacity, claim_of(job) - job->demand);
			continue;
		}
		line->begun[line->nbegun++] = (struct mts_queue_begun){
			.claim = claim_of(job),
			.threads = threads_of(job, now),
			.ends_ns = time_left(job, now),
		};
		if (grows(job, now) && !job->size)
			line->is_settled = false;
		/* Jobs that others have made are parts of what was submitted. */
		if (!job->parent) {
			sum = mts_add_sat(sum, job->demand);
			n++;
		}
	}
	return n ? div_u64(sum, n) : 0;
}

/* ---- jobs that have not ------------------------------------------------------------------ */

/* It is no job for the queue any more. */
static bool must_begin(const struct mts_job *job)
{
	return READ_ONCE(job->flags) & MTS_JOB_PIN || job->realtime || job->untouchable;
}

/* Return: how many. With references, in mts_rotor.queue.jobs, the oldest first. */
static u32 list_waiting(struct mts_queue_line *line, u64 mean)
{
	struct mts_job *job;

	mts_job_for_each(job) {
		/* One that has just come may not be frozen yet. */
		if (!READ_ONCE(job->held) || !READ_ONCE(job->frozen))
			continue;
		if (job->size_from == MTS_SIZE_UNKNOWN || job->size_from == MTS_SIZE_OTHERS) {
			job->size = mean;
			job->size_from = job->size ? MTS_SIZE_OTHERS : MTS_SIZE_UNKNOWN;
		}
		line->waiting[line->nwaiting] = (struct mts_queue_waiting){
			.need = job->size,
			.is_guess = job->size_from == MTS_SIZE_UNKNOWN ||
				    job->size_from == MTS_SIZE_OTHERS,
			.runs_ns = job->runs_ns,
		};
		kref_get(&job->ref);
		mts_rotor.queue.jobs[line->nwaiting++] = job;
	}
	return line->nwaiting;
}

static void note_forecast(const struct mts_queue_line *line, u64 now)
{
	u32 i, place = 0;

	for (i = 0; i < line->nwaiting; i++) {
		struct mts_job *job = mts_rotor.queue.jobs[i];
		u64 in = line->waiting[i].starts_ns;

		job->queue_place = in ? ++place : 0;
		job->starts_at = in == U64_MAX ? 0 : now + in;
		/* What others need tells nothing of a job that has begun: its own demand does. */
		if (!in && line->waiting[i].is_guess) {
			job->size = 0;
			job->size_from = MTS_SIZE_UNKNOWN;
		}
	}
	mts_jobs_changed();
}

/* Under mts_lock no job is thawed: that may wait for a process that has cgroup.freeze open. */
static void start(const struct mts_queue_line *line)
{
	u32 i;

	for (i = 0; i < line->nwaiting; i++) {
		struct mts_job *job = mts_rotor.queue.jobs[i];

		mts_promise_step("jobs of the queue are started");
		if (!line->waiting[i].starts_ns || must_begin(job)) {
			mts_freezer_thaw(job);
			if (line->waiting[i].passes)
				mts_stats_inc(queue_passes);
		} else {
			/* Another process may have thawed it. */
			mts_freezer_lost(job);
		}
		mts_job_put(job);
	}
}

void mts_queue_step(void)
{
	struct mts_queue_line line = {
		.begun = mts_rotor.queue.begun,
		.waiting = mts_rotor.queue.waiting,
	};
	u64 now = ktime_get_ns(), mean;

	if (!mts_queue_waits())
		return;
	mutex_lock(&mts_lock);
	mean = list_begun(&line, now);
	if (list_waiting(&line, mean)) {
		mts_queue_decide(&line);
		mts_queue_foretell(&line);
		note_forecast(&line, now);
	}
	mutex_unlock(&mts_lock);
	start(&line);
}

/* ---- memory ------------------------------------------------------------------------------ */

bool mts_queue_init(void)
{
	struct mts_queueing *queue = &mts_rotor.queue;

	/* The roster's jobs, of which some may have been removed, and those that wait now. */
	queue->begun = kvcalloc(2 * MTS_MAX_JOBS, sizeof(*queue->begun), GFP_KERNEL);
	queue->waiting = kvcalloc(MTS_MAX_JOBS, sizeof(*queue->waiting), GFP_KERNEL);
	queue->jobs = kvcalloc(MTS_MAX_JOBS, sizeof(*queue->jobs), GFP_KERNEL);
	return queue->begun && queue->waiting && queue->jobs;
}

void mts_queue_exit(void)
{
	kvfree(mts_rotor.queue.begun);
	kvfree(mts_rotor.queue.waiting);
	kvfree(mts_rotor.queue.jobs);
}
