/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs come and go: their cgroups are made, published, found empty, buried. */
#ifndef _MTS_ENROL_H
#define _MTS_ENROL_H

#include "job.h"

/**
 * mts_job_create() - make a cgroup below the base and enrol it
 * @name: NUL-terminated; empty: one is made up
 * @flags: MTS_JOB_*; ENTER moves the current process into it
 * @max_pause_ns: its own pause limit; 0: none. With a parent it is the parent's
 * @parent: the EACH job it comes from, or NULL
 * @result: the job, with a reference
 *
 * Takes mts_lock. Return: 0 or an error of uapi/mts.h.
 */
int mts_job_create(const char *name, u32 flags, u64 max_pause_ns, struct mts_job *parent,
		   struct mts_job **result);

/* Enrol the cgroup of an open directory; otherwise as mts_job_create(). */
int mts_job_add(int fd, u32 flags, u64 max_pause_ns, struct mts_job **result);

/* Thaw it and forget it. -ENOENT. Takes mts_lock. */
int mts_job_remove(u32 id);

/* Set the flags named in mask. -ENOENT, -EOPNOTSUPP. Takes mts_lock. */
int mts_job_set(u32 id, u32 mask, u32 flags);

/* Set its own pause limit; 0: none. -ENOENT. Takes mts_lock. */
int mts_job_pause(u32 id, u64 max_pause_ns);

/* Jobs that hooks have marked for mts_job_reap(). */
extern atomic_t mts_job_marked;

/*
 * Forget jobs whose last process has exited or whose cgroup is gone. Takes mts_lock. @step, or
 * NULL: called before each of them.
 */
void mts_job_reap(void (*step)(const char *doing));

/* Forget them all, at unload; everything has been thawed. */
void mts_job_exit(void);

#endif /* _MTS_ENROL_H */
