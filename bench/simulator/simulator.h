/* SPDX-License-Identifier: GPL-2.0 */
/*
 * simulator: the module's rotor, freezer and fail-safe on a virtual clock, with a model of a host
 * behind their operations, for hosts larger than ours.
 *
 * simulator.c  the whole, and the ideal beside it
 * scenario.c   the command line: host, disk, jobs
 * host.c       the host: time passes
 * memory.c     whose pages are in memory
 * phases.c     what each running job is about: it fills memory, faults or works
 * rates.c      how fast, as the processors and the disk allow
 * move.c       eviction and bringing back, and the threads that do it
 * jobs.c       jobs come and go, freeze and thaw; the other operations of the module
 * figures.c    what is counted, as trace events tell of it
 * report.c     figures, for people and as JSON
 *
 * Units: bytes, nanoseconds of virtual time. All is integers: the same scenario gives the same
 * figures everywhere (sizes drawn with libm's functions apart, which may differ in a last bit).
 */
#ifndef SIMULATOR_H
#define SIMULATOR_H

#include <stdbool.h>
#include <stdio.h>

#include "context.h"
#include "job.h"
#include "settings.h"

#define NEVER U64_MAX

/* ---- scenario.c -------------------------------------------------------------- */

/* Processor time. */
struct costs {
	u64 touch; /* a page, when the job writes it for the first time */
	u64 evict; /* a page */
	u64 back; /* a page, in bulk */
	u64 fault; /* a page that comes back by itself */
	u64 freeze; /* a job: freezing and thawing it */
	u64 stride; /* of work, from one page that a job uses to the next; any page of its own */
};

/* As the laboratory's models (bench/lab/disks.py): a request takes the same, wherever it lies. */
struct disk {
	u64 latency_ns;
	u64 depth; /* requests at a time */
	u64 mib_per_s; /* 0: no limit */
	u64 request; /* bytes, on average */
};

/* As drawn. */
struct demand {
	u64 size;
	u64 work_ns; /* processor time */
	u64 arrives_ns;
};

struct scenario {
	u64 memory; /* for jobs */
	u64 usable; /* of it, what jobs can hold before the host swaps */
	u64 limit_ns; /* it is cut off then */
	u64 count_from_ns; /* before that no work and no pause is counted */
	u32 processors;
	u32 threads; /* that move memory in a switch */
	u32 job_threads; /* of each job */
	u32 njobs;
	bool json;
	bool queue; /* each job is held until it fits (mtsctl run --queue --size) */
	bool rounds; /* a line for each round, to stderr */
	struct disk disk;
	struct costs costs;
	struct mts_config config;
	struct demand *demands; /* in the order of their arrival */
};

/* Fills it, or ends the program: --help, or usage (status 2). */
void scenario_parse(struct scenario *scenario, int argc, char **argv);

/* ---- host.c ------------------------------------------------------------------ */

typedef unsigned __int128 u128;

/* Fractions, of pages and of nanoseconds: so many bits of them. */
#define FIX 48

/* What a job that runs is about. */
enum phase {
	PHASE_NONE, /* it does not run */
	PHASE_TOUCH, /* it writes all of its memory once */
	PHASE_FAULT, /* it faults back what is in swap, and there is or can be room for */
	PHASE_WORK,
	PHASE_THRASH, /* it works, and faults on pages that others have just pushed out */
	PHASES
};

/**
 * struct job - a job as the host has it
 * @mts: as the module has it; NULL: there is no module
 * @cgrp: its cgroup
 * @since, @target: of its phase's progress (struct crowd): when it came, when it will be done
 * @touching: pages that it has still to write for the first time
 * @working_ns: processor time that it has still to work
 * @touched: bytes that it has written; what of it is not @resident is in swap
 * @user_ns: processor time in user mode
 * @stalled_ns: time that it has waited for memory, since that look
 * @faults, @waited_ns: pages that it has faulted back, and how long its threads waited for them
 * @low: bytes of it that others' pages leave before (memory.low)
 * @kept: it runs, what runs does not fit, and @low is enough for all that it has written
 * @ran_ns: processor time
 * @running: index among the running jobs
 * @frozen: in the host's list of those, by the time since when
 */
struct job {
	const struct demand *demand;
	struct mts_job *mts;
	struct cgroup cgrp;
	u32 threads;
	enum phase phase;
	u128 since;
	u128 target;
	u64 touching;
	u64 working_ns;
	u64 touched;
	u64 resident;
	u64 user_ns;
	u64 stalled_ns;
	u64 faults;
	u64 waited_ns;
	u64 low;
	u64 ran_ns;
	u64 frozen_at;
	u32 running;
	struct list_head frozen;
	bool kept;
	bool is_frozen;
	bool ended;
	bool reaped;
};

/**
 * struct crowd - the jobs that are in one phase: each of their threads makes the same progress
 * @threads: of theirs
 * @rate: progress of a thread in a nanosecond: pages, or nanoseconds of work; FIX
 * @at: progress so far; FIX
 * @sum: of threads * since
 * @next: no job is done before that
 * @cycle: processor time of a page, which counts as the job's
 * @stalls: time that a thread waits for memory, of a page
 * @waits: time that a thread waits until a page has come back
 */
struct crowd {
	u64 threads;
	u128 rate;
	u128 at;
	u128 sum;
	u128 next;
	u64 cycle;
	u64 stalls;
	u64 waits;
};

/* What a running job finds when it needs a page. */
enum regime {
	REGIME_ROOM, /* memory is free */
	REGIME_TAKE, /* the host takes it from jobs that are frozen */
	REGIME_THRASH, /* there are none left but from each other */
};

/**
 * struct mover - a thread, or several as one, that moves memory
 * @threads: so many
 * @page_ns: processor time of a page
 * @disk: the pages go to the disk, or come from it
 * @first: it does not share the processors with jobs, as the rotor's thread where it moves nothing
 * @left: pages; FIX
 * @rate: pages in a nanosecond; FIX
 */
struct mover {
	struct list_head node;
	u32 threads;
	u64 page_ns;
	bool disk;
	bool first;
	u128 left;
	u128 rate;
};

struct host {
	const struct scenario *scenario;
	struct job *jobs;
	struct job **running;
	u32 nrunning;
	u32 arrived;
	u32 here;
	u64 began; /* the machine's clock */
	u64 advanced; /* to this time */
	u64 changed; /* when something last did; the same clock */
	bool rates_are_old;
	enum regime regime;
	struct crowd crowds[PHASES];
	struct list_head frozen; /* the job frozen for longest is first */
	struct list_head movers;
	u64 frozen_resident; /* of jobs that do not run */
	u64 running_resident; /* of running jobs, as of each one's last settling */
	u64 running_touched;
	u64 kept_resident; /* of jobs that are kept, likewise */
	u64 kept_touched;
	u64 work_of_cycle; /* when it thrashes: work between two faults */
	u128 cycles; /* pages that came in, and others that went out, as they thrash; FIX */
	u128 faulted; /* pages, by faults that did not thrash; FIX */
	u128 cycle_rate;
	u128 busy; /* processor time of threads that move, or wait for a processor; FIX */
	u128 busy_rate;
	u128 delayed; /* of that, waiting for a processor; FIX */
	u128 delayed_rate;
	u64 bulk_in; /* pages */
	u64 reclaimed; /* pages */
	u64 last_reclaim; /* the machine's clock; 0: never */
	u64 woken; /* the rotor, for it */
	bool with_module;
	bool over;
};

extern struct host host;

/* From the first arrival to the end of the last job, or to the limit. In a thread of its own. */
void host_run(const struct scenario *scenario, bool with_module);
void host_free(void);

/* Time has passed. Any thread; does not sleep. */
void host_advance(void);

/* After host_advance(): something is about to change how fast all goes on. */
void host_changes(void);

/* Virtual time, from the beginning. */
u64 host_now(void);

/* What jobs hold in memory has changed: the running jobs' regime may be another. */
void host_memory_changes(void);

/* ---- memory.c ---------------------------------------------------------------- */

/* Bytes that jobs can hold before the host swaps. */
u64 memory_usable(void);

/* Bytes of the running jobs that are not kept: in memory while they thrash; written. */
u64 memory_for_running(void);
u64 memory_touched(void);

/* Of a job that runs. */
void memory_set_resident(struct job *job, u64 bytes);

/* The host reclaims from frozen jobs what does not fit: from the one frozen for longest first. */
void memory_take_excess(void);

/* Bytes of all jobs in memory; that there is room for; pages swapped in by jobs and for them. */
u64 host_resident(void);
u64 host_room(void);
u64 host_swapins(void);

/* A job that does not run loses so much of its memory to swap, or gets it back. */
void host_move_out(struct job *job, u64 bytes);
void host_move_in(struct job *job, u64 bytes);

/* ---- phases.c ---------------------------------------------------------------- */

/* A job begins to run, or stops, with host_advance() before it. */
void host_start_job(struct job *job);
void host_stop_job(struct job *job);
/* Its memory.low is another. */
void host_protect_job(struct job *job, u64 low);
/* A job that has come does not begin to run before it is thawed. */
void host_hold_job(struct job *job);

/* What it has done so far is in its fields. */
void host_settle(struct job *job);

/* The same of all jobs that run. */
void phases_settle(void);

/* Jobs that have finished this phase enter the next one. */
void phases_finish(enum phase phase);

/* The running jobs find memory as it is now. */
void phases_set_regime(void);

/* Threads of the jobs that run. */
u64 phases_threads(void);

/* ---- rates.c ----------------------------------------------------------------- */

/* Work out all rates, of jobs and movers. */
void rates_set(void);

/* Time of the disk for a page that goes out or comes back in bulk; FIX. */
u128 host_disk_page(void);
u128 host_disk_fault(void);

/* Pages that a mover moves in a ns; FIX. */
u128 host_rate(const struct mover *mover);

/* ---- move.c -------------------------------------------------------------------- */

struct mts_eviction;
struct mts_move;

u64 move_evict(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again);
u64 move_bring_back(struct mts_move *move);
/* The rotor's thread does something that takes so much of a processor. */
void move_work(u64 ns);
/* The mover rates have changed: wake the threads that wait for a move. */
void move_wake(void);

/* ---- jobs.c ---------------------------------------------------------------------- */

/* The module is told of a job that came, or whose last process has ended. */
void jobs_enrol(struct job *job);
/* A job comes that has not begun, for the queue; its size is known. */
void jobs_submit(struct job *job);
void jobs_ended(struct job *job);
/* The module is loaded, with the scenario's configuration, and unloaded. */
void jobs_load(void);
void jobs_unload(void);
/*
 * A slice runs, and what is in memory does not change: between which times, of the machine's clock,
 * does the module only see that it is so?
 */
bool jobs_calm(u64 *from, u64 *until);

static inline struct job *job_of(const struct mts_job *mts)
{
	return container_of(mts->cgrp, struct job, cgrp);
}

/* ---- figures.c ------------------------------------------------------------------- */

struct shown_bin {
	u64 demand;
	u64 slice_ns;
	u32 jobs;
};

struct figures {
	u64 time_ns;
	u64 work_left_ns;
	bool counts; /* since count_from_ns */
	u64 work_before_ns; /* left when it began to count */
	bool finished;
	u64 rounds;
	u64 switches;
	u64 passed; /* of these, switches in which the bins passed each other */
	u64 regroups;
	u64 slice_ns; /* one bin ran ... */
	u64 freeze_ns;
	u64 evict_ns;
	u64 bring_back_ns;
	u64 together_ns; /* ... or all ... */
	u64 notice_ns; /* ... or all, thrashing: turns are not taken, or not yet */
	u64 overfull_ns; /* of slice_ns: what ran did not fit */
	u64 consumed_ns; /* processor time of the jobs */
	u64 swapped_out;
	u64 swapped_in;
	u64 swap_dropped; /* in swap when their job ended */
	u64 longest_pause_ns;
	u64 overdue; /* times that the watchdog thawed a job, frozen for nearly too long */
	double jain; /* when the first job ended; if none has, at the limit */
	/* a round, as planned: one of the first */
	u32 nbins;
	u64 capacity;
	u64 round_ns;
	u64 shown_pause_ns;
	struct shown_bin *bins;
};

extern struct figures figures;

void figures_begin(u32 njobs);
/* So much time has passed, and what ran did not fit if @thrashes. */
void figures_pass(u64 ns, bool thrashes);
/* Is a slice under way? */
bool figures_slice_runs(void);
/* The first job ends, or time is over. */
void figures_jain(void);
void figures_count(void);
void figures_end(void);

/* ---- report.c ----------------------------------------------------------------------- */

void report(const struct scenario *scenario, u64 ideal_ns);

#endif /* SIMULATOR_H */
