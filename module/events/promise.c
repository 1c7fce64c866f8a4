// SPDX-License-Identifier: GPL-2.0
#include "events/promise.h"

#include "context.h"

/*
 * One step on a slow disk, ns: a page behind a full queue. A rotating disk takes 3 s for 128
 * requests of 20 ms. Shorter: false alarms. Longer: jobs stay frozen in a real stall; after
 * max_pause, 30 s, they are thawed anyway.
 */
#define STEP_NS (10 * (u64)NSEC_PER_SEC)

static atomic64_t due;
static const char *promised = "starting";

void mts_promise(u64 ns, const char *doing)
{
	WRITE_ONCE(promised, doing);
	atomic64_set(&due, ktime_get_ns() + ns);
}

void mts_promise_step(const char *doing)
{
	mts_promise(STEP_NS, doing);
}

void mts_promise_sleep(u64 ns)
{
	if (ns < U64_MAX - STEP_NS)
		mts_promise(ns + STEP_NS, "idle");
}

void mts_promise_anew(const char *doing)
{
	s64 step = ktime_get_ns() + STEP_NS, before = atomic64_read(&due);

	while (before < step && !atomic64_try_cmpxchg(&due, &before, step))
		;
	if (before < step)
		WRITE_ONCE(promised, doing);
}

s64 mts_promise_due(void)
{
	return atomic64_read(&due);
}

const char *mts_promise_doing(void)
{
	return READ_ONCE(promised);
}
