/* SPDX-License-Identifier: GPL-2.0 */
/*
 * simulator: the rotor of module/rotor/rotor.c in virtual time, for hosts larger than ours.
 *
 * simulator.c  the whole, and the ideal beside it
 * scenario.c   the command line: host, disk, jobs
 * processor.c  jobs share the processors; virtual time passes
 * memory.c     what of each job is in memory, what is in swap; the disk
 * switch.c     freeze, evict, bring back, thaw
 * rotor.c      rounds and slices, with module/policy and module/binpack
 * report.c     figures, for people and as JSON
 *
 * Units: bytes, nanoseconds of virtual time. All is integers: the same scenario gives the same
 * figures everywhere (sizes drawn with libm's functions apart, which may differ in a last bit).
 */
#ifndef SIMULATOR_H
#define SIMULATOR_H

#include <stdbool.h>
#include <stdio.h>

#include "policy/bins.h"
#include "policy/fit.h"
#include "policy/switches.h"
#include "settings.h"

#define PAGE 4096ull
#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define NEVER U64_MAX

/* ---- scenario.c -------------------------------------------------------------- */

/* Processor time. */
struct costs {
	u64 touch; /* a page, when the job writes it for the first time */
	u64 evict; /* a page */
	u64 back; /* a page, in bulk */
	u64 fault; /* a page that comes back by itself */
	u64 freeze; /* a job: freezing and thawing it */
};

/* As the laboratory's models (bench/lab/disks.py): a request takes the same, wherever it lies. */
struct disk {
	u64 latency_ns;
	u64 depth; /* requests at a time */
	u64 mib_per_s; /* 0: no limit */
	u64 request; /* bytes, on average */
};

struct job {
	u64 size;
	u64 work_ns; /* processor time */
	u64 arrives_ns;

	u64 faulting_ns; /* of processor time: pages that come back by faults, before the rest, */
	u64 touching_ns; /* what is left of writing all pages once, */
	u64 working_ns; /* and of the work */
	u64 touch_ns; /* of touching_ns, at the start */
	u64 resident; /* bytes; what else it has touched is in swap */
	u64 stopped_ns; /* since when it has not run */
	u64 longest_pause_ns;
	u64 ended_ns;
	u32 bin; /* index, or MTS_BIN_NONE */
	bool here; /* arrived, and not ended */
	bool started; /* has run */
	bool frozen;
	bool warm; /* has run since it was evicted */
};

struct scenario {
	u64 memory; /* for jobs */
	u64 usable; /* of it, what jobs can hold before the host swaps */
	u64 limit_ns; /* it is cut off then */
	u64 notice_ns; /* from a shortage to the first round, mode=auto */
	u32 processors;
	u32 threads; /* that move memory in a switch */
	u32 njobs;
	bool json;
	bool rounds; /* a line for each round, to stderr */
	struct disk disk;
	struct costs costs;
	struct mts_config config;
	struct job *jobs; /* as drawn, in the order of their arrival */
};

/* Fills it, or ends the program: --help, or usage (status 2). */
void scenario_parse(struct scenario *scenario, int argc, char **argv);

/* ---- the simulation -------------------------------------------------------------- */

struct figures {
	u64 rounds;
	u64 switches;
	u64 regroups;
	u64 slice_ns; /* one bin ran ... */
	u64 freeze_ns;
	u64 evict_ns;
	u64 bring_back_ns;
	u64 together_ns; /* ... or all ... */
	u64 notice_ns; /* ... or all, thrashing, until turns were taken */
	u64 overfull_ns; /* of slice_ns and together_ns: what ran did not fit */
	u64 consumed_ns; /* processor time of the jobs */
	u64 swapped_out;
	u64 swapped_in;
	u64 swap_dropped; /* in swap when their job ended */
	u64 longest_pause_ns;
	u64 overdue; /* times that a job was frozen for longer than max_pause */
	double jain; /* when the first job ended; if none has, at the limit */
};

struct simulation {
	const struct scenario *scenario;
	struct job *jobs;
	u32 njobs;
	u32 arrived; /* of them */
	u32 here;
	u64 now;
	u64 resident; /* of all jobs */

	u32 *running; /* indices of the jobs that share the processors */
	u32 nrunning;

	struct mts_plan_job *plan_jobs;
	struct mts_plan_bin *bins;
	void *scratch;
	struct mts_plan plan;
	struct mts_plan_bin *shown_bins; /* of one of the first rounds, to be shown */
	struct mts_plan shown_plan;
	struct mts_lesson lesson;
	u32 nbins; /* 0: all run at once */
	u32 current; /* bin */
	struct mts_switches switches;
	bool planned_blindly; /* this round: nobody knew what a switch takes */
	struct figures figures;
};

/* Both end the program if there is no memory. */
void simulation_begin(struct simulation *s, const struct scenario *scenario);
void simulation_end(struct simulation *s);

/* ---- processor.c ----------------------------------------------------------------- */

/* Bytes that it has touched so far: its demand, as the module would measure it. */
u64 job_demand(const struct job *job);

/* Take in who has arrived by now. Return: how many. */
u32 processor_arrivals(struct simulation *s);

/* Fairness now: Jain's index of the fractions of their work that the jobs have done. */
double processor_jain(const struct simulation *s);

/* When the next job arrives; NEVER if all have. */
u64 processor_next_arrival(const struct simulation *s);

/* Who runs from now on: the jobs of a bin; MTS_BIN_EVERY: all that are here. */
void processor_share(struct simulation *s, u32 bin);

/* Is anybody who runs still writing its pages for the first time? */
bool processor_is_filling(const struct simulation *s);

/*
 * They run until then, or until the first of them ends. What they touch becomes resident, and
 * what does not fit is reclaimed. Return: how many ended.
 */
u32 processor_run(struct simulation *s, u64 until);

/* They only touch memory that there is not, and get nothing done, until then. */
void processor_thrash(struct simulation *s, u64 until);

/* ---- memory.c -------------------------------------------------------------------- */

/* What a transfer by @threads takes, of whichever takes longer: the disk, or the processors. */
u64 memory_transfer_ns(const struct simulation *s, u64 bytes, u64 page_ns, u32 threads);

/* Its pages must lie in long rows (mts_policy_evict_how()). */
bool memory_disk_is_slow(const struct simulation *s);

u64 memory_free(const struct simulation *s);

/* A job's bytes leave memory, or come back; counted as swap traffic. */
void memory_out(struct simulation *s, struct job *job, u64 bytes);
void memory_in(struct simulation *s, struct job *job, u64 bytes);

/* What those that run have in swap comes back by faults, as far as there is room for it. */
void memory_fault_in(struct simulation *s);

/* How long it takes until a bin that does not fit has swapped in so much of itself. */
u64 memory_misfit_ns(const struct simulation *s, u64 bytes);

/*
 * More is resident than there is room for: frozen jobs lose it, by the host's own reclaim, which
 * takes processor time; if that is not enough those that run, which are not charged for it, as
 * thrashing is not simulated.
 */
void memory_reclaim(struct simulation *s);

/* What all touch and does not fit is in swap, of everybody the same share. */
void memory_spread(struct simulation *s);

/* It has ended. */
void memory_release(struct simulation *s, struct job *job);

/* ---- switch.c ---------------------------------------------------------------------- */

void switch_to(struct simulation *s, u32 bin);

/* Newcomers have been placed. */
void switch_settle(struct simulation *s);
void switch_thaw_all(struct simulation *s);

/* ---- rotor.c ------------------------------------------------------------------------ */

/* From the first arrival to the end of the last job, or to the limit. */
void rotor_run(struct simulation *s);

/* ---- report.c ----------------------------------------------------------------------- */

void report(const struct simulation *s, const struct simulation *ideal);

#endif /* SIMULATOR_H */
