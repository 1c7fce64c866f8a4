/* SPDX-License-Identifier: GPL-2.0 */
/* Makes a job of a cgroup: for mtsctl add and for rules. */
#ifndef MTSCTL_ADD_H
#define MTSCTL_ADD_H

#include <stdbool.h>

#include "policy/pure.h"

struct engine_container;

/* Options of the command line, or of a rule. */
struct add_wish {
	u32 flags; /* MTS_JOB_PIN, MTS_JOB_EACH, MTS_JOB_EACH_LEAF */
	bool has_pause; /* else the watchdog of the unit, and the health check, give one */
	u64 max_pause_ns;
	const struct engine_container *container; /* whose cgroup it is; NULL: not known */
	u64 users_pause_ns; /* for heed_shortest(); 0: what the job gets is shown at once */
	u32 weight; /* 0: MTS_WEIGHT_DEFAULT */
	bool json; /* print an object */
	u32 *no_room; /* counts how often there were too many jobs: the first is said; or NULL */
};

/*
 * Adds the cgroup of that directory, and prints what it is now, or why it fails. The device is
 * open.
 *
 * Return: an exit status.
 */
int add_cgroup(const char *dir, const struct add_wish *wish);

#endif /* MTSCTL_ADD_H */
