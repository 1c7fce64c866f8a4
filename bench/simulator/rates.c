// SPDX-License-Identifier: GPL-2.0
/*
 * How fast it all goes: progress of the jobs' threads and of the threads that move memory, as the
 * processors and the disk allow. Rates are constant until something changes.
 */
#include "simulator.h"

#define ONE ((u128)1 << FIX)
#define ANY_RATE (~(u128)0)
/* What each thread but the first adds: two did 1.6 to 1.9 times as much (docs/performance.md). */
#define THREAD_ADDS_PERCENT 75u

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
u128 host_disk_fault(void)
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

/* Processors that threads which move memory can use: they wait for each other's locks. */
static u128 useful(u32 threads)
{
	return ONE * (100 + THREAD_ADDS_PERCENT * (threads - 1)) / 100;
}

/* Pages in a ns of a mover alone: its share of the processors and of what is left of the disk. */
static u128 rate_wanted(const struct mover *mover, u32 movers, u128 disk_left)
{
	u128 rate = ANY_RATE, page = host_disk_page();

	if (mover->page_ns)
		rate = useful(movers) * mover->threads / movers / mover->page_ns;
	if (mover->disk && page)
		rate = smaller(rate, (disk_left << FIX) / page * mover->threads / movers);
	return rate == ANY_RATE ? 0 : rate;
}

/* Processors for @movers threads that move memory: each counts as a thread of a job. */
static u128 fair_share(u32 movers)
{
	u128 processors = ONE * host.scenario->processors;
	u64 threads = phases_threads();
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
	host.delayed_rate = 0;
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
	host.delayed_rate = (wanted - granted) / movers;
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
	crowd->waits = mts_sub_floor(took, ((u128)cpu_ns << FIX) / shares->processor);
	shares->used += crowd->threads * cpu_ns * ONE / took;
	shares->disk += crowd->threads * disk_page / took;
	return took;
}

/* How far apart faults are when all use their memory evenly, and a part of it is not there. */
static u64 work_between_faults(void)
{
	u64 touched = memory_touched(), lacks = mts_sub_floor(touched, memory_for_running());

	return mts_max(mul_u64_u64_div_u64(host.scenario->costs.stride, touched,
					   mts_max(lacks, PAGE_SIZE)),
		       1);
}

static void set_crowds(u128 processors, struct shares *shares)
{
	const struct costs *costs = &host.scenario->costs;
	u64 threads = phases_threads(), latency = host.scenario->disk.latency_ns;
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
	set_cycles(fault, shares, fault->cycle, latency, host_disk_fault() + out);
	thrash->cycle = fault->cycle;
	thrash->stalls = fault->stalls;
	host.work_of_cycle = work_between_faults();
	took = set_cycles(thrash, shares, thrash->cycle + host.work_of_cycle, latency,
			  host_disk_fault() + out);
	thrash->rate = host.work_of_cycle * ONE / took;
	host.cycle_rate = thrash->threads * ONE / took;
	/* Threads that wait for the disk leave the processors to jobs that work. */
	if (work->threads)
		work->rate = smaller(ONE, (processors - smaller(processors, shares->used)) /
						  work->threads);
}

void rates_set(void)
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
		rates_set();
	return mover->rate;
}
