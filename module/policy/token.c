// SPDX-License-Identifier: GPL-2.0
#include "policy/token.h"

#include "policy/forecast.h"
#include "uapi/mts.h"

/* ns; rates are by the second. */
#define SECOND 1000000000ull

/* Faults a second: the paper's PF_High. */
#define FAULTS_HIGH 10u
/* Part of the faults that the disk serves, where that is more: the paper's disk served some 100. */
#define FAULTS_PART 20u
/* PF_Low is so much less than PF_High. */
#define LOW_PART 10u

static u64 faults_high(const struct mts_token_host *host)
{
	u64 served = host->fault_ns ? div64_u64(SECOND, host->fault_ns) : 0;

	return mts_max(FAULTS_HIGH, served / FAULTS_PART);
}

static u64 rate(const struct mts_token_job *job, const struct mts_token_host *host)
{
	return mul_u64_u64_div_u64(job->faults, SECOND, host->elapsed_ns);
}

static bool faults_much(const struct mts_token_job *job, const struct mts_token_host *host)
{
	return rate(job, host) > faults_high(host);
}

static bool faults_little(const struct mts_token_job *job, const struct mts_token_host *host)
{
	return mul_u64_u64_div_u64(job->faults, LOW_PART * SECOND, host->elapsed_ns) <
	       faults_high(host);
}

/* Per mille of a processor. */
static u64 run(u64 user_ns, u64 ns)
{
	return mul_u64_u64_div_u64(user_ns, 1000, mts_max(ns, 1));
}

static u64 could_run(const struct mts_token_host *host)
{
	return mts_max(host->could_run, 1);
}

/* Per mille of what they could. */
static u64 now_run(const struct mts_token_host *host)
{
	return div64_u64(run(host->user_ns, host->elapsed_ns), could_run(host));
}

static u32 count_faulting(const struct mts_token_host *host, const struct mts_token_job *jobs,
			  u32 n)
{
	u32 i, faulting = 0;

	for (i = 0; i < n; i++)
		faulting += faults_much(&jobs[i], host);
	return faulting;
}

static u32 find_holder(const struct mts_token_job *jobs, u32 n)
{
	u32 i;

	for (i = 0; i < n && !jobs[i].holds; i++)
		;
	return i;
}

/* They have come since the last step: before any job that holds from now on. */
static void note_newcomers(const struct mts_token_host *host, struct mts_token_job *jobs, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!jobs[i].queued_at)
			jobs[i].queued_at = host->now - host->elapsed_ns;
}

static bool is_before(const struct mts_token_job *job, const struct mts_token_job *other)
{
	if (job->queued_at != other->queued_at)
		return job->queued_at < other->queued_at;
	return job->lacks < other->lacks;
}

/* Return: index of the next one; n: none. */
static u32 choose(const struct mts_token_host *host, const struct mts_token_job *jobs, u32 n)
{
	u32 i, next = n;

	for (i = 0; i < n; i++) {
		if (!jobs[i].may_hold || jobs[i].asleep || !faults_much(&jobs[i], host))
			continue;
		if (next == n || is_before(&jobs[i], &jobs[next]))
			next = i;
	}
	return next;
}

static void begin(struct mts_token *token, const struct mts_token_host *host,
		  struct mts_token_job *job)
{
	job->holds = true;
	job->queued_at = host->now;
	token->since = host->now;
	token->fetched = 0;
	token->lacks = job->lacks;
	token->user_ns = 0;
}

/* Was it worth it? */
static void judge(struct mts_token *token, struct mts_verdict *verdict,
		  const struct mts_token_host *host)
{
	u64 during = run(token->user_ns, host->now - token->since);

	token->since = 0;
	if (!verdict)
		return;
	/* Jobs may have begun or ended meanwhile. */
	if (!mts_forecast_is_better(token->without * could_run(host), during)) {
		token->poor = 0;
		mts_verdict_forget(verdict);
	} else if (++token->poor == MTS_FORECAST_WINDOWS) {
		token->poor = 0;
		mts_verdict_give(verdict, MTS_REASON_NO_GAIN, host->now);
	}
}

/* Must it be given up, although its time is not over? @holder: its index */
static bool is_given_up(const struct mts_token_host *host, const struct mts_token_job *jobs, u32 n,
			u32 holder)
{
	u32 i;

	if (!jobs[holder].may_hold || jobs[holder].asleep)
		return true;
	for (i = 0; i < n; i++)
		if (i != holder && !faults_little(&jobs[i], host))
			return false;
	return true;
}

/* The holder's memory comes as long as it lacks less from step to step. */
static void note_fetching(struct mts_token *token, const struct mts_token_host *host,
			  const struct mts_token_job *job)
{
	if (!token->fetched && job->lacks >= token->lacks)
		token->fetched = host->now;
	token->lacks = job->lacks;
}

static bool is_over(const struct mts_token *token, const struct mts_token_host *host)
{
	return token->fetched &&
	       host->now - token->fetched >= mts_token_hold_ns(token->fetched - token->since);
}

/* @holder: its index; n: it is gone. Return: its time is over. */
static bool go_on(struct mts_token *token, struct mts_verdict *verdict,
		  const struct mts_token_host *host, struct mts_token_job *jobs, u32 n, u32 holder)
{
	bool over = false;

	token->user_ns = mts_add_sat(token->user_ns, host->user_ns);
	if (holder < n) {
		jobs[holder].queued_at = host->now;
		note_fetching(token, host, &jobs[holder]);
		over = is_over(token, host);
		if (!over && !is_given_up(host, jobs, n, holder))
			return false;
		jobs[holder].holds = false;
	}
	judge(token, verdict, host);
	return over;
}

static bool thrashes(const struct mts_token_host *host, const struct mts_token_job *jobs, u32 n)
{
	return now_run(host) < MTS_TOKEN_RUN_LOW && count_faulting(host, jobs, n) >= 2;
}

u32 mts_token_step(struct mts_token *token, struct mts_verdict *verdict,
		   const struct mts_token_host *host, struct mts_token_job *jobs, u32 n)
{
	u32 former = find_holder(jobs, n), i;

	note_newcomers(host, jobs, n);
	if (token->since) {
		bool over = go_on(token, verdict, host, jobs, n, former);

		if (token->since)
			return former;
		if (!over)
			return n;
	} else {
		token->without = now_run(host);
		if (!thrashes(host, jobs, n))
			return n;
	}
	if (verdict && mts_verdict_holds(verdict, host->now))
		return n;
	i = choose(host, jobs, n);
	/* It is the last in the order: there is no other. */
	if (i == former)
		return n;
	begin(token, host, &jobs[i]);
	return i;
}
