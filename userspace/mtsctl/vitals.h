/* SPDX-License-Identifier: GPL-2.0 */
/* What tells whether the host suffers. Nothing is allocated after vitals_open(). */
#ifndef MTSCTL_VITALS_H
#define MTSCTL_VITALS_H

#include "policy/pure.h"

struct vitals {
	char load[16]; /* the first of /proc/loadavg, as it stands there */
	u64 mem_available; /* bytes */
	u64 swap_free;
	u64 pswpin; /* pages, since boot */
	u64 pswpout;
	u64 zswpin; /* pages that zswap had, which the kernel does not count above */
	u64 zswpout;
	u64 pgmajfault; /* since boot */
};

/* Return: 0 or -errno. */
int vitals_open(void);

/* Return: 0 or -EIO. What a kernel does not count is 0. */
int vitals_read(struct vitals *vitals);

#endif /* MTSCTL_VITALS_H */
