// SPDX-License-Identifier: GPL-2.0
/* What of each job is in memory, what is in swap, and what moving it takes. */
#include "policy/evict.h"
#include "simulator.h"

static u64 pages_of(u64 bytes)
{
	return (bytes + PAGE - 1) / PAGE;
}

/* Requests go out in batches of the queue's depth; none is faster than the device's rate. */
static u64 disk_ns(const struct disk *disk, u64 bytes)
{
	u64 requests = (bytes + disk->request - 1) / disk->request;
	u64 waves = (requests + disk->depth - 1) / disk->depth;
	u64 by_rate = 0;

	if (disk->mib_per_s)
		by_rate = mul_u64_u64_div_u64(bytes, NS_PER_S, disk->mib_per_s << 20);
	return mts_max(waves * disk->latency_ns, by_rate);
}

/* What each thread but the first adds: two did 1.6 to 1.9 times as much (docs/performance.md). */
#define THREAD_ADDS_PERCENT 75u

/* The processors prepare the next requests while the disk is at work. */
u64 memory_transfer_ns(const struct simulation *s, u64 bytes, u64 page_ns, u32 threads)
{
	u64 work = pages_of(bytes) * page_ns;

	if (threads > 1)
		work = mul_u64_u64_div_u64(work, 100, 100 + THREAD_ADDS_PERCENT * (threads - 1));
	return mts_max(work, disk_ns(&s->scenario->disk, bytes));
}

bool memory_disk_is_slow(const struct simulation *s)
{
	return disk_ns(&s->scenario->disk, MTS_SLOW_BYTES_PER_US * 1000000) > NS_PER_S;
}

u64 memory_free(const struct simulation *s)
{
	return mts_sub_floor(s->scenario->usable, s->resident);
}

void memory_out(struct simulation *s, struct job *job, u64 bytes)
{
	job->resident -= bytes;
	s->resident -= bytes;
	s->figures.swapped_out += bytes;
}

void memory_in(struct simulation *s, struct job *job, u64 bytes)
{
	job->resident += bytes;
	s->resident += bytes;
	s->figures.swapped_in += bytes;
}

/*
 * A fault waits for a request of one page. As many jobs wait at the same time as run, if the disk
 * takes as many requests, and others run meanwhile: so the wait counts for a share of it.
 */
static u64 fault_ns(const struct simulation *s)
{
	const struct scenario *scenario = s->scenario;
	u64 together = mts_max(mts_min(s->nrunning, scenario->disk.depth), 1);

	return mts_max(scenario->costs.fault, scenario->disk.latency_ns / together);
}

void memory_fault_in(struct simulation *s)
{
	u64 room = s->scenario->usable, each = fault_ns(s);

	for (u32 i = 0; i < s->nrunning; i++)
		room = mts_sub_floor(room, s->jobs[s->running[i]].resident);
	for (u32 i = 0; i < s->nrunning; i++) {
		struct job *job = &s->jobs[s->running[i]];
		u64 part = mts_min(job_demand(job) - job->resident, room);

		job->faulting_ns += pages_of(part) * each;
		memory_in(s, job, part);
		room -= part;
	}
	memory_reclaim(s);
}

u64 memory_misfit_ns(const struct simulation *s, u64 bytes)
{
	return mts_max(pages_of(bytes) * fault_ns(s) / s->scenario->processors, 1);
}

static void take_from(struct simulation *s, struct job *job, u64 *excess)
{
	u64 part = mts_min(job->resident, *excess);

	memory_out(s, job, part);
	*excess -= part;
}

static void take_from_bin(struct simulation *s, u32 bin, u64 *excess)
{
	for (u32 i = 0; i < s->arrived && *excess; i++)
		if (s->jobs[i].here && s->jobs[i].frozen && s->jobs[i].bin == bin)
			take_from(s, &s->jobs[i], excess);
}

/* Who has been frozen for longest first, as the kernel's lists have it: who runs next. */
static void take_from_frozen(struct simulation *s, u64 *excess)
{
	for (u32 distance = 1; distance < s->nbins && *excess; distance++)
		take_from_bin(s, (s->current + distance) % s->nbins, excess);
	if (*excess)
		take_from_bin(s, MTS_BIN_NONE, excess);
}

/* The host's own reclaim takes processor time from whoever runs. */
static void charge(struct simulation *s, u64 bytes)
{
	u64 each;

	if (!s->nrunning)
		return;
	each = memory_transfer_ns(s, bytes, s->scenario->costs.evict, 1) / s->nrunning;
	for (u32 i = 0; i < s->nrunning; i++)
		s->jobs[s->running[i]].faulting_ns += each;
}

static void trim_running(struct simulation *s, u64 excess)
{
	u64 sum = 0, left = excess;

	for (u32 i = 0; i < s->nrunning; i++)
		sum += s->jobs[s->running[i]].resident;
	for (u32 i = 0; i < s->nrunning && left; i++) {
		struct job *job = &s->jobs[s->running[i]];
		u64 part = mul_u64_u64_div_u64(excess, job->resident, sum);

		/* Rounded up, so that the last one finds nothing left to give. */
		part = mts_min(mts_min(part + 1, left), job->resident);
		memory_out(s, job, part);
		left -= part;
	}
}

void memory_reclaim(struct simulation *s)
{
	u64 excess = mts_sub_floor(s->resident, s->scenario->usable);
	u64 wanted = excess;

	if (!excess)
		return;
	take_from_frozen(s, &excess);
	if (wanted > excess)
		charge(s, wanted - excess);
	if (excess)
		trim_running(s, excess);
}

void memory_spread(struct simulation *s)
{
	u64 demand = 0;

	for (u32 i = 0; i < s->arrived; i++)
		if (s->jobs[i].here)
			demand += job_demand(&s->jobs[i]);
	if (demand <= s->scenario->usable)
		return;
	for (u32 i = 0; i < s->arrived; i++) {
		struct job *job = &s->jobs[i];
		u64 fair;

		if (!job->here)
			continue;
		fair = mul_u64_u64_div_u64(job_demand(job), s->scenario->usable, demand);
		if (job->resident > fair)
			memory_out(s, job, job->resident - fair);
		else
			memory_in(s, job, fair - job->resident);
	}
}

void memory_release(struct simulation *s, struct job *job)
{
	s->figures.swap_dropped += job_demand(job) - job->resident;
	s->resident -= job->resident;
	job->resident = 0;
}
