/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guardian: a process that thaws all jobs when mtsd has ended without doing so, or stands
 * still. It is started before anything is frozen, has locked its memory, and holds the
 * cgroup.freeze of each job open: to thaw a job it needs nothing but a write.
 *
 * If the guardian ends, mtsd thaws all jobs, starts another one, and goes on.
 */
#ifndef MTSD_GUARDIAN_H
#define MTSD_GUARDIAN_H

#include "context.h"
#include "mtsd/record.h"

/* Start it, and the threads that watch it. @fd: the file of @record. Return: 0 or -errno. */
int mts_guardian_init(struct record *record, int fd);

/* At the end, when all jobs are thawed. */
void mts_guardian_exit(void);

/* The guardian's main function: `mtsd --guardian`, with its descriptors. Does not return. */
_Noreturn void guardian_main(void);

/* Lock the memory of this process, and keep it from the OOM killer, as far as that is permitted. */
void guardian_harden(void);

#endif /* MTSD_GUARDIAN_H */
