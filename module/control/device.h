/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device /dev/mts, as uapi/mts.h specifies it: checks arguments, copies them, calls the owner.
 */
#ifndef _MTS_DEVICE_H
#define _MTS_DEVICE_H

int mts_device_init(void);
void mts_device_exit(void);

#endif /* _MTS_DEVICE_H */
