/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the kernel reads ahead in swap: on devices that do not rotate it
 * follows the addresses of the process that faults, else the order in swap
 * (Documentation/ABI/testing/sysfs-kernel-mm-swap). Bringing back wants the
 * latter. The switch is one for the whole host.
 */
#ifndef _MTS_READAHEAD_H
#define _MTS_READAHEAD_H

/* Without the file (no sysfs in sight) nothing is switched. */
void mts_readahead_init(void);
void mts_readahead_exit(void);

/*
 * From begin to end readahead follows the order in swap. Ends as it was found.
 * Only for the rotor's thread.
 */
void mts_readahead_begin(void);
void mts_readahead_end(void);

#endif /* _MTS_READAHEAD_H */
