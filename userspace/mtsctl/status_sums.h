/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of mtsctl status that sum jobs up. */
#ifndef MTSCTL_STATUS_SUMS_H
#define MTSCTL_STATUS_SUMS_H

#include "groups.h"
#include "snapshot.h"

/* By bin; after the last bin the jobs in every bin, and the jobs in none. */
void status_show_bins(const struct snapshot *s);

/* By group, in their order: users by their numbers, the others by name. */
void status_show_sums(const struct snapshot *s, enum group_by by);

#endif /* MTSCTL_STATUS_SUMS_H */
