/* SPDX-License-Identifier: GPL-2.0 */
/* The configuration (struct mts_config): module parameters and MTS_IOC_CONFIG_SET. */
#ifndef _MTS_CONFIG_H
#define _MTS_CONFIG_H

#include "mts.h"

/* Set the configuration from the module parameters. Logs an error. */
int mts_config_init(void);

/* Copy out; takes mts_lock. */
void mts_config_get(struct mts_config *config);

/* Check and set the fields named in config->mask; takes mts_lock. Errors: see uapi/mts.h. */
int mts_config_set(const struct mts_config *config);

/* Does the policy need to know how long jobs wait for swap? */
bool mts_config_needs_swapins(void);

/* Is this a valid pause limit (struct mts_job_pause)? */
bool mts_config_is_pause(u64 ns);

/* The cgroup base, a module parameter. */
const char *mts_config_cgroup_base(void);

#endif /* _MTS_CONFIG_H */
