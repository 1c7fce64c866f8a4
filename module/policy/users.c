// SPDX-License-Identifier: GPL-2.0
#include "policy/users.h"

/* Where the user is in the list, or would be. */
static u32 place_of(const struct mts_user_weights *weights, u32 user)
{
	u32 low = 0, high = weights->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (weights->of[middle].user < user)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct mts_user_weights *weights, u32 place, u32 user)
{
	return place < weights->n && weights->of[place].user == user;
}

u32 mts_user_weight(const struct mts_user_weights *weights, u32 user)
{
	u32 place;

	if (!weights)
		return MTS_WEIGHT_DEFAULT;
	place = place_of(weights, user);
	return is_at(weights, place, user) ? weights->of[place].weight : MTS_WEIGHT_DEFAULT;
}

bool mts_user_weights_set(struct mts_user_weights *weights, u32 user, u32 weight)
{
	u32 place = place_of(weights, user), i;

	if (is_at(weights, place, user)) {
		weights->of[place].weight = weight;
		if (weight != MTS_WEIGHT_DEFAULT)
			return true;
		weights->n--;
		for (i = place; i < weights->n; i++)
			weights->of[i] = weights->of[i + 1];
		return true;
	}
	if (weight == MTS_WEIGHT_DEFAULT)
		return true;
	if (weights->n == MTS_MAX_USERS)
		return false;
	for (i = weights->n++; i > place; i--)
		weights->of[i] = weights->of[i - 1];
	weights->of[place] = (struct mts_user_weight){ .user = user, .weight = weight };
	return true;
}

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

/* Between the jobs of one user, which are @keys. @entitled: what the user is entitled to */
static void divide(struct mts_user_job *jobs, const struct mts_key *keys, u32 n, u64 entitled)
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
		job->entitled = mts_max(div64_u64(entitled * weight_of(job), all), 1);
	}
}

void mts_users_divide(struct mts_user_job *jobs, u32 n, const struct mts_user_weights *weights,
		      void *scratch)
{
	struct mts_key *keys = scratch;
	u32 i, end;

	for (i = 0; i < n; i++)
		keys[i] = (struct mts_key){ .value = jobs[i].user, .index = i };
	mts_users_sort(keys, n);
	for (i = 0; i < n; i = end) {
		end = mts_users_end(keys, n, i);
		divide(jobs, keys + i, end - i,
		       mts_entitled(mts_user_weight(weights, keys[i].value)));
	}
}
