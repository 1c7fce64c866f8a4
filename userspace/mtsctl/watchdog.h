/* SPDX-License-Identifier: GPL-2.0 */
/* The time of systemd's watchdog for the processes of a cgroup (sd_watchdog_enabled(3)). */
#ifndef MTSCTL_WATCHDOG_H
#define MTSCTL_WATCHDOG_H

#include "policy/pure.h"

/*
 * The shortest time in ns within which a process in the cgroup, or below it, must report to systemd
 * (WatchdogSec of its unit); 0: no process must. It is read from the environment with which each
 * process was started. So a watchdog that is switched on later is not seen.
 *
 * Return: 0 or -errno.
 */
int watchdog_of_cgroup(const char *dir, u64 *ns);

#endif /* MTSCTL_WATCHDOG_H */
