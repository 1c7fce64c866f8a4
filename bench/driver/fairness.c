// SPDX-License-Identifier: GPL-2.0
#include "fairness.h"

struct index {
	double sum;
	double squares;
	size_t count;
};

static void add(struct index *index, double x)
{
	index->sum += x;
	index->squares += x * x;
	index->count++;
}

static double value(const struct index *index)
{
	if (!(index->squares > 0))
		return NO_INDEX;
	return index->sum * index->sum / ((double)index->count * index->squares);
}

bool fairness_first_goal(const struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->list[i];
		size_t count = job_slots(job);

		for (size_t k = 0; k < count; k++)
			if (job->slots[k].ended_ns)
				return true;
	}
	return false;
}

double fairness_index(const struct jobs *jobs)
{
	struct index with_goal = { 0 }, without = { 0 };

	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->list[i];
		size_t count = job_slots(job);

		for (size_t k = 0; k < count; k++) {
			double goal = (double)job->work->slots[k].goal;
			double done = (double)job->slots[k].done;

			if (goal > 0)
				add(&with_goal, done / goal);
			else
				add(&without, done);
		}
	}
	return value(with_goal.count ? &with_goal : &without);
}

static bool is_alive(const struct job *job, const struct slot *slot)
{
	return job->state == JOB_RUNNING && !slot->ended_ns;
}

void fairness_begin(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		struct job *job = &jobs->list[i];
		size_t count = job_slots(job);

		for (size_t k = 0; k < count; k++) {
			struct slot *slot = &job->slots[k];

			slot->in_interval = is_alive(job, slot);
			slot->interval_done = work_done(&job->work->slots[k]);
		}
	}
}

double fairness_end(const struct jobs *jobs)
{
	struct index index = { 0 };

	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->list[i];
		size_t count = job_slots(job);

		for (size_t k = 0; k < count; k++) {
			const struct slot *slot = &job->slots[k];

			uint64_t done = work_done(&job->work->slots[k]);

			if (slot->in_interval && is_alive(job, slot))
				add(&index, (double)(done - slot->interval_done));
		}
	}
	return value(&index);
}
