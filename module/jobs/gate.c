// SPDX-License-Identifier: GPL-2.0
#include "jobs/gate.h"

#include "context.h"
#include "events/trace.h"
#include "events/wake.h"
#include "mts.h"

static bool hands_off; /* the configuration forbids freezing */

/* What closes the gate; reason MTS_REASON_NONE: nothing. Under gate_lock. */
struct closure {
	u32 reason;
	char detail[MTS_DETAIL_SIZE];
};

/*
 * A suspend lasts until the kernel says so, any stop until the user opens the gate. So each has a
 * closure of its own: to end one must not end the other.
 */
static struct closure suspend, stop;

static DEFINE_SPINLOCK(gate_lock);
static u32 gate_reason; /* the reason of current_closure(); written under gate_lock */

void mts_gate_set_hands_off(bool off)
{
	WRITE_ONCE(hands_off, off);
}

u32 mts_gate_reason(void)
{
	/* Pairs with update_gate(): the writes before the gate closed are seen. */
	return smp_load_acquire(&gate_reason);
}

static const struct closure *current_closure(void)
{
	lockdep_assert_held(&gate_lock);
	return stop.reason ? &stop : &suspend;
}

static void update_gate(void)
{
	/* Pairs with mts_gate_reason(). */
	smp_store_release(&gate_reason, current_closure()->reason);
}

void mts_gate_detail(char *text, size_t size)
{
	spin_lock(&gate_lock);
	strscpy(text, gate_reason ? current_closure()->detail : "", size);
	spin_unlock(&gate_lock);
}

bool mts_gate_may_freeze(void)
{
	return !mts_gate_reason() && !READ_ONCE(hands_off);
}

bool mts_gate_close(u32 reason, const char *detail, u32 frozen)
{
	struct closure *closure = reason == MTS_REASON_SUSPEND ? &suspend : &stop;
	bool first;

	spin_lock(&gate_lock);
	if (!closure->reason) {
		closure->reason = reason;
		strscpy(closure->detail, detail, sizeof(closure->detail));
	}
	first = current_closure() == closure && gate_reason != closure->reason;
	if (first)
		/* Before the gate closes: the thaws that follow come later in the trace. */
		trace_mts_stop(reason, frozen, detail);
	update_gate();
	spin_unlock(&gate_lock);
	return first;
}

void mts_gate_open(u32 reason)
{
	spin_lock(&gate_lock);
	if (reason == MTS_REASON_SUSPEND)
		suspend.reason = MTS_REASON_NONE;
	else
		stop.reason = MTS_REASON_NONE;
	update_gate();
	spin_unlock(&gate_lock);
	mts_wake_rotor(MTS_ROTOR_EV_GATE);
}
