// SPDX-License-Identifier: GPL-2.0
#include "jobs/trails.h"

#include <linux/bits.h>
#include <linux/cgroup.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "job.h"
#include "jobs/interactive.h"
#include "policy/interactive.h"

/*
 * Trails of processes that are in no job, hashed by process id. The process id (22 bits at most) is
 * part of the entry. Processes with the same hash replace each other.
 */
#define OUTSIDERS_BITS 6
#define NAME_SHIFT 2
#define NAME_MASK (GENMASK_ULL(MTS_TRAIL_SHIFT - 1, NAME_SHIFT))

static atomic64_t outsiders[1 << OUTSIDERS_BITS];

/* Safe in any context, NMIs included. */
static u64 now_ms(void)
{
	return div_u64(ktime_get_mono_fast_ns(), NSEC_PER_MSEC);
}

/* Requests pass through such processes: a terminal multiplexer, an X server, a compositor. */
static atomic64_t *outsider(const struct task_struct *task)
{
	return &outsiders[hash_32(task->tgid, OUTSIDERS_BITS)];
}

static u64 name_of(const struct task_struct *task)
{
	return (u64)task->tgid << NAME_SHIFT;
}

static void add_trail(atomic64_t *trail, u64 now, u32 step, u64 name)
{
	s64 old = atomic64_read(trail), new = mts_trail_add(old, now, step);

	if (new != old)
		atomic64_cmpxchg(trail, old, new | name);
}

static void give_outsider(struct task_struct *task, u64 now, u32 step)
{
	atomic64_t *trail = outsider(task);

	mts_interactive_note_input();
	/* The entry may belong to another process with the same hash: replace it. */
	if ((atomic64_read(trail) & NAME_MASK) != name_of(task))
		atomic64_set(trail, 0);
	add_trail(trail, now, step, name_of(task));
}

void mts_trails_give(struct task_struct *task, u32 step)
{
	struct mts_job *job = mts_job_of_cgroup(task_dfl_cgroup(task));

	if (!job) {
		give_outsider(task, now_ms(), step);
		return;
	}
	add_trail(&job->trail, now_ms(), step, 0);
	mts_interactive_give(job, step);
}

static u64 trail_of(struct task_struct *task)
{
	struct mts_job *job = mts_job_of_cgroup(task_dfl_cgroup(task));
	u64 trail;

	if (job)
		return atomic64_read(&job->trail);
	trail = atomic64_read(outsider(task));
	return (trail & NAME_MASK) == name_of(task) ? trail : 0;
}

u32 mts_trails_step(struct task_struct *task)
{
	return mts_trail_step(trail_of(task), now_ms());
}

void mts_trails_hand_on(struct task_struct *from, struct task_struct *to, u32 step)
{
	struct mts_job *job = mts_job_of_cgroup(task_dfl_cgroup(from));

	if (step > MTS_STEP_MAX || same_thread_group(from, to))
		return;
	if (!job || job != mts_job_of_cgroup(task_dfl_cgroup(to)))
		mts_trails_give(to, step);
}
