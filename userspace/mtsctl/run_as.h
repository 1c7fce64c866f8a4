/* SPDX-License-Identifier: GPL-2.0 */
/* `sudo mtsctl run CMD` needs root for the job, and CMD does not: it runs as the user of sudo. */
#ifndef MTSCTL_RUN_AS_H
#define MTSCTL_RUN_AS_H

#include "policy/pure.h"

/*
 * The user who typed `sudo mtsctl ...`; 0: none, such as in a root shell, which sudo may have
 * started, too.
 */
u32 run_as_invoker(void);

/*
 * Become that user, with the groups and HOME, USER, LOGNAME and SHELL of the user. Return: an exit
 * status; EXIT_RUN: an error is printed.
 */
int run_as(u32 uid);

#endif /* MTSCTL_RUN_AS_H */
