/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parsers of KEY=VALUE and of options, with an error that names them. `what` is
 * the text before the value: "slice=" or "--slice ".
 *
 * Return: an exit status. After an error the field is unchanged.
 */
#ifndef MTSCTL_VALUES_H
#define MTSCTL_VALUES_H

#include "mtsctl.h"
#include "words.h"

int value_word(const struct command *command, const char *what, const char *value,
	       const struct word *words, u32 *field);
int value_time(const struct command *command, const char *what, const char *value, u64 min, u64 max,
	       u64 *field);

#define VALUE_INTERVAL_MIN_NS 10000000ull
#define VALUE_INTERVAL_MAX_NS (24 * 3600 * 1000000000ull)

/* Seconds, or a time with its unit: 10 ms to 24 h. */
int value_interval(const struct command *command, const char *what, const char *value, u64 *field);

/* As in struct mts_config: "auto" is 0. */
int value_pause(const struct command *command, const char *what, const char *value, u64 *field);

/* The value of --each, NULL if it has none: sets one of MTS_JOB_EACH and MTS_JOB_EACH_LEAF. */
int value_each(const struct command *command, const char *value, u32 *flags);

/* As in struct mts_job_pause: "off" is 0, no limit. */
int value_limit(const struct command *command, const char *what, const char *value, u64 *field);

/* A user of the host, by name or number. */
int value_user(const struct command *command, const char *what, const char *value, u32 *field);

/* As in struct mts_job_weight: 1 to 10000. */
int value_weight(const struct command *command, const char *what, const char *value, u32 *field);

/* A size or a share of the host's memory, 1 MiB to 1 PiB. */
int value_memory(const struct command *command, const char *what, const char *value, u64 *field);

/* As in struct mts_config: "bin", "auto", or a size of whole MiB, 1 MiB to 1 PiB. */
int value_step(const struct command *command, const char *what, const char *value, u32 *field);

/* Bytes in a second: 1 MiB to 1 TiB. */
int value_speed(const struct command *command, const char *what, const char *value, u64 *field);

/* A share up to @max, per mille; "off" is 0. */
int value_share(const struct command *command, const char *what, const char *value, u32 max,
		u32 *field);
int value_count(const struct command *command, const char *what, const char *value, u32 max,
		u32 *field);

#endif /* MTSCTL_VALUES_H */
