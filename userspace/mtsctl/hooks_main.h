/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MTSCTL_HOOKS_MAIN_H
#define MTSCTL_HOOKS_MAIN_H

#include "conf.h"

/*
 * mtsctl hooks watch: until SIGINT or SIGTERM. @file: as for conf_read(), which SIGHUP calls again.
 * Return: an exit status.
 */
int hooks_watch(const struct command *command, struct conf *conf, const char *file, u64 interval);

#endif /* MTSCTL_HOOKS_MAIN_H */
