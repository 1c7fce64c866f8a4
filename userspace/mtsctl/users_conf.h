/* SPDX-License-Identifier: GPL-2.0 */
/* The section [users] of mts.conf(5): mtsd goes by it, and mtsctl config check checks it. */
#ifndef MTSCTL_USERS_CONF_H
#define MTSCTL_USERS_CONF_H

#include "mtsctl.h"

#define USERS_KEYS "group, jobs, pins, queue and max_pause"
#define N_USERS_KEYS 5
#define USERS_GROUP_SIZE 64 /* with the closing NUL; useradd(8) takes 32 */

struct users_conf {
	char group[USERS_GROUP_SIZE]; /* name or number; empty: none */
	u32 jobs; /* that a user may have */
	u32 pins; /* of these: pinned */
	u32 queue; /* of these: in the queue at a time */
	u64 max_pause_ns; /* the shortest that a user may ask for */
	struct place origins[N_USERS_KEYS]; /* of the keys, in the order of USERS_KEYS */
};

/*
 * On a host that people share. 64 jobs: 64 such users fill the table. A pinned job holds its memory
 * always, and one with a short pause limit nearly always: one pin for the job that a person looks
 * at, and no limit below 10 s, a third of the automatic one. The queue starts the oldest first, so
 * what others submit waits behind a user's: eight at a time.
 */
#define USERS_CONF_DEFAULT                                         \
	{                                                          \
		.group = "mts", .jobs = 64, .pins = 1, .queue = 8, \
		.max_pause_ns = 10 * 1000000000ull                 \
	}

/* The place where the key was given before; NULL: there is no such key. */
struct place *users_conf_origin(struct users_conf *conf, const char *key);

/* Takes a value. Return: NULL, or what is wrong with it. */
const char *users_conf_take(struct users_conf *conf, const char *key, const char *value);

#endif /* MTSCTL_USERS_CONF_H */
