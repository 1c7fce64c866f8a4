/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lookout: a thread that looks, while a job is frozen, whether a task outside the jobs waits
 * for a frozen one in a way that no hook tells of: for the lock of a file, or to write to a pipe or
 * socket that nothing reads. The rotor cannot: it may be in the middle of a switch.
 */
#ifndef _MTS_LOOKOUT_H
#define _MTS_LOOKOUT_H

int mts_lookout_init(void);
void mts_lookout_exit(void);

#endif /* _MTS_LOOKOUT_H */
