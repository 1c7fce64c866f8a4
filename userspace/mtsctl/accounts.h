/* SPDX-License-Identifier: GPL-2.0 */
/* The users and groups of the host. */
#ifndef MTSCTL_ACCOUNTS_H
#define MTSCTL_ACCOUNTS_H

#include <stdbool.h>

#include "policy/pure.h"

/* A name or a number. Return: false: the host has no account of that name. */
bool account_user(const char *text, u32 *id);
bool account_group(const char *text, u32 *id);

struct account {
	char name[64];
	char home[4096];
	char shell[4096];
	u32 gid;
};

/* Return: false: the host has no user of that number. */
bool account_of(u32 uid, struct account *account);

/* Has the host a user of that number? Threads may ask at a time, and it may wait for a server. */
bool account_exists(u32 uid);

/* The name of that user, or its number; valid until the next call. Answers are remembered. */
const char *account_name(u32 uid);

/* Gives this process the supplementary groups of that user instead of its own. Return: 0 or -1. */
int account_groups(const struct account *account);

#endif /* MTSCTL_ACCOUNTS_H */
