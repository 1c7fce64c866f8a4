/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The gate: while it is closed, no job can be frozen. mts_thaw_and_stop() (thaw.h) closes it and
 * thaws all jobs, without help of the rotor.
 */
#ifndef _MTS_GATE_H
#define _MTS_GATE_H

#include "context.h"

/* Does the configuration forbid freezing, as mode=off and mode=shadow do? */
void mts_gate_set_hands_off(bool off);

/*
 * Close the gate. The first reason stays until the gate is opened. A suspend closes it separately:
 * any other reason takes its place as the gate's reason, and a suspend lasts on when that reason is
 * gone. @frozen: jobs that are frozen now, for the trace. Return: true: @reason is the gate's
 * reason now; false: it was closed before, and keeps its reason.
 */
bool mts_gate_close(u32 reason, const char *detail, u32 frozen);

/*
 * End what closes the gate: MTS_REASON_SUSPEND: a suspend; MTS_REASON_NONE: anything else. The gate
 * opens when nothing closes it.
 */
void mts_gate_open(u32 reason);

/* Why the gate is closed; MTS_REASON_NONE: it is open. Any context. */
u32 mts_gate_reason(void);

/* Is the gate open, and does the configuration let jobs be frozen? Any context. */
bool mts_gate_may_freeze(void);

/* Copy the sentence of mts_thaw_and_stop(); empty if the gate is open. */
void mts_gate_detail(char *text, size_t size);

#endif /* _MTS_GATE_H */
