/* SPDX-License-Identifier: GPL-2.0 */
/*
 * host: memory, a swap disk, processors, and jobs that grow, sleep and end: what the module's
 * mechanism works on, in a few hundred lines. It gives the rotor its operations (jobs/ops.h,
 * memory/memory.h, jobs/tasks.h, sched_hooks/hooks.h), and each of them fails, hangs or comes late
 * as often as the weather has it.
 */
#ifndef HOST_H
#define HOST_H

#include <stdio.h>

#include "job.h"

#define MAX_MODELS 48

/* What may go wrong; each operation asks (host_mishap()). */
enum host_op {
	OP_FREEZE,
	OP_THAW,
	OP_STOPS, /* the tasks come to a stop */
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
	MISHAP_LATE, /* it takes a second or so */
	MISHAP_HANGS, /* it takes up to half a minute */
	MISHAPS
};

/**
 * struct model - a job as the host has it
 * @job: with a reference, until it is buried
 * @size: bytes that it uses; what of it is not @resident and has been touched is in @swap
 * @growth: bytes a second
 * @frozen_by_file: its cgroup.freeze says 1
 * @frozen_above: a cgroup above it is frozen by others
 * @foreign: another process wants it frozen, and has written so
 * @open: another process has cgroup.freeze open
 * @stops_at: its tasks stand still from then on, ktime; 0: they run
 * @stuck: they do not come to a stop
 * @in_op: somebody is in an operation on its freezer that hangs
 * @waited_until: a process outside waits for a lock that it holds
 * @ended: its last process has exited
 * @buried: no job any more
 * @limited: when its own pause limit was last changed
 * @seen: when the rotor last knew of it, or need not have; ktime
 */
struct model {
	struct mts_job *job;
	struct cgroup cgrp;
	u64 size;
	u64 resident;
	u64 swap;
	u64 growth;
	u64 ran;
	u64 user;
	u64 user_seen;
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
	u64 limited;
	u64 seen;
};

struct host {
	u64 memory;
	u64 swap;
	u64 swap_used;
	u32 processors;
	u64 bulk_ns; /* a page, in a row */
	u64 fault_ns; /* a page by itself */
	u32 mishaps; /* per mille of the operations; 0: fair weather */
	u64 last_reclaim;
	u64 swapins;
	u64 reclaimed;
	u64 swapouts;
	u64 advanced; /* to this time */
	u64 last_foul; /* when a mishap was last under way */
};

extern struct host host;
extern struct model *models[MAX_MODELS];
/* [op][state of the rotor][mishap]: how often */
extern u64 host_mishaps[OPS][8][MISHAPS];

/* As drawn; @gentle: a disk that moves all of the memory in seconds. */
void host_begin(bool gentle);
void host_end(void);

/* A job's tasks will come to a stop at another time. */
void host_stops_changed(void);

/* Time has passed: jobs have run, grown and faulted. */
void host_advance(void);

/* A job comes; NULL: there are enough. @size: 0: drawn. */
struct model *host_add(u64 size, u32 flags, u64 max_pause_ns);

/* Its last process exits; the hook tells the rotor. */
void host_end_job(struct model *model);

/* `mtsctl remove`; it is no job any more. */
void host_remove(struct model *model);

/* All of them, as at unload. */
void host_remove_all(void);

/* One that is there and a job, drawn, with a reference of its job's; NULL: there is none. */
struct model *host_some(void);
void host_put(struct model *model);

struct model *model_of(const struct mts_job *job);

/* Another process writes its cgroup.freeze, or that of a cgroup above it. */
void model_freeze_by_other(struct model *model, bool freeze, bool above);

/* Do its tasks stand still? */
bool model_is_frozen(const struct model *model);

/* The kernel's notifiers, as the module has registered them. */
void host_oom(void);
int host_pm(unsigned long event);

#endif /* HOST_H */
