/* SPDX-License-Identifier: GPL-2.0 */
/* Signs that the host is short of memory. Nothing is allocated after vitals_open(). */
#ifndef MTSCTL_VITALS_H
#define MTSCTL_VITALS_H

#include "policy/pure.h"

struct vitals {
	char load[16]; /* the first field of /proc/loadavg, as text */
	u64 mem_available; /* bytes */
	u64 swap_free;
	u64 swap_total;
	u64 pswpin; /* pages, since boot */
	u64 pswpout;
	u64 zswpin; /* pages from zswap, which pswpin does not count */
	u64 zswpout;
	u64 pgmajfault; /* since boot */
};

/* Return: 0 or -errno. */
int vitals_open(void);

/* Return: 0 or -EIO. Counters that the kernel does not have are 0. */
int vitals_read(struct vitals *vitals);

#endif /* MTSCTL_VITALS_H */
