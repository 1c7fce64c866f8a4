// SPDX-License-Identifier: GPL-2.0
#include "memory/mms.h"

#include <linux/cgroup.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/spinlock.h>

#include "job.h"
#include "mts.h"

/*
 * Longest wait for the lock of an address space, ms. A writer of the address
 * space needs it briefly, but waits for a worker that holds it while the disk reads a page.
 */
#define LOCK_MS 200u

/*
 * An address space with a reference. The last reference frees all of its memory, after waiting for
 * operations under way. So a kernel worker drops it (mmput_async()): the rotor must not wait for
 * that, nor may it happen under another address space's lock.
 */
struct held {
	struct mm_struct *mm; /* NULL: released */
	struct mts_job *job;
	u64 skip_bytes;
	bool given_up;
};

static struct held mms[MTS_MAX_MMS];
static u32 nmms;
/* Protects against the release of an mm while a worker takes a reference to it. */
static DEFINE_SPINLOCK(drop_lock);

/*
 * Return: the job's entry in the move, or NULL.
 */
static const struct mts_moved *find(const struct mts_move *move, const struct mts_job *job)
{
	u32 low = 0, high = move->n;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (move->jobs[middle].job->id < job->id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < move->n && move->jobs[low].job == job ? &move->jobs[low] : NULL;
}

static struct mm_struct *mm_of_process(struct task_struct *process)
{
	struct task_struct *task;
	struct mm_struct *mm;

	/* The first thread may have exited before others. */
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

u32 mts_mms_get(const struct mts_move *move)
{
	struct task_struct *process;
	u32 i, kept = 0;

	rcu_read_lock();
	for_each_process(process) {
		struct mts_job *job = mts_job_of_cgroup(task_dfl_cgroup(process));
		const struct mts_moved *moved = job ? find(move, job) : NULL;

		if (!moved)
			continue;
		mms[nmms] = (struct held){ .mm = mm_of_process(process),
					   .job = job,
					   .skip_bytes = moved->skip_bytes };
		if (mms[nmms].mm && ++nmms == MTS_MAX_MMS)
			break;
	}
	rcu_read_unlock();

	/* A child of vfork() shares the address space of its parent. */
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

/* When the owner exits, ownership passes to another process with the same mm, if there is one. */
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

/* Under drop_lock. Return: the mm, for the caller to put, or NULL. */
static struct mm_struct *take_if_dead(u32 index)
{
	struct mm_struct *mm = mms[index].mm;

	if (!mm || !(is_dead(mm) || mms[index].given_up))
		return NULL;
	mts_mms_give_up(index);
	mms[index].mm = NULL;
	return mm;
}

void mts_mms_drop_dead(u32 from, u32 n)
{
	u32 i = 0;

	n = min(n, nmms);
	while (i < n) {
		struct mm_struct *mm = NULL;

		spin_lock(&drop_lock);
		while (i < n && !mm)
			mm = take_if_dead((from + i++) % nmms);
		spin_unlock(&drop_lock);
		if (mm)
			mmput_async(mm);
	}
}

struct mts_job *mts_mms_job(u32 index)
{
	return mms[index].job;
}

u64 mts_mms_skips(u32 index)
{
	return mms[index].skip_bytes;
}

struct mm_struct *mts_mms_at(u32 index)
{
	return mms[index].mm;
}

void mts_mms_put(void)
{
	/* All workers have returned: no lock is needed. */
	while (nmms)
		if (mms[--nmms].mm)
			mmput_async(mms[nmms].mm);
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

struct mm_struct *mts_mms_lock(const struct mts_move *move, u32 index)
{
	unsigned long until = jiffies + msecs_to_jiffies(LOCK_MS);
	struct mm_struct *mm = get(index);

	while (mm && !time_after(jiffies, until) && !move->should_abort()) {
		if (is_dead(mm) || mts_mms_is_given_up(index))
			break;
		if (mmap_read_trylock(mm))
			return mm;
		schedule_timeout_idle(1);
	}
	if (mm)
		mmput_async(mm);
	return NULL;
}

void mts_mms_unlock(struct mm_struct *mm)
{
	mmap_read_unlock(mm);
	mmput_async(mm);
}
