/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs: one cgroup each, packed, frozen and evicted as one.
 *
 * A job's life: made and published (hooks and rotor see it), then entered by
 * its process or filled by its owner; unpublished (nobody finds it any more),
 * buried (its freeze is lifted for good, its cgroup removed), then freed when
 * the last reference goes, after a grace period.
 */
#ifndef _MTS_JOB_H
#define _MTS_JOB_H

#include "context.h"
#include "mts.h"
#include "policy/account.h"
#include "policy/admission.h"
#include "policy/demand.h"
#include "policy/ties.h"
#include "policy/working_set.h"

/* Bits of mts_job.events: set by hooks, taken by the rotor. */
#define MTS_JOB_EV_EMPTIED 0 /* the last process has exited */

/* A setting of a job's cgroup that we change, and put back. */
enum mts_setting {
	MTS_SETTING_LOW, /* memory.low: bytes; U64_MAX: max */
	MTS_SETTING_WEIGHT, /* cpu.weight; 0: cpu.idle */
	MTS_SETTINGS
};

struct mts_kept {
	bool set; /* the rest means something */
	u64 own;
	u64 given;
};

/**
 * struct mts_touched_part - one page table's worth of a record, a bit a page
 * @mm: of whom; only compared, it may be gone
 * @addr: of the first page
 * @now: used in the slice
 * @before: used in the one before
 * @left: left in swap when the slice began, as not used
 */
struct mts_touched_part {
	const struct mm_struct *mm;
	unsigned long addr;
	DECLARE_BITMAP(now, PTRS_PER_PTE);
	DECLARE_BITMAP(before, PTRS_PER_PTE);
	DECLARE_BITMAP(left, PTRS_PER_PTE);
};

/**
 * struct mts_touched - a job's record; zero: there is none
 * @parts: in order of mm, then of addr
 * @n: how many
 * @max: room for so many
 * @pages: that there were when the slice began, in memory or in swap
 * @lacked: of these, pages that were wanted, but in swap
 * @marks_cleared: a slice is to be seen by it
 * @complete: all of the job's pages were seen
 * @told: it rests on a slice that has shown all that the job uses, this or one before
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
 * struct mts_swap_slots
 * @memcg: a job's, held; NULL: there is nothing to be done
 * @found: its memory.swap.high, pages
 * @high: the same as we left it last
 * @lost: somebody else has set it since: it is left alone
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
 * @by_cgroup: hash by @cgrp, the same
 * @flags: MTS_JOB_EACH, MTS_JOB_PIN; written under mts_lock, hooks read it
 * @created: we made the cgroup, and remove it
 * @grave: in a list of unpublished jobs that their finder buries
 * @each_count: children given names so far; under mts_lock
 * @freeze_file: cgroup.freeze, kept open so that a thaw needs no memory
 * @freeze_watch: freeze_watch.c: tells of others that write it
 *
 * Below that each field says its owner.
 */
struct mts_job {
	struct kref ref;
	struct rcu_head rcu;
	struct list_head node;
	struct hlist_node by_cgroup;
	struct list_head grave;
	bool published; /* under mts_lock */

	u32 id;
	u32 parent;
	u32 flags;
	u64 max_pause_ns; /* its own pause limit; 0: none; written under mts_lock, READ_ONCE() */
	bool created;
	u32 each_count;
	char name[MTS_NAME_SIZE];
	struct path dir;
	struct cgroup *cgrp;
	struct file *freeze_file;
	struct mts_freeze_watch *freeze_watch;
	unsigned long events;

	/*
	 * While it is evicted, and while its cgroup is removed: whoever removes that waits for
	 * the eviction, with cgroup_mutex held, and nobody would be thawed meanwhile.
	 */
	struct mutex evict_lock;
	/* reclaim.c, under evict_lock; the timer's function reads them */
	struct timer_list evict_timer;
	struct task_struct *evictor;
	const struct mts_eviction *evict_for;
	u64 evict_began; /* ktime, ns */
	u64 evict_writes; /* pages on their way to a disk then */
	bool evict_cut; /* the call was ended before its time */

	/* freezer.c, under freeze_lock; readers may race */
	struct mutex freeze_lock;
	bool retired; /* never to be frozen again */
	bool frozen; /* by us */
	u64 frozen_since;
	u64 frozen_total;
	u64 frozen_longest;
	u64 open_since; /* a thaw saw cgroup.freeze open for others; ktime, ns; 0: it is not */
	bool needs_bring_back; /* thawed as it is wanted, without what it has in swap */

	/* interactive.c; any context */
	atomic64_t credit; /* policy/interactive.h */
	atomic64_t trail; /* the same */
	atomic64_t last_input; /* ktime, ns; 0: none */
	atomic64_t interactive_until; /* ktime, ms */
	atomic64_t spared_until; /* ktime, ms */
	atomic64_t wanted_since; /* asked to run while frozen; ktime, ns */
	u64 crowded_out; /* the last input when the cap sent it to a bin */

	/* calls.c; any context. Until when a process outside waits for it; ktime, ms; 0: never */
	atomic64_t seen_until; /* it was seen to */
	atomic64_t task_until; /* a task that it has started, or told to end */
	atomic64_t init_until; /* PID 1: whatever the budget says */
	struct {
		atomic64_t calls; /* that reached it while it was frozen */
		atomic64_t refused; /* of these: its budget had nothing left */
		atomic64_t last_ns; /* ktime; 0: never called */
		u32 last_kind; /* enum mts_call */
		u32 last_pid; /* the process that waited */
		u32 last_refused; /* 1: that one was refused */
		char comm[TASK_COMM_LEN]; /* of that process; may be torn */
		bool honoured; /* it runs for one; under freeze_lock, readers may race */
		/* the watchdog, in a look */
		s64 task_until_before;
		s64 init_until_before;
	} call;

	/* budget.c; the first two under its lock, readers may race */
	u64 lent; /* bytes; it may run out of turn; 0: it may not */
	bool oversize; /* there was no room for them */
	/* the same, in the rotor's thread; readers of @account.empty may race */
	struct mts_account account;
	bool was_out; /* of its turn, at the last look */
	u64 ran; /* ns of the processors, as of ran_at */
	u64 ran_at; /* ktime, ns */

	/* protect.c, under its lock */
	struct mts_kept kept[MTS_SETTINGS];
	bool unprotected; /* never to be changed again */

	/* tasks.c: what the last scan found; readers may race */
	bool realtime;
	bool untouchable;
	/* tasks.c, during a scan */
	bool scan_realtime;
	bool scan_untouchable;
	u64 scan_user;
	u32 scan_awake;
	/* tasks.c: as of the last look; the looks of this window */
	u64 user;
	u32 stalled;
	struct mts_look look;

	/* cgroup_ops.c, in the rotor's thread: the last look into memory.stat */
	struct mts_usage measured;
	u64 measured_at; /* ktime, ns; 0: never */

	/* rotor's thread writes, under mts_lock where others read */
	struct mts_usage usage;
	u64 demand;
	u64 unused; /* not in it */
	u32 threads; /* that wanted to run, the last two times that they were counted: the larger */
	u32 last_threads;
	u64 rss; /* bytes in memory that count towards the demand */
	u32 bin;
	u64 planned_bytes; /* that it counts for in its bin, as planned; 0: it is in none */
	u32 freeze_failures;
	u32 backoff; /* freezes that failed in a row */
	u64 left_out_until; /* ktime, ns */
	bool foreign; /* somebody else froze it */
	u32 interactive; /* enum mts_interactive_what, as last traced */
	u64 kept_bytes; /* bytes that are in memory in every bin, although it is not; 0: none */
	bool limited; /* resident for its pause limit */
	bool overdue; /* the watchdog thawed it: leave it until its bin has run */
	bool ran_since_evict; /* has been thawed since it was last evicted */
	bool scattered; /* took long to evict: comes back to lose its places in swap */
	struct mts_swap_slots swap_slots; /* while it does */
	u64 run_ns;
	u64 slices;
	u64 evicted;

	/* touched.c, in the rotor's thread: what the last slices used of its memory */
	struct mts_touched touched;
	struct mts_touched touched_before; /* while the next record is made */
	struct mts_slice_use use;
	struct mts_working_set working_set;
	/* the rotor's thread */
	bool slice_tells_little; /* its last one need not have shown all that it uses */
	bool slept; /* when last seen before memory was full, and does not run much since */
	struct mts_ties ties; /* jobs that it was seen to wait for */
};

u32 mts_job_count(void);

/* Jobs that have MTS_JOB_EACH: while 0, the fork hook returns at once. */
extern atomic_t mts_job_each;

/*
 * Something has changed of what a list of jobs or bins shows. The caller holds mts_lock, as does
 * who asks how often that was.
 */
void mts_jobs_changed(void);
u64 mts_jobs_generation(void);

/* Put it into the table or take it out: enrol.c alone. Under mts_lock. */
void mts_jobs_insert(struct mts_job *job);
void mts_jobs_delete(struct mts_job *job);

extern struct list_head mts_jobs;

/* In order of id; under mts_lock. */
#define mts_job_for_each(job) list_for_each_entry(job, &mts_jobs, node)
/* Under rcu_read_lock(). */
#define mts_job_for_each_rcu(job) list_for_each_entry_rcu(job, &mts_jobs, node)

/* The job that a cgroup is, or is in; under rcu_read_lock(). */
struct mts_job *mts_job_of_cgroup(struct cgroup *cgrp);
/* The job that a cgroup is; under rcu_read_lock(). */
struct mts_job *mts_job_at_cgroup(struct cgroup *cgrp);

static inline bool mts_job_tryget(struct mts_job *job)
{
	return kref_get_unless_zero(&job->ref);
}

void mts_job_put(struct mts_job *job);

/* The pause limit that holds for it: its own, or that of all jobs. Any context. */
static inline u64 mts_job_pause_limit(const struct mts_job *job, u64 limit_of_all)
{
	u64 own = READ_ONCE(job->max_pause_ns);

	return own ? min(own, limit_of_all) : limit_of_all;
}

/* It did not freeze, or somebody thawed it: it is in every bin for a while. */
static inline bool mts_job_left_out(const struct mts_job *job)
{
	return job->left_out_until && ktime_get_ns() < job->left_out_until;
}

#endif /* _MTS_JOB_H */
