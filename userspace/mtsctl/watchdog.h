/* SPDX-License-Identifier: GPL-2.0 */
/* What systemd's watchdog expects of the processes of a cgroup (sd_watchdog_enabled(3)). */
#ifndef MTSCTL_WATCHDOG_H
#define MTSCTL_WATCHDOG_H

#include "policy/pure.h"

/*
 * The shortest time in ns within which a process of the cgroup, or below it, must tell systemd
 * that it is alive (WatchdogSec of its unit); 0: none must. Read from the environments that the
 * processes were started with: a unit whose watchdog is switched on later is not seen.
 *
 * Return: 0 or -errno.
 */
int watchdog_of_cgroup(const char *dir, u64 *ns);

#endif /* MTSCTL_WATCHDOG_H */
