/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Users as holders of what their jobs are entitled to (MTS_SHARE_USER). Users are entitled by their
 * weights, and the jobs of a user divide that by their own. So a user does not gain by more jobs.
 * Pure code (pure.h).
 */
#ifndef _MTS_POLICY_USERS_H
#define _MTS_POLICY_USERS_H

#include "binpack/sort.h"
#include "policy/entitled.h"

/**
 * struct mts_user_weights - users whose weight is another one than MTS_WEIGHT_DEFAULT
 * @of: @n of them, in the order of .user
 */
struct mts_user_weights {
	u32 n;
	struct mts_user_weight of[MTS_MAX_USERS];
};

/* The weight of a user. @weights: NULL: all have the default one. */
u32 mts_user_weight(const struct mts_user_weights *weights, u32 user);

/* Set the weight of a user; MTS_WEIGHT_DEFAULT needs no room. Return: false: there is none. */
bool mts_user_weights_set(struct mts_user_weights *weights, u32 user, u32 weight);

/**
 * struct mts_user_job - a job, as its user sees it
 * @user: whose it is
 * @weight: MTS_WEIGHT_*; 0: MTS_WEIGHT_DEFAULT
 * @takes_turns: it has a part of what the user is entitled to. A job in every bin has none: it
 *	runs in any case
 * @entitled: result: entitled.h. Of a job without a part: what it would be, if it had one, too
 */
struct mts_user_job {
	u32 user;
	u32 weight;
	bool takes_turns;
	u32 entitled;
};

/**
 * mts_users_divide() - divide what each user is entitled to between the user's jobs
 * @jobs: n jobs, MTS_MAX_JOBS at most
 * @weights: of users; NULL: all have the default one
 * @scratch: mts_users_scratch(n) bytes, aligned for u64
 */
void mts_users_divide(struct mts_user_job *jobs, u32 n, const struct mts_user_weights *weights,
		      void *scratch);

size_t mts_users_scratch(u32 n);

/**
 * mts_users_sort() - bring the jobs of each user side by side, in the order that they had
 * @keys: n keys: .value is the user, .index the job. Room for another n keys behind them
 */
void mts_users_sort(struct mts_key *keys, u32 n);

/* Where the user's jobs end that begin at @from: an index of the sorted keys, n at most. */
u32 mts_users_end(const struct mts_key *keys, u32 n, u32 from);

#endif /* _MTS_POLICY_USERS_H */
