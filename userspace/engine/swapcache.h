/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MTS_ENGINE_SWAPCACHE_H
#define MTS_ENGINE_SWAPCACHE_H

#include "context.h"

/* Bytes of jobs without a memory controller that count as swapped: the swap cache may hold them. */
u64 mts_swapcache_most(void);

#endif /* MTS_ENGINE_SWAPCACHE_H */
