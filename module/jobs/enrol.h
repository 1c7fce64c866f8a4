/* SPDX-License-Identifier: GPL-2.0 */
/* Makes jobs, enrols cgroups as jobs, finds jobs that have ended, and removes them. */
#ifndef _MTS_ENROL_H
#define _MTS_ENROL_H

#include "job.h"

/**
 * struct mts_wish - what is asked for when a job is made, as in struct mts_job_submit
 * @flags: MTS_JOB_*; ENTER moves the current process into it
 * @max_pause_ns: its own pause limit; 0: none. Ignored with a parent, whose limit it gets
 * @weight: its own weight; 0: MTS_WEIGHT_DEFAULT. Ignored with a parent, likewise
 * @user: whose it is, with MTS_JOB_USER. Ignored with a parent, likewise
 * @size: bytes that it is expected to need; 0: not known
 * @max_wait_ns: the longest time in the queue, with MTS_JOB_QUEUE
 * @command: 0: none
 * @each_max: with MTS_JOB_HERE, as in struct mts_job_submit
 */
struct mts_wish {
	u32 flags;
	u64 max_pause_ns;
	u32 weight;
	u32 user;
	u64 size;
	u64 max_wait_ns;
	u64 command;
	u32 each_max;
};

/**
 * mts_job_create() - make a cgroup below the base and enrol it
 * @name: NUL-terminated; empty: a name is chosen
 * @wish: the rest
 * @parent: the EACH or EACH_LEAF job in which the current process was born, or NULL
 * @result: the job, with a reference
 *
 * With MTS_JOB_QUEUE the job is held: the rotor (queue.c) starts it. The current process goes on
 * until it returns to user space.
 *
 * Takes mts_lock. Return: 0 or an error of uapi/mts.h.
 */
int mts_job_create(const char *name, const struct mts_wish *wish, struct mts_job *parent,
		   struct mts_job **result);

/* Enrol the cgroup of an open directory; otherwise as mts_job_create(). */
int mts_job_add(int fd, const struct mts_wish *wish, struct mts_job **result);

/* Thaw a job and forget it. -ENOENT. Takes mts_lock. */
int mts_job_remove(u32 id);

/* Set the flags named in mask. -ENOENT, -EOPNOTSUPP. Takes mts_lock. */
int mts_job_set(u32 id, u32 mask, u32 flags);

/* Set the job's own pause limit; 0: none. -ENOENT. Takes mts_lock. */
int mts_job_pause(u32 id, u64 max_pause_ns);

/* Set the job's own weight; 0: MTS_WEIGHT_DEFAULT. -ENOENT. Takes mts_lock. */
int mts_job_weight(u32 id, u32 weight);

/* Not 0: hooks have marked jobs for mts_job_reap(). */
extern atomic_t mts_job_marked;

/*
 * Forget jobs whose last process has exited or whose cgroup is gone. Takes mts_lock. @step is
 * called before each of them; may be NULL. Return: was there one?
 */
bool mts_job_reap(void (*step)(const char *doing));

/* At unload, when all jobs have been thawed: forget all jobs. */
void mts_job_exit(void);

#endif /* _MTS_ENROL_H */
