/* SPDX-License-Identifier: GPL-2.0 */
/* What rotor.c, round.c and switch.c share; nobody else includes it. */
#ifndef _MTS_ROTOR_PRIVATE_H
#define _MTS_ROTOR_PRIVATE_H

#include "failsafe.h"
#include "job.h"
#include "policy/interactive.h"
#include "policy/policy.h"

/**
 * struct mts_rotor - the rotor's state
 *
 * Only the rotor's thread writes it, and does so under mts_lock where the
 * device reads it too. All memory is had at load: the rotor allocates none
 * while it runs.
 *
 * @roster: the jobs as of the last mts_round_muster(), with references, in
 *	order of id; only for the rotor's thread
 * @plan_jobs: the same indices as @roster
 * @claims, @claimants: of interactive jobs, and whose they are
 * @ties: between jobs of @roster
 * @swap_full_in: the last round in which an eviction found swap full; 0: none
 */
struct mts_rotor {
	u32 state;
	u32 reason;
	u64 generation;
	u64 round;
	u32 nbins;
	u32 running; /* index, or MTS_BIN_NONE */
	u64 planned; /* when this round was */
	u64 slice_began;
	u64 slice_ends;
	u64 switch_ns; /* moving average of what a switch takes */
	u64 swap_full_in;
	u64 swapins; /* of the host, when the slice began */
	struct mts_admission admission;
	u32 config_generation; /* that the admission began with */
	struct mts_lesson lesson;
	bool capacity_is_set; /* by the user */
	bool by_use; /* MTS_DEMAND_USED */
	u64 forget_at; /* ktime, ns: when the jobs' use is out of date; 0: while turns are taken */
	bool swap_is_slow; /* turns were given up for it */
	bool would_rotate; /* but for MTS_MODE_SHADOW */
	struct mts_plan plan;
	struct mts_plan_bin *bins;

	struct mts_job **roster;
	struct mts_job **incoming; /* room for a bin of them */
	u32 roster_size;
	u32 *first_of_bin; /* index into @roster; one more than there are bins */
	u32 *next_of_bin; /* the same, for each of @roster */
	struct mts_plan_job *plan_jobs;
	struct mts_claim *claims;
	struct mts_job **claimants;
	struct mts_plan_tie *ties; /* MTS_MAX_JOBS at most */
	void *scratch;
};

extern struct mts_rotor mts_rotor;

/* In this round or the last. */
static inline bool mts_rotor_is_swap_full(void)
{
	return mts_rotor.swap_full_in && mts_rotor.round <= mts_rotor.swap_full_in + 1;
}

/* The rotor is alive and about to do something to one more job, @doing. */
static inline void mts_rotor_step(const char *doing)
{
	/* One job, however slow the disk and however contended the locks. */
	mts_failsafe_promise(10 * (u64)NSEC_PER_SEC, doing);
}

/* ---- round.c ------------------------------------------------------------ */

/* Take down all jobs, with references, dropping the last muster's. */
void mts_round_muster(void);
void mts_round_dismiss(void);

/* Measure every job in the roster. */
void mts_round_measure(void);

/* See how many threads of a job that is not frozen want to run now. Under mts_lock. */
void mts_round_count_threads(struct mts_job *job);

/* Bytes of a job that is measured so, which it does not use, as far as is known. */
u64 mts_round_unused(const struct mts_job *job, const struct mts_usage *usage);

/**
 * mts_round_plan() - pack what was measured into bins
 *
 * Return: the number of bins; below 2 there is nothing to rotate, and the
 * reason is in mts_rotor.reason. Takes mts_lock.
 */
u32 mts_round_plan(void);

/* Give jobs that have no bin one of this round's. Takes mts_lock. */
void mts_round_place_newcomers(void);

/*
 * Who has become interactive is in every bin from now on. Takes mts_lock. Return:
 * does the running bin still fit beside them?
 */
bool mts_round_take_in(void);

/*
 * Protect who is in every bin as of now, or would be if turns were taken, and nobody else.
 * Not @wanted: nobody at all.
 */
void mts_round_protect(bool wanted);

/* Has the running bin outgrown the capacity, so that it must be split? */
bool mts_round_outgrown(void);

/*
 * Does the running bin swap while it runs, although it was to fit? Then the
 * next plan's capacity is less. Cheap if not.
 */
bool mts_round_swaps(void);

/* See who in the running bin waits for whom, while it can still be seen. */
void mts_round_look_at_waits(void);

/* A whole round is over, begun at @began: was it worth it? */
void mts_round_judge(u64 began);

/* Pages swapped in on this host since boot. */
u64 mts_round_swapins(void);

/* ---- switch.c ------------------------------------------------------------- */

/* Freeze what does not run now, evict, thaw bin @to. -ECANCELED: the gate closed. */
int mts_switch_to(u32 to);

/* Freeze newcomers that wait for their bin, thaw those of the running one. */
int mts_switch_settle(void);

/* Thaw everything that we froze. */
void mts_switch_thaw_all(void);

/* Sleep until an event of @mask or the gate, at most @ns. Return: the events. */
unsigned long mts_rotor_wait(unsigned long mask, u64 ns);

/* The rotor is to go on with what it does: gate open, no unload. */
bool mts_rotor_may_go_on(void);

/* And to get it over with: what it does may be out of date. */
bool mts_rotor_is_hurried(void);

#endif /* _MTS_ROTOR_PRIVATE_H */
