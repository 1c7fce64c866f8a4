// SPDX-License-Identifier: GPL-2.0
/*
 * A round's plan, as in module/rotor/plan.c, with the same policy code. The comments there say why;
 * the comments here name the differences.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy/bins.h"
#include "policy/demand.h"
#include "policy/fit.h"
#include "policy/newcomers.h"
#include "policy/plan.h"
#include "policy/slices.h"
#include "policy/switches.h"
#include "rotator.h"

/* The host pays for its shortage if it has reclaimed within this time. */
#define PRESSURE_NS (10 * NS_PER_S)

struct round round_now = { .running = MTS_BIN_NONE };

static struct mts_plan_job plan_jobs[MAX_JOBS];
static void *scratch;

void round_init(void)
{
	struct host host;

	scratch = malloc(mts_plan_scratch(MAX_JOBS));
	if (!scratch) {
		fputs("rotator: no memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	host_read(&host);
	round_now.scanned = host.scanned;
}

/* The module has tracepoints for that. Here the daemon reads counters. */
static void note_reclaim(const struct host *host)
{
	if (host->scanned == round_now.scanned)
		return;
	round_now.scanned = host->scanned;
	round_now.reclaimed_ns = now_ns();
}

void round_note_reclaim(void)
{
	struct host host;

	host_read(&host);
	note_reclaim(&host);
}

bool round_measure(struct job *job)
{
	struct mts_usage usage;

	/* An error leaves the last figures; a cgroup that is gone is found by the next scan. */
	if (!cgroup_usage(job, &usage))
		return false;
	job->usage = usage;
	job->demand = mts_policy_demand(&usage);
	job->resident = mts_policy_resident(&usage);
	return true;
}

static bool is_resident(const struct job *job)
{
	return job->pinned || job->left_out_until > now_ns();
}

static bool pays_for_it(void)
{
	if (options.config.mode == MTS_MODE_ALWAYS || options.config.bin_bytes ||
	    round_now.nbins >= 2)
		return true;
	return round_now.reclaimed_ns && now_ns() - round_now.reclaimed_ns < PRESSURE_NS;
}

static bool has_swap(const struct host *host)
{
	if (host->swap_free)
		return true;
	for (u32 i = 0; i < job_count; i++)
		if (jobs[i].usage.swap)
			return true;
	return false;
}

static bool admit(const struct host *host, u32 freezable)
{
	return options.config.mode != MTS_MODE_OFF && freezable >= 2 && round_now.plan.nbins >= 2 &&
	       has_swap(host) && pays_for_it();
}

static uint64_t capacity_now(const struct host *host)
{
	uint64_t managed = 0;

	if (options.config.bin_bytes)
		return options.config.bin_bytes;
	for (u32 i = 0; i < job_count; i++)
		managed = mts_add_sat(managed, jobs[i].resident);
	return mts_policy_learned(&round_now.lesson,
				  mts_policy_capacity(host->available, managed, host->total));
}

/* The choice of evict=auto, for a plan with or without turns before it. */
static void settle(bool rotates)
{
	mts_switches_plan(&round_now.switches, options.config.evict,
			  round_now.planned_blindly ? NULL : &round_now.plan, round_now.slow_swap,
			  rotates);
}

void round_note_switch(uint64_t took)
{
	struct mts_plan_conf conf = mts_plan_conf_of(&options.config);

	mts_switches_note(&round_now.switches, took, took);
	if (!round_now.planned_blindly)
		return;
	conf.switch_ns = round_now.switches.adds_ns;
	mts_plan_slices(&conf, round_now.bins, &round_now.plan);
	round_now.planned_blindly = false;
	settle(true);
}

u32 round_plan(void)
{
	struct mts_plan_conf conf = mts_plan_conf_of(&options.config);
	bool rotates = round_now.nbins >= 2;
	struct host host;
	u32 freezable = 0;

	for (u32 i = 0; i < job_count; i++) {
		round_measure(&jobs[i]);
		plan_jobs[i] = (struct mts_plan_job){
			.demand = jobs[i].demand,
			.flags = is_resident(&jobs[i]) ? MTS_PLAN_RESIDENT : 0,
			.prev_bin = jobs[i].bin < MTS_MAX_JOBS ? jobs[i].bin : MTS_BIN_NONE,
		};
		freezable += !plan_jobs[i].flags;
	}
	host_read(&host);
	note_reclaim(&host);
	conf.capacity = capacity_now(&host);
	conf.switch_ns = round_now.switches.adds_ns;
	mts_plan_round(&conf, plan_jobs, job_count, round_now.bins, &round_now.plan, scratch);
	round_now.planned_blindly = !conf.switch_ns || !rotates;
	settle(rotates);
	round_now.nbins = admit(&host, freezable) ? round_now.plan.nbins : 0;
	for (u32 i = 0; i < job_count; i++) {
		jobs[i].bin = round_now.nbins ? plan_jobs[i].bin : MTS_BIN_NONE;
		jobs[i].new = false;
	}
	return round_now.nbins;
}

/* As much as its siblings on average, if it has any. */
static uint64_t expected_demand(const struct job *newcomer)
{
	uint64_t sum = 0, n = 0;

	for (u32 i = 0; newcomer->parent[0] && i < job_count; i++) {
		const struct job *parent = jobs_find(newcomer->parent);

		if (!jobs[i].new &&parent && jobs_find(jobs[i].parent) == parent) {
			sum = mts_add_sat(sum, jobs[i].demand);
			n++;
		}
	}
	return mts_max(newcomer->demand, n ? sum / n : 0);
}

static void place(struct job *job)
{
	uint64_t demand = expected_demand(job);
	struct mts_newcomers all;

	mts_newcomers_begin(&all, round_now.bins, round_now.nbins, round_now.plan.capacity, 0,
			    scratch);
	job->bin = is_resident(job) ? MTS_BIN_EVERY :
				      mts_newcomers_bin(&all, round_now.running, demand);
	job->new = false;
	if (job->bin >= round_now.nbins)
		return;
	round_now.bins[job->bin].demand = mts_add_sat(round_now.bins[job->bin].demand, demand);
	round_now.bins[job->bin].jobs++;
}

void round_place_newcomers(void)
{
	for (u32 i = 0; i < job_count; i++)
		if (jobs[i].new)
			round_measure(&jobs[i]);
	for (u32 i = 0; i < job_count; i++)
		if (jobs[i].new)
			place(&jobs[i]);
}

/* What the running bin needs now. Return: of how many jobs. */
static u32 measure_running(uint64_t *demand)
{
	u32 n = 0;

	*demand = 0;
	for (u32 i = 0; i < job_count; i++) {
		if (jobs[i].bin != round_now.running || !round_measure(&jobs[i]))
			continue;
		*demand = mts_add_sat(*demand, jobs[i].demand);
		n++;
	}
	return n;
}

bool round_outgrown(void)
{
	uint64_t demand;

	return measure_running(&demand) > 1 &&
	       mts_policy_outgrown(&round_now.plan, &round_now.bins[round_now.running], demand);
}

void round_slice_begins(void)
{
	struct host host;

	host_read(&host);
	note_reclaim(&host);
	round_now.slice_began = now_ns();
	round_now.swapped_in = host.swapped_in;
}

bool round_swaps(void)
{
	const struct mts_plan_bin *bin = &round_now.bins[round_now.running];
	struct host host;
	uint64_t demand;

	host_read(&host);
	note_reclaim(&host);
	if ((host.swapped_in - round_now.swapped_in) * PAGE < bin->demand / 8 ||
	    round_now.reclaimed_ns <= round_now.slice_began)
		return false;
	round_now.swapped_in = host.swapped_in;
	return measure_running(&demand) > 1 &&
	       mts_policy_misfit(&round_now.lesson, &round_now.plan, bin, demand, host.free,
				 options.config.bin_bytes);
}

void round_rests(void)
{
	round_now.nbins = 0;
	round_now.running = MTS_BIN_NONE;
	round_now.lesson = (struct mts_lesson){ 0 };
}

/*
 * The module asks the pressure accounting of each cgroup, which costs a few loads; here every
 * thread's state is read, until one is found that can run.
 */
bool round_can_run(u32 bin)
{
	static pid_t pids[MAX_PIDS];

	for (u32 i = 0; i < job_count; i++) {
		size_t count;

		if (jobs[i].bin != bin)
			continue;
		count = cgroup_pids(&jobs[i], pids, MAX_PIDS);
		for (size_t j = 0; j < count; j++)
			if (host_can_run(pids[j]))
				return true;
	}
	return false;
}

void round_print_plan(void)
{
	const struct mts_plan *plan = &round_now.plan;

	printf("{\"rotates\": %s, \"capacity\": %llu, \"demand\": %llu, ",
	       round_now.nbins ? "true" : "false", plan->capacity, plan->demand);
	printf("\"resident_demand\": %llu, \"round_ns\": %llu, \"jobs\": [", plan->resident_demand,
	       plan->round_ns);
	for (u32 i = 0; i < job_count; i++) {
		printf("%s{\"name\": \"%s\", \"demand\": %" PRIu64 ", \"bin\": ", i ? ", " : "",
		       jobs[i].name, jobs[i].demand);
		if (plan_jobs[i].bin == MTS_BIN_EVERY)
			printf("null}");
		else
			printf("%u}", plan_jobs[i].bin);
	}
	printf("], \"bins\": [");
	for (u32 i = 0; i < plan->nbins; i++)
		printf("%s{\"demand\": %llu, \"slice_ns\": %llu, \"jobs\": %u}", i ? ", " : "",
		       round_now.bins[i].demand, round_now.bins[i].slice_ns,
		       round_now.bins[i].jobs);
	printf("]}\n");
}
