/* SPDX-License-Identifier: GPL-2.0 */
/* What the rotor's own files share; nobody else includes it. */
#ifndef _MTS_ROTOR_PRIVATE_H
#define _MTS_ROTOR_PRIVATE_H

#include "events/promise.h"
#include "job.h"
#include "memory/move.h"
#include "memory/reclaim.h"
#include "policy/interactive.h"
#include "policy/limits.h"
#include "policy/policy.h"

struct mts_switch_parts;

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
	u64 round;
	u32 nbins;
	u32 running; /* index, or MTS_BIN_NONE */
	u64 planned; /* when this round was */
	bool newcomers; /* jobs have come since */
	u64 slice_began;
	u64 slice_ends;
	struct mts_switches switches;
	bool switches_wait; /* the last one waited for the disk for most of its time */
	bool slow_swap; /* one did, and moved no more than a disk with heads can */
	bool passed; /* in the last one the bins passed each other */
	bool disk_is_slow; /* as onset.c has seen when it last evicted some to see */
	bool early; /* this round is the first, and was begun by onset.c, not by the admission */
	bool all_fit; /* that has shown that all fit: the next plan is for them to run */
	u64 swap_full_in;
	u64 swapins; /* of the host, when the slice began */
	u64 lent_ns; /* time in which wanted jobs' memory was brought back, whatever else was due */
	struct mts_admission admission;
	struct mts_config config; /* under mts_lock */
	bool is_configured; /* anew: whatever the admission has tried before, it tries again */
	struct mts_lesson lesson;
	bool capacity_is_set; /* by the user */
	bool by_use; /* MTS_DEMAND_USED */
	u64 forget_at; /* ktime, ns: when the jobs' use is out of date; 0: while turns are taken */
	bool swap_is_slow; /* turns were given up for it */
	bool planned_blindly; /* this round: nobody knew what a switch takes */
	u64 max_pause_ns; /* nobody is frozen for longer: the user's word, or that of these turns */
	struct mts_limits limits; /* of this round: what is done for jobs' own limits */
	u32 limited_by; /* id of the job that limits.by is; 0: none */
	bool starves; /* mts_round_starves() said so */
	bool would_rotate; /* but for MTS_MODE_SHADOW */
	struct mts_plan plan;
	struct mts_plan_bin *bins;

	struct mts_job **roster;
	struct mts_moved *moved; /* room for the jobs of a move */
	u32 roster_size;
	u32 *outgoing; /* indices into @roster, in the order in which they are evicted */
	u32 *end_of_bin; /* of those of each bin in @outgoing; one more than there are bins */
	struct mts_plan_job *plan_jobs;
	struct mts_claim *claims;
	struct mts_job **claimants;
	struct mts_plan_tie *ties; /* MTS_MAX_JOBS at most */
	void *scratch;
};

extern struct mts_rotor mts_rotor;

/* The caller holds mts_lock. */
static inline const struct mts_config *mts_rotor_config(void)
{
	lockdep_assert_held(&mts_lock);
	return &mts_rotor.config;
}

/* In this round or the last. */
static inline bool mts_rotor_is_swap_full(void)
{
	return mts_rotor.swap_full_in && mts_rotor.round <= mts_rotor.swap_full_in + 1;
}

/* Switches wait for the disk for most of their time, as far as is known. */
static inline bool mts_rotor_waits_for_disk(void)
{
	return mts_rotor.switches_wait || mts_rotor.disk_is_slow;
}

/* The swap disk is one whose pages must lie in long rows, as far as is known. */
static inline bool mts_rotor_disk_is_slow(void)
{
	return mts_rotor.slow_swap || mts_rotor.disk_is_slow;
}

/* A sentence; "": it is one of the gate's. */
const char *mts_rotor_explain(u32 reason);

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
 * Protect jobs that are in every bin as of now, or would be if turns were taken, or whose memory
 * is, and no others. Not @wanted: none at all.
 */
void mts_round_protect(bool wanted);

/*
 * While no turns are taken: is there no memory for anybody (mts_admission_starves())? The log says
 * so once.
 */
bool mts_round_starves(void);

/*
 * Would all that takes turns fit into one bin now, with an eighth of it to spare, by what was last
 * measured of each? A round's end finds out what fits exactly.
 */
bool mts_round_fits(void);

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

/* Has the host reclaimed memory in the last ten seconds? */
bool mts_round_reclaims(void);

/* While no turns are taken: what was seen of the jobs' use in the last ones may be out of date. */
void mts_round_forget_use(void);

/*
 * The frozen job of a bin that has most in memory, of those whose memory may leave it; NULL: it has
 * none. @n: how many such are frozen in it.
 */
struct mts_job *mts_round_largest(u32 bin, u32 *n);

/*
 * Slices anew, by what switches took so far, if the round was planned before anybody knew that.
 * Return: whether it was. Takes mts_lock.
 */
bool mts_round_plan_slices(void);

/* From its bin to another one, in which it counts for so many bytes. Under mts_lock. */
void mts_round_move(struct mts_job *job, u32 to, u64 bytes);

/*
 * Do the configuration and the jobs allow turns that nobody has asked for yet, or (shadow) that one
 * says when they would? And does it allow to stop the jobs for them? Each takes mts_lock.
 */
bool mts_round_may_be_early(void);
bool mts_round_may_stop(void);

/* Bytes that a job takes of its bin: what of its memory is not in every bin. */
static inline u64 mts_round_takes(const struct mts_job *job)
{
	return mts_sub_floor(job->demand, job->stays);
}

/* Why a job is in every bin: it must, or should, or cannot be frozen. */
bool mts_round_is_resident(const struct mts_job *job);

/* ---- evict.c -------------------------------------------------------------- */

/* It is frozen, its memory need not stay, and there is something to get from it. */
bool mts_evict_may(const struct mts_job *job);

/* Make room for bin @to, as the configuration has it. */
void mts_evict_for(u32 to);

/*
 * Up to @want bytes of a job, until @deadline (ktime, ns; 0: no limit). Return: bytes that left
 * memory; 0 if it is not frozen, or was evicted already.
 */
u64 mts_evict_job(struct mts_job *job, u64 want, u64 deadline);

/*
 * Up to @want bytes of what is frozen, while bin @to runs: the bin that runs again last goes
 * first, which is the one that has just run. Until @deadline, as above. Return: bytes that left
 * memory.
 */
u64 mts_evict_frozen(u32 to, u64 want, u64 deadline);

/* What a job needs in memory, and has. Return: 0, or -ENODEV: it is gone. */
int mts_evict_measure(struct mts_job *job, u64 *demand, u64 *resident);

/* Not all that was to go could go: say so if swap is full. */
void mts_evict_note_full(void);

/* ---- overlap.c ------------------------------------------------------------ */

/*
 * May bin @to come while the one before it goes? Where switches wait for the disk, all that is
 * frozen is evicted, and the bin's jobs have run before, so that what they need is known.
 */
bool mts_passing_is_for(u32 to);

/* The switch, done so. -ECANCELED: the gate closed. */
int mts_passing(u32 to, struct mts_switch_parts *parts);

/*
 * The running bin takes what is left: while all stand still some of what is frozen goes. If
 * there is no more of that one of the bin's own jobs goes, which runs with the bin before it
 * from now on. 0 or -ECANCELED.
 */
int mts_passing_spill(void);

/* ---- onset.c -------------------------------------------------------------- */

/* Take a sample: what the jobs have now. */
void mts_early_sample(void);

/* No turns are taken, and if memory fills they may have to be: ask below at intervals. */
bool mts_early_watches(void);

/* After so many ns the next sample is to be taken; U64_MAX: not before the host reclaims. */
u64 mts_early_interval(void);

/* What the jobs may have in memory beside what they have, bytes. Takes a sample. */
u64 mts_early_planned(void);

/* Will the bin have all that it may by then, if it goes on as since the last sample? Takes one. */
bool mts_early_bin_fills(u64 within_ns);

/* Are turns to begin for that, if the disk is slow? Cheap. */
bool mts_early_is_due(void);

/* In a slice of an early round, once a tick: does all fit after all, and who runs grows no more? */
bool mts_early_all_fit(void);

/*
 * Did most of the memory belong to who slept before it was full, a minute ago at most, and do they
 * still have a good part of it, and sleep for all that is known?
 */
bool mts_early_most_sleep(void);

/*
 * All jobs stand still for a moment: is swap so slow that turns must begin before each of them
 * reclaims for itself? Then they fill what is left a little at a time. Return: they did; they
 * stay frozen.
 */
bool mts_early_look(void);

/* ---- switch.c ------------------------------------------------------------- */

/* Freeze what does not run now, evict, thaw bin @to. -ECANCELED: the gate closed. */
int mts_switch_to(u32 to);

/*
 * Freeze newcomers that wait for their bin, thaw those of the running one. Whether the former have
 * frozen is waited for until @deadline, ktime, ns: the end of the slice, U64_MAX: as in a switch.
 */
int mts_switch_settle(u64 deadline);

/*
 * Once a tick: charge the jobs that run out of turn (budget.h). Return: the call of one is over,
 * and it is to be frozen again: settle.
 */
bool mts_switch_calls_over(void);

/*
 * Turns are over: what is not in memory comes back, before it runs. Takes a second, or as long
 * as the job takes that is being read then. Return: others wait: plan anew, and call it again.
 */
bool mts_switch_bring_all(void);

/* What a frozen job has in swap comes back, as far as it does until @end, ns. */
void mts_switch_bring_job(struct mts_job *job, u64 end);

/* Freeze whoever may be; whether each has is waited for until @deadline, as above. -ECANCELED. */
int mts_switch_stop(u64 deadline);

/*
 * How long the running bin's slice may last from @now on, at most as planned, so that nobody is
 * frozen for @max_pause ns, nor for a limit of its own. Writes the scratch memory.
 */
u64 mts_switch_longest_slice(u64 now, u64 max_pause);

/* Thaw everything that we froze. */
void mts_switch_thaw_all(void);

/* How many threads may move memory at once. */
u32 mts_switch_threads(void);

/*
 * Whoever was thawed as it is wanted (mts_rotor_is_wanted()) reads its memory page by page, beside
 * what the rotor does to the disk: bring it back before anything else, if the disk is slow. In the
 * rotor's thread, between two parts of any work.
 */
void mts_switch_bring_wanted(void);

/* For overlap.c. Ask a job to freeze unless it runs with bin @to. 0 or -ECANCELED. */
int mts_switch_ask(struct mts_job *job, u32 to);
/*
 * Who does not freeze is left out for a while, unless @deadline (ktime, ns) comes first. Writes the
 * scratch memory. 0 or -ECANCELED.
 */
int mts_switch_wait_frozen(u64 deadline);
/* Whoever stands still now has had its slice. */
void mts_switch_note_use(void);
/* Those of bin @to in the roster from @first to before @end. */
void mts_switch_bring_back(u32 to, u32 first, u32 end);
void mts_switch_thaw(u32 bin, u32 first, u32 end);

/* The time since *last, which becomes now. */
static inline u64 mts_switch_lap(u64 *last)
{
	u64 now = ktime_get_ns(), took = now - *last;

	*last = now;
	return took;
}

/* ---- rotor.c -------------------------------------------------------------- */

/* Sleep until an event of @mask or the gate, at most @ns. Return: the events. */
unsigned long mts_rotor_wait(unsigned long mask, u64 ns);

/* The rotor is to go on with what it does: gate open, no unload. */
bool mts_rotor_may_go_on(void);

/* And to get it over with: what it does may be out of date. */
bool mts_rotor_is_hurried(void);

/*
 * Has a job been thawed as it is wanted, and waits for mts_switch_bring_wanted()? Only where the
 * disk is slow: an SSD reads what the job touches sooner than all that it has. Any context.
 */
bool mts_rotor_is_wanted(void);

/* Take that down. */
void mts_rotor_note_wanted(void);

#endif /* _MTS_ROTOR_PRIVATE_H */
