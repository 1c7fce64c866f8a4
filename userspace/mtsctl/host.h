/* SPDX-License-Identifier: GPL-2.0 */
/* Where the host's files are. The tests link another implementation. */
#ifndef MTSCTL_HOST_H
#define MTSCTL_HOST_H

#include <stdbool.h>

#include "policy/pure.h"

/* The mount point of procfs. */
const char *host_proc(void);

#define USUAL_CGROUPS "/sys/fs/cgroup"

/* The mount point of cgroup v2: the usual one, unless it is mounted elsewhere. */
const char *host_cgroups(void);

/* What comes before the paths of all other files, as /lib/modules: nothing. */
const char *host_root(void);

/* Does mtsctl run as root? */
bool host_is_root(void);

/* Processors that are online. */
unsigned int host_processors(void);

/*
 * Opens the directory of the cgroup with that id (its inode number): a descriptor or -errno. EPERM:
 * only root may; then it is not tried again.
 */
int host_cgroup_open(u64 id);

/* The mount point of tracefs: /sys/kernel/tracing, unless it is mounted elsewhere only. */
const char *host_tracing(void);

/* The directory of the configuration: /etc/mts. */
const char *host_config(void);

#endif /* MTSCTL_HOST_H */
