/* SPDX-License-Identifier: GPL-2.0 */
/* Containers and units of the jobs of a snapshot. */
#ifndef MTSCTL_LABELS_H
#define MTSCTL_LABELS_H

#include "snapshot.h"

/* Fills in the labels of the snapshot. Without memory for them there are none. */
void labels_find(struct snapshot *s);

#endif /* MTSCTL_LABELS_H */
