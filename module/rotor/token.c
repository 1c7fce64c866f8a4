// SPDX-License-Identifier: GPL-2.0
#include "rotor/token.h"

#include "events/promise.h"
#include "events/stats.h"
#include "events/trace.h"
#include "jobs/freezer.h"
#include "jobs/ops.h"
#include "policy/token.h"
#include "rotor/admission.h"
#include "rotor/protection.h"
#include "rotor/roster.h"
#include "rotor/state.h"

/* How often it is decided who holds: the paper's rates are by the second. */
#define STEP_NS (1 * (u64)NSEC_PER_SEC)
/* A shorter time says too little about rates of some faults a second. */
#define LEAST_NS (STEP_NS / 4)

/*
 * @policy: see policy/token.h
 * @measured: measurement of the last step; ktime, ns; 0: there was none
 * @is_old: there was a step since the last measurement
 */
static struct {
	struct mts_token policy;
	u64 measured;
	bool is_old;
} token;

static bool may_hold(const struct mts_job *job)
{
	return !mts_roster_is_resident(job) && !job->limited && !job->confined &&
	       !READ_ONCE(job->frozen);
}

/* Return: user time since the last step, ns; *@waited: time of its tasks that waited for swap. */
static u64 read_job(struct mts_job *job, u64 *waited)
{
	struct mts_token_job *account = &job->token;
	struct mts_swap_waits waits;
	struct mts_ran ran = { .user_ns = job->token_read.user_ns };
	u64 user = 0;

	/* An error leaves the last figures. */
	mts_ops->ran(job, &ran);
	mts_ops->swap_waits(job, &waits);
	account->faults = 0;
	if (job->token_read.done) {
		user = mts_sub_floor(ran.user_ns, job->token_read.user_ns);
		account->faults =
			mts_sub_floor(job->usage.major_faults, job->token_read.major_faults);
		*waited = mts_sub_floor(waits.waited_ns, job->swap_waited);
		job->swap_wait_ns += *waited;
	}
	job->token_read.done = true;
	job->token_read.user_ns = ran.user_ns;
	job->token_read.major_faults = job->usage.major_faults;
	job->swap_waited = waits.waited_ns;

	/* What it swaps within limits of its cgroup is none of the host's business. */
	if (job->confined)
		account->faults = 0;
	account->lacks = mts_sub_floor(job->demand, job->rss);
	account->may_hold = may_hold(job);
	account->asleep = !job->threads;
	return user;
}

/* What a fault takes: on the disk by itself, or as the jobs wait for it, whichever is more. */
static u64 fault_ns(u64 now, u64 waited, u64 faults)
{
	return max(mts_disk_request_ns(&mts_rotor.costs.disk, now),
		   faults ? div64_u64(waited, faults) : 0);
}

static struct mts_token_host read_all(u64 now)
{
	struct mts_token_host host = { .now = now, .elapsed_ns = now - token.measured };
	u64 waited = 0, faults = 0, threads = 0;
	u32 i;

	mts_promise_step("times are read");
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];
		u64 its = 0;

		host.user_ns = mts_add_sat(host.user_ns, read_job(job, &its));
		waited = mts_add_sat(waited, its);
		faults += job->token.faults;
		threads += job->threads;
	}
	host.could_run = min_t(u64, threads, num_online_cpus());
	host.fault_ns = fault_ns(now, waited, faults);
	return host;
}

static void withdraw(struct mts_job *job)
{
	if (!job->holder)
		return;
	WRITE_ONCE(job->holder, false);
	trace_mts_release(job);
}

static void give(struct mts_job *job)
{
	job->holdings++;
	mts_stats_inc(holdings);
	WRITE_ONCE(job->holder, true);
	trace_mts_hold(job);
}

/* The accounts as an array, which the policy works on. Return: index of the holder. */
static u32 decide(const struct mts_token_host *host)
{
	struct mts_token_job *accounts = mts_rotor.scratch;
	u32 i, n = mts_rotor.roster.n, chosen;

	for (i = 0; i < n; i++)
		accounts[i] = mts_rotor.roster.jobs[i]->token;
	/* The admission drops its verdict for other jobs, and for a new configuration. */
	chosen = mts_token_step(&token.policy, mts_admit_verdict(), host, accounts, n);
	for (i = 0; i < n; i++)
		mts_rotor.roster.jobs[i]->token = accounts[i];
	return chosen;
}

static void step(u64 now)
{
	struct mts_token_host host = read_all(now);
	bool had = token.policy.since, changes = false;
	u32 chosen = mts_rotor.roster.n, i;

	/* The first one has nothing to compare with. */
	if (token.measured)
		chosen = decide(&host);
	if (had)
		mts_stats_add(holding_ns, host.elapsed_ns);
	token.measured = now;
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];
		bool is_chosen = i == chosen;

		if (job->holder == is_chosen)
			continue;
		if (job->holder)
			withdraw(job);
		else
			give(job);
		changes = true;
	}
	/* Of one that holds on the rotor has just updated it (idle.c). */
	if (changes)
		mts_protection_update(!mts_admit_starves() && mts_gate_may_freeze());
}

u64 mts_token_step_all(u64 now)
{
	if (!token.is_old && (!token.measured || now - token.measured >= LEAST_NS))
		step(now);
	token.is_old = true;
	return STEP_NS;
}

void mts_token_rest(void)
{
	token.is_old = false;
}

void mts_token_end(void)
{
	u32 i;

	if (token.policy.since)
		mts_stats_add(holding_ns, mts_sub_floor(ktime_get_ns(), token.measured));
	for (i = 0; i < mts_rotor.roster.n; i++) {
		struct mts_job *job = mts_rotor.roster.jobs[i];

		withdraw(job);
		/* Whose turn it is outlives a lull, or a time in which none holds. */
		job->token = (struct mts_token_job){ .queued_at = job->token.queued_at };
		job->token_read.done = false;
	}
	memset(&token, 0, sizeof(token));
}
