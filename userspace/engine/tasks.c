// SPDX-License-Identifier: GPL-2.0
/* jobs/tasks.h in user space: what /proc and the files of cgroups say of a job's tasks. */
#define _GNU_SOURCE
#include "jobs/tasks.h"

#include <unistd.h>

#include "engine/cgroup.h"
#include "engine/own.h"
#include "engine/process.h"
#include "events/promise.h"
#include "job.h"
#include "policy/admission.h"
#include "policy/pure.h"

#define PARENTS_MAX 64
/* A user's process may have a million of them open. */
#define FILES_MOST 4096

/* mtsd and its guardian must never be frozen, nor what started them. */
static bool is_own(pid_t pid)
{
	return pid == getpid() || pid == mts_own_guardian();
}

static bool holds_or_parents(const struct cgroup *cgrp, pid_t pid)
{
	int i;

	for (i = 0; pid > 1 && i < PARENTS_MAX; i++, pid = mts_process_parent(pid))
		if (mts_cgroup_holds(cgrp, pid))
			return true;
	return false;
}

static bool is_or_is_above(pid_t pid, pid_t child)
{
	int i;

	for (i = 0; child > 1 && i < PARENTS_MAX; i++, child = mts_process_parent(child))
		if (child == pid)
			return true;
	return false;
}

static bool must_not_freeze(pid_t pid)
{
	return pid == 1 || is_own(pid) || mts_process_is_kernel(pid);
}

int mts_process_check(pid_t pid)
{
	return must_not_freeze(pid) || is_or_is_above(pid, mts_user_caller()->pid) ||
			       is_or_is_above(pid, getpid()) ?
		       -EBUSY :
		       0;
}

int mts_tasks_check(struct cgroup *cgrp)
{
	int err = 0;
	pid_t *pids;
	u32 i, n;

	if (holds_or_parents(cgrp, mts_user_caller()->pid) || holds_or_parents(cgrp, getpid()) ||
	    mts_cgroup_holds(cgrp, 1))
		return -EBUSY;
	n = mts_cgroup_pids(cgrp, &pids, NULL);
	for (i = 0; i < n && !err; i++)
		if (must_not_freeze(pids[i]))
			err = -EBUSY;
	free(pids);
	return err;
}

/* Jobs with a reference each; NULL: none. */
static struct mts_job **get_jobs(u32 *n)
{
	struct mts_job **jobs, *job;

	mutex_lock(&mts_lock);
	*n = 0;
	jobs = calloc(max(mts_job_count(), 1u), sizeof(*jobs));
	if (jobs)
		mts_job_for_each(job)
			if (mts_job_tryget(job))
				jobs[(*n)++] = job;
	mutex_unlock(&mts_lock);
	return jobs;
}

static void put_jobs(struct mts_job **jobs, u32 n)
{
	while (n)
		mts_job_put(jobs[--n]);
	free(jobs);
}

static void scan(struct mts_job *job)
{
	bool realtime = false, untouchable = false, all;
	u32 i, n, awake = 0;
	pid_t *pids;

	mts_promise_step("tasks are looked at");
	n = mts_cgroup_pids(job->cgrp, &pids, &all);
	for (i = 0; i < n; i++) {
		untouchable |= pids[i] == 1 || is_own(pids[i]);
		mts_process_threads(pids[i], &awake, &realtime);
	}
	free(pids);
	WRITE_ONCE(job->realtime, realtime);
	/* What is not looked at might be PID 1, and takes too long in each switch. */
	WRITE_ONCE(job->untouchable, untouchable || !all);
}

void mts_tasks_scan(void)
{
	u32 i, n;
	struct mts_job **jobs = get_jobs(&n);

	for (i = 0; i < n; i++)
		scan(jobs[i]);
	put_jobs(jobs, n);
}

void mts_tasks_scan_attended(void)
{
	struct mts_job *job;

	lockdep_assert_held(&mts_lock);
	mts_job_for_each(job) {
		u32 i, n, files = FILES_MOST;
		bool attended = false;
		pid_t *pids;

		mts_promise_step("open files are looked at");
		n = mts_cgroup_pids(job->cgrp, &pids, NULL);
		for (i = 0; i < n && !attended; i++)
			attended = mts_process_is_attended(pids[i], &files);
		free(pids);
		WRITE_ONCE(job->attended, attended);
	}
}

int mts_tasks_awake(struct cgroup *cgrp)
{
	u32 i, n, awake = 0, seen = 0;
	pid_t *pids;

	n = mts_cgroup_pids(cgrp, &pids, NULL);
	for (i = 0; i < n; i++)
		seen += mts_process_threads(pids[i], &awake, NULL);
	free(pids);
	return n && !seen ? -ENODATA : (int)awake;
}

/* The kernel tells user space how long tasks have waited for memory, not whether one does now. */
bool mts_tasks_stalls(struct cgroup *cgrp)
{
	return false;
}

/* The kernel tells the time in which at least one task waited, not the sum over processors. */
static bool read_stalled(struct cgroup *cgrp, u64 *ns)
{
	char text[256];
	const char *total;

	if (mts_cgroup_read(cgrp, "memory.pressure", text, sizeof(text)) <= 0)
		return false;
	total = strstr(text, "total=");
	if (!total)
		return false;
	*ns = strtoull(total + strlen("total="), NULL, 10) * NSEC_PER_USEC;
	return true;
}

u64 mts_tasks_stalled(struct mts_job *job)
{
	u64 ns;

	return read_stalled(job->cgrp, &ns) ? mts_admission_stalled(&job->stalled[0], ns) : U64_MAX;
}

u64 mts_tasks_stalled_total(struct cgroup *cgrp)
{
	u64 ns;

	return read_stalled(cgrp, &ns) ? ns : 0;
}

static void look_at(struct mts_job *job)
{
	int awake;

	mts_promise_step("tasks are looked at");
	job->look.stalled_ns = mts_add_sat(job->look.stalled_ns, mts_tasks_stalled(job));
	/* A frozen job's tasks do not sleep of themselves: do not count them as sleeping. */
	if (READ_ONCE(job->frozen))
		return;
	awake = mts_tasks_awake(job->cgrp);
	mts_admission_count(&job->look, awake < 0 ? 1 : awake);
}

void mts_tasks_look(void)
{
	u32 i, n;
	struct mts_job **jobs = get_jobs(&n);

	for (i = 0; i < n; i++)
		look_at(jobs[i]);
	put_jobs(jobs, n);
}

bool mts_tasks_running_can_run(void)
{
	u32 i, n;
	struct mts_job **jobs = get_jobs(&n);
	bool found = false;

	for (i = 0; i < n && !found; i++)
		found = READ_ONCE(jobs[i]->runs) && mts_tasks_awake(jobs[i]->cgrp);
	put_jobs(jobs, n);
	return found;
}
