/* SPDX-License-Identifier: GPL-2.0 */
/* The calls to the module that keys of top make. Each writes its result to `said`. */
#ifndef MTSCTL_TOP_ACTIONS_H
#define MTSCTL_TOP_ACTIONS_H

#include "policy/pure.h"
#include "uapi/mts.h"

#define TOP_SAID 160

void top_pin(const struct mts_job_info *job, char said[TOP_SAID]);
void top_remove(u32 id, char said[TOP_SAID]);
void top_set_slice(const char *value, char said[TOP_SAID]);
void top_thaw(char said[TOP_SAID]);

#endif /* MTSCTL_TOP_ACTIONS_H */
