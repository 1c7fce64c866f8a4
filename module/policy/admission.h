/* SPDX-License-Identifier: GPL-2.0 */
/* Do turns pay? Times are ns, shares per mille of one processor. Pure code (pure.h). */
#ifndef _MTS_POLICY_ADMISSION_H
#define _MTS_POLICY_ADMISSION_H

#include "policy/forecast.h"

/* Weight of one look, so that ageing by a quarter keeps fractions of looks. */
#define MTS_LOOK 16u

/**
 * struct mts_look - samples of one job while all jobs run at once
 * @user_ns: time in user mode in this window
 * @stalled_ns: time that it waited for memory in this window; U64_MAX: not known
 * @looks: samples taken, each counted as MTS_LOOK; earlier windows weigh less and less
 * @asleep: the part of @looks that found no thread awake. A thread is awake if it runs, or if it
 *	waits for a disk or for memory
 * @awake: sum of the threads that the looks found awake
 */
struct mts_look {
	u64 user_ns;
	u64 stalled_ns;
	u32 looks;
	u32 asleep;
	u64 awake;
};

/* Add a sample of a job that was not frozen: @awake of its threads are awake. */
void mts_admission_count(struct mts_look *look, u32 awake);

/*
 * Do more samples help? Yes if the job was seen both awake and asleep, and asleep more than rarely.
 */
bool mts_admission_unsure(const struct mts_look *look);

/**
 * struct mts_pool - what jobs would run if they never waited for memory
 * @potential: of jobs always seen asleep or always awake; per mille of a processor
 * @user: user time of the other jobs; per mille of a processor
 * @threads: of the other jobs: threads awake at a time, when any was awake
 * @looks: samples of the other jobs
 * @asleep: the part of @looks that found the job asleep
 */
struct mts_pool {
	u64 potential;
	u64 user;
	u64 threads;
	u64 looks;
	u64 asleep;
};

/* Add a job with its samples. @elapsed_ns: length of the window. */
void mts_admission_add(struct mts_pool *pool, const struct mts_look *look, u64 elapsed_ns);

/**
 * mts_admission_potential() - what all jobs of a pool would run, per mille of a processor
 *
 * Let s be the part of a thread's time that it sleeps by its own choice, and u the part in user
 * mode. The rest is lost to memory. Without that loss the thread would run u / (s + u) of the time:
 * 0 if it always sleeps, 1 if it never does, however little it gets now.
 *
 * Jobs that sleep part of the time are added up first. A few samples, and ticks of several ms, say
 * little about a single job.
 */
u64 mts_admission_potential(const struct mts_pool *pool);

/*
 * Age the samples at the end of a window. They are kept in part, because all ten looks at a job
 * that sleeps half of the time may find it awake where memory is short.
 */
void mts_admission_forget(struct mts_look *look);

/* The time since the last reading of a processor's counter: exact within 4.29 s, where it wraps. */
static inline u64 mts_admission_stalled(u32 *seen, u32 now)
{
	u32 ns = now - *seen;

	*seen = now;
	return ns;
}

/* Threads of the job that are awake, on average, per mille. */
u64 mts_admission_awake(const struct mts_look *look);

/*
 * What stalls are compared with: the threads of all jobs that are awake, as far as there are
 * processors for them. Per mille of a processor, at least one.
 *
 * PSI weighs the processors by their time that is not idle (kernel/sched/psi.c,
 * collect_percpu_times()); time in which a job's tasks all wait is idle there. A sum over
 * processors has no such bound: on 64 of them stalls of 0.16 % each are a tenth of the time.
 */
u64 mts_admission_could_run(u64 awake, u32 processors);

/**
 * struct mts_admission - what the jobs get of the processors, without and with turns
 *
 * Only time in user mode counts: a host that thrashes spends its time in the kernel, or waits. All
 * zero at first. Shares are of all jobs together, per mille of one processor.
 *
 * @began: start of the current window
 * @looks: samples in the current window
 * @rounds: rounds that were good enough, since turns began
 * @swapins: pages swapped in by this host, at the start of the window
 * @reclaimed: pages freed by reclaim, at the start of the window
 * @share: share of the processors in the last window, without turns
 * @wants: what the jobs would have run in that window if they had not waited for memory
 * @expected: forecast of turns, by @wants and the plan as of then
 * @loses: jobs waited for memory in that window
 * @short_of_memory: windows in a row, up to that one, in which jobs waited for memory and turns
 *	would have been better
 * @starving_since: since then no job has made progress and no page has moved; 0: not starving
 * @before: share before turns began; 0: not known, or they got nothing
 * @during: share in the last round
 * @poor: poor rounds in a row
 */
struct mts_admission {
	u64 began; /* 0: no window is open */
	u32 looks;
	u32 rounds;
	u64 swapins;
	u64 reclaimed;
	u64 share;
	struct mts_wants wants;
	u64 expected;
	bool loses;
	u32 short_of_memory;
	u64 starving_since;
	u64 before;
	u64 during;
	u32 poor;
};

/**
 * mts_admission_look() - count a look at the jobs, while all run at once
 * @now: ns
 * @unsure: mts_admission_unsure() of any job
 *
 * Return: is the window complete? Then the caller closes it, which opens the next one.
 */
bool mts_admission_look(struct mts_admission *a, u64 now, bool unsure);

/**
 * struct mts_window - measurements of one window
 * @user_ns: time of all jobs in user mode
 * @stalled_ns: sum over jobs and processors of the time in which a task of the job waited for
 *	memory; U64_MAX: not known
 * @could_run: mts_admission_could_run()
 * @wants: mts_admission_potential() of exempt jobs, and of the others
 * @expected: mts_forecast_turns() of them
 * @swapins: pages swapped in on this host since boot
 * @reclaimed: pages freed by the host's reclaim since boot
 * @full: hardly any memory of the host is free
 */
struct mts_window {
	u64 user_ns;
	u64 stalled_ns;
	u64 could_run;
	struct mts_wants wants;
	u64 expected;
	u64 swapins;
	u64 reclaimed;
	bool full;
};

/* Return: did it count? Not the first one, nor one that was left open for long. */
bool mts_admission_close(struct mts_admission *a, u64 now, const struct mts_window *window);

/*
 * Should turns begin? Yes if both of the last two windows show two signals:
 *
 * - Turns would give the jobs more, by the forecast (mts_forecast_is_better()).
 * - They lose the time to memory: pages come back from swap, and either jobs stall for a tenth of
 *   the time in which their threads could run, or very many pages come back.
 *
 * While memory fills for the first time no page comes back, so turns do not begin. They would be
 * too early: on a slow disk jobs that wait for their first memory cannot even be frozen.
 */
bool mts_admission_pays(const struct mts_admission *a);

/*
 * For at least two seconds memory has been full and jobs that want to run have waited for it. No
 * job has made progress, and no page has come in or been freed. Swap accepts no more pages, for
 * example because a zram device is full of incompressible data. Only the OOM killer can help then.
 *
 * Memory protection delays the OOM killer: where reclaim finds nothing, the kernel scans all memory
 * once more without protection, again and again (do_try_to_free_pages(), mm/vmscan.c).
 */
bool mts_admission_starves(const struct mts_admission *a, u64 now);

/*
 * Turns begin. They are compared with the last window, unless it is more than 10 s old: then it no
 * longer describes these jobs, and nothing does.
 */
void mts_admission_begin(struct mts_admission *a, u64 now);

/* Rounds shorter than this are not judged, ns: ticks make their shares inaccurate. */
#define MTS_JUDGED_NS (1ull * 1000000000)

/**
 * mts_admission_round() - judge a complete round
 * @user_ns: user time of the jobs in the round
 * @elapsed_ns: length of the round
 *
 * Return: may turns go on? Not after two rounds in a row in which the jobs got less than before.
 */
bool mts_admission_round(struct mts_admission *a, u64 user_ns, u64 elapsed_ns);

/* Since turns began, have two rounds been good? */
bool mts_admission_is_proven(const struct mts_admission *a);

/* Turns end. */
void mts_admission_end(struct mts_admission *a);

#endif /* _MTS_POLICY_ADMISSION_H */
