// SPDX-License-Identifier: GPL-2.0
#include "ending.h"

#include <signal.h>

#include "sample.h"
#include "shell.h"
#include "util.h"

#define PATIENCE (30ull * NS_PER_S)
#define FIRST_STEP (NS_PER_S / 1000u)
#define LONGEST_STEP (NS_PER_S / 20u)

void ending_cut(struct jobs *jobs, struct job *job)
{
	const struct process *list;
	size_t count;

	if (job->state != JOB_RUNNING)
		return;
	job->ended_ns = now_ns();
	sample_close(job);
	count = processes_read(&list);
	for (size_t i = 0; i < count; i++)
		if (jobs_owner(jobs, &list[i]) == job)
			usage_add(&job->usage, &list[i].usage);
	job->state = JOB_CUT;
}

void ending_stop(struct jobs *jobs)
{
	const struct process *list;
	size_t count = processes_read(&list);

	for (size_t i = 0; i < count; i++)
		if (jobs_owner(jobs, &list[i]))
			kill(list[i].pid, SIGSTOP);
}

/* One round. job: NULL for all. Returns how many are not dead yet. */
static size_t kill_once(struct jobs *jobs, const struct job *job)
{
	const struct process *list;
	size_t count = processes_read(&list);
	size_t alive = 0;

	for (size_t i = 0; i < count; i++) {
		const struct process *process = &list[i];

		if (job ? jobs_owner(jobs, process) != job : shell_owns(process))
			continue;
		if (process->state == 'Z')
			continue; /* of a parent that dies now, or ours: reaped in a moment */
		kill(process->pid, SIGKILL);
		alive++;
	}
	return alive;
}

static void kill_until_gone(struct jobs *jobs, const struct job *job)
{
	const uint64_t deadline = now_ns() + PATIENCE;
	uint64_t step = FIRST_STEP;
	size_t alive;

	while ((alive = kill_once(jobs, job)) && now_ns() < deadline) {
		pause_ns(step);
		step = least(2 * step, LONGEST_STEP);
		jobs_reap(jobs);
	}
	jobs_reap(jobs);
	if (alive)
		warn("%s: %zu processes could not be killed", job ? job->spec->name : "at the end",
		     alive);
}

void ending_kill(struct jobs *jobs, struct job *job)
{
	if (job->pid)
		kill_until_gone(jobs, job);
	job->left = false;
}

void ending_kill_all(struct jobs *jobs)
{
	kill_until_gone(jobs, NULL);
}
