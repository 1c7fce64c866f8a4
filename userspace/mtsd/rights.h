/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may ask what of a system-wide mtsd. Pure: what is to be known is looked up by users.c.
 *
 *  - Every user may read: the status, the configuration, the counters, and the jobs of all users.
 *    Their names and sizes are in /proc and /sys/fs/cgroup for all to see anyway.
 *  - A member of the users' group may make jobs of cgroups of their own, and change and remove
 *    these jobs, within limits.
 *  - All else is root's: the configuration, the weights of users, a thaw of all jobs, and the jobs
 *    that root, a rule or another user has made, also in a cgroup of the member's own.
 *
 * A cgroup is a user's own if its directory and its cgroup.freeze belong to the user. Then the
 * kernel lets that user freeze it, with or without mts. So is all that the user's systemd manager
 * makes. The scope of a login is not: it is root's, and so is a process in it (sshd, login, su).
 */
#ifndef MTSD_RIGHTS_H
#define MTSD_RIGHTS_H

#include "policy/pure.h"
#include "uapi/mts.h"

#define RIGHTS_ROOT 0u
#define RIGHTS_NOBODY 0xffffffffu

/**
 * struct rights_ask - a request
 * @uid: of the caller; not 0
 * @is_member: of the users' group
 * @cmd: MTS_IOC_*
 * @flags: MTS_JOB_* that it sets
 * @size: that it gives; 0: none
 * @user: whose job it is to be, with MTS_JOB_USER: no other one than the caller's
 * @weight: that it sets; 0: none, or the usual one. As with nice(1), a user may ask for less than
 *	is usual, not for more
 */
struct rights_ask {
	u32 uid;
	bool is_member;
	unsigned int cmd;
	u32 flags;
	u64 size;
	u32 user;
	u32 weight;
};

/* Is it about a cgroup or job of the caller? Then rights_of_object() says the rest. */
bool rights_need_object(unsigned int cmd);

/* May the caller ask this at all? Return: 0, -EPERM or -EOPNOTSUPP as in wire.h. */
int rights_of_caller(const struct rights_ask *ask);

/**
 * rights_of_object() - is it the caller's own?
 * @cgroup_uid: who owns the directory of the cgroup, and its cgroup.freeze. RIGHTS_NOBODY: not the
 *	same user
 * @job_uid: the user that has made a job of it; RIGHTS_ROOT: root or a rule; RIGHTS_NOBODY: it is
 *	none yet
 *
 * Return: 0 or -EACCES.
 */
int rights_of_object(u32 uid, u32 cgroup_uid, u32 job_uid);

/*
 * Of a user: the section [users] of mts.conf(5). The size of a job counts in the queue until the
 * job ends, whether or not it needs so much; so it keeps the jobs of others waiting.
 */
struct rights_limits {
	u32 jobs;
	u32 pins; /* jobs that are pinned */
	u32 queue; /* jobs in the queue */
	u64 size; /* bytes: sizes of jobs as the user has given them, together */
	u64 max_pause_ns; /* the shortest pause limit that a job may have */
};

/* What the user has. @jobs: with those that are set aside for children (rights_children()). */
struct rights_has {
	u32 jobs;
	u32 pins;
	u32 queued;
	u64 size;
};

/**
 * rights_within() - would the user still be within the limits?
 * @max_pause_ns: the pause limit that is asked for; 0: none
 *
 * A limit counts only if the request would bring the user further beyond it. So one that has been
 * lowered keeps no user from doing with less.
 *
 * Return: 0 or -MTS_WIRE_TOO_*.
 */
int rights_within(const struct rights_limits *limits, const struct rights_ask *ask,
		  const struct rights_has *has, u64 max_pause_ns);

/*
 * Jobs that are set aside for the children of a new MTS_JOB_EACH or _EACH_LEAF job: half of those
 * that the user may still have. They count as the user's from the start, so that the module, which
 * knows no users, can keep to the number.
 */
u32 rights_children(const struct rights_limits *limits, const struct rights_has *has);

/*
 * The number of a user's command, which no other user's and nearly none of root's has: else a user
 * could learn, or set, what the commands of others are expected to need.
 */
u64 rights_command(u64 command, u32 uid);

#endif /* MTSD_RIGHTS_H */
