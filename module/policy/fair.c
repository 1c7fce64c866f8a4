// SPDX-License-Identifier: GPL-2.0
/* Which jobs wait for swap beyond their share. */
#include "policy/fair.h"

#include "policy/users.h"

/* A job that lost less than 1/PART of the window to swap has no part in it: 100 ms of 10 s. */
#define PART 100u
/* The share may be exceeded by 1/2^TOLERANCE_SHIFT of it: waits come in whole requests. */
#define TOLERANCE_SHIFT 3

static u64 fade(u64 wait_ns, u64 elapsed_ns)
{
	u64 elapsed = mts_min(elapsed_ns, MTS_FAIR_WINDOW_NS);

	return wait_ns - mul_u64_u64_div_u64(wait_ns, elapsed, MTS_FAIR_WINDOW_NS);
}

/* Of a job, or of all jobs of a user. */
struct account {
	u64 wait_ns;
	u32 entitled;
	bool waits;
	bool exceeds; /* result */
};

static bool has_part(const struct account *account)
{
	return account->wait_ns >= MTS_FAIR_WINDOW_NS / PART;
}

/* @sum, @entitled: of the accounts that have a part in it. */
static bool exceeds(const struct account *account, u64 sum, u64 entitled)
{
	u64 share;

	if (!has_part(account))
		return false;
	share = mul_u64_u64_div_u64(sum, account->entitled, entitled);
	return account->wait_ns > mts_add_sat(share, share >> TOLERANCE_SHIFT);
}

/* Which accounts exceed their shares, while another one waits. */
static void judge(struct account *accounts, u32 n)
{
	u32 i, swapping = 0, waiting = 0;
	u64 sum = 0, entitled = 0;

	for (i = 0; i < n; i++) {
		waiting += accounts[i].waits;
		if (!has_part(&accounts[i]))
			continue;
		swapping++;
		entitled += accounts[i].entitled;
		sum = mts_add_sat(sum, accounts[i].wait_ns);
	}
	for (i = 0; i < n; i++)
		accounts[i].exceeds =
			swapping > 1 && waiting > 1 && exceeds(&accounts[i], sum, entitled);
}

size_t mts_fair_scratch(u32 n)
{
	return 2 * n * sizeof(struct mts_key) + n * sizeof(struct account);
}

/* The jobs of one user, which are @keys. Return: the user's account, but for .entitled. */
static struct account judge_user(struct mts_fair_job *jobs, const struct mts_key *keys, u32 n,
				 struct account *accounts)
{
	struct account all = { 0 };
	u32 i;

	for (i = 0; i < n; i++) {
		const struct mts_fair_job *job = &jobs[keys[i].index];

		accounts[i] = (struct account){
			.wait_ns = job->wait_ns,
			.entitled = job->entitled ? job->entitled : MTS_ENTITLED_DEFAULT,
			.waits = job->waits,
		};
		all.wait_ns = mts_add_sat(all.wait_ns, job->wait_ns);
		all.waits |= job->waits;
	}
	judge(accounts, n);
	for (i = 0; i < n; i++)
		jobs[keys[i].index].delay = accounts[i].exceeds;
	return all;
}

/* The jobs of each user, then users as a whole. */
static void judge_all(struct mts_fair_job *jobs, const struct mts_key *keys, u32 n,
		      const struct mts_user_weights *weights, struct account *accounts)
{
	u32 i, end, users = 0;

	/* A user's account takes the place of one of the user's jobs, which is judged by then. */
	for (i = 0; i < n; i = end) {
		end = mts_users_end(keys, n, i);
		accounts[users] = judge_user(jobs, keys + i, end - i, accounts + users);
		accounts[users++].entitled = mts_entitled(mts_user_weight(weights, keys[i].value));
	}
	judge(accounts, users);
	users = 0;
	for (i = 0; i < n; i = end) {
		for (end = mts_users_end(keys, n, i); i < end; i++)
			jobs[keys[i].index].delay |= accounts[users].exceeds;
		users++;
	}
}

u32 mts_fair_step(struct mts_fair_job *jobs, u32 n, u64 elapsed_ns,
		  const struct mts_user_weights *weights, void *scratch)
{
	struct mts_key *keys = scratch;
	u32 i, delayed = 0;

	for (i = 0; i < n; i++) {
		jobs[i].wait_ns = mts_add_sat(fade(jobs[i].wait_ns, elapsed_ns), jobs[i].recent_ns);
		keys[i] = (struct mts_key){ .value = jobs[i].user, .index = i };
	}
	mts_users_sort(keys, n);
	judge_all(jobs, keys, n, weights, (struct account *)(keys + 2 * n));
	for (i = 0; i < n; i++) {
		jobs[i].delay &= jobs[i].may_delay && jobs[i].waits;
		delayed += jobs[i].delay;
	}
	return delayed;
}
