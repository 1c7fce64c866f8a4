// SPDX-License-Identifier: GPL-2.0
#include "sample.h"

struct fractions {
	double sum;
	size_t count;
};

static void look(struct slot *slot, const struct work_slot *work, uint64_t now)
{
	uint64_t goal = __atomic_load_n(&work->goal, __ATOMIC_ACQUIRE);
	uint64_t done = work_done(work);

	if (slot->ended_ns)
		return;
	if (done != slot->done) {
		if (slot->paused && now - slot->moved_ns > slot->longest_ns)
			slot->longest_ns = now - slot->moved_ns;
		slot->done = done;
		slot->moved_ns = now;
		slot->paused = false;
	} else if (slot->moved_ns) {
		slot->paused = true;
	}
	if (goal && done >= goal)
		slot->ended_ns = now;
}

void sample_job(struct job *job, uint64_t now)
{
	size_t count = job_slots(job);

	for (size_t i = 0; i < count; i++)
		look(&job->slots[i], &job->work->slots[i], now);
}

void sample_close(struct job *job)
{
	size_t count = job_slots(job);

	for (size_t i = 0; i < count; i++) {
		struct slot *slot = &job->slots[i];
		bool was_paused = slot->paused;

		look(slot, &job->work->slots[i], job->ended_ns);
		/* not ended, and no progress since a look before this one */
		if (was_paused && slot->paused && !slot->ended_ns &&
		    job->ended_ns - slot->moved_ns > slot->longest_ns)
			slot->longest_ns = job->ended_ns - slot->moved_ns;
	}
}

uint64_t sample_longest_pause(const struct job *job)
{
	size_t count = job_slots(job);
	uint64_t longest = 0;

	for (size_t i = 0; i < count; i++)
		if (job->slots[i].longest_ns > longest)
			longest = job->slots[i].longest_ns;
	return longest;
}

static struct fractions add_up(const struct job *job)
{
	struct fractions fractions = { 0 };
	size_t count = job_slots(job);

	for (size_t i = 0; i < count; i++) {
		uint64_t goal = job->work->slots[i].goal;
		uint64_t done = job->slots[i].done;

		if (!goal)
			continue;
		fractions.sum += done < goal ? (double)done / (double)goal : 1.0;
		fractions.count++;
	}
	return fractions;
}

static double all_or_nothing(const struct job *job)
{
	return job->state == JOB_ENDED && !job->wait_status ? 1.0 : 0.0;
}

double sample_job_work(const struct job *job)
{
	struct fractions fractions = add_up(job);

	return fractions.count ? fractions.sum / (double)fractions.count : all_or_nothing(job);
}

double sample_done(const struct jobs *jobs, size_t *parts)
{
	double sum = 0;

	*parts = 0;
	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->list[i];
		struct fractions fractions = add_up(job);

		if (!fractions.count && !job->spec->endless)
			fractions = (struct fractions){ .sum = all_or_nothing(job), .count = 1 };
		sum += fractions.sum;
		*parts += fractions.count;
	}
	return sum;
}

double sample_work(const struct jobs *jobs)
{
	size_t parts;
	double done = sample_done(jobs, &parts);

	return parts ? done / (double)parts : 0;
}
