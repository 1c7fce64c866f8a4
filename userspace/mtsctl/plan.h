/* SPDX-License-Identifier: GPL-2.0 */
/* mtsctl plan: its input and its result. */
#ifndef MTSCTL_PLAN_H
#define MTSCTL_PLAN_H

#include "mtsctl.h"
#include "policy/bins.h"
#include "policy/limits.h"

struct plan {
	struct mts_plan_conf conf;
	struct mts_plan_job *jobs;
	char **names; /* of the jobs; any bytes */
	bool *by_size; /* of each job: its name is a size, as format_size() has it */
	bool to_come; /* no job has begun, and none is pinned */
	u32 njobs;
	struct mts_plan_bin *bins; /* room for njobs */
	struct mts_plan result;
	u64 room; /* bytes that jobs may hold which are exempt for their own pause limits */
	struct mts_limits limits; /* result: the effect of these pause limits */
	u64 swap_speed; /* bytes a second, gives the time of a switch; 0: not used */
	u32 step; /* as in struct mts_config; gives conf.step */
	struct mts_plan unlimited; /* before jobs became exempt for their own pause limits */
	u64 work_as_bins,
		work_as_groups; /* result: as in struct mts_plan, with switches as known */
	u64 long_pause_ns; /* limit for jobs that are not attended; 0: the same */
	u64 paying_pause_ns; /* result: the limit for which that would pay; 0: none */
	u64 paying_work; /* what they get done so; per mille of a processor */
	u32 evict; /* the choice for conf.evict; MTS_EVICT_AUTO: not yet known */
	u32 no_swap; /* jobs in every bin because memory.swap.max leaves them no swap */
	u64 managed; /* bytes that the jobs hold in memory now */
	u64 work_ns; /* processor time that each job needs; 0: not given */
	bool queue; /* jobs begin when there is room, and take no turns */
	u64 *starts_ns; /* result of plan_queue(), for each job: when it begins */
	u64 runs_ns; /* result: how long each runs: work_ns, or any time if that is not given */
	u64 queue_ns; /* result: when all jobs are done */
	struct mts_policy_info policy; /* of the module's jobs; all 0: none is chosen */
	u64 now_ns; /* as of that */
	u64 work_as_queue; /* result: per mille of a processor until then; 0: not planned */
};

/* Print an error if they fail. Return: an exit status. */
int plan_add(struct plan *plan, const char *name, const struct mts_plan_job *job);
int plan_add_sizes(const struct command *command, struct plan *plan, const char *option,
		   const char *text, u32 flags);
int plan_add_cgroup(struct plan *plan, const char *name);

/*
 * Takes the jobs and the configuration from the module. Values of the command line
 * (bits of MTS_CONFIG_* in `given`) are kept.
 */
int plan_from_module(struct plan *plan, u32 given, bool switch_given);

bool plan_fits(const struct plan *plan);

/* The choice for evict=auto depends on the time of a switch. */
bool plan_knows_evict(const struct plan *plan);

/* What the jobs could use of the processors with memory for all, if none has begun; per mille. */
u64 plan_ideal(const struct plan *plan);

/* When all jobs are done, if they get so much done; U64_MAX: never. */
u64 plan_done_ns(const struct plan *plan, u64 permille);

void plan_show(const struct plan *plan);
int plan_show_json(const struct plan *plan);

/*
 * What the queue (mtsctl run --queue) would make of the jobs, each of which has one thread and the
 * same work. Call it after the bins are planned, if .to_come. Return: 0, -ENOMEM.
 */
int plan_queue(struct plan *plan);

/* How many jobs have ended, of those that wait in the queue, when job @i begins? */
u32 plan_starts_after(const struct plan *plan, u32 i);

#endif /* MTSCTL_PLAN_H */
