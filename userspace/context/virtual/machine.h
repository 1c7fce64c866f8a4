/* SPDX-License-Identifier: GPL-2.0 */
/*
 * machine: threads on a virtual clock, one at a time: what context/user.h asks for. It
 * has two orders of turns:
 *
 * - By lot, for tests (tests/rotor). Which thread runs next, and how soon another one runs, comes
 *   from a seed, and so does everything else that is drawn: a seed and a commit reproduce a run.
 *   Time passes while threads sleep, a little with each look at the clock, and by each turn.
 * - Orderly, for simulations (bench/simulator). A thread runs until it sleeps, then the one that
 *   has waited longest. Time passes while all threads sleep, and 1 ns with each look at the clock.
 */
#ifndef MTS_CONTEXT_MACHINE_H
#define MTS_CONTEXT_MACHINE_H

#include "context.h"

/* A new run, by lot or orderly. All threads of the last one have ended. */
void machine_begin(u64 seed);
void machine_begin_orderly(void);

/* Run @fn in a thread of its own until it returns; then all others must have ended, too. */
void machine_run(int (*fn)(void *data), void *data);

/* Called after each turn of a thread, with no thread current. */
extern void (*machine_after_turn)(void);

/* Called before time passes because all threads sleep, and no interrupt is pending. */
extern void (*machine_all_sleep)(void);

/* By lot: 0 to n - 1; one of @n times; a time around @ns, often shorter, sometimes much longer. */
u64 machine_draw(u64 n);
bool machine_chance(u64 n);
u64 machine_around(u64 ns);

/* Sleep for so long. */
void machine_sleep(u64 ns);

/*
 * Orderly: nothing happens until then, so that all threads that sleep with a limit may sleep until
 * then. A thread that only looks whether something has happened does so less often. 0: that is
 * over.
 */
void machine_calm(u64 until);

/* As mts_user_now(), but no time passes by it, and no other thread's turn comes. */
u64 machine_now(void);

/* Time that has passed by looks at the clock: a thread was busy. */
u64 machine_busy(void);

/* Does the thread of that name sleep until it is woken? */
bool machine_sleeps_for_ever(const char *name);

/* What has been logged last, and what the harness says. */
void machine_print_log(FILE *to);

/* Turns of threads since machine_begin(). */
u64 machine_turns(void);

/* A hash of all that was drawn and logged since machine_begin(): the same for the same run. */
u64 machine_hash(void);

#endif /* MTS_CONTEXT_MACHINE_H */
