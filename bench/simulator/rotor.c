// SPDX-License-Identifier: GPL-2.0
/* Rounds and slices, as module/rotor/ has them (plan.c, slice.c); the comments there say why. */
#include "policy/bins.h"
#include "policy/demand.h"
#include "policy/fit.h"
#include "policy/plan.h"
#include "policy/slices.h"
#include "policy/switches.h"
#include "simulator.h"

#define TICK_NS (50 * NS_PER_MS)
#define GROWTH_NS NS_PER_S
#define LOOK_NS (100 * NS_PER_MS)

enum slice_end {
	SLICE_OVER, /* on to the next bin */
	SLICE_REGROUP, /* the bins are out of date */
};

/* ---- the plan ------------------------------------------------------------------------ */

static u64 capacity_now(struct simulation *s)
{
	const struct scenario *scenario = s->scenario;
	u64 available = mts_sub_floor(scenario->memory, s->resident);

	if (scenario->config.bin_bytes)
		return scenario->config.bin_bytes;
	/* All that is resident is the jobs'. */
	return mts_policy_learned(&s->lesson,
				  mts_policy_capacity(available, s->resident, scenario->memory));
}

static u64 demand_now(const struct simulation *s)
{
	u64 sum = 0;

	for (u32 i = 0; i < s->arrived; i++)
		if (s->jobs[i].here)
			sum += job_demand(&s->jobs[i]);
	return sum;
}

/* What evict=auto comes to, for a plan that there were turns before or not. */
static void settle(struct simulation *s, bool rotates)
{
	mts_switches_plan(&s->switches, s->scenario->config.evict,
			  s->planned_blindly ? NULL : &s->plan, memory_disk_is_slow(s), rotates);
}

/* Once the first switch is through; the module does so if its round can not bear that switch. */
static void plan_slices(struct simulation *s)
{
	struct mts_plan_conf conf = mts_plan_conf_of(&s->scenario->config);

	if (!s->planned_blindly)
		return;
	conf.switch_ns = s->switches.adds_ns;
	mts_plan_slices(&conf, s->bins, &s->plan);
	s->planned_blindly = false;
	settle(s, true);
}

static u32 plan_round(struct simulation *s)
{
	const struct mts_config *config = &s->scenario->config;
	struct mts_plan_conf conf = mts_plan_conf_of(config);
	bool rotates = s->nbins >= 2;
	u32 n = 0;

	conf.capacity = capacity_now(s);
	conf.switch_ns = s->switches.adds_ns;
	conf.processors = s->scenario->processors;

	for (u32 i = 0; i < s->arrived; i++) {
		const struct job *job = &s->jobs[i];

		if (!job->here)
			continue;
		s->plan_jobs[n++] = (struct mts_plan_job){
			.demand = job_demand(job),
			.threads = 1,
			.prev_bin = job->bin < MTS_MAX_JOBS ? job->bin : MTS_BIN_NONE,
		};
	}
	mts_plan_round(&conf, s->plan_jobs, n, s->bins, &s->plan, s->scratch);
	s->planned_blindly = !conf.switch_ns || !rotates;
	settle(s, rotates);
	s->nbins = config->mode != MTS_MODE_OFF && s->plan.nbins >= 2 ? s->plan.nbins : 0;
	n = 0;
	for (u32 i = 0; i < s->arrived; i++)
		if (s->jobs[i].here)
			s->jobs[i].bin = s->nbins ? s->plan_jobs[n++].bin : MTS_BIN_NONE;
	return s->nbins;
}

/* Of the second round, if there is one: its slices know what a switch takes. */
static void keep_plan(struct simulation *s)
{
	if (s->figures.rounds > 2)
		return;
	s->shown_plan = s->plan;
	for (u32 i = 0; i < s->nbins; i++)
		s->shown_bins[i] = s->bins[i];
}

static void place_newcomers(struct simulation *s)
{
	for (u32 i = 0; i < s->arrived; i++) {
		struct job *job = &s->jobs[i];

		if (!job->here || job->bin != MTS_BIN_NONE)
			continue;
		/* It has touched nothing yet: with siblings it is expected to be as they are. */
		job->bin = mts_plan_newcomer(s->bins, s->nbins, s->plan.capacity, s->current,
					     div64_u64(s->plan.demand, s->here));
		if (job->bin == MTS_BIN_NONE)
			continue;
		s->bins[job->bin].demand += div64_u64(s->plan.demand, s->here);
		s->bins[job->bin].jobs++;
	}
	switch_settle(s);
}

/* ---- a slice -------------------------------------------------------------------------- */

static u64 demand_running(const struct simulation *s)
{
	u64 sum = 0;

	for (u32 i = 0; i < s->nrunning; i++)
		sum += job_demand(&s->jobs[s->running[i]]);
	return sum;
}

static bool anything_frozen(const struct simulation *s)
{
	return s->here > s->nrunning;
}

/*
 * A bin of several jobs that does not fit after all swaps, and is found out when an eighth of it
 * has come in. Nothing gets done until then; if it must run so, what it loses is not simulated.
 * Asked when its slice begins, and once more when all have touched their memory: until then what
 * they touch does not come from swap.
 */
static bool is_misfit(struct simulation *s)
{
	u64 demand = demand_running(s), eighth = demand / 8;
	bool is_set = s->scenario->config.bin_bytes;

	if (demand <= s->scenario->usable || s->nrunning < 2)
		return false;
	s->now += memory_misfit_ns(s, eighth);
	s->figures.swapped_in += eighth;
	s->figures.swapped_out += eighth;
	if (!mts_policy_misfit(&s->lesson, &s->plan, &s->bins[s->current], demand, 0, is_set))
		return false;
	s->figures.regroups++;
	return true;
}

static bool outgrown(const struct simulation *s)
{
	return s->nrunning > 1 &&
	       mts_policy_outgrown(&s->plan, &s->bins[s->current], demand_running(s));
}

/* @settled: nobody's size changes any more. */
static u64 next_stop(const struct simulation *s, u64 ends, u64 next_growth, bool settled)
{
	u64 stop = settled ? ends : mts_min(ends, next_growth);

	if (processor_is_filling(s) || processor_next_arrival(s) < ends)
		stop = mts_min(stop, s->now + TICK_NS);
	return stop;
}

static u64 to_tick(u64 began, u64 now)
{
	return began + (now - began + TICK_NS - 1) / TICK_NS * TICK_NS;
}

static enum slice_end slice_loop(struct simulation *s, u64 ends)
{
	u64 began = s->now, next_growth = s->now + GROWTH_NS;
	bool settled = false;

	if (is_misfit(s))
		return SLICE_REGROUP;
	while (s->now < ends) {
		u64 before = s->now;
		u32 ended = processor_run(s, next_stop(s, ends, next_growth, settled));

		if (demand_running(s) > s->scenario->usable)
			s->figures.overfull_ns += s->now - before;
		/* Jobs that come and go are looked at once a tick. */
		if (ended && (!s->nrunning || !anything_frozen(s))) {
			s->now = mts_min(ends, to_tick(began, s->now));
			return anything_frozen(s) ? SLICE_OVER : SLICE_REGROUP;
		}
		if (processor_arrivals(s)) {
			place_newcomers(s);
			settled = false;
		}
		if (s->now >= next_growth && s->now < ends) {
			next_growth = s->now + GROWTH_NS;
			if (outgrown(s)) {
				s->figures.regroups++;
				return SLICE_REGROUP;
			}
			if (!settled && !processor_is_filling(s) && is_misfit(s))
				return SLICE_REGROUP;
			settled = !processor_is_filling(s);
		}
	}
	return SLICE_OVER;
}

static enum slice_end run_slice(struct simulation *s, u32 bin)
{
	u64 began = s->now, freezing = s->figures.freeze_ns;
	enum slice_end end = slice_loop(s, began + s->bins[bin].slice_ns);

	/* Newcomers that wait for their bin are frozen within the slice. */
	s->figures.slice_ns += s->now - began - (s->figures.freeze_ns - freezing);
	return end;
}

/* ---- a round ---------------------------------------------------------------------------- */

static u32 first_bin(const struct simulation *s)
{
	u64 since = NEVER;
	u32 first = 0;

	for (u32 i = 0; i < s->arrived; i++) {
		const struct job *job = &s->jobs[i];

		if (!job->here || !job->frozen || job->bin >= s->nbins || job->stopped_ns >= since)
			continue;
		since = job->stopped_ns;
		first = job->bin;
	}
	return first;
}

static u32 jobs_in_bin(const struct simulation *s, u32 bin)
{
	u32 n = 0;

	for (u32 i = 0; i < s->arrived; i++)
		n += s->jobs[i].here && s->jobs[i].bin == bin;
	return n;
}

static void say_round(const struct simulation *s)
{
	u64 full = 0;

	for (u32 i = 0; i < s->nbins; i++)
		full = mts_max(full, s->bins[i].slice_ns);
	fprintf(stderr,
		"%12.3f s  round %llu: %u jobs in %u bins of %llu MiB, slice %.3f s, "
		"switch %.3f s\n",
		(double)s->now / 1e9, s->figures.rounds, s->here, s->nbins, s->plan.capacity >> 20,
		(double)full / 1e9, (double)s->switches.adds_ns / 1e9);
}

static bool is_over(const struct simulation *s)
{
	return s->now >= s->scenario->limit_ns || (!s->here && s->arrived == s->njobs);
}

static void run_round(struct simulation *s)
{
	enum slice_end end = SLICE_OVER;
	u32 first = first_bin(s);

	s->figures.rounds++;
	keep_plan(s);
	if (s->scenario->rounds)
		say_round(s);
	for (u32 i = 0; i < s->nbins && end == SLICE_OVER && !is_over(s); i++) {
		u32 bin = (first + i) % s->nbins;

		if (!jobs_in_bin(s, bin))
			continue;
		switch_to(s, bin);
		plan_slices(s);
		end = run_slice(s, bin);
	}
}

/* ---- nothing to rotate -------------------------------------------------------------------- */

/* Is there more demand than the rotor lets pass while all run at once? */
static bool is_short(struct simulation *s)
{
	const struct mts_config *config = &s->scenario->config;
	u64 demand = demand_now(s);

	if (config->mode == MTS_MODE_OFF || s->here < 2)
		return false;
	if (config->mode == MTS_MODE_ALWAYS || config->bin_bytes)
		return demand > capacity_now(s);
	return demand > s->scenario->usable;
}

/* They run, all at once, until somebody comes or goes, or it is time to look again. */
static void run_together(struct simulation *s)
{
	u64 began = s->now, until = processor_next_arrival(s);
	bool overfull = demand_now(s) > s->scenario->usable;

	if (s->nrunning && (processor_is_filling(s) || until == NEVER))
		until = mts_min(until, s->now + (processor_is_filling(s) ? LOOK_NS : NEVER / 4));
	if (s->nrunning)
		processor_run(s, until);
	else
		s->now = mts_max(s->now, until);
	s->figures.together_ns += s->now - began;
	if (overfull)
		s->figures.overfull_ns += s->now - began;
}

/* What the host needs to notice: mode=auto wants to see the jobs lose time before. */
static void notice(struct simulation *s)
{
	const struct mts_config *config = &s->scenario->config;
	u64 began = s->now;

	if (config->mode == MTS_MODE_AUTO && !config->bin_bytes)
		processor_thrash(s, s->now + s->scenario->notice_ns);
	memory_spread(s);
	s->figures.notice_ns += s->now - began;
}

void rotor_run(struct simulation *s)
{
	bool rotates = false;

	for (processor_arrivals(s); !is_over(s); processor_arrivals(s)) {
		if (rotates && plan_round(s)) {
			run_round(s);
			continue;
		}
		/* Nothing to rotate (any more). */
		if (rotates)
			s->lesson = (struct mts_lesson){ 0 };
		s->nbins = 0;
		s->current = MTS_BIN_NONE;
		switch_thaw_all(s);
		rotates = is_short(s);
		if (!rotates) {
			run_together(s);
			continue;
		}
		notice(s);
		processor_arrivals(s);
		rotates = plan_round(s) > 0;
		if (rotates)
			run_round(s);
		else
			run_together(s);
	}
	if (s->here == s->arrived)
		s->figures.jain = processor_jain(s);
}
