/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interactive jobs: found by input and output between program and user (Reuven & Wiseman section
 * 4.4, after Etsion et al.). Pure code (pure.h).
 *
 * Credit is a leaky bucket in one word, so that a hook updates it with a single compare and
 * exchange. Upper 48 bits: time of the last addition, ms of CLOCK_MONOTONIC. Lower 16 bits: amount
 * at that time.
 */
#ifndef _MTS_POLICY_INTERACTIVE_H
#define _MTS_POLICY_INTERACTIVE_H

#include "policy/pure.h"

/*
 * A unit of credit, and the most that a job can have. The cap bounds how long a job stays
 * interactive after much input.
 */
#define MTS_CREDIT_UNIT 1024u
#define MTS_CREDIT_CAP (8 * MTS_CREDIT_UNIT)
/* Credit halves in this time, ms. Longer: idle jobs keep memory; shorter: they lose it in use. */
#define MTS_CREDIT_HALF_LIFE_MS 5000u

/*
 * Credit for an input event, for output in answer to it, and for credit passed on after some steps.
 */
#define MTS_CREDIT_INPUT MTS_CREDIT_UNIT
#define MTS_CREDIT_ANSWER (MTS_CREDIT_UNIT / 2)
#define MTS_CREDIT_STEP(step) (MTS_CREDIT_UNIT >> (step))

/* Output within this time after input counts as an answer, ms. */
#define MTS_ANSWER_MS 500u

/*
 * For this time after a job was interactive its memory stays, even if it is frozen, ms: the user
 * may come back.
 */
#define MTS_STAY_MS 600000u

/* Longest trail: credit halves with each step, and further programs hardly serve the user. */
#define MTS_STEP_MAX 3u
/* Layout of a trail, see mts_trail_step(). */
#define MTS_TRAIL_SHIFT 24
/* A trail is fresh for this time, ms: a program serves an input within it, or not at all. */
#define MTS_TRAIL_MS 500u

/**
 * mts_credit_add() - add an event to the bucket
 * @credit: before; 0: no event yet
 * @now_ms: time of the event
 * @amount: at most MTS_CREDIT_UNIT
 *
 * Events within 100 ms count once: a repeating key, or a pasted line, is one input of the user.
 *
 * Return: the new credit; @credit itself if the event does not count.
 */
u64 mts_credit_add(u64 credit, u64 now_ms, u32 amount);

/* Amount that is left at @now_ms. */
u32 mts_credit_now(u64 credit, u64 now_ms);

/**
 * mts_interactive_until() - until when a job with this credit is interactive
 * @credit: just added to
 * @until_ms: the previous result; 0: none
 *
 * A job becomes interactive at one unit of credit. It stops being interactive when less than a
 * quarter of a unit is left, but not within 10 s. The hysteresis keeps a job from changing its
 * class with every pause in typing.
 *
 * Return: ms, never earlier than @until_ms.
 */
u64 mts_interactive_until(u64 credit, u64 until_ms);

/*
 * A program passes credit on to a program that serves it. The trail records how many such steps lie
 * between a program and the user, and since when. Upper 40 bits: ms of CLOCK_MONOTONIC. Lowest 2
 * bits: the step. The bits in between belong to the caller.
 */
/**
 * mts_trail_step() - steps between the user and the owner of this trail
 *
 * Return: 0 to MTS_STEP_MAX; more: too far away, or too long ago.
 */
u32 mts_trail_step(u64 trail, u64 now_ms);

/*
 * The trail after another event. A fresh trail that is at least as close to the user is kept with
 * its age. So two programs that answer each other do not renew it for ever.
 */
u64 mts_trail_add(u64 trail, u64 now_ms, u32 step);

/**
 * struct mts_claim - a job's claim to memory in every bin: as an interactive job it becomes exempt,
 * after it was interactive only its memory stays
 * @last_input_ns: time of its last input
 * @demand: bytes
 * @granted: result
 */
struct mts_claim {
	u64 last_input_ns;
	u64 demand;
	bool granted;
};

/**
 * mts_interactive_grant() - decide which claims are met
 * @n: MTS_MAX_JOBS at most
 * @limit: bytes for all granted claims together
 * @scratch: mts_interactive_scratch(n) bytes, aligned for u64; mts_plan_scratch(n) suffices
 *
 * Claims with the latest input come first, equal ones in order of index. A claim that does not fit
 * is refused, and its job takes turns; smaller claims after it may still fit.
 *
 * Return: what is left of @limit.
 */
u64 mts_interactive_grant(struct mts_claim *claims, u32 n, u64 limit, void *scratch);

size_t mts_interactive_scratch(u32 n);

#endif /* _MTS_POLICY_INTERACTIVE_H */
