/* SPDX-License-Identifier: GPL-2.0 */
/* What a look has cost: the rotor looks away in proportion to it. For the rotor's thread alone. */
#ifndef _MTS_ROTOR_SPENT_H
#define _MTS_ROTOR_SPENT_H

#include "context.h"
#include "memory/workers.h"

struct mts_spent {
	u64 began; /* ktime, ns */
	u64 busy;
};

static inline struct mts_spent mts_spent_begin(void)
{
	return (struct mts_spent){ .began = ktime_get_ns(), .busy = mts_workers_busy() };
}

/*
 * The time that has passed, but none in which the rotor slept: a look that hangs for half a minute
 * takes nothing from the jobs, and the rotor must not be deaf for minutes after it.
 */
static inline u64 mts_spent_since(const struct mts_spent *then)
{
	return min(ktime_get_ns() - then->began, mts_workers_busy() - then->busy);
}

#endif /* _MTS_ROTOR_SPENT_H */
