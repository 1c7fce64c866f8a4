/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What rules never make a job of, unless mts.conf(5) says exclusions=off: what a host needs for
 * itself, and what people would wait for although mts cannot see it.
 */
#ifndef MTSCTL_EXCLUSIONS_H
#define MTSCTL_EXCLUSIONS_H

#include <stdbool.h>

#include "tree.h"

#define EXCLUSION_TEXT 192

/*
 * Is there something in the cgroup itself, not below it, that is excluded, or does the cgroup
 * belong to it? Writes why.
 *
 * @built_in: also what exclusions=off allows
 */
bool exclusion_find(const struct tree *tree, u32 cgroup, bool built_in, char why[EXCLUSION_TEXT]);

/*
 * Does systemd's watchdog kill a process of the cgroup, or below it, that is frozen for as long as
 * a pause may be? Writes why.
 */
bool exclusion_by_watchdog(const char *dir, u64 pause_ns, char why[EXCLUSION_TEXT]);

#endif /* MTSCTL_EXCLUSIONS_H */
