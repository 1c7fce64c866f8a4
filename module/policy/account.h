/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long a job may run out of its turn: an account for each job. Pure code (pure.h).
 *
 * A job runs out of turn while a process outside it waits for it, or a person types at it. That
 * time is lent: without a limit a user who types at his own pty, or sends signals to his own job,
 * would keep it running. An account earns a part of what the job is entitled to, and a job whose
 * account is empty takes its turns like any other until the account has earned enough.
 */
#ifndef _MTS_POLICY_ACCOUNT_H
#define _MTS_POLICY_ACCOUNT_H

#include "policy/pure.h"

/*
 * What a full account holds, ns. Container engines kill a process that has not ended 10 s after
 * their SIGTERM (docker-stop(1), podman-stop(1)): a job must be able to run for all of that time.
 */
#define MTS_ACCOUNT_FULL_NS 10000000000ull

/*
 * An account earns one part in so many of the job's share of the processors: jobs of the same
 * entitlement get the same time within an eighth (shared design, "Bins that overlap").
 */
#define MTS_ACCOUNT_PART 8u

/* An empty account opens again with this much, ns: one part in 64 of a full one, 156 ms. */
#define MTS_ACCOUNT_REOPEN_NS (MTS_ACCOUNT_FULL_NS / 64)

/**
 * struct mts_account - of one job
 * @spent_ns: missing from a full account; more than MTS_ACCOUNT_FULL_NS: a debt
 * @earned_at_ns: until when it has earned; 0: it is full, and has not begun
 * @empty: nothing is lent until MTS_ACCOUNT_REOPEN_NS are there
 *
 * All zero: a full account.
 */
struct mts_account {
	u64 spent_ns;
	u64 earned_at_ns;
	bool empty;
};

/**
 * struct mts_share - what a job's share of the processors depends on
 * @threads: of the job, that want to run
 * @processors: of the host
 * @bins: that take turns, and
 * @jobs: in them, all together
 *
 * In its bin's turn all of the job's threads run, if there are enough processors for them and all
 * others. Of each 0 counts as 1.
 */
struct mts_share {
	u32 threads;
	u32 processors;
	u32 bins;
	u32 jobs;
};

/*
 * Time passes, and a part of the job's share of it is earned. @now_ns: never earlier than at the
 * call before.
 */
void mts_account_earn(struct mts_account *account, u64 now_ns, const struct mts_share *share);

/* The job has run out of turn for so many ns. */
void mts_account_spend(struct mts_account *account, u64 ns);

/* ns that are left. */
u64 mts_account_left(const struct mts_account *account);

#endif /* _MTS_POLICY_ACCOUNT_H */
