// SPDX-License-Identifier: GPL-2.0
#include "jobs/gate.h"

#include "context.h"
#include "events/trace.h"
#include "events/wake.h"
#include "mts.h"

static bool hands_off; /* the configuration forbids freezing */

static DEFINE_SPINLOCK(gate_lock);
static u32 gate_reason; /* written under gate_lock */
static char gate_detail[MTS_DETAIL_SIZE]; /* under gate_lock */

void mts_gate_set_hands_off(bool off)
{
	WRITE_ONCE(hands_off, off);
}

u32 mts_gate_reason(void)
{
	/* Pairs with the releases below: the writes before the gate closed are seen. */
	return smp_load_acquire(&gate_reason);
}

void mts_gate_detail(char *text, size_t size)
{
	spin_lock(&gate_lock);
	strscpy(text, gate_reason ? gate_detail : "", size);
	spin_unlock(&gate_lock);
}

bool mts_gate_may_freeze(void)
{
	return !mts_gate_reason() && !READ_ONCE(hands_off);
}

bool mts_gate_close(u32 reason, const char *detail, u32 frozen)
{
	bool first;

	spin_lock(&gate_lock);
	first = gate_reason == MTS_REASON_NONE || gate_reason == MTS_REASON_SUSPEND;
	if (first) {
		strscpy(gate_detail, detail, sizeof(gate_detail));
		/* Before the gate closes: the thaws that follow come later in the trace. */
		trace_mts_stop(reason, frozen, detail);
		/* Pairs with mts_gate_reason(). */
		smp_store_release(&gate_reason, reason);
	}
	spin_unlock(&gate_lock);
	return first;
}

void mts_gate_open(u32 reason)
{
	spin_lock(&gate_lock);
	if (reason == MTS_REASON_NONE ? gate_reason != MTS_REASON_SUSPEND : gate_reason == reason)
		/* Pairs with mts_gate_reason(). */
		smp_store_release(&gate_reason, MTS_REASON_NONE);
	spin_unlock(&gate_lock);
	mts_wake_rotor(MTS_ROTOR_EV_GATE);
}
