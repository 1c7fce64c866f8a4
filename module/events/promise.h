/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rotor's promise: when it will be heard of again, and what it does until then. The rotor, and
 * whatever it calls, renews it; the watchdog (failsafe.c) reads it.
 */
#ifndef _MTS_PROMISE_H
#define _MTS_PROMISE_H

#include "context.h"

/**
 * mts_promise() - the rotor will be heard of again
 * @ns: within this time
 * @doing: what it is doing, a string literal
 *
 * While a job is frozen and the promise is broken by a quarter of a second at two looks,
 * the watchdog stops everything. For the rotor's thread and its workers.
 */
void mts_promise(u64 ns, const char *doing);

/* The same for one job, or part of one, however slow the disk and however contended the locks. */
void mts_promise_step(const char *doing);

/* When it is due, ktime, ns; and what it is about. Any context. */
s64 mts_promise_due(void);
const char *mts_promise_doing(void);

#endif /* _MTS_PROMISE_H */
