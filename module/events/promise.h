/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rotor's promise: when it reports next, and what it does until then. The rotor and the code
 * that it calls renew the promise; the watchdog (failsafe.c) checks it.
 */
#ifndef _MTS_PROMISE_H
#define _MTS_PROMISE_H

#include "context.h"

/**
 * mts_promise() - promise that the rotor reports again
 * @ns: within this time
 * @doing: current operation, a string literal
 *
 * If the promise is overdue by a quarter of a second in two checks while a job is frozen, the
 * watchdog thaws everything. For the rotor's thread and its workers.
 */
void mts_promise(u64 ns, const char *doing);

/* A promise for one job or a part of it, on a slow disk and with contended locks: 10 s. */
void mts_promise_step(const char *doing);

/* The rotor sleeps for @ns, and makes a step then. U64_MAX: nothing is promised. */
void mts_promise_sleep(u64 ns);

/*
 * A job is to be frozen by another thread than the rotor, which may have slept without a promise:
 * it makes a step from now, unless it has promised a later one. Any context.
 */
void mts_promise_anew(const char *doing);

/* When the promise is due, ktime, ns; and the current operation. Any context. */
s64 mts_promise_due(void);
const char *mts_promise_doing(void);

#endif /* _MTS_PROMISE_H */
