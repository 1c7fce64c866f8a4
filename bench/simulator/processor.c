// SPDX-License-Identifier: GPL-2.0
/* Jobs of one thread each share the processors equally, and time passes. */
#include "simulator.h"

u64 job_demand(const struct job *job)
{
	if (!job->started)
		return 0;
	if (!job->touching_ns)
		return job->size;
	return job->size - mul_u64_u64_div_u64(job->size, job->touching_ns, job->touch_ns);
}

static u64 left(const struct job *job)
{
	return job->faulting_ns + job->touching_ns + job->working_ns;
}

/* ---- who is there ----------------------------------------------------------------- */

u32 processor_arrivals(struct simulation *s)
{
	u32 before = s->arrived;

	while (s->arrived < s->njobs && s->jobs[s->arrived].arrives_ns <= s->now) {
		struct job *job = &s->jobs[s->arrived++];

		job->here = true;
		job->bin = MTS_BIN_NONE;
		job->stopped_ns = job->arrives_ns;
		s->here++;
	}
	return s->arrived - before;
}

u64 processor_next_arrival(const struct simulation *s)
{
	return s->arrived < s->njobs ? s->jobs[s->arrived].arrives_ns : NEVER;
}

void processor_share(struct simulation *s, u32 bin)
{
	s->nrunning = 0;
	for (u32 i = 0; i < s->arrived; i++) {
		if (!s->jobs[i].here || (bin != MTS_BIN_EVERY && s->jobs[i].bin != bin))
			continue;
		if (!s->jobs[i].started && !s->jobs[i].touching_ns)
			s->resident += s->jobs[i].resident = s->jobs[i].size;
		s->jobs[i].started = true;
		s->running[s->nrunning++] = i;
	}
}

bool processor_is_filling(const struct simulation *s)
{
	for (u32 i = 0; i < s->nrunning; i++)
		if (s->jobs[s->running[i]].touching_ns)
			return true;
	return false;
}

/* ---- fairness ------------------------------------------------------------------------ */

double processor_jain(const struct simulation *s)
{
	double sum = 0, squares = 0;
	u32 n = 0;

	for (u32 i = 0; i < s->arrived; i++) {
		const struct job *job = &s->jobs[i];
		double done;

		if (!job->work_ns)
			continue;
		done = 1 - (double)job->working_ns / (double)job->work_ns;
		sum += done;
		squares += done * done;
		n++;
	}
	return squares > 0 ? sum * sum / (n * squares) : 1;
}

static u32 reap(struct simulation *s)
{
	bool first = s->here == s->arrived;
	u32 kept = 0, ended = 0;

	for (u32 i = 0; i < s->nrunning; i++)
		ended += !left(&s->jobs[s->running[i]]);
	if (ended && first)
		s->figures.jain = processor_jain(s);
	for (u32 i = 0; ended && i < s->nrunning; i++) {
		struct job *job = &s->jobs[s->running[i]];

		if (left(job)) {
			s->running[kept++] = s->running[i];
			continue;
		}
		memory_release(s, job);
		job->here = false;
		job->ended_ns = s->now;
		s->here--;
	}
	s->nrunning -= ended;
	return ended;
}

/* ---- time ------------------------------------------------------------------------------ */

/* What each gets of so much time, and the least time in which each gets so much. */
static u64 share_of(const struct simulation *s, u64 time)
{
	u32 processors = s->scenario->processors;

	if (s->nrunning <= processors)
		return time;
	return mul_u64_u64_div_u64(time, processors, s->nrunning);
}

static u64 time_for(const struct simulation *s, u64 share)
{
	u32 processors = s->scenario->processors;

	if (s->nrunning <= processors)
		return share;
	return (u64)(((unsigned __int128)share * s->nrunning + processors - 1) / processors);
}

static u64 take(u64 *from, u64 *share)
{
	u64 part = mts_min(*from, *share);

	*from -= part;
	*share -= part;
	return part;
}

static void touch(struct simulation *s, struct job *job, u64 *share)
{
	u64 before = job_demand(job);

	s->figures.consumed_ns += take(&job->touching_ns, share);
	job->resident += job_demand(job) - before;
	s->resident += job_demand(job) - before;
}

static void advance(struct simulation *s, u64 time)
{
	u64 share = share_of(s, time);

	for (u32 i = 0; i < s->nrunning; i++) {
		struct job *job = &s->jobs[s->running[i]];
		u64 mine = share;

		s->figures.consumed_ns += take(&job->faulting_ns, &mine);
		if (job->touching_ns && mine)
			touch(s, job, &mine);
		s->figures.consumed_ns += take(&job->working_ns, &mine);
	}
	s->now += time;
}

u32 processor_run(struct simulation *s, u64 until)
{
	u64 least = NEVER;

	/* What was due may have gone by while the host swapped. */
	until = mts_max(until, s->now);
	for (u32 i = 0; i < s->nrunning; i++)
		least = mts_min(least, left(&s->jobs[s->running[i]]));
	if (least != NEVER)
		until = mts_min(until, s->now + time_for(s, least));
	advance(s, until - s->now);
	memory_reclaim(s);
	return reap(s);
}

/* Each page that is touched pushes another one out: that is what the time goes into. */
void processor_thrash(struct simulation *s, u64 until)
{
	const struct costs *costs = &s->scenario->costs;
	u64 time = until - s->now;
	u64 share = share_of(s, time);

	if (costs->touch)
		share = mul_u64_u64_div_u64(share, costs->touch, costs->touch + costs->evict);
	for (u32 i = 0; i < s->nrunning; i++) {
		u64 mine = share;

		if (s->jobs[s->running[i]].touching_ns)
			touch(s, &s->jobs[s->running[i]], &mine);
	}
	memory_spread(s);
	s->now = until;
}
