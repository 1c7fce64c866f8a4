// SPDX-License-Identifier: GPL-2.0
/* A switch, as module/rotor/switch.c does it, by cgroup files; and bulk bring-back. */
#include <stdio.h>
#include <time.h>

#include "policy/disk.h"
#include "policy/evict.h"
#include "rotator.h"

#define FREEZE_LIMIT_NS NS_PER_S
#define EVICT_CHUNK (8ull << 20)
#define EVICT_FLOOR (256ull << 10)

static bool is_to_freeze(const struct job *job, u32 to)
{
	return job->bin != to && job->bin != MTS_BIN_EVERY && !job->pinned &&
	       job->left_out_until <= now_ns();
}

static void thaw(struct job *job)
{
	if (job->frozen)
		cgroup_freeze(job, false);
	job->frozen = false;
}

static void freeze(struct job *job)
{
	if (job->frozen || !cgroup_freeze(job, true))
		return;
	job->frozen = true;
	job->frozen_since = now_ns();
}

/* Polled: the files of cgroup.events tell changes to poll(2), but only one at a time. */
static void wait_until_frozen(void)
{
	const struct timespec pause = { .tv_nsec = NS_PER_MS };
	uint64_t limit = now_ns() + FREEZE_LIMIT_NS;

	for (u32 i = 0; i < job_count; i++) {
		while (jobs[i].frozen && !cgroup_is_frozen(&jobs[i]) && now_ns() < limit)
			nanosleep(&pause, NULL);
		if (!jobs[i].frozen || cgroup_is_frozen(&jobs[i]))
			continue;
		thaw(&jobs[i]);
		jobs[i].left_out_until = now_ns() + mts_max(round_now.plan.round_ns, NS_PER_S);
		stats.freeze_timeouts++;
	}
}

static void freeze_others(u32 to)
{
	uint64_t began = now_ns();

	for (u32 i = 0; i < job_count; i++) {
		if (is_to_freeze(&jobs[i], to))
			freeze(&jobs[i]);
		else if (jobs[i].bin != to)
			thaw(&jobs[i]);
	}
	wait_until_frozen();
	stats.freeze_ns += now_ns() - began;
}

static void thaw_bin(u32 bin)
{
	for (u32 i = 0; i < job_count; i++) {
		if (jobs[i].bin != bin)
			continue;
		thaw(&jobs[i]);
		jobs[i].warm = true;
	}
}

/* ---- eviction --------------------------------------------------------------- */

/* Return: bytes that left memory. */
static uint64_t page_out(struct job *job, uint64_t want)
{
	static pid_t pids[MAX_PIDS];
	size_t count = cgroup_pids(job, pids, MAX_PIDS);
	uint64_t before, after;

	if (!cgroup_current(job, &before))
		return 0;
	for (size_t i = 0; i < count; i++) {
		pages_page_out(pids[i], want);
		if (!cgroup_current(job, &after) || mts_sub_floor(before, after) >= want)
			break;
	}
	return cgroup_current(job, &after) ? mts_sub_floor(before, after) : 0;
}

static uint64_t evict_job(struct job *job, uint64_t want)
{
	uint64_t before, after, chunk, went, got = options.page_out ? page_out(job, want) : 0;

	if (!cgroup_current(job, &before))
		return got;
	while (got < want && before > EVICT_FLOOR) {
		chunk = mts_min(mts_min(want - got, before - EVICT_FLOOR), EVICT_CHUNK);
		stats.evict_asked += chunk;
		/* EAGAIN comes also when all was done: only what is left counts. */
		cgroup_evict(job, chunk);
		if (!cgroup_current(job, &after))
			break;
		went = mts_sub_floor(before, after);
		got += went;
		if (!went || went < chunk / 2)
			break;
		before = after;
	}
	stats.evict_got += got;
	return got;
}

static uint64_t evict_bin(u32 bin, uint64_t want)
{
	uint64_t got = 0;

	for (u32 i = 0; i < job_count && got < want; i++) {
		struct job *job = &jobs[i];

		if (job->bin != bin || !job->warm || !job->frozen)
			continue;
		got += evict_job(job, want - got);
		if (got < want)
			job->warm = false;
	}
	return got;
}

static void measure_bin(u32 bin, uint64_t *demand, uint64_t *resident)
{
	*demand = 0;
	*resident = 0;
	for (u32 i = 0; i < job_count; i++) {
		if (jobs[i].bin != bin || !round_measure(&jobs[i]))
			continue;
		*demand = mts_add_sat(*demand, jobs[i].demand);
		*resident = mts_add_sat(*resident, jobs[i].resident);
	}
}

static uint64_t frozen_resident(void)
{
	uint64_t bytes, sum = 0;

	for (u32 i = 0; i < job_count; i++)
		if (jobs[i].frozen && jobs[i].warm && cgroup_current(&jobs[i], &bytes))
			sum = mts_add_sat(sum, bytes);
	return sum;
}

/* The bin that runs again last is evicted first: the one that has just run. */
static void evict_for(u32 to)
{
	uint64_t began = now_ns(), demand, resident, want;
	struct host host;

	if (round_now.switches.evict == MTS_EVICT_OFF)
		return;
	measure_bin(to, &demand, &resident);
	host_read(&host);
	want = mts_policy_evict(round_now.switches.evict, frozen_resident(), demand, resident,
				host.available);
	for (u32 distance = round_now.nbins - 1; distance && want; distance--)
		want = mts_sub_floor(want, evict_bin((to + distance) % round_now.nbins, want));
	evict_bin(MTS_BIN_NONE, want);
	stats.evict_ns += now_ns() - began;
}

/* ---- bring-back --------------------------------------------------------------- */

/* No more than there is room for: or the kernel would evict what has just been read. */
static void bring_back(u32 to)
{
	static pid_t pids[MAX_PIDS];
	uint64_t began = now_ns(), asked = 0;
	struct host host;

	if (!options.bring_back)
		return;
	host_read(&host);
	for (u32 i = 0; i < job_count; i++) {
		size_t count;

		if (jobs[i].bin != to)
			continue;
		count = cgroup_pids(&jobs[i], pids, MAX_PIDS);
		for (size_t j = 0; j < count && asked < host.available; j++)
			asked += pages_bring_back(pids[j], host.available - asked);
	}
	stats.brought_back += asked;
	stats.bring_back_ns += now_ns() - began;
}

/* ---- the switch ----------------------------------------------------------------- */

/* This process's, in ns; what others do for it counts as waiting. */
static uint64_t busy(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t moved(void)
{
	return stats.evict_got + stats.brought_back;
}

void switch_to(u32 bin)
{
	uint64_t began = now_ns(), worked = busy(), bytes = moved(), took;

	round_now.running = bin;
	stats.switches++;
	freeze_others(bin);
	be_polite(true);
	evict_for(bin);
	bring_back(bin);
	be_polite(false);
	thaw_bin(bin);

	took = now_ns() - began;
	worked = busy() - worked;
	if ((moved() - bytes) / PAGE >= MTS_DISK_LEAST_PAGES)
		round_now.slow_swap = mts_disk_limits(worked, mts_sub_floor(took, worked));
	round_note_switch(took);
	stats_write();
}

void switch_settle(void)
{
	freeze_others(round_now.running);
	thaw_bin(round_now.running);
}

void switch_thaw_all(void)
{
	for (u32 i = 0; i < job_count; i++) {
		thaw(&jobs[i]);
		jobs[i].warm = true;
	}
}
