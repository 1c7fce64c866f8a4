/* SPDX-License-Identifier: GPL-2.0 */
/* The users and groups of the host. */
#ifndef MTSCTL_ACCOUNTS_H
#define MTSCTL_ACCOUNTS_H

#include <stdbool.h>

#include "policy/pure.h"

/* A name or a number. Return: false: the host has no account of that name. */
bool account_user(const char *text, u32 *id);
bool account_group(const char *text, u32 *id);

#endif /* MTSCTL_ACCOUNTS_H */
