/* SPDX-License-Identifier: GPL-2.0 */
/* What the rotor knows, for the device. */
#ifndef _MTS_ROTOR_STATUS_H
#define _MTS_ROTOR_STATUS_H

#include "context.h"
#include "mts.h"

/* A sentence; "": it is one of the gate's. */
const char *mts_status_explain(u32 reason);

/* A reader of the status wants fresh figures; and: here they are. */
bool mts_status_is_wanted(void);
void mts_status_answer(void);

/* What the rotor knows, for the device. Takes mts_lock. */
void mts_status_get(struct mts_status *status);

/* Fill in what a page costs. */
void mts_status_disk(struct mts_disk_info *info);

/* Copy up to @n; return how many there are. The caller holds mts_lock. */
u32 mts_status_bins(struct mts_bin_info *bins, u32 n);

#endif /* _MTS_ROTOR_STATUS_H */
