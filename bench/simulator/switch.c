// SPDX-License-Identifier: GPL-2.0
/* A switch, as module/rotor/switch.c does it; the comments there say why. */
#include "policy/evict.h"
#include "policy/switches.h"
#include "simulator.h"

/* What stays when a job is evicted. */
#define EVICT_FLOOR (256ull << 10)

static void freeze(struct simulation *s, struct job *job)
{
	if (job->frozen)
		return;
	/* A newcomer stands still since it came. */
	if (job->started)
		job->stopped_ns = s->now;
	job->frozen = true;
	s->now += s->scenario->costs.freeze;
	s->figures.freeze_ns += s->scenario->costs.freeze;
}

static void thaw(struct simulation *s, struct job *job)
{
	u64 pause = s->now - job->stopped_ns, limit = s->scenario->config.max_pause_ns;

	job->warm = true;
	if (!job->frozen)
		return;
	job->frozen = false;
	job->longest_pause_ns = mts_max(job->longest_pause_ns, pause);
	s->figures.longest_pause_ns = mts_max(s->figures.longest_pause_ns, pause);
	s->figures.overdue += pause > (limit ? limit : MTS_PAUSE_MAX_NS);
}

static void freeze_others(struct simulation *s, u32 bin)
{
	for (u32 i = 0; i < s->arrived; i++)
		if (s->jobs[i].here && s->jobs[i].bin != bin)
			freeze(s, &s->jobs[i]);
}

static void thaw_bin(struct simulation *s, u32 bin)
{
	for (u32 i = 0; i < s->arrived; i++)
		if (s->jobs[i].here && s->jobs[i].bin == bin)
			thaw(s, &s->jobs[i]);
}

/* ---- eviction ---------------------------------------------------------------------- */

/* Add to *jobs how many went. */
static u64 evict_bin(struct simulation *s, u32 bin, u64 want, u32 *jobs)
{
	u64 got = 0;

	for (u32 i = 0; i < s->arrived && got < want; i++) {
		struct job *job = &s->jobs[i];
		u64 part;

		if (!job->here || job->bin != bin || !job->warm || !job->frozen)
			continue;
		part = mts_min(want - got, mts_sub_floor(job->resident, EVICT_FLOOR));
		memory_out(s, job, part);
		got += part;
		*jobs += part > 0;
		if (got < want)
			job->warm = false;
	}
	return got;
}

static void measure_bin(const struct simulation *s, u32 bin, u64 *demand, u64 *resident)
{
	*demand = 0;
	*resident = 0;
	for (u32 i = 0; i < s->arrived; i++) {
		if (!s->jobs[i].here || s->jobs[i].bin != bin)
			continue;
		*demand += job_demand(&s->jobs[i]);
		*resident += s->jobs[i].resident;
	}
}

static u64 frozen_resident(const struct simulation *s)
{
	u64 sum = 0;

	for (u32 i = 0; i < s->arrived; i++)
		if (s->jobs[i].here && s->jobs[i].frozen && s->jobs[i].warm)
			sum += s->jobs[i].resident;
	return sum;
}

/* The bin that runs again last is evicted first: the one that has just run. */
static void evict_for(struct simulation *s, u32 to)
{
	u64 demand, resident, want, got = 0, took;
	u32 jobs = 0;

	measure_bin(s, to, &demand, &resident);
	want = mts_policy_evict(s->switches.evict, frozen_resident(s), demand, resident,
				memory_free(s));
	for (u32 distance = s->nbins - 1; distance && got < want; distance--)
		got += evict_bin(s, (to + distance) % s->nbins, want - got, &jobs);
	got += evict_bin(s, MTS_BIN_NONE, want - got, &jobs);
	/* Each thread takes a job. */
	took = memory_transfer_ns(s, got, s->scenario->costs.evict,
				  mts_min(s->scenario->threads, jobs));
	s->now += took;
	s->figures.evict_ns += took;
}

/* ---- bringing back --------------------------------------------------------------------- */

/* In bulk, as far as there is room; what is missing then comes by faults. */
static void bring_back(struct simulation *s, u32 to)
{
	u64 got = 0, took;

	for (u32 i = 0; i < s->arrived; i++) {
		struct job *job = &s->jobs[i];
		u64 part;

		if (!job->here || job->bin != to)
			continue;
		part = mts_min(job_demand(job) - job->resident, memory_free(s));
		memory_in(s, job, part);
		got += part;
	}
	took = memory_transfer_ns(s, got, s->scenario->costs.back, s->scenario->threads);
	s->now += took;
	s->figures.bring_back_ns += took;
}

/* ---- the switch -------------------------------------------------------------------------- */

void switch_to(struct simulation *s, u32 bin)
{
	u64 began = s->now, took;

	s->current = bin;
	s->figures.switches++;
	freeze_others(s, bin);
	evict_for(s, bin);
	bring_back(s, bin);
	thaw_bin(s, bin);
	processor_share(s, bin);
	memory_fault_in(s);

	took = s->now - began;
	mts_switches_note(&s->switches, took, took);
}

void switch_settle(struct simulation *s)
{
	freeze_others(s, s->current);
	thaw_bin(s, s->current);
	processor_share(s, s->current);
}

void switch_thaw_all(struct simulation *s)
{
	for (u32 i = 0; i < s->arrived; i++)
		if (s->jobs[i].here)
			thaw(s, &s->jobs[i]);
	processor_share(s, MTS_BIN_EVERY);
	memory_fault_in(s);
}
