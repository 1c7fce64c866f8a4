/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A job is one cgroup, which is packed, frozen and evicted as a whole.
 *
 * A job's life:
 * - made and published: hooks and the rotor see it. Then its process enters it, or a user moves
 *   processes into it;
 * - unpublished: lookups do not find it any more;
 * - buried: its freeze is lifted for good, its cgroup removed;
 * - freed: after the last reference is dropped and an RCU grace period has passed.
 */
#ifndef _MTS_JOB_H
#define _MTS_JOB_H

#include "context.h"
#include "mts.h"
#include "policy/account.h"
#include "policy/admission.h"
#include "policy/confined.h"
#include "policy/demand.h"
#include "policy/fair.h"
#include "policy/ties.h"
#include "policy/token.h"
#include "policy/working_set.h"

/* Bits of mts_job.events: set by hooks, taken by the rotor. */
#define MTS_JOB_EV_EMPTIED 0 /* the last process has exited */

/* A setting of a job's cgroup that mts changes, and restores. */
enum mts_setting {
	MTS_SETTING_LOW, /* memory.low: bytes; U64_MAX: max */
	MTS_SETTING_WEIGHT, /* cpu.weight; 0: cpu.idle */
	MTS_SETTINGS
};

/**
 * struct mts_kept - a setting while mts changes it
 * @set: the other fields are valid
 * @own: the value before mts changed it
 * @given: the value that mts wrote last, as the kernel rounds it
 */
struct mts_kept {
	bool set;
	u64 own;
	u64 given;
};

/**
 * struct mts_touched_part - the pages of one page table, one bit a page
 * @mm: the address space; only compared, never dereferenced: it may be gone
 * @addr: address of the first page
 * @now: pages used in the last slice
 * @before: pages used in the slice before that
 * @left: pages left in swap at the beginning of the slice, as unused
 */
struct mts_touched_part {
	const struct mm_struct *mm;
	unsigned long addr;
	DECLARE_BITMAP(now, PTRS_PER_PTE);
	DECLARE_BITMAP(before, PTRS_PER_PTE);
	DECLARE_BITMAP(left, PTRS_PER_PTE);
};

/**
 * struct mts_touched - which pages a job's slices used; all zero: no record
 * @parts: in order of mm, then of addr
 * @n: number of parts
 * @max: allocated parts
 * @pages: the job's pages when the slice began, in memory or in swap
 * @lacked: of @pages: in swap, although the slice was expected to use them
 * @marks_cleared: the accessed bits are cleared, so that the slice sets them again
 * @complete: all of the job's pages were seen
 * @told: this slice, or an earlier one on which the record rests, has shown all that the job uses
 */
struct mts_touched {
	struct mts_touched_part *parts;
	u32 n;
	u32 max;
	u64 pages;
	u64 lacked;
	bool marks_cleared;
	bool complete;
	bool told;
};

/**
 * struct mts_swapins_seen - what a job had swapped in when it was last counted
 * @slice: mts_rotor.fit.slices then: it counts in that slice alone
 * @refaults, @major_faults: as in struct mts_usage
 */
struct mts_swapins_seen {
	u64 slice;
	u64 refaults;
	u64 major_faults;
};

/**
 * struct mts_swap_slots - a job's memory.swap.high while mts changes it
 * @memcg: the job's, with a reference; NULL: mts does not change it
 * @found: the value before mts changed it, pages
 * @high: the value that mts wrote last, pages
 * @lost: another process has set it since: mts leaves it alone
 */
struct mts_swap_slots {
	struct mem_cgroup *memcg;
	unsigned long found;
	unsigned long high;
	bool lost;
};

/**
 * struct mts_job
 * @node: in the table, in order of id; written under mts_lock, read under RCU
 * @by_cgroup: in the hash table by @cgrp; the same rules as @node
 * @grave: in a list of unpublished jobs that the thread which unpublished them buries
 * @published: in the table; under mts_lock
 * @flags: MTS_JOB_EACH, MTS_JOB_EACH_LEAF, MTS_JOB_PIN, MTS_JOB_QUEUE; written under mts_lock,
 *	hooks read it
 * @since: processes born later can be leaves (MTS_JOB_EACH_LEAF); ktime, ns
 * @max_pause_ns: its own pause limit; 0: none; written under mts_lock, read with READ_ONCE()
 * @weight: its own weight; MTS_WEIGHT_*; written under mts_lock, read with READ_ONCE()
 * @owner: whose it is: a user (MTS_JOB_USER)
 * @max_wait_ns: the longest time in the queue, ns
 * @command: its command, as past.h knows it; 0: none
 * @created: mts has made the cgroup, and removes it
 * @each_count: number of the last child's name; under mts_lock
 * @place: where the cgroups of its children are made, and its own if @created; no dentry: the base
 * @family: id of the MTS_JOB_HERE job that it is, or has come from; 0: none
 * @each_max: jobs of the family that there may be, without the first
 * @freeze_file: cgroup.freeze, kept open so that a thaw need not allocate memory to open it
 * @freeze_watch: notices that other processes write cgroup.freeze (freeze_watch.c)
 *
 * For the fields below these, a comment names the owner.
 */
struct mts_job {
	struct kref ref;
	struct rcu_head rcu;
	struct list_head node;
	struct hlist_node by_cgroup;
	struct list_head grave;
	bool published;

	u32 id;
	u32 parent;
	u32 flags;
	u64 since;
	u64 max_pause_ns;
	u32 weight;
	u32 owner;
	u64 max_wait_ns;
	u64 command;
	bool created;
	u32 each_count;
	struct path place;
	u32 family;
	u32 each_max;
	char name[MTS_NAME_SIZE];
	struct path dir;
	struct cgroup *cgrp;
	struct file *freeze_file;
	struct mts_freeze_watch *freeze_watch;
	unsigned long events;

	/*
	 * Held for reading while the job is evicted, and for writing while its cgroup is removed.
	 * Without it rmdir would wait for the eviction with cgroup_mutex held, and no job could be
	 * thawed meanwhile.
	 */
	struct rw_semaphore evict_lock;
	/* reclaim.c: how many threads evict it, so that another may help; its bytes as last seen */
	atomic_t evictors;
	atomic64_t evict_resident;

	/* moves.c, any context: to this cgroup the last process has moved; 0: it has not */
	u64 moved_to;

	/* swapins.c, any context: time that tasks have waited for swap; when one last did */
	atomic64_t swapin_ns;
	atomic64_t swapin_at; /* ktime, ns; 0: never */

	/* freezer.c, under freeze_lock; readers may race */
	struct mutex freeze_lock;
	bool retired; /* never to be frozen again */
	bool held; /* in the queue: it has not begun */
	u64 began; /* ktime, ns */
	u64 held_for; /* time in the queue, ns */
	bool frozen; /* mts holds the job frozen */
	u64 frozen_since; /* ktime, ns */
	u64 frozen_total; /* ns */
	u64 frozen_longest; /* ns */
	u64 open_since; /* a thaw found that others have cgroup.freeze open; ktime, ns; 0: no */
	bool needs_bring_back; /* thawed out of turn, before its memory was brought back */

	/* each.c; any context: no process of it gets a job of its own before this; ktime, ns */
	u64 leaf_retry;

	/* interactive.c; any context */
	atomic64_t credit; /* policy/interactive.h */
	atomic64_t trail; /* policy/interactive.h */
	atomic64_t last_input; /* ktime, ns; 0: none */
	atomic64_t interactive_until; /* ktime, ms */
	atomic64_t spared_until; /* ktime, ms: must not be frozen until then */
	atomic64_t wanted_since; /* since when it is to run although it is frozen; ktime, ns */
	u64 crowded_out; /* value of last_input for which there was no room; 0: none */

	/* calls.c; any context. Until when a process outside waits for it; ktime, ms; 0: never */
	atomic64_t seen_until; /* a look saw a process wait (waits.c) */
	atomic64_t task_until; /* for a task that the process has started, or asked to end */
	atomic64_t init_until; /* PID 1 waits: the budget does not limit it */
	struct {
		atomic64_t calls; /* calls while the job was frozen */
		atomic64_t refused; /* of calls: refused by the budget */
		atomic64_t last_ns; /* the last call; ktime; 0: never */
		u32 last_kind; /* enum mts_call */
		u32 last_pid; /* the process that waited */
		u32 last_refused; /* 1: the last call was refused */
		char comm[TASK_COMM_LEN]; /* name of last_pid; a reader may see parts of two */
		/* the job runs for a call; under freeze_lock, readers may race */
		bool honoured;
		/* values at the beginning of the watchdog's look (watched.c) */
		s64 task_until_before;
		s64 init_until_before;
		/* of calls for which there was no place; as task_until and init_until */
		atomic64_t task_unwatched_until;
		atomic64_t init_unwatched_until;
	} call;

	/* budget.c; the first two under budget_lock, readers may race */
	u64 lent; /* bytes of the budget that the job holds; 0: it may not run out of turn */
	bool oversize; /* the budget had no room for these bytes */
	/* budget.c, in the rotor's thread; readers of @account.empty may race */
	struct mts_account account;
	bool was_out; /* it ran out of turn at the last look */
	u64 ran; /* processor time as of ran_at, ns */
	u64 ran_at; /* ktime, ns */

	/* protect.c, under protect_lock */
	struct mts_kept kept[MTS_SETTINGS];
	u64 above; /* bytes of protection that the cgroups above have for it (above.c) */
	bool unprotected; /* its settings are not changed any more */

	/* tasks.c: results of the last scans; readers may race */
	bool attended; /* while pauses are automatic and longer than MTS_PAUSE_STRETCHED_NS */
	bool realtime;
	bool untouchable;
	/* tasks.c, during a scan */
	bool scan_attended;
	bool scan_realtime;
	bool scan_untouchable;
	u32 scan_awake;
	/* tasks.c: sums over the looks of this window; admission.c adds the time that it ran */
	struct mts_look look;

	/* ran.c, under ran_lock: user time as of its last reading, ns */
	u64 user;

	/* usage.c, in the rotor's thread: the last reading of memory.stat */
	struct mts_usage measured;
	u64 measured_at; /* ktime, ns; 0: never */

	/*
	 * rotor/queue.c, under mts_lock; past.c before the job is published. What it is expected to
	 * need and how long to run; size_from is an enum mts_size_from
	 */
	u64 size; /* bytes; 0: not known */
	u32 size_from;
	u64 runs_ns; /* U64_MAX: not known */
	/* rotor/queue.c, under mts_lock */
	u32 queue_place; /* 1: the next; 0: it does not wait */
	u64 starts_at; /* as foretold; ktime, ns; 0: it cannot be */
	u64 unclaimed; /* of its size: not needed by jobs that its processes made, bytes */
	u64 grown_to; /* demand when it last grew by a part of it (queue.c) */
	u64 grown_at; /* ktime, ns */

	/* written by the rotor's thread, under mts_lock where others read */
	struct mts_usage usage;
	u64 demand; /* bytes */
	u64 most; /* the largest demand so far, bytes */
	u64 unused; /* bytes that its slices do not use; not part of the demand */
	u32 threads; /* threads that wanted to run: the larger of the last two counts */
	u64 window_waited; /* choice.c: mts_swap_waits.waited_ns at the last window's end */
	u32 last_threads; /* the last count; of a job that was never counted: 1 */
	u64 threads_at; /* when that was; ktime, ns */
	u64 rss; /* bytes in memory that count towards the demand */
	u32 bin; /* index, MTS_BIN_EVERY or MTS_BIN_NONE */
	/*
	 * turn.c: a time of ktime from which on the job has run, without the time that it was
	 * frozen; 0: it takes no turns; ns
	 */
	s64 served_from;
	u32 entitled; /* turn.c: as of this round (policy/entitled.h); 0: MTS_ENTITLED_DEFAULT */
	bool runs; /* round.c: its bin runs, or is switched to; readers may race */
	u64 planned_bytes; /* its part of its bin's planned demand; 0: it is in no bin */
	u32 freeze_failures;
	u32 backoff; /* freezes that failed in a row */
	u64 left_out_until; /* ktime, ns; see mts_job_left_out() */
	bool foreign; /* another process has frozen it */
	u32 interactive; /* enum mts_interactive_what, as last traced */
	u64 kept_bytes; /* bytes that stay in memory while other bins run; 0: none */
	struct mts_mem_limits limits; /* of its cgroup and of those above it */
	u32 limit_above; /* confined.c: index of the nearest limit above it */
	bool confined; /* confined.c: it reclaims for these limits, not for the host */
	u64 refaults; /* confined.c: usage.refaults that are accounted for */
	struct mts_swapins_seen seen; /* fit.c */
	u64 immovable; /* part of the demand that limits of swap keep in memory */
	bool has_no_swap; /* in every bin, because limits of swap leave nothing to evict */
	bool limited; /* in every bin because of its pause limit */
	bool sleeps; /* in every bin because none of its threads wants to run */
	bool overdue; /* the watchdog thawed it: do not freeze it until its bin has run */
	bool ran_since_evict; /* has been thawed since it was last evicted */
	bool scattered; /* its eviction took long: bring-back frees its swap slots */
	struct mts_swap_slots swap_slots; /* while bring-back frees them */
	u64 run_ns;
	u64 slices;
	u64 evicted;

	/* touched.c, in the rotor's thread: which pages the last slices used */
	struct mts_touched touched;
	struct mts_touched touched_before; /* the last record, while the next one is made */
	struct mts_slice_use use;
	struct mts_working_set working_set;
	/* fair.c and token.c, in the rotor's thread; readers may race */
	struct mts_fair_job fair;
	u64 swap_waited; /* mts_swap_waits.waited_ns as last read */
	u64 swap_wait_ns; /* the part of it that the policy has accounted */
	u64 delays; /* times that it was delayed */
	u64 holdings; /* times that it was the holder */
	bool delayed; /* fair.c: as last judged */
	bool holder; /* token.c: it keeps its memory */
	/* token.c, in the rotor's thread: the job's account; what was read of it last */
	struct mts_token_job token;
	struct {
		bool done; /* the other fields are valid */
		u64 user_ns;
		u64 major_faults;
	} token_read;

	/* the rotor's thread */
	u64 turn_ns; /* slices since it came in */
	bool turn_was_short; /* the host has reclaimed in one of them */
	bool slice_tells_little; /* its last slice may not have shown all that it uses */
	u64 sampled; /* onset.c: bytes in memory at the last sample */
	u64 base; /* onset.c: the same at the sample since which growth is measured */
	u64 room; /* onset.c: bytes until it reaches a limit of its cgroup, or of one above */
	bool slept; /* slept when last seen before memory was full, and has hardly run since */
	struct mts_ties ties; /* jobs for which it was seen to wait */

	/*
	 * tasks.c: for each processor, time in which its tasks waited for memory as of the last
	 * look, ns; wraps
	 */
	u32 stalled[];
};

u32 mts_job_count(void);

/* Jobs that have MTS_JOB_EACH: while 0, the fork hook returns at once. */
extern atomic_t mts_job_each;
/* Jobs that have MTS_JOB_EACH_LEAF: while 0, the hook on growing processes is not installed. */
extern atomic_t mts_job_leaves;

/*
 * A change that lists of jobs or bins show: count it, or read the count (mts_status.generation).
 * Under mts_lock.
 */
void mts_jobs_changed(void);
u64 mts_jobs_generation(void);

/* Put a job into the table or take it out; set its flags: for enrol.c alone. Under mts_lock. */
void mts_jobs_insert(struct mts_job *job);
void mts_jobs_delete(struct mts_job *job);
void mts_jobs_set_flags(struct mts_job *job, u32 flags);

extern struct list_head mts_jobs;

/* In order of id; under mts_lock. */
#define mts_job_for_each(job) list_for_each_entry(job, &mts_jobs, node)
/* Under rcu_read_lock(). */
#define mts_job_for_each_rcu(job) list_for_each_entry_rcu(job, &mts_jobs, node)

/* The job of this cgroup, or of a cgroup above it; NULL: none. Under rcu_read_lock(). */
struct mts_job *mts_job_of_cgroup(struct cgroup *cgrp);
/* The job of this very cgroup; NULL: none. Under rcu_read_lock(). */
struct mts_job *mts_job_at_cgroup(struct cgroup *cgrp);

static inline bool mts_job_tryget(struct mts_job *job)
{
	return kref_get_unless_zero(&job->ref);
}

void mts_job_put(struct mts_job *job);

/*
 * The job's own pause limit; 0: none. Where the others' pauses are as long as pays, an attended job
 * has that of all other hosts. Any context.
 */
static inline u64 mts_job_own_limit(const struct mts_job *job)
{
	u64 own = READ_ONCE(job->max_pause_ns);

	if (!READ_ONCE(job->attended))
		return own;
	return own ? min_t(u64, own, MTS_PAUSE_STRETCHED_NS) : MTS_PAUSE_STRETCHED_NS;
}

/*
 * The shorter of the job's own pause limit and that of all jobs; of a job in the queue its longest
 * wait. 0 if @limit_of_all is 0. Any context.
 */
static inline u64 mts_job_pause_limit(const struct mts_job *job, u64 limit_of_all)
{
	u64 own = mts_job_own_limit(job);

	if (READ_ONCE(job->held))
		return limit_of_all ? job->max_wait_ns : 0;
	return own ? min(own, limit_of_all) : limit_of_all;
}

/* The job did not freeze, or another process thawed it: it is in every bin for a while. */
static inline bool mts_job_left_out(const struct mts_job *job)
{
	return job->left_out_until && ktime_get_ns() < job->left_out_until;
}

#endif /* _MTS_JOB_H */
