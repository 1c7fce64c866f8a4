/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs that ended although their work may go on in a cgroup that is no job. */
#ifndef MTSCTL_GONE_H
#define MTSCTL_GONE_H

#include <stdbool.h>

#include "uapi/mts.h"

/*
 * The latest job that ended in this cgroup (its path, and the ids of it and of those above it), or
 * whose last process moved there. A module without MTS_IOC_GONE knows none. Return: false: none.
 */
bool gone_find(const char *cgroup, const __u64 *ids, int n, struct mts_gone_info *found);

#endif /* MTSCTL_GONE_H */
