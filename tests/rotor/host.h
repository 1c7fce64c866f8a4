/* SPDX-License-Identifier: GPL-2.0 */
/*
 * host: a model of a host with memory, a swap disk, processors, and jobs that grow, sleep and end.
 * It implements the operations that the rotor calls (jobs/ops.h, memory/memory.h, jobs/tasks.h,
 * sched_hooks/hooks.h). Each of them fails, hangs or is late at the configured rate of mishaps.
 */
#ifndef HOST_H
#define HOST_H

#include <stdio.h>

#include "job.h"

#define MAX_MODELS 4200
/* In a run that is drawn. */
#define DRAWN_MODELS 48

/* Operations that may fail (mishap() in mechanism.c). */
enum host_op {
	OP_FREEZE,
	OP_THAW,
	OP_STOPS, /* the tasks freeze */
	OP_USAGE,
	OP_EVICT,
	OP_BRING,
	OP_USE,
	OP_GET,
	OP_SET,
	OPS
};

enum host_mishap {
	MISHAP_NONE,
	MISHAP_FAILS,
	MISHAP_LATE, /* takes up to a second */
	MISHAP_HANGS, /* takes up to half a minute */
	MISHAPS
};

/**
 * struct model - the host's side of a job
 * @job: with a reference, until the model is buried
 * @size: bytes that it uses; touched bytes that are not @resident are in @swap
 * @growth: bytes per second
 * @limit: memory.max of its cgroup, bytes
 * @limit_above: its cgroup is below the one with host.limit_above
 * @swap_limit: memory.swap.max of its cgroup, bytes
 * @limits_changed: when one of these last changed; ktime
 * @refaults: pages that it has swapped in, or that were brought back for it
 * @major_faults: those that it waited for itself
 * @frozen_by_file: its cgroup.freeze says 1
 * @frozen_above: another process has frozen a cgroup above it
 * @foreign: another process has frozen it by cgroup.freeze
 * @open: another process has cgroup.freeze open
 * @stops_at: when its tasks are frozen, ktime; 0: they run
 * @stuck: its tasks do not freeze
 * @in_op: threads in a freezer operation on it that hangs
 * @runs, @stalls: on a plain host, the parts of its time in which it runs and waits for memory, per
 *	mille; 0: all of it, and as long as it lacks memory
 * @stalled: time that it waited for memory, ns
 * @waited_until: until then an outside process waits for a lock that it holds
 * @ended: its last process has exited
 * @buried: no longer a job
 * @unattended: it is not attended (jobs/tasks.h)
 * @limited: when its own pause limit last changed
 * @use_began: switches so far when the record of its slice began
 * @slices_before: its slices when a bin last outgrew the capacity, less the rounds since in which
 *	it ran in every bin
 * @pinned: the last round that began without its pin
 * @seen: when the rotor last knew of it, or was excused; ktime
 * @held: it was the holder, and its protection has not been withdrawn since
 * @told_to_hold: by the trace events
 * @held_until: when the check last found that in order; ktime
 */
struct model {
	struct mts_job *job;
	struct cgroup cgrp;
	u64 size;
	u64 resident;
	u64 swap;
	u64 growth;
	u64 limit;
	bool limit_above;
	u64 swap_limit;
	u64 limits_changed;
	u64 refaults;
	u64 major_faults;
	u64 ran;
	u64 user;
	u64 stalled;
	u64 stalled_seen;
	u32 runs;
	u32 stalls;
	u64 low;
	u64 weight;
	u64 own_low;
	u64 own_weight;
	u32 threads;
	bool awake;
	bool realtime;
	bool frozen_by_file;
	bool frozen_above;
	bool foreign;
	bool open;
	bool stuck;
	u32 in_op;
	u64 stops_at;
	u64 waited_until;
	bool ended;
	bool buried;
	bool unattended;
	u64 limited;
	u64 use_began;
	u64 slices_before;
	u64 pinned;
	u64 seen;
	bool held;
	bool told_to_hold;
	u64 held_until;
};

/* Cgroups above jobs: two slices, a job is in the one of its id's parity, and what both are in. */
#define SLICES 3u
#define TOP_SLICE 2u

struct host {
	bool plain; /* a case (cases.h): nothing is drawn */
	bool unattended; /* jobs to come are, all but each eighth */
	u64 memory;
	u64 swap;
	u64 swap_used;
	u64 limit_above; /* memory.max of a cgroup above jobs, bytes */
	u32 processors;
	u64 bulk_ns; /* ns per page, adjacent pages */
	u64 page_ns; /* ns of a processor per page, part of these */
	u64 fault_ns; /* ns per page, single pages */
	u64 request_ns; /* ns of the disk per request, of many at once */
	u64 measuring_ns; /* time that it takes to measure a job */
	u32 fails[OPS]; /* how many of the next ones of each operation fail */
	u64 hangs[OPS]; /* how long the next one of each operation hangs, ns */
	u64 busy; /* processor time of the rotor's thread for the pages that it has moved, ns */
	u32 mishaps; /* per mille of the operations; 0: none */
	u64 last_reclaim;
	u64 swapins;
	u64 reclaimed;
	u64 swapouts;
	u64 advanced; /* time up to which the model is simulated */
	u64 swapin_every_ns; /* a page of whatever is no job; 0: none */
	bool reclaims; /* all the time */
	u64 last_foul; /* end of the last mishap */
	bool suspended; /* from a notifier's consent to suspend until the host is back */
	u64 slice_low[SLICES]; /* their memory.low, bytes */
	u64 slice_own[SLICES]; /* the same without mts */
};

extern struct host host;
extern struct model *models[MAX_MODELS];
extern u32 nmodels; /* all models have lower indices */
/* [operation][state of the rotor][mishap]: count */
extern u64 host_mishaps[OPS][8][MISHAPS];

/* Draw a host. @gentle: with a disk that moves all of the memory in seconds. */
void host_begin(bool gentle);
/* A host as @given, on which nothing happens by chance. */
void host_begin_plain(const struct host *given);
void host_end(void);

/* Another process writes a slice's memory.low. */
void host_protect_slice(u32 slice, u64 bytes);

/* One of @n times; on a plain host never. */
bool host_chance(u64 n);

/* The time at which a job's tasks freeze has changed. */
void host_stops_changed(void);

/* Bytes that jobs below the limit above have in memory. */
u64 host_used_below_limit(void);

/* Simulate up to now: jobs run, grow and fault. */
void host_advance(void);

/* Add a job. @size: 0: drawn. Return: NULL if there are too many. */
struct model *host_add(u64 size, u32 flags, u64 max_pause_ns);

/*
 * Submit a job to the queue, whose longest wait is @wait_ns. @says: its size is given; @runs_ns: as
 * long its command has run; U64_MAX: that is not known.
 */
struct model *host_submit(u64 size, bool says, u64 runs_ns, u64 wait_ns);

/* Whose the job is: of one that has just been added. */
void host_give(struct model *model, u32 user);

/* As `mtsctl weight`. */
void host_weigh(struct model *model, u32 weight);

/* Add a cgroup whose processes ran for @ran ns before. */
struct model *host_add_with_past(u64 size, u64 ran);

/* The job's last process exits; the hook tells the rotor. */
void host_end_job(struct model *model);

/* As `mtsctl remove`: the cgroup is no longer a job. */
void host_remove(struct model *model);

/* Remove all jobs, as at unload. */
void host_remove_all(void);

/* Draw an existing job, with a reference to it; NULL: there is none. */
struct model *host_some(void);
/* A model, with a reference to its job; NULL: it is none, or that job has gone. */
struct model *host_get(u32 i);
void host_put(struct model *model);

struct model *model_of(const struct mts_job *job);

/* Another process writes the cgroup.freeze of the job, or of a cgroup above it. */
void model_freeze_by_other(struct model *model, bool freeze, bool above);

/* Are all of its tasks frozen? */
bool model_is_frozen(const struct model *model);

/* Call the notifiers that the module registered. */
void host_oom(void);
/* A suspend that the module refuses does not happen. */
void host_suspend(unsigned long event);
void host_resume(unsigned long event);

#endif /* HOST_H */
