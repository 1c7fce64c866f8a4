/* SPDX-License-Identifier: GPL-2.0 */
/* What happens to a job's cgroup: handlers of tracepoints. */
#ifndef _MTS_CGROUPS_H
#define _MTS_CGROUPS_H

struct cgroup;

/* Tracepoint cgroup_notify_populated: the first process has come, or the last one has exited. */
void mts_hook_populated(void *data, struct cgroup *cgrp, const char *path, int populated);

/* Tracepoint cgroup_rmdir. */
void mts_hook_rmdir(void *data, struct cgroup *cgrp, const char *path);

/* Tracepoint cgroup_notify_frozen: all tasks are frozen, or no longer all. */
void mts_hook_frozen(void *data, struct cgroup *cgrp, const char *path, int frozen);

#endif /* _MTS_CGROUPS_H */
