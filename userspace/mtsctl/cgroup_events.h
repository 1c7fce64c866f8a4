/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tells when cgroups are made and when processes come into them or are gone, by inotify(7): the
 * kernel reports each directory that is made in a cgroup, and each change of cgroup.events.
 */
#ifndef MTSCTL_CGROUP_EVENTS_H
#define MTSCTL_CGROUP_EVENTS_H

#include <stdbool.h>

#include "tree.h"

/* To be polled for input, or -errno. */
int cgroup_events_open(void);

/*
 * Watches all cgroups of the tree, with up to half of the watches that this user may have.
 *
 * Return: how many were not watched before, or -errno. ENOSPC: not all are watched, because of
 * fs.inotify.max_user_watches.
 */
int cgroup_events_watch(const struct tree *tree);

/*
 * Reads what has come, or a part of it. A cgroup that was only frozen or thawed is nothing new.
 *
 * Return: is there something new?
 */
bool cgroup_events_read(void);

#endif /* MTSCTL_CGROUP_EVENTS_H */
