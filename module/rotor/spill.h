/* SPDX-License-Identifier: GPL-2.0 */
/* A bin that grows beyond its memory within a slice. */
#ifndef _MTS_ROTOR_SPILL_H
#define _MTS_ROTOR_SPILL_H

/*
 * A spill: the running bin is about to use up the memory. Freeze all jobs and evict some of what
 * waits. If that is not enough, move a job of the bin itself to the bin before it, and evict that
 * job. 0 or -ECANCELED.
 */
int mts_spill(void);

#endif /* _MTS_ROTOR_SPILL_H */
