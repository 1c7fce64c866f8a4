/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is interactive: found by what passes between the program and the person
 * (Reuven & Wiseman section 4.4, after Etsion et al.). Pure code (pure.h).
 *
 * Credit is a leaky bucket. It is one word, so that a hook changes it by a
 * single compare and exchange: in the upper 48 bits when it was last added to, in
 * ms of CLOCK_MONOTONIC; in the lower 16 how much there was then.
 */
#ifndef _MTS_POLICY_INTERACTIVE_H
#define _MTS_POLICY_INTERACTIVE_H

#include "policy/pure.h"

#define MTS_CREDIT_UNIT 1024u
#define MTS_CREDIT_CAP (8 * MTS_CREDIT_UNIT)
#define MTS_CREDIT_HALF_LIFE_MS 5000u

/* An input event; what the program answers; what is handed on, after so many steps. */
#define MTS_CREDIT_INPUT MTS_CREDIT_UNIT
#define MTS_CREDIT_ANSWER (MTS_CREDIT_UNIT / 2)
#define MTS_CREDIT_STEP(step) (MTS_CREDIT_UNIT >> (step))

/* Output counts as an answer so long after input, and only then. */
#define MTS_ANSWER_MS 500u

/**
 * mts_credit_add() - the bucket after another event
 * @credit: before; 0: there has been none
 * @now_ms: of the event
 * @amount: at most MTS_CREDIT_UNIT
 *
 * Events count once in 100 ms: a key that repeats is one person's input, and so is
 * a line that is pasted. Return: @credit as it was, for one that does not count.
 */
u64 mts_credit_add(u64 credit, u64 now_ms, u32 amount);

/* What is left of it. */
u32 mts_credit_now(u64 credit, u64 now_ms);

/**
 * mts_interactive_until() - how long who has this credit is interactive
 * @credit: just added to
 * @until_ms: what was said before; 0: nothing
 *
 * It begins with one unit; it ends when less than a quarter is left, and not
 * before 10 s are over, so that who types now and then does not go to and fro.
 *
 * Return: until when, never earlier than @until_ms.
 */
u64 mts_interactive_until(u64 credit, u64 until_ms);

/* So long after a job has been interactive its memory stays, frozen or not: people come back. */
#define MTS_STAY_MS 600000u

/*
 * Credit is handed on from a program to one that serves it, a step further away
 * from the person each time: a trail says how far, and since when. In the upper
 * 40 bits ms of CLOCK_MONOTONIC, in the lowest 2 the step; what lies between is
 * the caller's.
 */
#define MTS_STEP_MAX 3u
#define MTS_TRAIL_SHIFT 24
#define MTS_TRAIL_MS 500u

/**
 * mts_trail_step() - how many steps away from the person is what has this trail?
 *
 * Return: 0..MTS_STEP_MAX, or more: it is too far away, or too long ago.
 */
u32 mts_trail_step(u64 trail, u64 now_ms);

/*
 * The trail after another event. A fresh one stays, if it is no further away, and goes
 * on growing old: two programs that answer each other do not keep it up for ever.
 */
u64 mts_trail_add(u64 trail, u64 now_ms, u32 step);

/**
 * struct mts_claim - of an interactive job, to belong to every bin; or, of one that has been, that
 * its memory does
 * @last_input_ns: when it last had input
 * @demand: bytes
 * @granted: result
 */
struct mts_claim {
	u64 last_input_ns;
	u64 demand;
	bool granted;
};

/**
 * mts_interactive_grant() - whose claims can be met
 * @n: MTS_MAX_JOBS at most
 * @limit: bytes that they may hold together
 * @scratch: mts_interactive_scratch(n) bytes, aligned for u64; mts_plan_scratch(n) will do
 *
 * Those that were used last come first, of equal ones the first. Who does not fit any more
 * goes back to the bins, and leaves the place to others.
 *
 * Return: what is left of @limit.
 */
u64 mts_interactive_grant(struct mts_claim *claims, u32 n, u64 limit, void *scratch);

size_t mts_interactive_scratch(u32 n);

#endif /* _MTS_POLICY_INTERACTIVE_H */
