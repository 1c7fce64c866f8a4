/* SPDX-License-Identifier: GPL-2.0 */
/* The limits of a job's cgroup, and of the cgroups above it. */
#ifndef _MTS_LIMITS_H
#define _MTS_LIMITS_H

#include "context.h"
#include "policy/confined.h"

struct mts_job;

/*
 * Reads the counters behind memory.high, memory.max and memory.swap.max, as usage.c does: no file
 * is opened, so a new limit counts at once. Any context.
 */
void mts_limits_read(struct mts_job *job, struct mts_mem_limits *limits);

/* memory.low of a cgroup, bytes; U64_MAX: max. Any context. Return: 0, or -ENODEV. */
int mts_limits_low(struct cgroup *cgrp, u64 *low);

#endif /* _MTS_LIMITS_H */
