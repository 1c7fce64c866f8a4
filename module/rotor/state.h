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
#include "policy/interactive.h"
#include "policy/limits.h"
#include "policy/admission.h"
#include "policy/fit.h"
#include "policy/switches.h"

/**
 * struct mts_rotor - the rotor's state
 *
 * Only the rotor's thread writes it, and does so under mts_lock where the
 * device reads it too. All memory is had at load: the rotor allocates none
 * while it runs.
 *
 * @roster: the jobs as of the last mts_roster_muster(), with references, in
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
	bool in_onset; /* this round is the first, and onset.c has begun it */
	bool all_fit; /* that has shown that all fit: the next plan is for them to run */
	u64 swap_full_in;
	u64 swapins; /* of the host, when the slice began */
	u64 urgent_ns; /* in which wanted jobs' memory was brought back, whatever else was due */
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
	bool starves; /* mts_admit_starves() said so */
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

/* Sleep until an event of @mask or the gate, at most @ns. Return: the events. */
unsigned long mts_rotor_wait(unsigned long mask, u64 ns);

/* The rotor is to go on with what it does: gate open, no unload. */
bool mts_rotor_should_run(void);

/* And to get it over with: what it does may be out of date. */
bool mts_rotor_should_abort(void);

/*
 * Has a job been thawed as it is wanted, and waits for mts_bring_wanted()? Only where the
 * disk is slow: an SSD reads what the job touches sooner than all that it has. Any context.
 */
bool mts_rotor_is_wanted(void);

/* Take that down. */
void mts_rotor_note_wanted(void);

/* The events of @mask that have come, without waiting. */
unsigned long mts_rotor_take_events(unsigned long mask);

/* Takes mts_lock. */
void mts_rotor_set_state(u32 state, u32 reason);

#endif /* _MTS_ROTOR_STATE_H */
