/* SPDX-License-Identifier: GPL-2.0 */
/* Which policy is in force, and what each would give (MTS_POLICY_AUTO). */
#ifndef MTSCTL_POLICY_H
#define MTSCTL_POLICY_H

#include <jansson.h>

#include "policy/pure.h"
#include "uapi/mts.h"

/* Is something known that led to the choice, or follows from it? Only with policy=auto. */
bool policy_is_chosen(const struct mts_policy_info *info);

/* Fields of mtsctl's human output; nothing, if there is no choice. */
void policy_show(const struct mts_policy_info *info, u64 now_ns);

json_t *policy_json(const struct mts_policy_info *info, u64 now_ns);

#endif /* MTSCTL_POLICY_H */
