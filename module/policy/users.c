// SPDX-License-Identifier: GPL-2.0
#include "policy/users.h"

size_t mts_users_scratch(u32 n)
{
	return 2 * n * sizeof(struct mts_key);
}

void mts_users_sort(struct mts_key *keys, u32 n)
{
	mts_keys_sort(keys, n, keys + n);
}

u32 mts_users_end(const struct mts_key *keys, u32 n, u32 from)
{
	u32 end = from;

	while (end < n && keys[end].value == keys[from].value)
		end++;
	return end;
}

static u64 weight_of(const struct mts_user_job *job)
{
	return job->weight ? job->weight : MTS_WEIGHT_DEFAULT;
}

/* Between the jobs of one user, which are @keys. */
static void divide(struct mts_user_job *jobs, const struct mts_key *keys, u32 n)
{
	struct mts_user_job *job;
	u64 sum = 0, all;
	u32 i;

	for (i = 0; i < n; i++)
		if (jobs[keys[i].index].takes_turns)
			sum += weight_of(&jobs[keys[i].index]);
	for (i = 0; i < n; i++) {
		job = &jobs[keys[i].index];
		all = job->takes_turns ? sum : sum + weight_of(job);
		/* 4096 jobs of weights from 1 to 10000 may leave less than one of these units. */
		job->entitled = mts_max(div64_u64(MTS_ENTITLED_DEFAULT * weight_of(job), all), 1);
	}
}

void mts_users_divide(struct mts_user_job *jobs, u32 n, void *scratch)
{
	struct mts_key *keys = scratch;
	u32 i, end;

	for (i = 0; i < n; i++)
		keys[i] = (struct mts_key){ .value = jobs[i].user, .index = i };
	mts_users_sort(keys, n);
	for (i = 0; i < n; i = end) {
		end = mts_users_end(keys, n, i);
		divide(jobs, keys + i, end - i);
	}
}
