/* SPDX-License-Identifier: GPL-2.0 */
/* mtsctl plan: what it plans for, and what comes out. */
#ifndef MTSCTL_PLAN_H
#define MTSCTL_PLAN_H

#include "mtsctl.h"
#include "policy/bins.h"
#include "policy/limits.h"

struct plan {
	struct mts_plan_conf conf;
	struct mts_plan_job *jobs;
	char **names; /* of the jobs; any bytes */
	bool by_size; /* the names are sizes, as format_size() has them, of jobs still to come */
	u32 njobs;
	struct mts_plan_bin *bins; /* room for njobs */
	struct mts_plan result;
	u64 room; /* bytes that jobs may hold as residents for their own pause limits */
	struct mts_limits limits; /* result: what is done for these */
	u64 swap_speed; /* bytes a second, from which a switch is reckoned; 0: it is not */
	u32 evict; /* what conf.evict comes to; before it is reckoned MTS_EVICT_AUTO: not known */
	u64 managed; /* bytes that the jobs hold in memory now */
};

/* Return: an exit status. What fails has been said. */
int plan_add(struct plan *plan, const char *name, const struct mts_plan_job *job);
int plan_add_sizes(const struct command *command, struct plan *plan, const char *option,
		   const char *text, u32 flags);
int plan_add_cgroup(struct plan *plan, const char *name);

/*
 * The jobs and the configuration of the module: what the command line says
 * (bits of MTS_CONFIG_* in `given`) stays.
 */
int plan_from_module(struct plan *plan, u32 given, bool switch_given);

void plan_show(const struct plan *plan);
int plan_show_json(const struct plan *plan);

#endif /* MTSCTL_PLAN_H */
