// SPDX-License-Identifier: GPL-2.0
#include "mms.h"

#include <linux/cgroup.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/spinlock.h>

#include "mts.h"
#include "rotor_private.h"

/* Ticks that somebody else may hold an address space's lock: who changes it is soon done. */
#define LOCK_TRIES 10u

struct held {
	struct mm_struct *mm; /* NULL: dropped */
	struct mts_job *job;
	bool given_up;
};

static struct held mms[MTS_MAX_MMS];
static u32 nmms;
/* Against dropping one as a worker takes it. */
static DEFINE_SPINLOCK(drop_lock);

static bool is_among(struct mts_job **jobs, u32 n, const struct mts_job *job)
{
	u32 low = 0, high = n;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (jobs[middle]->id < job->id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && jobs[low] == job;
}

static struct mm_struct *mm_of_process(struct task_struct *process)
{
	struct task_struct *task;
	struct mm_struct *mm;

	/* The first thread may have exited before the others. */
	for_each_thread(process, task) {
		mm = get_task_mm(task);
		if (mm)
			return mm;
	}
	return NULL;
}

static int compare_mms(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return x->mm < y->mm ? -1 : x->mm > y->mm;
}

u32 mts_mms_get(struct mts_job **jobs, u32 n)
{
	struct task_struct *process;
	u32 i, kept = 0;

	rcu_read_lock();
	for_each_process(process) {
		struct mts_job *job = mts_job_of_cgroup(task_dfl_cgroup(process));

		if (!job || !is_among(jobs, n, job))
			continue;
		mms[nmms] = (struct held){ .mm = mm_of_process(process), .job = job };
		if (mms[nmms].mm && ++nmms == MTS_MAX_MMS)
			break;
	}
	rcu_read_unlock();

	/* A child of vfork() shares its parent's. */
	sort(mms, nmms, sizeof(mms[0]), compare_mms, NULL);
	for (i = 0; i < nmms; i++) {
		if (kept && mms[kept - 1].mm == mms[i].mm)
			mmput(mms[i].mm);
		else
			mms[kept++] = mms[i];
	}
	nmms = kept;
	return nmms;
}

static void drop(u32 index)
{
	struct mm_struct *mm = mms[index].mm;

	spin_lock(&drop_lock);
	mms[index].mm = NULL;
	spin_unlock(&drop_lock);
	if (mm)
		mmput(mm);
}

/* Each process that exits leaves it to another one that has it, if there is one. */
static bool is_dead(const struct mm_struct *mm)
{
	return !READ_ONCE(mm->owner);
}

void mts_mms_give_up(u32 index)
{
	WRITE_ONCE(mms[index].given_up, true);
}

bool mts_mms_is_given_up(u32 index)
{
	return READ_ONCE(mms[index].given_up);
}

void mts_mms_drop_dead(u32 index)
{
	if (!mms[index].mm)
		return;
	if (is_dead(mms[index].mm))
		mts_mms_give_up(index);
	if (mts_mms_is_given_up(index))
		drop(index);
}

struct mts_job *mts_mms_job(u32 index)
{
	return mms[index].job;
}

struct mm_struct *mts_mms_at(u32 index)
{
	return mms[index].mm;
}

void mts_mms_put(void)
{
	while (nmms)
		drop(--nmms);
}

static struct mm_struct *get(u32 index)
{
	struct mm_struct *mm;

	spin_lock(&drop_lock);
	mm = mms[index].mm;
	if (mm)
		mmget(mm);
	spin_unlock(&drop_lock);
	return mm;
}

struct mm_struct *mts_mms_lock(u32 index)
{
	struct mm_struct *mm = get(index);
	u32 i;

	for (i = 0; mm && i < LOCK_TRIES && !mts_rotor_is_hurried(); i++) {
		if (is_dead(mm) || mts_mms_is_given_up(index))
			break;
		if (mmap_read_trylock(mm))
			return mm;
		schedule_timeout_idle(1);
	}
	if (mm)
		mmput(mm);
	return NULL;
}

void mts_mms_unlock(struct mm_struct *mm)
{
	mmap_read_unlock(mm);
	mmput(mm);
}
