/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Policies without turns (MTS_POLICY_FAIR, MTS_POLICY_TOKEN): memory is short, all jobs run, and
 * the rotor shares what there is among them. For the rotor's thread alone.
 */
#ifndef _MTS_ROTOR_SHARING_H
#define _MTS_ROTOR_SHARING_H

#include "context.h"

/*
 * Let the policy of @reason act for a second, or until the configuration changes or the gate
 * closes. Then no job is frozen.
 */
void mts_sharing_run(u32 reason);

/* Another reason than that of a policy without turns: what it did is undone. */
void mts_sharing_end(void);

#endif /* _MTS_ROTOR_SHARING_H */
