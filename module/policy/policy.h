/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policy: from what was measured to what is done. Pure code (pure.h): the
 * rotor, mtsctl plan and the unit tests use the same functions.
 *
 * Units: bytes, nanoseconds, per mille.
 */
#ifndef _MTS_POLICY_H
#define _MTS_POLICY_H

#include "binpack/binpack.h"

/* ---- demand.c: how much memory a job needs, how much there is ---------- */

/**
 * struct mts_usage - what a cgroup's files say, in bytes
 * @current_bytes: memory.current
 * @swap: memory.swap.current
 * @file: memory.stat "file": page cache, shmem included
 * @shmem: memory.stat "shmem"
 * @slab_reclaimable: memory.stat "slab_reclaimable"
 * @swapcached: memory.stat "swapcached": in memory and in swap, so counted
 *	twice by @current_bytes + @swap
 * @zswap: memory.stat "zswap": what zswap has made smaller, a part of
 *	@current_bytes, of pages that are in @swap in full size
 */
struct mts_usage {
	u64 current_bytes;
	u64 swap;
	u64 file;
	u64 shmem;
	u64 slab_reclaimable;
	u64 swapcached;
	u64 zswap;
};

/* What the kernel can drop without writing: clean cache, not the job's need. */
u64 mts_policy_droppable(const struct mts_usage *u);

/* Bytes to run without faulting: in memory or in swap, less the droppable. */
u64 mts_policy_demand(const struct mts_usage *u);

/* Bytes in memory that count towards the demand. */
u64 mts_policy_resident(const struct mts_usage *u);

/**
 * mts_policy_capacity() - automatic capacity for bins and residents together
 * @available: mts_memory_available() now
 * @managed: what all jobs hold in memory now (mts_policy_resident())
 * @total: memory of the host
 *
 * What the jobs could have if nothing else grew, less a reserve of 1/16 of
 * that, at least 1 MiB and at most 1 GiB, for what the rest of the host will
 * allocate before anybody looks again, and for what swapping itself needs:
 * where 3 % were kept free, a bin of 90 of 96 MiB still swapped in its slice.
 */
u64 mts_policy_capacity(u64 available, u64 managed, u64 total);

/* ---- working_set.c: what a job does not use ---------------------------------- */

/**
 * struct mts_slice_use - how a job used its private memory in a slice
 * @used: bytes that were used, in this slice or the one before
 * @unused: the rest, in memory or in swap
 * @grown: bytes of both that it did not have when the slice began
 * @left: pages that were left in swap when the slice began, as not used
 * @missed: of these, pages that it has used
 */
struct mts_slice_use {
	u64 used;
	u64 unused;
	u64 grown;
	u64 left;
	u64 missed;
};

/* What is known of it; zero: nothing. */
struct mts_working_set {
	u64 used;
	u64 unused;
	u32 mistakes; /* of the last slices */
	u32 distrusted; /* so many slices more is all brought back */
};

/*
 * Did the job fill memory in that slice, an eighth of what it has or more? What it has filled it
 * does not use meanwhile, and is about to: the slice tells nothing, nor do those before.
 */
bool mts_working_set_fills(const struct mts_slice_use *use);

/* A slice is over. */
void mts_working_set_note(struct mts_working_set *ws, const struct mts_slice_use *use);

/*
 * Bytes of @demand that the job can do without: its last slices did not use them, and
 * what it was left without lately it has not missed. 0 if that is hardly any.
 *
 * Pages shared by several processes are counted for each of them: never more than
 * what the job has beyond that which it used.
 */
u64 mts_working_set_spare(const struct mts_working_set *ws, u64 demand);

/* ---- plan.c: one round -------------------------------------------------- */

/* Two jobs that wait for each other: their indices in what is planned. */
struct mts_plan_tie {
	u32 a;
	u32 b;
};

struct mts_plan_conf {
	u32 pack; /* enum mts_pack */
	u32 evict; /* enum mts_evict, but AUTO (mts_policy_evict_how()); for mts_plan_traffic() */
	u64 capacity; /* for bins and residents together */
	u64 slice_ns; /* of a full bin, at least */
	u64 min_slice_ns;
	u64 max_pause_ns;
	/* this instead, if it is more, where switches would take more than half of a round */
	u64 stretched_pause_ns;
	u32 overhead; /* per mille of a round that switches may take; 0: slices do not grow */
	u32 processors; /* that a bin is to keep busy; 0 or 1: no matter */
	u64 switch_ns; /* what a switch takes, as measured; 0: not known */
	const struct mts_plan_tie *ties; /* the most important first */
	u32 nties;
};

/* The job belongs to every bin; its demand is taken off the capacity. */
#define MTS_PLAN_RESIDENT (1u << 0)
/* It is resident for its pause limit: a result of mts_plan_limits() (limits.h). */
#define MTS_PLAN_LIMITED (1u << 1)

struct mts_plan_job {
	u64 demand;
	u64 stays; /* beside that: bytes in memory in every bin, whichever it runs in */
	u64 max_pause_ns; /* its own pause limit, for mts_plan_limits(); 0: none */
	u32 flags; /* MTS_PLAN_* */
	u32 prev_bin; /* as mts_item.prev */
	u32 threads; /* that want to run at a time */
	u32 bin; /* result: index, or MTS_BIN_EVERY for a resident job */
	/* result: the first of the jobs that are packed as one with it; MTS_BIN_NONE: alone */
	u32 group;
};

/* Larger than the capacity: one oversize job, or MTS_PACK_RW's leftovers. */
#define MTS_PLAN_OVERFULL (1u << 0)

struct mts_plan_bin {
	u64 demand;
	u64 slice_ns;
	u64 pause_ns; /* how long its jobs are frozen in a round */
	u32 jobs;
	u32 flags;
	u32 threads; /* sum of its jobs' */
	u32 pad;
};

struct mts_plan {
	u32 nbins;
	u64 capacity; /* of a bin: residents taken off */
	u64 demand; /* of the jobs in bins */
	u64 resident_demand; /* and what stays of others */
	u64 round_ns; /* slices and switches; 0 if nbins < 2 */
	u64 run_ns; /* the slices alone */
	u64 max_pause_ns; /* that of conf's two which slices were made for */
	u64 longest_pause_ns; /* the largest pause_ns; 0 if nbins < 2 */
	u64 swap_out_bytes; /* by mts_plan_traffic(); else 0 */
	u64 swap_in_bytes;
};

/*
 * Plans keep this far away from the user's longest pause: the watchdog thaws a
 * job when half of it is left.
 */
#define MTS_PAUSE_MARGIN_NS 500000000ull

/* The two limits, less the margin, of a user's @max_pause_ns. 0: automatic (struct mts_config). */
void mts_plan_limit_pause(struct mts_plan_conf *conf, u64 max_pause_ns);

/* Is a pause longer than it was to be, and than the user allows? */
bool mts_plan_pauses_too_long(const struct mts_plan *plan);

/*
 * The configuration's part of it; .capacity, .switch_ns, .processors and .ties are left to the
 * caller.
 */
struct mts_plan_conf mts_plan_conf_of(const struct mts_config *config);

/* Bytes of scratch memory that mts_plan_round() and mts_plan_traffic() need for n jobs. */
size_t mts_plan_scratch(u32 n);

/**
 * mts_plan_round() - pack the jobs, give each bin its slice, foretell the round
 * @conf: see there
 * @jobs: n jobs; only .bin and .group are written
 * @n: 0..MTS_MAX_JOBS
 * @bins: room for n bins
 * @plan: result
 * @scratch: mts_plan_scratch(n) bytes, aligned for u64
 *
 * Slices (Reuven & Wiseman section 4.3): a bin runs slice_ns * demand /
 * capacity, at most slice_ns (an oversize job does not hold the others up),
 * at least min_slice_ns. If switches took more than .overhead of the round so,
 * a full bin's slice grows until they do not, up to MTS_SLICE_MAX_NS. If that
 * makes the longest pause (the round less the
 * bin's own slice) exceed max_pause_ns, all slices shrink in proportion, down
 * to min_slice_ns. If that leaves them less of a round than the switches take,
 * they grow until they have half of it, as far as stretched_pause_ns allows.
 * With very many bins, or very long switches, the pause can still exceed that,
 * and .longest_pause_ns says so.
 *
 * Bins are packed by mts_binpack(). Then, where a bin has fewer threads than there are
 * processors, it gets jobs of bins that have more than enough, if it has room for them:
 * processors would idle in its slice otherwise. The number of bins stays as it is.
 *
 * Jobs that are tied share a bin if they fit in one together, and if no bin more is needed
 * for it, nor a fuller one beyond the capacity. If that does not go with all ties, the last
 * half of them is passed over, and so on. Of more than MTS_PLAN_MANY jobs packing takes too
 * long for several attempts: they are packed without ties.
 *
 * For MTS_MAX_JOBS jobs it takes less than five million instructions
 * (tests/unit/test_cost.py).
 *
 * Return: 0, or -EINVAL as mts_binpack().
 */
int mts_plan_round(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		   struct mts_plan_bin *bins, struct mts_plan *plan, void *scratch);

/* The slices, pauses and the round's length of such a plan anew: the same bins, another conf. */
void mts_plan_slices(const struct mts_plan_conf *conf, struct mts_plan_bin *bins,
		     struct mts_plan *plan);

/**
 * mts_plan_traffic() - what a round will swap, once the rotation is under way
 * @conf, @bins, @plan, @scratch: of mts_plan_round(); .swap_out_bytes and
 *	.swap_in_bytes of @plan are set
 *
 * MTS_EVICT_FULL moves every bin out and in once a round. MTS_EVICT_NEED and
 * MTS_EVICT_OFF move what does not fit: worked out by rotating the bins' sizes
 * through the capacity, evicting first the bin that runs again last, until
 * memory is as it was at the end of an earlier round; rounds differ, so it is
 * the mean of the rounds in between (of 64 rounds, if it takes longer than
 * that). What an overfull bin moves within its slice is not in it: each bin
 * counts for at most the capacity.
 *
 * Apart, because it is for people to read: the rotor does not need it, and for
 * thousands of bins it takes ten times as long as the plan itself.
 */
void mts_plan_traffic(const struct mts_plan_conf *conf, const struct mts_plan_bin *bins,
		      struct mts_plan *plan, void *scratch);

/**
 * mts_plan_cut() - how long a slice may last so that nobody waits too long for a turn
 * @bins: this round's
 * @nbins: how many
 * @running: the bin whose slice it is, below @nbins
 * @left: of each bin: how long it may still wait for its switch to begin, in ns; U64_MAX: it
 *	waits for none, and has no turn; that of @running does not matter
 * @switch_ns: what a switch takes
 *
 * The turns of others lie before all but the next one's: slices as planned, which shrink with
 * this one, and their switches. A round's first slices are planned before anybody knows how
 * long switches take; those to come must not pay for it alone.
 *
 * Return: ns, at most the slice as planned.
 */
u64 mts_plan_cut(const struct mts_plan_bin *bins, u32 nbins, u32 running, const u64 *left,
		 u64 switch_ns);

/**
 * mts_plan_newcomer() - where a job goes that arrives in the middle of a round
 * @bins: this round's bins
 * @nbins: how many
 * @capacity: of a bin
 * @running: index of the bin that runs
 * @demand: the newcomer's, known or expected
 *
 * Return: the running bin if it has room, else the next one in the order of
 * running that has (after the last bin comes the first, whose turn is in the
 * next round), else MTS_BIN_NONE: it waits for the next round (Reuven & Wiseman
 * section 4.1). Bins beyond the capacity have no room, not even for 0 bytes.
 * If @running is no bin, the search begins at bin 0.
 */
u32 mts_plan_newcomer(const struct mts_plan_bin *bins, u32 nbins, u64 capacity, u32 running,
		      u64 demand);

/**
 * mts_plan_spread() - spread.c: mts_plan_round()'s second step, what packing leaves uneven
 *
 * Jobs' bins and @bins are set. A bin with fewer threads than there are processors gets jobs of
 * others that have more than enough. Then the emptiest bin gets jobs of fuller ones while it is
 * a quarter of the capacity behind, whose bins stay the fuller ones and keep a thread for each
 * processor: every bin has room to grow. That not with MTS_PACK_RW, which is as the paper has
 * it. Jobs that are tied stay where they are. Takes a bounded time: beyond some thousand jobs
 * not all bins may be looked at.
 */
void mts_plan_spread(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n,
		     struct mts_plan_bin *bins, const struct mts_plan *plan);

/* ---- ties.c: jobs that wait for each other ------------------------------------ */

/* A tie is forgotten when it has not been seen for so long. */
#define MTS_TIE_NS 300000000000ull
/* That a job has at most. */
#define MTS_TIES 4u

/* Another job that it was seen to wait for: first, and last; ns; 0: none. */
struct mts_tie {
	u32 id;
	u64 since;
	u64 seen;
};

/* Of one job; all zero: none. */
struct mts_ties {
	struct mts_tie tie[MTS_TIES];
};

/**
 * mts_ties_note() - a job was seen to wait for another one
 * @now: of the look; not 0
 * @is_new: take it down if it was not known, in place of the one that was seen longest ago
 *
 * Return: has this look not seen it before?
 */
bool mts_ties_note(struct mts_ties *ties, u32 id, u64 now, bool is_new);

/* Was it seen to wait for this one @before that time, and is that not forgotten? */
bool mts_ties_known(const struct mts_ties *ties, u32 id, u64 now, u64 before);

/* The job of tie @i below MTS_TIES; 0: there is none. */
u32 mts_ties_id(const struct mts_ties *ties, u32 i, u64 now);

/*
 * mts_plan_round()'s first step: the jobs' groups, none larger than @capacity, and of the
 * first of each, and of each that is alone, what is packed; @sums has room for n.
 */
void mts_plan_join(const struct mts_plan_conf *conf, struct mts_plan_job *jobs, u32 n, u64 capacity,
		   struct mts_item *sums);

/* More jobs than these are packed once only, without their ties. */
#define MTS_PLAN_MANY 512u

/* ---- fit.c: whether a bin fits, as it runs ---------------------------------- */

/**
 * struct mts_lesson - that a capacity was too large; zero: nothing is known
 * @too_much: a bin and the residents of so many bytes swapped while it ran, or all jobs
 *	needed so many, fitted, and lost time by memory
 * @capacity: for bins and residents together, then
 *
 * What is available is an estimate: caches that are not given back, watermarks,
 * and what swapping itself takes make it too large. What a bin has shown counts
 * for more, while the host is as it was then.
 */
struct mts_lesson {
	u64 too_much;
	u64 capacity;
};

/*
 * An automatic capacity, less 1/16 of what was too much if there is a lesson.
 * Forgets it if the capacity has grown by more than an eighth since.
 */
u64 mts_policy_learned(struct mts_lesson *lesson, u64 capacity);

/*
 * Jobs had @before bytes in memory and have @now, @elapsed_ns later: will they have the @left
 * ones as well within @within_ns, if they go on so? Not if they do not grow. What is shorter than
 * a millisecond counts as one.
 */
bool mts_policy_fills(u64 left, u64 before, u64 now, u64 elapsed_ns, u64 within_ns);

/*
 * Must a bin of several jobs that needs @demand now be split? An eighth of the
 * capacity is tolerated: the plan was made with demands that move. A bin that
 * was planned too full (MTS_PACK_RW) must outgrow that plan.
 */
bool mts_policy_outgrown(const struct mts_plan *plan, const struct mts_plan_bin *bin, u64 demand);

/*
 * A bin of several jobs, that needs @demand now, swaps while it runs: is it to
 * be packed anew? The lesson is taken down if it was to fit. @free: bytes that
 * the host has free; if that is half the capacity then it is not the bin's size
 * that makes it swap. @capacity_is_set: by the user.
 */
bool mts_policy_misfit(struct mts_lesson *lesson, const struct mts_plan *plan,
		       const struct mts_plan_bin *bin, u64 demand, u64 free, bool capacity_is_set);

/*
 * All jobs fit, they need @demand together with the residents, and yet they lose time by
 * memory: is the capacity, for bins and residents together, too much? The lesson is taken
 * down then. Not if they fill less than three quarters of it: it is something else then.
 * @free: as above.
 */
bool mts_policy_tight(struct mts_lesson *lesson, u64 capacity, u64 demand, u64 free);

/* ---- admission.c: whether taking turns pays -------------------------------- */

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

/* ---- evict.c: what a switch moves ---------------------------------------- */

/* 250 MB/s, about: a disk with heads moves no more, however its pages lie. */
#define MTS_SLOW_BYTES_PER_US 250ull

/**
 * mts_policy_evict_how() - what a configured @evict comes to in a round
 * @evict: enum mts_evict
 * @before: what it came to in the round before; MTS_EVICT_FULL in the first one
 * @plan: of the round, by what such switches took so far; NULL: there was none yet
 * @disk_is_slow: it is one whose pages must lie in long rows
 *
 * Of MTS_EVICT_AUTO: to evict all of the outgoing bin has switches move the most, but leaves the
 * incoming one alone with the memory, and its pages on the disk in long rows. Where switches cost a
 * quarter of the round all the same, less is to be moved (docs/performance.md has the figures).
 * That stays so until turns end: that switches are shorter then is no reason to make them
 * longer again. Nor is it begun with while nobody knows what they take.
 *
 * Return: MTS_EVICT_OFF, MTS_EVICT_NEED or MTS_EVICT_FULL.
 */
u32 mts_policy_evict_how(u32 evict, u32 before, const struct mts_plan *plan, bool disk_is_slow);

/**
 * mts_policy_evict() - bytes to evict before the incoming bin runs
 * @evict: enum mts_evict
 * @outgoing_resident: what the outgoing bin has in memory
 * @incoming_demand: what the incoming bin needs
 * @incoming_resident: what it still has in memory
 * @available: free or droppable memory that the incoming bin may use
 *
 * FULL: all of the outgoing bin. NEED: what the incoming bin lacks and 1/16 of
 * that as slack, less what is available; it can be more than the outgoing bin
 * has, the rest is with those that ran before it. OFF, or unknown: 0.
 */
u64 mts_policy_evict(u32 evict, u64 outgoing_resident, u64 incoming_demand, u64 incoming_resident,
		     u64 available);

/* ---- switches.c: what they have taken ------------------------------------ */

/**
 * struct mts_switches - zeros: no turns were ever taken
 * @adds_ns: what one adds to a round, a moving average; 0: not known
 * @slowest_ns: of late; falls by an eighth a switch
 * @are_new: none yet since turns began, or @evict changed
 * @evict: what the configured one comes to; never MTS_EVICT_AUTO
 * @asked: the configured one, then
 */
struct mts_switches {
	u64 adds_ns;
	u64 slowest_ns;
	bool are_new;
	u32 evict;
	u32 asked;
};

/**
 * mts_switches_plan() - how those of a round that has been planned will be
 * @evict: enum mts_evict, as configured
 * @plan, @disk_is_slow: as for mts_policy_evict_how()
 * @rotates: there are turns already, which this round goes on with
 */
void mts_switches_plan(struct mts_switches *s, u32 evict, const struct mts_plan *plan,
		       bool disk_is_slow, bool rotates);

/**
 * mts_switches_note() - one is over
 * @took: ns from its begin to its end
 * @adds: of that, what it adds to a round
 *
 * The first of those that are new counts alone.
 */
void mts_switches_note(struct mts_switches *s, u64 took, u64 adds);

/* When turns are tried again they may take less. */
void mts_switches_forget(struct mts_switches *s);

#endif /* _MTS_POLICY_H */
