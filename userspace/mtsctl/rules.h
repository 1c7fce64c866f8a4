/* SPDX-License-Identifier: GPL-2.0 */
/* What the commands of mtsctl rules share. */
#ifndef MTSCTL_RULES_H
#define MTSCTL_RULES_H

#include "decide.h"

/* mtsctl rules watch. @conf: as read from @file, which is that of conf_read(). */
int rules_watch(const struct command *command, struct conf *conf, const char *file);

#endif /* MTSCTL_RULES_H */
