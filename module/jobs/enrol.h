/* SPDX-License-Identifier: GPL-2.0 */
/* Makes jobs, enrols cgroups as jobs, finds jobs that have ended, and removes them. */
#ifndef _MTS_ENROL_H
#define _MTS_ENROL_H

#include "job.h"

/**
 * mts_job_create() - make a cgroup below the base and enrol it
 * @name: NUL-terminated; empty: a name is chosen
 * @flags: MTS_JOB_*; ENTER moves the current process into it
 * @max_pause_ns: its own pause limit; 0: none. Ignored with @parent, whose limit it gets
 * @parent: the EACH or EACH_LEAF job in which the current process was born, or NULL
 * @result: the job, with a reference
 *
 * Takes mts_lock. Return: 0 or an error of uapi/mts.h.
 */
int mts_job_create(const char *name, u32 flags, u64 max_pause_ns, struct mts_job *parent,
		   struct mts_job **result);

/* Enrol the cgroup of an open directory; otherwise as mts_job_create(). */
int mts_job_add(int fd, u32 flags, u64 max_pause_ns, struct mts_job **result);

/* Thaw a job and forget it. -ENOENT. Takes mts_lock. */
int mts_job_remove(u32 id);

/* Set the flags named in mask. -ENOENT, -EOPNOTSUPP. Takes mts_lock. */
int mts_job_set(u32 id, u32 mask, u32 flags);

/* Set the job's own pause limit; 0: none. -ENOENT. Takes mts_lock. */
int mts_job_pause(u32 id, u64 max_pause_ns);

/* Not 0: hooks have marked jobs for mts_job_reap(). */
extern atomic_t mts_job_marked;

/*
 * Forget jobs whose last process has exited or whose cgroup is gone. Takes mts_lock. @step is
 * called before each of them; may be NULL.
 */
void mts_job_reap(void (*step)(const char *doing));

/* At unload, when all jobs have been thawed: forget all jobs. */
void mts_job_exit(void);

#endif /* _MTS_ENROL_H */
