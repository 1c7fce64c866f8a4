/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MTS_CONFIG_H
#define _MTS_CONFIG_H

#include "mts.h"

/* From the module parameters; an error has been logged. */
int mts_config_init(void);

/* Copy out; takes mts_lock. */
void mts_config_get(struct mts_config *config);

/* Check and take over what config->mask names; errors as uapi/mts.h says. */
int mts_config_set(const struct mts_config *config);

/* May a job have this pause limit (struct mts_job_pause)? */
bool mts_config_is_pause(u64 ns);

/* The cgroup base, a module parameter. */
const char *mts_config_cgroup_base(void);

#endif /* _MTS_CONFIG_H */
