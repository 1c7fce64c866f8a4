/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swap fairness: which jobs wait for swap beyond their share (Goichon et al. 2013, section 4).
 * ns. Pure code (pure.h).
 */
#ifndef _MTS_POLICY_FAIR_H
#define _MTS_POLICY_FAIR_H

#include "policy/entitled.h"

struct mts_user_weights;

/*
 * A delayed job is frozen for MTS_FAIR_DELAY_NS out of two of these: at most half of the time. 50
 * ms is a time in which a disk with heads serves ten others, and no person sees.
 */
#define MTS_FAIR_DELAY_NS (50ull * 1000000)

/*
 * Waits fade with this time constant, ns: long compared with the bursts in which a program swaps,
 * short compared with a run. The paper's own figures, counted over whole lives, delay a program for
 * what it did minutes ago.
 */
#define MTS_FAIR_WINDOW_NS (10ull * 1000000000)

/**
 * struct mts_fair_job - a job's account of swap; all zero: it has not waited yet
 * @wait_ns: time for which its tasks waited for pages from swap, all together; what is long ago
 *	counts less
 * @recent_ns: the same since the last step
 * @entitled: entitled.h; 0: MTS_ENTITLED_DEFAULT. It counts among the jobs of the same user
 * @user: whose it is; the same for all: jobs alone have shares
 * @waits: a task of it waits now, or has since the last step
 * @may_delay: nothing exempts it
 * @delay: result: it is to be delayed
 */
struct mts_fair_job {
	u64 wait_ns;
	u64 recent_ns;
	u32 entitled;
	u32 user;
	bool waits;
	bool may_delay;
	bool delay;
};

/**
 * mts_fair_step() - account the last waits, and choose which jobs are delayed
 * @jobs: n jobs; .recent_ns, .entitled, .user, .waits and .may_delay are given, .wait_ns is kept
 *	from step to step
 * @elapsed_ns: since the last step
 * @weights: of users; NULL: all have the default one
 * @scratch: mts_fair_scratch(n) bytes, aligned for u64
 *
 * First between users. A user's account is that of all of the user's jobs together, and the users
 * that wait at all have shares by their weights. If one exceeds it by more than an eighth, those of
 * the user's jobs that swap now are delayed, as long as another user waits, too: without that the
 * disk would idle.
 *
 * Then between the jobs of each user, in the same way. The share of a job is its part of all waits
 * of the user's jobs, as far as it is entitled among those that wait at all: the mean, where all
 * are entitled to the same.
 *
 * A job that computes does not wait, and is not delayed whatever it swapped before. The paper
 * counts from the birth of a process, and proposes a window instead (section 6): here a wait loses
 * 1/e of its weight in 10 s.
 *
 * Return: number of jobs to be delayed.
 */
u32 mts_fair_step(struct mts_fair_job *jobs, u32 n, u64 elapsed_ns,
		  const struct mts_user_weights *weights, void *scratch);

size_t mts_fair_scratch(u32 n);

#endif /* _MTS_POLICY_FAIR_H */
