// SPDX-License-Identifier: GPL-2.0
/*
 * The host: jobs run, fill memory and fault, as the processors and the disk allow. All of it goes
 * on at constant rates until something changes, and then the rates are worked out anew. Jobs in the
 * same phase make the same progress, so that time passes for all of them in one step, however many
 * they are (struct crowd).
 */
#include "simulator.h"

#include <stdlib.h>

#include "context/virtual/machine.h"
#include "events/wake.h"

#define ONE ((u128)1 << FIX)
#define NO_PROGRESS (~(u128)0)
/* What each thread but the first adds: two did 1.6 to 1.9 times as much (docs/performance.md). */
#define THREAD_ADDS_PERCENT 75u
/*
 * While jobs fill memory that is full, what each lacks changes all the time. It is worked out anew
 * when the jobs have grown by 1/THRASH_PART, but not more often than THRASH_STEP_NS.
 */
#define THRASH_PART 256u
#define THRASH_STEP_NS (10 * (u64)NSEC_PER_MSEC)
/* Reclaim tells the rotor this often, as in module/sched_hooks/hooks.c. */
#define RECLAIM_WAKE_NS (100 * (u64)NSEC_PER_MSEC)
/* Of a fault on a new page, the part that is the program's: it fills it (docs/simulation.md). */
#define TOUCH_USER_PART 3u

struct host host;

static bool changed;
static DECLARE_WAIT_QUEUE_HEAD(world_wait);

static u64 usable(void)
{
	return host.scenario->usable;
}

u64 host_now(void)
{
	return machine_now() - host.began;
}

/* Memory has changed: the running jobs' regime may be another. */
static void memory_changes(void)
{
	machine_calm(0);
	host.changed = machine_now();
	changed = true;
	wake_up(&world_wait);
}

void host_changes(void)
{
	host.rates_are_old = true;
	memory_changes();
	move_wake();
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Pages that the jobs of a phase have got since each was last settled. */
static u64 unsettled(enum phase phase)
{
	const struct crowd *crowd = &host.crowds[phase];

	return (crowd->threads * crowd->at - crowd->sum) >> FIX;
}

static u64 touched_by_running(void)
{
	return host.running_touched + unsettled(PHASE_TOUCH) * PAGE_SIZE;
}

/* Bytes in memory of the running jobs while they thrash. */
static u64 most_for_running(void)
{
	return mts_min(mts_sub_floor(usable(), host.frozen_resident), touched_by_running());
}

u64 host_resident(void)
{
	if (host.regime == REGIME_THRASH)
		return host.frozen_resident + most_for_running();
	return host.frozen_resident + host.running_resident +
	       (unsettled(PHASE_TOUCH) + unsettled(PHASE_FAULT)) * PAGE_SIZE;
}

u64 host_room(void)
{
	return mts_sub_floor(usable(), host_resident());
}

u64 host_swapins(void)
{
	return host.bulk_in + (u64)((host.cycles + host.faulted) >> FIX);
}

/* Of a job that runs. */
static void set_resident(struct job *job, u64 bytes)
{
	if (bytes < job->resident)
		figures.swapped_out += job->resident - bytes;
	else
		figures.swapped_in += bytes - job->resident;
	host.running_resident += bytes - job->resident;
	job->resident = bytes;
}

void host_move_out(struct job *job, u64 bytes)
{
	job->resident -= bytes;
	host.frozen_resident -= bytes;
	figures.swapped_out += bytes;
	memory_changes();
}

void host_move_in(struct job *job, u64 bytes)
{
	job->resident += bytes;
	host.frozen_resident += bytes;
	figures.swapped_in += bytes;
	host.bulk_in += bytes / PAGE_SIZE;
	memory_changes();
}

/*
 * The host's own reclaim: the job frozen for longest loses pages first, as on the kernel's lists.
 */
static void take_excess(void)
{
	u64 excess = mts_sub_floor(host_resident(), usable()), part;
	struct job *job;

	if (!excess || !host.frozen_resident)
		return;
	list_for_each_entry(job, &host.frozen, frozen) {
		part = mts_min(excess, job->resident);
		job->resident -= part;
		host.frozen_resident -= part;
		figures.swapped_out += part;
		host.reclaimed += part / PAGE_SIZE;
		excess -= part;
		if (!excess)
			break;
	}
}

/* ---- phases ------------------------------------------------------------------------------ */

static u64 left_of(const struct job *job)
{
	switch (job->phase) {
	case PHASE_TOUCH:
		return job->touching;
	case PHASE_FAULT:
		return (job->touched - job->resident) / PAGE_SIZE;
	default:
		return job->working_ns;
	}
}

static void spend(struct job *job, u64 ns)
{
	job->ran_ns += ns;
	figures.consumed_ns += ns;
}

/* What a job has done: pages, or nanoseconds of work. */
static void credit(struct job *job, u64 done)
{
	const struct crowd *crowd = &host.crowds[job->phase];
	u64 faults;

	switch (job->phase) {
	case PHASE_TOUCH:
		job->touching -= done;
		job->touched += done * PAGE_SIZE;
		job->resident += done * PAGE_SIZE;
		host.running_touched += done * PAGE_SIZE;
		host.running_resident += done * PAGE_SIZE;
		job->user_ns += done * host.scenario->costs.touch / TOUCH_USER_PART;
		break;
	case PHASE_FAULT:
		set_resident(job, job->resident + done * PAGE_SIZE);
		break;
	case PHASE_THRASH:
		faults = done / host.work_of_cycle;
		job->stalled_ns += faults * crowd->stalls;
		spend(job, faults * crowd->cycle);
		/* fall through */
	default:
		job->working_ns -= done;
		job->user_ns += done;
		spend(job, done);
		return;
	}
	job->stalled_ns += done * crowd->stalls;
	spend(job, done * crowd->cycle);
}

void host_settle(struct job *job)
{
	struct crowd *crowd = &host.crowds[job->phase];
	u128 progress;
	u64 done;

	if (job->phase == PHASE_NONE)
		return;
	progress = crowd->at - job->since;
	done = mts_min((job->threads * progress) >> FIX, left_of(job));
	/* A fraction of a page stays for the next time. */
	if (done < left_of(job))
		progress = ((u128)done << FIX) / job->threads;
	job->since += progress;
	crowd->sum += job->threads * progress;
	credit(job, done);
	if (host.regime == REGIME_THRASH)
		set_resident(job, mul_u64_u64_div_u64(job->touched, most_for_running(),
						      mts_max(touched_by_running(), 1)));
}

static enum phase phase_of(const struct job *job)
{
	if (host.regime == REGIME_THRASH)
		return job->touching ? PHASE_TOUCH : PHASE_THRASH;
	if (job->touched - job->resident >= PAGE_SIZE)
		return PHASE_FAULT;
	return job->touching ? PHASE_TOUCH : PHASE_WORK;
}

static void enter_phase(struct job *job)
{
	struct crowd *crowd;
	u128 left;

	job->phase = phase_of(job);
	crowd = &host.crowds[job->phase];
	left = (u128)left_of(job) << FIX;
	if (!crowd->threads)
		crowd->next = NO_PROGRESS;
	crowd->threads += job->threads;
	job->since = crowd->at;
	job->target = crowd->at + (left + job->threads - 1) / job->threads;
	crowd->sum += job->threads * job->since;
	if (job->target < crowd->next)
		crowd->next = job->target;
}

static void leave_phase(struct job *job)
{
	struct crowd *crowd = &host.crowds[job->phase];

	host_settle(job);
	crowd->threads -= job->threads;
	crowd->sum -= job->threads * job->since;
	job->phase = PHASE_NONE;
}

/* Where that costs nothing it takes no time either. */
static void touch_at_once(struct job *job)
{
	u64 bytes = job->touching * PAGE_SIZE;

	if (host.scenario->costs.touch || !bytes)
		return;
	job->touching = 0;
	job->touched += bytes;
	job->resident += bytes;
}

void host_start_job(struct job *job)
{
	if (job->is_frozen) {
		list_del_rcu(&job->frozen);
		host.frozen_resident -= job->resident;
		job->is_frozen = false;
	}
	touch_at_once(job);
	host.running_resident += job->resident;
	host.running_touched += job->touched;
	job->running = host.nrunning;
	host.running[host.nrunning++] = job;
	enter_phase(job);
	host_changes();
}

static void take_from_running(struct job *job)
{
	leave_phase(job);
	host.running_resident -= job->resident;
	host.running_touched -= job->touched;
	host.running[job->running] = host.running[--host.nrunning];
	host.running[job->running]->running = job->running;
	host_changes();
}

void host_stop_job(struct job *job)
{
	take_from_running(job);
	host.frozen_resident += job->resident;
	job->is_frozen = true;
	job->frozen_at = host_now();
	list_add_tail(&job->frozen, &host.frozen);
}

static void settle_all(void)
{
	u32 i;

	for (i = 0; i < host.nrunning; i++)
		host_settle(host.running[i]);
}

static void end_job(struct job *job)
{
	if (host.here == host.arrived) {
		settle_all();
		figures_jain();
	}
	take_from_running(job);
	figures.swap_dropped += job->touched - job->resident;
	job->ended = true;
	host.here--;
	if (host.with_module)
		jobs_ended(job);
}

/* Jobs that have finished a phase enter the next one. */
static void finish(enum phase phase)
{
	struct crowd *crowd = &host.crowds[phase];
	struct job *job;
	u32 i;

	if (!crowd->threads || crowd->at < crowd->next)
		return;
	crowd->next = NO_PROGRESS;
	for (i = host.nrunning; i--;) {
		job = host.running[i];
		if (job->phase != phase)
			continue;
		if (crowd->at < job->target) {
			crowd->next = job->target < crowd->next ? job->target : crowd->next;
			continue;
		}
		host_settle(job);
		if (!job->working_ns && (phase == PHASE_WORK || phase == PHASE_THRASH)) {
			end_job(job);
			continue;
		}
		leave_phase(job);
		enter_phase(job);
		host_changes();
	}
}

/* ---- the regime of the running jobs ------------------------------------------------------- */

static enum regime regime_now(void)
{
	bool grows = host.crowds[PHASE_TOUCH].threads || host.crowds[PHASE_FAULT].threads;

	if (host.regime == REGIME_THRASH && host.frozen_resident < PAGE_SIZE)
		return touched_by_running() > most_for_running() ? REGIME_THRASH : REGIME_ROOM;
	if (host_room() >= PAGE_SIZE)
		return REGIME_ROOM;
	if (host.frozen_resident >= PAGE_SIZE)
		return REGIME_TAKE;
	return grows || host_resident() > usable() ? REGIME_THRASH : REGIME_ROOM;
}

static void set_regime(enum regime regime)
{
	enum regime before = host.regime;
	u32 i;

	if (regime == before)
		return;
	for (i = 0; i < host.nrunning; i++)
		leave_phase(host.running[i]);
	host.regime = regime;
	for (i = 0; i < host.nrunning; i++)
		enter_phase(host.running[i]);
	/* Of what all of them touch and does not fit each has the same share in swap. */
	if (regime == REGIME_THRASH)
		settle_all();
	host_changes();
}

/* ---- rates ------------------------------------------------------------------------------- */

/* Of the disk: a page in large requests, as many at a time as it takes; none is above its rate. */
u128 host_disk_page(void)
{
	const struct disk *disk = &host.scenario->disk;
	u128 by_rate = 0, by_time;

	by_time = ((u128)disk->latency_ns * PAGE_SIZE << FIX) / (disk->depth * disk->request);
	if (disk->mib_per_s)
		by_rate = ((u128)PAGE_SIZE * NSEC_PER_SEC << FIX) / (disk->mib_per_s << 20);
	return by_rate > by_time ? by_rate : by_time;
}

/* The same of a page that is a request of its own. */
static u128 disk_fault(void)
{
	const struct disk *disk = &host.scenario->disk;
	u128 by_time = ((u128)disk->latency_ns << FIX) / disk->depth, in_bulk = host_disk_page();

	return in_bulk > by_time ? in_bulk : by_time;
}

static u128 smaller(u128 a, u128 b)
{
	return a < b ? a : b;
}

static u128 larger(u128 a, u128 b)
{
	return a > b ? a : b;
}

static u64 threads_of_jobs(void)
{
	return host.crowds[PHASE_TOUCH].threads + host.crowds[PHASE_FAULT].threads +
	       host.crowds[PHASE_WORK].threads + host.crowds[PHASE_THRASH].threads;
}

/* Processors that threads which move memory can use: they wait for each other's locks. */
static u128 useful(u32 threads)
{
	return ONE * (100 + THREAD_ADDS_PERCENT * (threads - 1)) / 100;
}

/* Pages in a ns of a mover alone: its share of the processors and of what is left of the disk. */
static u128 rate_wanted(const struct mover *mover, u32 movers, u128 disk_left)
{
	u128 rate = NO_PROGRESS, page = host_disk_page();

	if (mover->page_ns)
		rate = useful(movers) * mover->threads / movers / mover->page_ns;
	if (mover->disk && page)
		rate = smaller(rate, (disk_left << FIX) / page * mover->threads / movers);
	return rate == NO_PROGRESS ? 0 : rate;
}

/* Processors for @movers threads that move memory: each counts as a thread of a job. */
static u128 fair_share(u32 movers)
{
	u128 processors = ONE * host.scenario->processors;
	u64 threads = threads_of_jobs();
	u128 left = processors - smaller(processors, threads * ONE);

	/* Jobs that need less leave it to the others. */
	return larger(left, processors * movers / (threads + movers));
}

/* Set the movers' rates, and what they take. Return: processors. */
static u128 set_movers(u128 disk_left)
{
	u128 processors = ONE * host.scenario->processors, wanted = 0, granted;
	struct mover *mover;
	bool first = false;
	u32 movers = 0;

	host.busy_rate = 0;
	list_for_each_entry(mover, &host.movers, node) {
		movers += mover->threads;
		first |= mover->first;
	}
	if (!movers)
		return 0;
	list_for_each_entry(mover, &host.movers, node) {
		mover->rate = rate_wanted(mover, movers, disk_left);
		wanted += mover->rate * mover->page_ns;
	}
	granted = smaller(wanted, first ? processors : fair_share(movers));
	if (wanted)
		list_for_each_entry(mover, &host.movers, node)
			mover->rate = mover->rate * granted / wanted;
	/* The rotor's thread counts its waiting for a processor, too (mts_workers_busy()). */
	host.busy_rate = (wanted + granted * (movers - 1)) / movers;
	return granted;
}

static bool any_mover_on_disk(void)
{
	const struct mover *mover;

	list_for_each_entry(mover, &host.movers, node)
		if (mover->disk)
			return true;
	return false;
}

/**
 * struct shares - of a thread of a job
 * @processor: FIX
 * @on_disk: threads that wait for the same disk
 * @used: sum of the processors that jobs' threads use so far
 * @disk: the part of the disk's time that they use; FIX
 */
struct shares {
	u128 processor;
	u64 on_disk;
	u128 used;
	u128 disk;
};

/*
 * The threads of a crowd get page after page. Each page takes @cpu_ns of a processor, then
 * @wait_ns. The threads on the disk share it: a page takes @disk_page of its time. Return: ns from
 * one page to the next.
 */
static u128 set_cycles(struct crowd *crowd, struct shares *shares, u64 cpu_ns, u64 wait_ns,
		       u128 disk_page)
{
	u128 took = ((u128)cpu_ns << FIX) / shares->processor;

	took = larger(took, cpu_ns + wait_ns);
	took = larger(took, (shares->on_disk * disk_page) >> FIX);
	took = larger(took, 1);
	crowd->rate = ONE / took;
	shares->used += crowd->threads * cpu_ns * ONE / took;
	shares->disk += crowd->threads * disk_page / took;
	return took;
}

/* How far apart faults are when all use their memory evenly, and a part of it is not there. */
static u64 work_between_faults(void)
{
	u64 touched = touched_by_running(), lacks = mts_sub_floor(touched, most_for_running());

	return mts_max(mul_u64_u64_div_u64(host.scenario->costs.stride, touched,
					   mts_max(lacks, PAGE_SIZE)),
		       1);
}

static void set_crowds(u128 processors, struct shares *shares)
{
	const struct costs *costs = &host.scenario->costs;
	u64 threads = threads_of_jobs(), latency = host.scenario->disk.latency_ns;
	bool full = host.regime != REGIME_ROOM, crowded = any_mover_on_disk();
	u64 evict = full ? costs->evict : 0;
	u128 out = full ? host_disk_page() : 0, took;
	struct crowd *touch = &host.crowds[PHASE_TOUCH], *fault = &host.crowds[PHASE_FAULT];
	struct crowd *work = &host.crowds[PHASE_WORK], *thrash = &host.crowds[PHASE_THRASH];

	*shares = (struct shares){ .processor = ONE };
	if (!threads)
		return;
	shares->processor = larger(smaller(ONE, processors / threads), 1);
	shares->on_disk = fault->threads + thrash->threads + (full ? touch->threads : 0);
	/* Threads that move memory have half of the disk, if they need it. */
	shares->on_disk *= crowded ? 2 : 1;
	touch->cycle = costs->touch + evict;
	touch->stalls = evict;
	set_cycles(touch, shares, touch->cycle, 0, out);
	fault->cycle = costs->fault + evict;
	fault->stalls = latency + evict;
	set_cycles(fault, shares, fault->cycle, latency, disk_fault() + out);
	thrash->cycle = fault->cycle;
	thrash->stalls = fault->stalls;
	host.work_of_cycle = work_between_faults();
	took = set_cycles(thrash, shares, thrash->cycle + host.work_of_cycle, latency,
			  disk_fault() + out);
	thrash->rate = host.work_of_cycle * ONE / took;
	host.cycle_rate = thrash->threads * ONE / took;
	/* Threads that wait for the disk leave the processors to jobs that work. */
	if (work->threads)
		work->rate = smaller(ONE, (processors - smaller(processors, shares->used)) /
						  work->threads);
}

static void set_rates(void)
{
	u128 processors = ONE * host.scenario->processors;
	struct shares shares;

	set_crowds(processors - set_movers(ONE), &shares);
	/* Faults slow movers on the disk down, which leaves more of the processors to the jobs. */
	if (shares.disk && any_mover_on_disk())
		set_crowds(processors - set_movers(ONE - smaller(ONE / 2, shares.disk)), &shares);
	host.rates_are_old = false;
}

u128 host_rate(const struct mover *mover)
{
	if (host.rates_are_old)
		set_rates();
	return mover->rate;
}

/* ---- time passes -------------------------------------------------------------------------- */

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
		set_rates();
	for (phase = PHASE_TOUCH; phase < PHASES; phase++)
		if (host.crowds[phase].threads)
			host.crowds[phase].at += ns * host.crowds[phase].rate;
	list_for_each_entry(mover, &host.movers, node)
		mover->left -= smaller(mover->left, ns * mover->rate);
	host.busy += ns * host.busy_rate;
	if (host.crowds[PHASE_FAULT].threads)
		host.faulted +=
			ns * host.crowds[PHASE_FAULT].threads * host.crowds[PHASE_FAULT].rate;
	if (host.regime == REGIME_THRASH)
		host.cycles += ns * host.cycle_rate;
	figures_pass(ns, host.regime == REGIME_THRASH);
	host.advanced += ns;
	if (host.regime == REGIME_TAKE)
		take_excess();
	note_reclaim();
}

static void take_in_arrivals(void)
{
	const struct scenario *scenario = host.scenario;

	while (host.arrived < scenario->njobs &&
	       scenario->demands[host.arrived].arrives_ns <= host_now()) {
		struct job *job = &host.jobs[host.arrived++];

		host.here++;
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
		finish(phase);
	take_excess();
	/* What each lacks has changed. */
	if (host.regime == REGIME_THRASH && host.crowds[PHASE_TOUCH].threads) {
		settle_all();
		host.rates_are_old = true;
	}
	set_regime(regime_now());
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
		return pages_fix(host_room(), rate);
	case REGIME_TAKE:
		return pages_fix(host.frozen_resident, rate);
	default:
		return mts_max(pages_fix(touched_by_running() / THRASH_PART, rate), THRASH_STEP_NS);
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
		if (host.rates_are_old)
			set_rates();
		changed = false;
		mts_user_wait_on(&world_wait);
		mts_user_sleep(sleep_until());
		mts_user_wait_on(NULL);
	}
	settle_all();
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
