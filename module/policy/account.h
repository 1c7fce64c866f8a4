/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long a job may run out of turn: an account for each job. Pure code (pure.h).
 *
 * A job runs out of turn while a process outside it waits for it, or while a user types at it. That
 * time is lent. Without a limit a user could keep a job running: by typing at its terminal, or by
 * sending it signals. An account earns a part of the job's share of the processors. A job with an
 * empty account takes turns like any other job until the account has earned enough.
 */
#ifndef _MTS_POLICY_ACCOUNT_H
#define _MTS_POLICY_ACCOUNT_H

#include "policy/pure.h"

/*
 * A full account, ns. Container engines kill a process that has not ended 10 s after their SIGTERM
 * (docker-stop(1), podman-stop(1)). So a job must be able to run for all of that time.
 */
#define MTS_ACCOUNT_FULL_NS 10000000000ull

/*
 * An account earns 1/8 of the job's share of the processors. So jobs with equal shares get the same
 * time within an eighth (shared design, "Bins that overlap").
 */
#define MTS_ACCOUNT_PART 8u

/*
 * An empty account opens again at this level, ns: 1/64 of a full one, 156 ms. A lower level would
 * open and close it more often; a higher one would make the job wait longer.
 */
#define MTS_ACCOUNT_REOPEN_NS (MTS_ACCOUNT_FULL_NS / 64)

/**
 * struct mts_account - the account of one job
 * @spent_ns: missing from a full account; more than MTS_ACCOUNT_FULL_NS is a debt
 * @earned_at_ns: time up to which earnings are booked; 0: the account is full and unused
 * @empty: nothing is lent until the account holds MTS_ACCOUNT_REOPEN_NS
 *
 * All zero: a full account.
 */
struct mts_account {
	u64 spent_ns;
	u64 earned_at_ns;
	bool empty;
};

/**
 * struct mts_share - what determines a job's share of the processors
 * @threads: threads of the job that want to run
 * @processors: of the host
 * @bins: bins that take turns
 * @jobs: jobs in all of these bins
 *
 * In its bin's turn all threads of the job run, if there are enough processors for all jobs of the
 * bin. In each field 0 counts as 1.
 */
struct mts_share {
	u32 threads;
	u32 processors;
	u32 bins;
	u32 jobs;
};

/* Book what the job has earned up to @now_ns, which must not go backwards between calls. */
void mts_account_earn(struct mts_account *account, u64 now_ns, const struct mts_share *share);

/* Charge the job for @ns that it ran out of turn. */
void mts_account_spend(struct mts_account *account, u64 ns);

/* What the account still holds, ns. */
u64 mts_account_left(const struct mts_account *account);

#endif /* _MTS_POLICY_ACCOUNT_H */
