// SPDX-License-Identifier: GPL-2.0
/*
 * The host: time passes. All goes on at constant rates (rates.c) until something changes, and then
 * the rates are worked out anew.
 */
#include "simulator.h"

#include <stdlib.h>

#include "context/virtual/machine.h"
#include "events/wake.h"

/*
 * While jobs fill memory that is full, what each lacks changes all the time. It is worked out anew
 * when the jobs have grown by 1/THRASH_PART, but not more often than THRASH_STEP_NS.
 */
#define THRASH_PART 256u
#define THRASH_STEP_NS (10 * (u64)NSEC_PER_MSEC)
/*
 * Jobs that grow into memory that is being evicted would fill it again and again, page by page. For
 * this long they may have more than there is; the host then takes it back.
 */
#define EDGE_STEP_NS (1 * (u64)NSEC_PER_MSEC)
/* Reclaim tells the rotor this often, as in module/sched_hooks/hooks.c. */
#define RECLAIM_WAKE_NS (100 * (u64)NSEC_PER_MSEC)

struct host host;

static bool changed;
static DECLARE_WAIT_QUEUE_HEAD(world_wait);

u64 host_now(void)
{
	return machine_now() - host.began;
}

/* Memory has changed: the running jobs' regime may be another. */
void host_memory_changes(void)
{
	machine_calm(0);
	host.changed = machine_now();
	changed = true;
	wake_up(&world_wait);
}

void host_changes(void)
{
	host.rates_are_old = true;
	host_memory_changes();
	move_wake();
}

static void note_reclaim(void)
{
	u64 now = host.advanced;
	bool grows = host.crowds[PHASE_TOUCH].threads || host.crowds[PHASE_FAULT].threads;

	if (host.regime == REGIME_ROOM || (host.regime == REGIME_TAKE && !grows))
		return;
	host.last_reclaim = now;
	if (!host.with_module || now - host.woken < RECLAIM_WAKE_NS)
		return;
	host.woken = now;
	mts_wake_rotor(MTS_ROTOR_EV_RECLAIM);
}

void host_advance(void)
{
	u64 ns = machine_now() - host.advanced;
	struct mover *mover;
	enum phase phase;

	if (!ns)
		return;
	if (host.rates_are_old)
		rates_set();
	for (phase = PHASE_TOUCH; phase < PHASES; phase++)
		if (host.crowds[phase].threads)
			host.crowds[phase].at += ns * host.crowds[phase].rate;
	list_for_each_entry(mover, &host.movers, node)
		mover->left -= mover->left < ns * mover->rate ? mover->left : ns * mover->rate;
	host.busy += ns * host.busy_rate;
	host.delayed += ns * host.delayed_rate;
	if (host.crowds[PHASE_FAULT].threads)
		host.faulted +=
			ns * host.crowds[PHASE_FAULT].threads * host.crowds[PHASE_FAULT].rate;
	if (host.regime == REGIME_THRASH)
		host.cycles += ns * host.cycle_rate;
	figures_pass(ns, host.regime == REGIME_THRASH);
	host.advanced += ns;
	if (host.regime == REGIME_TAKE)
		memory_take_excess();
	note_reclaim();
}

static void take_in_arrivals(void)
{
	const struct scenario *scenario = host.scenario;

	while (host.arrived < scenario->njobs &&
	       scenario->demands[host.arrived].arrives_ns <= host_now()) {
		struct job *job = &host.jobs[host.arrived++];

		host.here++;
		if (host.with_module && scenario->queue) {
			jobs_submit(job);
			continue;
		}
		host_start_job(job);
		if (host.with_module)
			jobs_enrol(job);
	}
}

static void review(void)
{
	enum phase phase;

	host_advance();
	take_in_arrivals();
	for (phase = PHASE_TOUCH; phase < PHASES; phase++)
		phases_finish(phase);
	memory_take_excess();
	/* What each lacks has changed. */
	if (host.regime == REGIME_THRASH &&
	    (host.crowds[PHASE_TOUCH].threads || host.crowds[PHASE_FAULT].threads)) {
		phases_settle();
		host.rates_are_old = true;
	}
	phases_set_regime();
}

/* ns that @left takes at @rate; NEVER: the rate is 0. */
static u64 time_for(u128 left, u128 rate)
{
	u128 ns;

	if (!rate)
		return NEVER;
	ns = left / rate + 1;
	return ns < NEVER / 2 ? (u64)ns : NEVER;
}

static u64 pages_fix(u64 bytes, u128 rate)
{
	return time_for((u128)(bytes / PAGE_SIZE) << FIX, rate);
}

static u64 growth_ends(void)
{
	const struct crowd *touch = &host.crowds[PHASE_TOUCH], *fault = &host.crowds[PHASE_FAULT];
	u128 rate = touch->threads * touch->rate + fault->threads * fault->rate;

	switch (host.regime) {
	case REGIME_ROOM:
		return mts_max(pages_fix(host_room(), rate), EDGE_STEP_NS);
	case REGIME_TAKE:
		return mts_max(pages_fix(host.frozen_resident, rate), EDGE_STEP_NS);
	default:
		return mts_max(pages_fix(memory_touched() / THRASH_PART, rate), THRASH_STEP_NS);
	}
}

/* When the rates change next if no job starts, stops or is moved before; ktime, ns. */
static u64 next_event(void)
{
	const struct scenario *scenario = host.scenario;
	u64 least = growth_ends(), at = NEVER;
	enum phase phase;

	for (phase = PHASE_TOUCH; phase < PHASES; phase++) {
		const struct crowd *crowd = &host.crowds[phase];

		if (crowd->threads && crowd->next > crowd->at)
			least = mts_min(least, time_for(crowd->next - crowd->at - 1, crowd->rate));
		else if (crowd->threads)
			least = 1;
	}
	if (host.arrived < scenario->njobs)
		at = mts_add_sat(host.began, scenario->demands[host.arrived].arrives_ns);
	if (!figures.counts)
		at = mts_min(at, mts_add_sat(host.began, scenario->count_from_ns));
	at = mts_min(at, mts_add_sat(host.began, scenario->limit_ns));
	return mts_min(at, mts_add_sat(machine_now(), least));
}

/* No job grows or faults, and no memory is moved: each tick shows the rotor the same. */
static bool is_calm(void)
{
	return !host.crowds[PHASE_TOUCH].threads && !host.crowds[PHASE_FAULT].threads &&
	       !host.crowds[PHASE_THRASH].threads && list_empty(&host.movers);
}

static u64 sleep_until(void)
{
	u64 event = next_event(), calm_from, calm_until;

	if (!host.with_module || !is_calm() || !jobs_calm(&calm_from, &calm_until))
		return event;
	if (machine_now() < calm_from)
		return mts_min(event, calm_from);
	machine_calm(mts_min(event, calm_until));
	return event;
}

static bool is_over(void)
{
	return host_now() >= host.scenario->limit_ns ||
	       (!host.here && host.arrived == host.scenario->njobs);
}

static int world(void *unused)
{
	struct figures final;

	if (host.with_module)
		jobs_load();
	host.began = machine_now();
	host.advanced = host.began;
	for (review(); !is_over(); review()) {
		figures_count();
		if (host.rates_are_old)
			rates_set();
		changed = false;
		mts_user_wait_on(&world_wait);
		mts_user_sleep(sleep_until());
		mts_user_wait_on(NULL);
	}
	phases_settle();
	figures_end();
	/* What the module does when it goes is not the scenario's. */
	final = figures;
	if (host.with_module)
		jobs_unload();
	figures = final;
	return 0;
}

static void *room_for(size_t n, size_t size)
{
	void *memory = calloc(n + 1, size);

	if (!memory) {
		fputs("simulator: no memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	return memory;
}

static void list_init(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

void host_run(const struct scenario *scenario, bool with_module)
{
	u32 i;

	host = (struct host){
		.scenario = scenario,
		.with_module = with_module,
		.jobs = room_for(scenario->njobs, sizeof(*host.jobs)),
		.running = room_for(scenario->njobs, sizeof(struct job *)),
		.rates_are_old = true,
		.work_of_cycle = 1,
	};
	list_init(&host.frozen);
	list_init(&host.movers);
	for (i = 0; i < scenario->njobs; i++)
		host.jobs[i] = (struct job){
			.demand = &scenario->demands[i],
			.threads = scenario->job_threads,
			.touching = scenario->demands[i].size / PAGE_SIZE,
			.working_ns = scenario->demands[i].work_ns,
		};
	machine_begin_orderly();
	machine_run(world, NULL);
}

void host_free(void)
{
	free(host.jobs);
	free(host.running);
}
