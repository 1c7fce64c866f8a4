// SPDX-License-Identifier: GPL-2.0
#include "rotor/sharing.h"

#include "events/promise.h"
#include "rotor/bring.h"
#include "rotor/fair.h"
#include "rotor/state.h"
#include "rotor/token.h"

/*
 * The jobs are measured, and planned for, this often: jobs grow in seconds. Those that come and go
 * meanwhile, in storms as of a build, wait for it.
 */
#define TURN_NS (1 * (u64)NSEC_PER_SEC)

/* The steps of a policy. @step: return ns until the next one. */
struct steps {
	u64 (*step)(u64 now);
	void (*rest)(void);
	void (*end)(void);
};

static const struct steps fair = { mts_fair_step_all, mts_fair_rest, mts_fair_end };
static const struct steps token = { mts_token_step_all, mts_token_rest, mts_token_end };

static const struct steps *acting;

static void act(const struct steps *steps)
{
	if (acting && acting != steps)
		acting->end();
	acting = steps;
}

void mts_sharing_run(u32 reason)
{
	u64 until = ktime_get_ns() + TURN_NS, now;

	act(reason == MTS_REASON_TOKEN ? &token : &fair);
	while (mts_rotor_should_run() && (now = ktime_get_ns()) < until) {
		u64 ns = acting->step(now);

		if (mts_rotor_is_wanted())
			mts_bring_wanted();
		mts_promise(3 * (u64)NSEC_PER_SEC, "memory is shared");
		if (mts_rotor_wait(BIT(MTS_ROTOR_EV_CONFIG) | BIT(MTS_ROTOR_EV_WANTED), ns) &
		    BIT(MTS_ROTOR_EV_CONFIG))
			break;
	}
	acting->rest();
}

void mts_sharing_end(void)
{
	act(NULL);
}
