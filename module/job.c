// SPDX-License-Identifier: GPL-2.0
#include "job.h"

#include "context.h"

/* mts.h has the lock order. */
DEFINE_MUTEX(mts_lock);

LIST_HEAD(mts_jobs);
atomic_t mts_job_each;
atomic_t mts_job_leaves;

static DEFINE_HASHTABLE(jobs_by_cgroup, 10);
/* Under mts_lock. */
static u32 count;
static u64 generation;

u32 mts_job_count(void)
{
	lockdep_assert_held(&mts_lock);
	return count;
}

void mts_jobs_changed(void)
{
	lockdep_assert_held(&mts_lock);
	generation++;
}

u64 mts_jobs_generation(void)
{
	lockdep_assert_held(&mts_lock);
	return generation;
}

static void count_flags(u32 flags, int by)
{
	if (flags & MTS_JOB_EACH)
		atomic_add(by, &mts_job_each);
	if (flags & MTS_JOB_EACH_LEAF)
		atomic_add(by, &mts_job_leaves);
}

void mts_jobs_insert(struct mts_job *job)
{
	struct mts_job *before;

	lockdep_assert_held(&mts_lock);
	/* In order of id: a job with a higher id may have been inserted before this one. */
	list_for_each_entry_reverse(before, &mts_jobs, node)
		if (before->id < job->id)
			break;
	list_add_rcu(&job->node, &before->node);
	job->published = true;
	count++;
	count_flags(job->flags, 1);
	hash_add_rcu(jobs_by_cgroup, &job->by_cgroup, (unsigned long)job->cgrp);
	mts_jobs_changed();
}

void mts_jobs_delete(struct mts_job *job)
{
	lockdep_assert_held(&mts_lock);
	job->published = false;
	count--;
	count_flags(job->flags, -1);
	list_del_rcu(&job->node);
	hash_del_rcu(&job->by_cgroup);
	mts_jobs_changed();
}

void mts_jobs_set_flags(struct mts_job *job, u32 flags)
{
	lockdep_assert_held(&mts_lock);
	count_flags(flags, 1);
	count_flags(job->flags, -1);
	WRITE_ONCE(job->flags, flags);
	mts_jobs_changed();
}

struct mts_job *mts_job_at_cgroup(struct cgroup *cgrp)
{
	struct mts_job *job;

	hash_for_each_possible_rcu(jobs_by_cgroup, job, by_cgroup, (unsigned long)cgrp)
		if (job->cgrp == cgrp)
			return job;
	return NULL;
}

struct mts_job *mts_job_of_cgroup(struct cgroup *cgrp)
{
	struct mts_job *job = NULL;

	for (; cgrp && !job; cgrp = cgroup_parent(cgrp))
		job = mts_job_at_cgroup(cgrp);
	return job;
}

static void job_release(struct kref *ref)
{
	struct mts_job *job = container_of(ref, struct mts_job, ref);

	if (job->freeze_file)
		fput(job->freeze_file);
	if (job->cgrp)
		cgroup_put(job->cgrp);
	if (job->dir.dentry)
		path_put(&job->dir);
	if (job->place.dentry)
		path_put(&job->place);
	kvfree(job->touched.parts);
	kfree_rcu(job, rcu);
}

void mts_job_put(struct mts_job *job)
{
	kref_put(&job->ref, job_release);
}
