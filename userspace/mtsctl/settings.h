/* SPDX-License-Identifier: GPL-2.0 */
/* The settings of struct mts_config: the table that set, get and mts.conf(5) share. */
#ifndef MTSCTL_SETTINGS_H
#define MTSCTL_SETTINGS_H

#include "format.h"
#include "mtsctl.h"

struct setting {
	const char *key;
	u32 bit; /* MTS_CONFIG_* */
	/* The value as the user writes it, into @config. Return: an exit status. */
	int (*take)(const struct command *command, const char *value, struct mts_config *config);
	/* The same backwards, exactly. */
	const char *(*text)(char buf[FORMAT_SIZE], const struct mts_config *config);
};

#define N_SETTINGS 14

extern const struct setting settings[N_SETTINGS];

/* Return: the setting whose key is the first @length bytes of @key; NULL: there is none. */
const struct setting *setting_find(const char *key, size_t length);

/* "mode, pack, ... or step" */
const char *setting_keys(void);

/* The key most like @key, for a message; NULL: there is none like it. */
const char *setting_nearest(const char *key);

/*
 * Checks min_slice against slice here, because the module refuses them without an explanation. A
 * slice that @config does not have is @slice_ns; 0: not known, and all is well.
 *
 * Return: an exit status.
 */
int settings_check(const struct command *command, const struct mts_config *config, u64 slice_ns);

/*
 * Gives @config to the module: all of it or nothing. The device is open. Prints why it fails,
 * after "@what: ".
 *
 * Return: an exit status.
 */
int settings_apply(const char *what, const struct mts_config *config);

#endif /* MTSCTL_SETTINGS_H */
