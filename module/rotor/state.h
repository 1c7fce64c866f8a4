/* SPDX-License-Identifier: GPL-2.0 */
/* The rotor's state, and what it waits for. */
#ifndef _MTS_ROTOR_STATE_H
#define _MTS_ROTOR_STATE_H

#include "events/promise.h"
#include "events/wake.h"
#include "job.h"
#include "memory/move.h"
#include "memory/reclaim.h"
#include "policy/bins.h"
#include "policy/disk.h"
#include "policy/interactive.h"
#include "policy/limits.h"
#include "policy/admission.h"
#include "policy/choice.h"
#include "policy/fit.h"
#include "policy/queue.h"
#include "policy/switches.h"
#include "policy/verdict.h"

/*
 * The rotor's state consists of parts. Each has one owner: only that file assigns its fields, in
 * the rotor's thread, under mts_lock where the device reads them too (mts_order: in any thread).
 * tools/rooms checks the owners. It sees assignments, not writes through pointers. All memory is
 * allocated at load (rotor.c): the rotor allocates none while it runs.
 */

/**
 * struct mts_phase - what the rotor is at
 * @owner: state.c
 * @state: enum mts_state; @reason: enum mts_reason
 * @running: the bin that runs or, in a switch, is to run; MTS_BIN_NONE: none
 * @round: rounds since load
 * @slice_began, @slice_ends: ktime, ns; @slice_ends is 0 outside slices
 * @acts: turns have begun, or a policy without turns acts
 */
struct mts_phase {
	u32 state;
	u32 reason;
	u32 running;
	u64 round;
	u64 slice_began;
	u64 slice_ends;
	bool acts;
};

/**
 * struct mts_order - the configuration
 * @owner: state.c, under mts_lock, in any thread
 * @is_new: the admission has not seen it
 */
struct mts_order {
	struct mts_config config;
	bool is_new;
};

/**
 * struct mts_roster - the jobs as of the last mts_roster_muster(), with references
 * @owner: roster.c
 * @jobs: in order of id
 */
struct mts_roster {
	struct mts_job **jobs;
	u32 n;
};

/**
 * struct mts_round - the bins of this round
 * @owner: round.c; plan.c has @plan and @bins filled by policy/plan.h
 * @nbins: 0: there are no turns
 * @newcomers: jobs have come since it was planned
 */
struct mts_round {
	u32 nbins;
	bool newcomers;
	struct mts_plan plan;
	struct mts_plan_bin *bins;
};

/**
 * struct mts_turns - whose turn it is
 * @owner: turn.c
 * @first: of disjoint bins, the one that runs first
 * @left: bins that are to come in before the round is over
 * @order: the bins that wait, in the order of their turns, as of the last switch; groups that
 *	have come since are last
 * @n: how many
 * @place: of each bin in @order; of a bin that does not wait: 0
 */
struct mts_turns {
	u32 first;
	u32 left;
	u32 *order;
	u32 n;
	u32 *place;
};

/**
 * struct mts_planning - how the round was planned
 * @owner: plan.c
 * @planned: ktime, ns
 * @blind: the cost of a switch was not known then
 * @capacity_is_set: by the user
 * @by_use: MTS_DEMAND_USED
 * @forget_at: ktime, ns: the jobs' use is out of date then; 0: never
 * @max_pause_ns: the longest pause that plans keep to: as configured, or as this round needs it.
 *	In a @blind round the watchdog allows MTS_PAUSE_STRETCHED_NS at least where none is
 *	configured
 * @long_pause_ns: the limit of jobs that are not attended, if it is automatic and that is more than
 *	for others; 0: it is the same
 * @limits: what is done for jobs with limits of their own
 * @limited_by: id of the job with index limits.by; 0: none
 * @plan_jobs: of the roster, the same indices
 * @small: a job that sleeps is in every bin if it has no more, bytes
 * @claims, @claimants: of interactive jobs, and whose they are
 * @ties: between jobs of the roster; MTS_MAX_JOBS at most
 */
struct mts_planning {
	u64 planned;
	bool blind;
	bool capacity_is_set;
	bool by_use;
	u64 forget_at;
	u64 max_pause_ns;
	u64 long_pause_ns;
	struct mts_limits limits;
	u32 limited_by;
	struct mts_plan_job *plan_jobs;
	u64 small;
	struct mts_claim *claims;
	struct mts_job **claimants;
	struct mts_plan_tie *ties;
};

/**
 * struct mts_costs - what switches have cost, and what a page does
 * @owner: costs.c
 * @disk: under mts_lock
 * @out, @in: moved since @disk was last written
 */
struct mts_costs {
	struct mts_switches switches;
	struct mts_disk disk;
	struct mts_disk_sample out;
	struct mts_disk_sample in;
};

/**
 * struct mts_onset - turns that begin before the first storm
 * @owner: onset.c
 * @is_on: this round is the first, and onset.c has begun it
 */
struct mts_onset {
	bool is_on;
};

/**
 * struct mts_admitting - whether turns pay
 * @owner: admission.c
 * @verdict: MTS_REASON_NO_GAIN, SLOW_SWAP or EXEMPT; with MTS_POLICY_TOKEN of token.c's holdings
 * @starves: mts_admit_starves() said so
 * @would_rotate: but for MTS_MODE_SHADOW
 * @excused: pages that confined jobs have swapped in
 * @swapins: pages that the host has swapped in, without @excused
 * @unjudged_since: rounds since then were too short to be judged; ktime, ns; 0: there were none
 */
struct mts_admitting {
	struct mts_admission past;
	struct mts_verdict verdict;
	bool starves;
	bool would_rotate;
	u64 excused;
	u64 swapins;
	u64 unjudged_since;
};

/**
 * struct mts_choosing - MTS_POLICY_AUTO
 * @owner: choice.c, under mts_lock
 */
struct mts_choosing {
	struct mts_choice choice;
};

/**
 * struct mts_evicting
 * @owner: evict.c
 * @swap_full_in: the last round in which an eviction found swap full; 0: none
 * @outgoing: indices into the roster, in the order in which they are evicted
 * @end_of_bin: where each rank (evict.c) ends in @outgoing; one entry more than there are bins
 * @fell_short: in the last switch more than an eighth of what was to leave stayed in memory
 */
struct mts_evicting {
	u64 swap_full_in;
	u32 *outgoing;
	u32 *end_of_bin;
	bool fell_short;
};

/**
 * struct mts_bringing
 * @owner: bring.c
 * @moved: room for the jobs of a move
 * @urgent_ns: time in which wanted jobs' memory was brought back, whatever else was due
 */
struct mts_bringing {
	struct mts_moved *moved;
	u64 urgent_ns;
};

/**
 * struct mts_fitting - does what runs fit?
 * @owner: fit.c
 * @swapins: pages that the host had swapped in: those do not count against the running bin
 * @slices: slices since load
 * @counts: the jobs' own swap-ins are counted in this slice
 * @dirty: in this round a bin swapped, or had to be repacked
 * @lesson: a capacity that was too large
 */
struct mts_fitting {
	u64 swapins;
	u64 slices;
	bool counts;
	bool dirty;
	struct mts_lesson lesson;
};

/**
 * struct mts_confining - limits of cgroups, as of the last plan
 * @owner: confined.c
 * @excess: bytes by which limits above several jobs cut the sum of their demands
 */
struct mts_confining {
	u64 excess;
};

/**
 * struct mts_queueing - the queue
 * @owner: queue.c
 * @begun, @waiting: of the last step, MTS_MAX_JOBS each; no job is in both at first
 * @jobs: whose @waiting are, with references during a step
 */
struct mts_queueing {
	struct mts_queue_begun *begun;
	struct mts_queue_waiting *waiting;
	struct mts_job **jobs;
};

/* @scratch: for whatever needs it next, mts_plan_scratch(MTS_MAX_JOBS) bytes */
struct mts_rotor {
	struct mts_phase phase;
	struct mts_order order;
	struct mts_roster roster;
	struct mts_round round;
	struct mts_turns turns;
	struct mts_planning planning;
	struct mts_costs costs;
	struct mts_onset onset;
	struct mts_admitting admission;
	struct mts_choosing choosing;
	struct mts_evicting evict;
	struct mts_bringing bring;
	struct mts_fitting fit;
	struct mts_confining confining;
	struct mts_queueing queue;
	void *scratch;
};

extern struct mts_rotor mts_rotor;

/* Does @reason, an enum mts_reason, stand for a policy without turns that acts (sharing.h)? */
static inline bool mts_reason_is_sharing(u32 reason)
{
	return reason == MTS_REASON_FAIR || reason == MTS_REASON_TOKEN;
}

/* May jobs take turns by this policy? */
static inline bool mts_policy_may_turn(u32 policy)
{
	return policy == MTS_POLICY_TURNS || policy == MTS_POLICY_AUTO;
}

/* The caller holds mts_lock. */
static inline const struct mts_config *mts_rotor_config(void)
{
	lockdep_assert_held(&mts_lock);
	return &mts_rotor.order.config;
}

/* In this round or the last. */
static inline bool mts_rotor_is_swap_full(void)
{
	return mts_rotor.evict.swap_full_in &&
	       mts_rotor.phase.round <= mts_rotor.evict.swap_full_in + 1;
}

/* Moves wait for the disk for most of their time, as far as is known. Any context. */
static inline bool mts_rotor_waits_for_disk(void)
{
	return mts_disk_is_waited_for(&mts_rotor.costs.disk, ktime_get_ns());
}

/* As far as is known, the swap disk is slow unless a job's pages lie together. Any context. */
static inline bool mts_rotor_disk_is_slow(void)
{
	return mts_disk_needs_rows(&mts_rotor.costs.disk, ktime_get_ns());
}

/*
 * Sleep until an event of @mask, for @ns at most. With a limit also until the gate closes; with
 * U64_MAX the mask has to have MTS_ROTOR_EV_GATE. Return: the events.
 */
unsigned long mts_rotor_wait(unsigned long mask, u64 ns);

/* May the rotor go on? Not if the gate is closed, or the module is unloaded. */
bool mts_rotor_should_run(void);

/* Is the rotor to break off? If it may not go on, or the configuration has changed. */
bool mts_rotor_should_abort(void);

/*
 * Is a job that was thawed out of turn waiting for mts_bring_wanted()? Always false on a fast disk,
 * which reads what the job touches sooner than all that it has. Any context.
 */
bool mts_rotor_is_wanted(void);

/* Clear that event; before a look at the jobs. */
void mts_rotor_note_wanted(void);

/* The events of @mask that have come, without waiting. */
unsigned long mts_rotor_take_events(unsigned long mask);

/* No turns: OFF, IDLE, PAUSED or STOPPED. Takes mts_lock. */
void mts_state_rest(u32 state, u32 reason);

/* A switch to a bin; to MTS_BIN_NONE: turns are over. Under mts_lock. */
void mts_state_begin_switch(u32 to);

/* Begin the slice of the bin that was switched to; @now: ktime, ns. Under mts_lock. */
void mts_state_begin_slice(u64 now, u64 slice_ns);

/* Under mts_lock. */
void mts_state_end_slice(void);

/* No bin runs. Under mts_lock. */
void mts_state_end_turns(void);

/* Why there are turns, or none, as the plan has it; the state follows. Under mts_lock. */
void mts_state_set_reason(u32 reason);

/* Is the configuration new to the admission? Not any more then. Under mts_lock. */
bool mts_state_take_order(void);

/* A configuration that has been checked, from now on. In any thread, under mts_lock. */
void mts_rotor_configure(const struct mts_config *config);

/* Takes mts_lock. */
void mts_state_begin_round(void);

/* At load. */
void mts_state_init(void);

#endif /* _MTS_ROTOR_STATE_H */
