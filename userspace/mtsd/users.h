/* SPDX-License-Identifier: GPL-2.0 */
/* Requests of users who are not root: what rights.h says, about the host as it is. */
#ifndef MTSD_USERS_H
#define MTSD_USERS_H

#include "context.h"
#include "mtsd/backend.h"

/*
 * Read the section [users] of mts.conf(5), at the start and at a SIGHUP. After an error, which is
 * logged, what was read before holds; at the start no user is a member then. Return: no error.
 */
bool mts_users_load(const char *folder);

/*
 * Has this user an account? A member can be each of the subordinate ids (subuid(5)) that the member
 * has, and keep the groups: but these are no users, with limits of their own. The host's database
 * alone tells; it may be a server that is slow, or that hangs (nsswitch.conf(5)).
 */
bool mts_users_has_account(uid_t uid);

/* Is the process at the other end, of a user with an account, a member of the users' group? */
bool mts_users_is_member(int socket, gid_t gid);

/**
 * mts_users_command() - carry out a command for mts_user_caller(), if that user may ask it
 * MTS_IOC_JOB_ADD and _SUBMIT: cgroup_id names the cgroup
 *
 * What changes something, one at a time: the limits hold for requests that come together, too, and
 * users keep no more than one processor busy with this. Nothing of a user is waited for meanwhile.
 *
 * Return: 0 or an error of wire.h or uapi/mts.h.
 */
int mts_users_command(const struct mts_backend *backend, bool is_member, unsigned int cmd,
		      void *argument);

/* The same for MTS_IOC_JOBS, _BINS and _GONE, which every user may ask. One at a time, too. */
int mts_users_list(const struct mts_backend *backend, unsigned int cmd, struct mts_list *list,
		   struct mts_elements *elements);

#endif /* MTSD_USERS_H */
