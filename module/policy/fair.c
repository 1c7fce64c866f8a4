// SPDX-License-Identifier: GPL-2.0
/* Which jobs wait for swap beyond their share. */
#include "policy/fair.h"

/* A job that lost less than 1/PART of the window to swap has no part in it: 100 ms of 10 s. */
#define PART 100u
/* The share may be exceeded by 1/2^TOLERANCE_SHIFT of it: waits come in whole requests. */
#define TOLERANCE_SHIFT 3

static u64 fade(u64 wait_ns, u64 elapsed_ns)
{
	u64 elapsed = mts_min(elapsed_ns, MTS_FAIR_WINDOW_NS);

	return wait_ns - mul_u64_u64_div_u64(wait_ns, elapsed, MTS_FAIR_WINDOW_NS);
}

static bool has_part(const struct mts_fair_job *job)
{
	return job->wait_ns >= MTS_FAIR_WINDOW_NS / PART;
}

static u64 entitled_of(const struct mts_fair_job *job)
{
	return job->entitled ? job->entitled : MTS_ENTITLED_DEFAULT;
}

/* @sum, @entitled: of the jobs that have a part in it. */
static bool exceeds(const struct mts_fair_job *job, u64 sum, u64 entitled)
{
	u64 share;

	if (!has_part(job))
		return false;
	share = mul_u64_u64_div_u64(sum, entitled_of(job), entitled);
	return job->wait_ns > mts_add_sat(share, share >> TOLERANCE_SHIFT);
}

u32 mts_fair_step(struct mts_fair_job *jobs, u32 n, u64 elapsed_ns)
{
	u32 i, swapping = 0, waiting = 0, delayed = 0;
	u64 sum = 0, entitled = 0;

	for (i = 0; i < n; i++) {
		jobs[i].wait_ns = mts_add_sat(fade(jobs[i].wait_ns, elapsed_ns), jobs[i].recent_ns);
		jobs[i].delay = false;
		waiting += jobs[i].waits;
		if (!has_part(&jobs[i]))
			continue;
		swapping++;
		entitled += entitled_of(&jobs[i]);
		sum = mts_add_sat(sum, jobs[i].wait_ns);
	}
	if (swapping < 2)
		return 0;
	for (i = 0; i < n; i++) {
		if (!jobs[i].may_delay || !jobs[i].waits || waiting < 2 ||
		    !exceeds(&jobs[i], sum, entitled))
			continue;
		jobs[i].delay = true;
		delayed++;
	}
	return delayed;
}
