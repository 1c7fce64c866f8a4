// SPDX-License-Identifier: GPL-2.0
/* The time that a job may run out of turn. */
#include "policy/account.h"

u64 mts_account_left(const struct mts_account *account)
{
	return mts_sub_floor(MTS_ACCOUNT_FULL_NS, account->spent_ns);
}

static u64 at_least_one(u32 n)
{
	return n ? n : 1;
}

void mts_account_earn(struct mts_account *account, u64 now_ns, const struct mts_share *share)
{
	u64 bins = at_least_one(share->bins), jobs = at_least_one(share->jobs);
	u64 passed = mts_sub_floor(now_ns, account->earned_at_ns);
	/* The smaller of threads / bins and processors / jobs, multiplied by bins * jobs. */
	u64 part = mts_min(at_least_one(share->threads) * jobs,
			   at_least_one(share->processors) * bins);
	u64 earned = mul_u64_u64_div_u64(passed, part, bins * jobs * MTS_ACCOUNT_PART);

	account->earned_at_ns = now_ns;
	account->spent_ns = mts_sub_floor(account->spent_ns, earned);
	if (mts_account_left(account) >= MTS_ACCOUNT_REOPEN_NS)
		account->empty = false;
}

void mts_account_spend(struct mts_account *account, u64 ns)
{
	account->spent_ns = mts_add_sat(account->spent_ns, ns);
	if (!mts_account_left(account))
		account->empty = true;
}
