/* SPDX-License-Identifier: GPL-2.0 */
/* Whether turns pay: nanoseconds, per mille of a processor. Pure code (pure.h). */
#ifndef _MTS_POLICY_ADMISSION_H
#define _MTS_POLICY_ADMISSION_H

#include "policy/pure.h"

/**
 * struct mts_look - what was seen of a job, while all run at once
 * @user_ns: what it ran in user mode in this window
 * @stalled_ns: how long it waited for memory in this window; U64_MAX: not known
 * @looks: how often it was looked at, MTS_LOOK each; earlier windows count less
 *	and less
 * @asleep: of these looks, those that found no thread awake: none that ran, or
 *	that waited for a disk or for memory
 * @awake: sum of the threads that were found awake
 */
struct mts_look {
	u64 user_ns;
	u64 stalled_ns;
	u32 looks;
	u32 asleep;
	u64 awake;
};

#define MTS_LOOK 16u

/* A job was looked at, and not as it was frozen: so many threads are awake. */
void mts_admission_count(struct mts_look *look, u32 awake);

/* Was it seen both asleep, more than now and then, and awake, so that more looks tell more? */
bool mts_admission_unsure(const struct mts_look *look);

/**
 * struct mts_pool - what jobs would run if they never waited for memory
 * @potential: of those that were always asleep, or always awake; per mille of a processor
 * @user: the rest ran so much; per mille of a processor
 * @threads: awake at a time, when any was awake
 * @looks, @asleep: at the rest
 */
struct mts_pool {
	u64 potential;
	u64 user;
	u64 threads;
	u64 looks;
	u64 asleep;
};

/* Add a job, that has been looked at for so long. */
void mts_admission_add(struct mts_pool *pool, const struct mts_look *look, u64 elapsed_ns);

/**
 * mts_admission_potential() - of all jobs of a pool, per mille of a processor
 *
 * Of a thread's time, s is sleep of its own choice and u is spent in user mode;
 * the rest is what memory costs it. Without the rest it would run u / (s + u) of
 * the time. That is 0 if it always sleeps, and 1 if it never does, however
 * little it gets now. The others are reckoned together: a few looks, and ticks of
 * several ms, tell little of a single one.
 */
u64 mts_admission_potential(const struct mts_pool *pool);

/*
 * A window is over: its looks count less from now on. Ten looks at a job that
 * sleeps half of the time may all find it awake, where memory is short.
 */
void mts_admission_forget(struct mts_look *look);

/*
 * What all jobs together would run if they took turns, per mille of a processor:
 * resident jobs all the time, the others in one of @nbins bins only. There are
 * so many @processors.
 */
u64 mts_admission_expected(u64 residents, u64 others, u32 nbins, u32 processors);

/**
 * struct mts_admission - what the jobs get of the processors, with turns and without
 *
 * What counts is the time that jobs run in user mode: a host that thrashes
 * spends its time in the kernel, or waits. All zero at first; all shares are per
 * mille of a processor, of all jobs together.
 *
 * @began, @looks, @swapins, @reclaimed: of the window
 * @share, @expected: in the last window without turns, and with turns
 * @short_of_memory: memory was waited for in it, and the jobs ran for too little
 * @lasting: and in the one before
 * @starving_since: nobody has got anything, nor has any memory come, since then; 0: not so
 * @before, @during: before turns were taken, and in the last round
 */
struct mts_admission {
	u64 began; /* 0: there is no window */
	u32 looks;
	u32 rounds;
	u64 swapins;
	u64 reclaimed;
	u64 share;
	u64 expected;
	bool short_of_memory;
	bool lasting;
	u64 starving_since;
	u64 before;
	u64 during;
	u32 poor; /* rounds in a row */
	u64 hold_ns;
	u64 hold_until;
};

/**
 * mts_admission_look() - while all run at once: there was another look
 * @now: ns
 * @unsure: mts_admission_unsure() of any job
 *
 * Return: is the window over? Then it is to be closed, and another has begun.
 */
bool mts_admission_look(struct mts_admission *a, u64 now, bool unsure);

/**
 * struct mts_window - what a window has shown
 * @user_ns: what the jobs ran in user mode
 * @stalled_ns: sum of the times in which they waited for memory; U64_MAX: not known
 * @expected: mts_admission_expected()
 * @swapins: pages swapped in on this host since boot
 * @reclaimed: pages that its reclaim has freed since boot
 * @full: hardly any of its memory is free
 */
struct mts_window {
	u64 user_ns;
	u64 stalled_ns;
	u64 expected;
	u64 swapins;
	u64 reclaimed;
	bool full;
};

void mts_admission_close(struct mts_admission *a, u64 now, const struct mts_window *window);

/*
 * Two signals together, in the last two windows: the jobs get less than 0.85 of what
 * they would get with turns, and it is memory that they wait for: they do so for
 * a tenth of the time while pages come back from swap, or very many come back.
 * While memory fills for the first time none do, and turns would be too early: on a
 * slow disk jobs that wait for their first memory cannot even be frozen. And turns
 * have not been tried in vain lately.
 */
bool mts_admission_pays(const struct mts_admission *a, u64 now);

/*
 * For two seconds and more memory was full, jobs that would run have waited for it, nobody has run,
 * and no page has come in or been freed: swap takes no more, as zram does that is full of what
 * cannot be compressed, and only the OOM killer can help. The kernel comes to that the later the
 * more memory is protected: where reclaim finds nothing it tries all of it once more without that
 * (do_try_to_free_pages(), mm/vmscan.c), again and again.
 */
bool mts_admission_starves(const struct mts_admission *a, u64 now);

/*
 * While turns are taken: will jobs that run for @run_ns of @round_ns have more than they had
 * before? By what the last window before them expected of turns that cost nothing.
 */
bool mts_admission_gains(const struct mts_admission *a, u64 run_ns, u64 round_ns);

/* Turns were tried, and the jobs got less: not again for a while. */
bool mts_admission_holds(const struct mts_admission *a, u64 now);

/* What was tried in vain is forgotten. */
void mts_admission_retry(struct mts_admission *a);

/* Turns begin. */
void mts_admission_begin(struct mts_admission *a);

/**
 * mts_admission_round() - a whole round is over
 * @user_ns, @elapsed_ns: what the jobs ran in it, and how long it took
 *
 * Two rounds in a row in which the jobs got less than before there were turns:
 * they are given up.
 */
void mts_admission_round(struct mts_admission *a, u64 now, u64 user_ns, u64 elapsed_ns);

/* No more turns for 30 s, and for twice as long each time, up to 10 minutes. */
void mts_admission_give_up(struct mts_admission *a, u64 now);

/* Turns end. */
void mts_admission_end(struct mts_admission *a);

#endif /* _MTS_POLICY_ADMISSION_H */
