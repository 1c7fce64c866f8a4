/* SPDX-License-Identifier: GPL-2.0 */
/* A switch: from one bin to the next. */
#ifndef _MTS_ROTOR_SWITCH_H
#define _MTS_ROTOR_SWITCH_H

#include "context.h"

/* Freeze what does not run now, evict, thaw bin @to. -ECANCELED: the gate closed. */
int mts_switch_to(u32 to);

#endif /* _MTS_ROTOR_SWITCH_H */
