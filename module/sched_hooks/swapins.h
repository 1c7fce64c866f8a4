/* SPDX-License-Identifier: GPL-2.0 */
/* How long tasks wait for pages from swap: a probe at both ends of the kernel's do_swap_page(). */
#ifndef _MTS_SWAPINS_H
#define _MTS_SWAPINS_H

#include "context.h"

/* Can waits be measured in this kernel? At load; takes milliseconds. */
void mts_swapins_init(void);

/* Begin, or cease, to measure. Sleeps and allocates: not in the rotor's thread. */
void mts_swapins_watch(bool wanted);

/* Are waits measured where they are wanted? */
bool mts_swapins_are_seen(void);

#endif /* _MTS_SWAPINS_H */
