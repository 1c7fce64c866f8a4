/* SPDX-License-Identifier: GPL-2.0 */
/* What carries out the commands that mtsd's socket takes: its own engine, or the module. */
#ifndef MTSD_BACKEND_H
#define MTSD_BACKEND_H

#include "control/commands.h"

/**
 * struct mts_backend
 * @command: as mts_command(), with MTS_IOC_JOB_TAKE. mts_job_add.cgroup_fd is a descriptor of mtsd.
 * @list: as mts_command_list()
 * @instance: which start of the engine, or load of the module: each numbers its jobs anew
 * @enters: it can move the caller into a job that it makes (MTS_JOB_ENTER)
 */
struct mts_backend {
	int (*command)(unsigned int cmd, void *argument);
	int (*list)(unsigned int cmd, struct mts_list *list, struct mts_elements *elements);
	u64 (*instance)(void);
	bool enters;
};

extern const struct mts_backend mts_backend_engine;

/* Opens /dev/mts for each command: the module can be unloaded meanwhile. */
extern const struct mts_backend mts_backend_module;

#endif /* MTSD_BACKEND_H */
