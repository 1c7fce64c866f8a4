// SPDX-License-Identifier: GPL-2.0
/* Random numbers: the same ones everywhere, for the same seed. */
#include "unit.h"

#define DEFAULT_SEED 20070601ull

u32 unit_case;

static u64 state;

static u64 from_environment(const char *name, u64 normally)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : normally;
}

u64 unit_seed(void)
{
	return from_environment("MTS_SEED", DEFAULT_SEED);
}

u32 unit_cases(u32 normally)
{
	return from_environment("MTS_CASES", normally);
}

void random_start(const char *test)
{
	state = unit_seed();
	while (*test)
		state = (state ^ (u8)*test++) * 0x100000001b3ull;
	unit_case = 0;
}

/* splitmix64 */
u64 random_u64(void)
{
	u64 z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

u64 random_below(u64 n)
{
	return (u64)(((u128)random_u64() * n) >> 64);
}

u64 random_between(u64 low, u64 high)
{
	return low + (u64)(((u128)random_u64() * ((u128)(high - low) + 1)) >> 64);
}

__attribute__((constructor)) static void say_seed(void)
{
	fprintf(stderr, "# MTS_SEED=%llu\n", (unsigned long long)unit_seed());
}

void check_bins_of(const struct mts_plan_job *jobs, u32 njobs, const struct mts_plan_bin *bins,
		   u32 nbins)
{
	u32 i, j;

	for (i = 0; i < nbins; i++) {
		u64 demand = 0, entitled = 0;
		u32 members = 0, threads = 0;

		for (j = 0; j < njobs; j++) {
			if (jobs[j].bin != i)
				continue;
			demand += jobs[j].demand;
			threads += jobs[j].threads;
			entitled += mts_job_entitled(&jobs[j]);
			members++;
		}
		check(members && bins[i].jobs == members);
		check(bins[i].demand == demand);
		check(bins[i].threads == threads);
		check(bins[i].entitled == entitled);
	}
}
