/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lookout: a thread that looks for tasks outside the bins that wait for a frozen job. It looks
 * while a job is frozen, or while the rotor rotates. It finds the waits of which no hook tells: for
 * the lock of a file, or to write to a pipe or socket that the job does not read. The rotor cannot
 * look itself, because it may be in the middle of a switch.
 */
#ifndef _MTS_LOOKOUT_H
#define _MTS_LOOKOUT_H

int mts_lookout_init(void);
void mts_lookout_exit(void);

#endif /* _MTS_LOOKOUT_H */
