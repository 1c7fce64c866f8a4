// SPDX-License-Identifier: GPL-2.0
#include "jobs/tasks.h"

#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/major.h>
#include <linux/sched/signal.h>

#include "compat/compat.h"
#include "job.h"
#include "jobs/files.h"
#include "policy/admission.h"

static bool is_untouchable(struct task_struct *task)
{
	return is_global_init(task) || task->flags & PF_KTHREAD;
}

int mts_tasks_check(struct cgroup *cgrp)
{
	struct task_struct *process, *task;
	int err = 0;

	rcu_read_lock();
	for (task = current; !is_global_init(task) && task->pid;
	     task = rcu_dereference(task->real_parent))
		if (task_under_cgroup_hierarchy(task, cgrp))
			err = -EBUSY;
	for_each_process_thread(process, task)
		if (is_untouchable(task) && task_under_cgroup_hierarchy(task, cgrp))
			err = -EBUSY;
	rcu_read_unlock();
	return err;
}

bool mts_tasks_is_spared(struct task_struct *task)
{
	return is_untouchable(task) || rt_or_dl_task_policy(task);
}

void mts_tasks_scan(void)
{
	struct task_struct *process, *task;
	struct mts_job *job;

	rcu_read_lock();
	mts_job_for_each_rcu(job) {
		job->scan_realtime = false;
		job->scan_untouchable = false;
	}
	for_each_process_thread(process, task) {
		if (!mts_tasks_is_spared(task))
			continue;
		job = mts_job_of_cgroup(task_dfl_cgroup(task));
		if (!job)
			continue;
		if (is_untouchable(task))
			job->scan_untouchable = true;
		else
			job->scan_realtime = true;
	}
	mts_job_for_each_rcu(job) {
		WRITE_ONCE(job->realtime, job->scan_realtime);
		WRITE_ONCE(job->untouchable, job->scan_untouchable);
	}
	rcu_read_unlock();
}

/* The devices of MEM_MAJOR (null, zero, random, …) answer by themselves. */
static void note_attended(struct file *file, void *arg)
{
	const struct inode *inode = file_inode(file);
	bool *attended = arg;

	*attended |=
		S_ISSOCK(inode->i_mode) || (S_ISCHR(inode->i_mode) && imajor(inode) != MEM_MAJOR);
}

static void note_stream(struct file *file, void *arg)
{
	bool *attended = arg;

	if (mts_files_pipe(file))
		*attended = true;
}

/* Return: it has files, which its threads share as a rule. One that has exited has none. */
static bool look_at_files(struct task_struct *task, bool *attended)
{
	unsigned int fd;
	bool has_files;

	task_lock(task); /* its files stay */
	has_files = task->files;
	if (has_files) {
		for (fd = 0; fd <= 2; fd++)
			mts_files_one(task, fd, note_stream, attended);
		mts_files_each(task, note_attended, attended);
	}
	task_unlock(task);
	return has_files;
}

static bool is_attended(struct task_struct *process)
{
	bool attended = READ_ONCE(process->signal->tty);
	struct task_struct *task;

	if (attended)
		return true;
	for_each_thread(process, task)
		if (look_at_files(task, &attended))
			break;
	return attended;
}

void mts_tasks_scan_attended(void)
{
	struct task_struct *process;
	struct mts_job *job;

	lockdep_assert_held(&mts_lock);
	rcu_read_lock();
	mts_job_for_each(job)
		job->scan_attended = false;
	for_each_process(process) {
		job = mts_job_of_cgroup(task_dfl_cgroup(process));
		if (job && !job->scan_attended)
			job->scan_attended = is_attended(process);
	}
	mts_job_for_each(job)
		WRITE_ONCE(job->attended, job->scan_attended);
	rcu_read_unlock();
}

static bool can_run(struct task_struct *task)
{
	unsigned int state = READ_ONCE(task->__state);

	return state == TASK_RUNNING || (state & TASK_UNINTERRUPTIBLE && !(state & TASK_NOLOAD));
}

static void add_look(struct mts_job *job)
{
	job->look.stalled_ns = mts_add_sat(job->look.stalled_ns, mts_tasks_stalled(job));
	/* A frozen job's tasks do not sleep of themselves: do not count them as sleeping. */
	if (!READ_ONCE(job->frozen))
		mts_admission_count(&job->look, job->scan_awake);
}

void mts_tasks_look(void)
{
	struct task_struct *process, *task;
	struct mts_job *job;

	rcu_read_lock();
	mts_job_for_each_rcu(job)
		job->scan_awake = 0;
	for_each_process_thread(process, task) {
		if (!can_run(task))
			continue;
		job = mts_job_of_cgroup(task_dfl_cgroup(task));
		if (job)
			job->scan_awake++;
	}
	mts_job_for_each_rcu(job)
		add_look(job);
	rcu_read_unlock();
}

bool mts_tasks_running_can_run(void)
{
	struct task_struct *process, *task;
	struct mts_job *job;
	bool found = false;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		if (!can_run(task))
			continue;
		job = mts_job_of_cgroup(task_dfl_cgroup(task));
		if (job && READ_ONCE(job->runs)) {
			found = true;
			goto out;
		}
	}
out:
	rcu_read_unlock();
	return found;
}

#ifdef CONFIG_PSI
/* NULL: the kernel has no PSI of the cgroup. */
static struct psi_group *pressure_of(struct cgroup *cgrp)
{
	struct psi_group *psi = cgrp->psi;

	return psi && READ_ONCE(psi->enabled) ? psi : NULL;
}

/* One CPU's count may be negative as unsigned: a task may be added on one, removed on another. */
static unsigned int count_tasks(struct psi_group *psi, enum psi_task_count state)
{
	unsigned int n = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu_ptr(psi->pcpu, cpu)->tasks[state]);
	return n;
}

bool mts_tasks_stalls(struct cgroup *cgrp)
{
	struct psi_group *psi = pressure_of(cgrp);

	return psi && count_tasks(psi, NR_MEMSTALL);
}

u64 mts_tasks_stalled(struct mts_job *job)
{
	struct psi_group *psi = pressure_of(job->cgrp);
	u64 sum = 0;
	int cpu;

	if (!psi)
		return U64_MAX;
	for_each_possible_cpu(cpu) {
		u32 now = READ_ONCE(per_cpu_ptr(psi->pcpu, cpu)->times[PSI_MEM_SOME]);

		sum += mts_admission_stalled(&job->stalled[cpu], now);
	}
	return sum;
}

u64 mts_tasks_stalled_total(struct cgroup *cgrp)
{
	struct psi_group *psi = pressure_of(cgrp);

	return psi ? READ_ONCE(psi->total[PSI_AVGS][PSI_MEM_SOME]) : 0;
}

int mts_tasks_awake(struct cgroup *cgrp)
{
	struct psi_group *psi = pressure_of(cgrp);
	int n;

	if (!psi)
		return -ENODATA;
	/* NR_MEMSTALL overlaps with the others: a task that reclaims runs. So it is not added. */
	n = count_tasks(psi, NR_RUNNING) + count_tasks(psi, NR_IOWAIT);
	return n > 0 ? n : count_tasks(psi, NR_MEMSTALL);
}
#else
bool mts_tasks_stalls(struct cgroup *cgrp)
{
	return false;
}

u64 mts_tasks_stalled(struct mts_job *job)
{
	return U64_MAX;
}

u64 mts_tasks_stalled_total(struct cgroup *cgrp)
{
	return 0;
}

int mts_tasks_awake(struct cgroup *cgrp)
{
	return -ENODATA;
}
#endif
