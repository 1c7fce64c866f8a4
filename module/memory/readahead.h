/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readahead in swap. On devices that do not rotate, the kernel reads ahead by the addresses of the
 * faulting process, else by the order in swap (Documentation/ABI/testing/sysfs-kernel-mm-swap).
 * Bring-back wants the order in swap. One switch serves the whole host.
 */
#ifndef _MTS_READAHEAD_H
#define _MTS_READAHEAD_H

#include "context.h"

/* Without the file (no sysfs mounted) readahead is left alone. */
void mts_readahead_init(void);
void mts_readahead_exit(void);

/*
 * Between begin and end readahead follows the order in swap; end restores the setting. Context: the
 * rotor's thread. Return: pages that a fault reads at most, with those around its own
 * (vm.page-cluster).
 */
u32 mts_readahead_begin(void);
void mts_readahead_end(void);

#endif /* _MTS_READAHEAD_H */
