/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cgroups as the request of a user names them. Nothing here follows a path that a user could
 * change: a cgroup is known by its number, and opened by that.
 */
#ifndef MTSD_OWN_CGROUP_H
#define MTSD_OWN_CGROUP_H

#include "context.h"

/*
 * The cgroup with this id, opened by mtsd. A user only names it: to close a descriptor that a user
 * has passed may wait for ever, for a file system that this user serves.
 *
 * Return: a descriptor; or -errno, as -ENOENT if it is gone.
 */
int own_cgroup_open(u64 id);

/* Who owns the directory and its cgroup.freeze; RIGHTS_NOBODY: these are not the same user. */
u32 own_cgroup_uid(int cgroup);

/*
 * Do all processes in it and below it run as this user alone, with no other effective or saved id?
 * The list is complete, or the answer is no.
 *
 * @caller: a process that must not be among them, and none of its ancestors; 0: it must be the
 *	only one
 * @alone: the only process that there may be; 0: any number
 *
 * Return: 0; -EACCES: a process is another user's; -EBUSY: @caller is in it, or another process
 * than @alone; -EOPNOTSUPP: it is threaded; -E2BIG: it holds too many cgroups or processes.
 */
int own_cgroup_check(int cgroup, u32 uid, pid_t caller, pid_t alone);

/*
 * The user that has made this job of the cgroup. It is written on the cgroup itself, as
 * trusted.mts.user, which only root can read and write: so it lives as long as the cgroup does,
 * and a mtsd that is started anew finds it. It has the job's id, too, and which instance of mts has
 * given that (backend.h): that of another job, which root has made of the cgroup since, does not
 * count.
 *
 * @children: out: jobs that are set aside for the children of this one (rights.h); 0: it has none
 *
 * Return: RIGHTS_ROOT: root, or a rule.
 */
u32 own_cgroup_maker(int cgroup, u32 job, u64 instance, u32 *children);

/* Return: 0 or -errno. */
int own_cgroup_set_maker(int cgroup, u32 job, u64 instance, u32 uid, u32 children);
void own_cgroup_clear_maker(int cgroup);

#endif /* MTSD_OWN_CGROUP_H */
