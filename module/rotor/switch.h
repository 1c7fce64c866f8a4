/* SPDX-License-Identifier: GPL-2.0 */
/* A switch: from one bin to the next. */
#ifndef _MTS_ROTOR_SWITCH_H
#define _MTS_ROTOR_SWITCH_H

#include "context.h"

/*
 * Freeze the jobs that do not run now, evict, bring bin @to back, thaw it. -ECANCELED: the gate has
 * closed, or the module is being unloaded; there is no other error.
 */
int mts_switch_to(u32 to);

#endif /* _MTS_ROTOR_SWITCH_H */
