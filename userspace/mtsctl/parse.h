/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parsers of user input: sizes, times, names. They are strict: no signs, no blanks,
 * no exponents, nothing after the value, no overflow. Numbers are decimal, also with
 * a 0 in front; 0x is refused.
 *
 * Each function returns NULL, or a text that says what is wrong. After an error the
 * result is unchanged.
 */
#ifndef MTSCTL_PARSE_H
#define MTSCTL_PARSE_H

#include <sys/types.h>

#include "policy/pure.h"
#include "uapi/mts.h"

/* 96M, 1.5G, 96MiB, 4096, 4096B: bytes; K, M, G, T, P are powers of 1024. */
const char *parse_size(const char *text, u64 *bytes);

/* The same, or a share of total: 40%, 12.5%. 0% is refused. */
const char *parse_size_or_share(const char *text, u64 total, u64 *bytes);

/* 5%, 2.5%, 0.1%: in whole per mille. 0% is 0. */
const char *parse_permille(const char *text, u32 *permille);

/* A whole number, 1 to max. */
const char *parse_count(const char *text, u32 max, u32 *count);

/* 6G, 6Gx10: a size of at least one byte, and how many jobs of it, at least one. */
const char *parse_size_count(const char *text, u64 *bytes, u32 *count);

/* 2s, 500ms, 1.5s, 1m, 250us, 100ns: nanoseconds. The unit is not optional. */
const char *parse_time(const char *text, u64 *ns);

/* The same, or seconds without a unit, as top(1) and sleep(1) take them. */
const char *parse_interval(const char *text, u64 *ns);

const char *parse_pid(const char *text, pid_t *pid);

/* True if there is no byte but digits; also for the empty text. */
bool all_digits(const char *text);

/* A job's id: digits alone. */
bool parse_id(const char *text, u32 *id);

/*
 * Whose a cgroup is by its path, from the cgroup root: systemd has each user's sessions and
 * services below user.slice/user-UID.slice. Return: false: the path does not say it.
 */
bool parse_user_of_cgroup(const char *path, u32 *uid);

/* A name that MTS_IOC_JOB_CREATE accepts and that no command reads as an id. */
const char *parse_job_name(const char *text);

/* Makes such a name from a command's path: other characters become "_". */
void job_name_of(const char *path, char name[MTS_NAME_SIZE]);

/* Makes name-2, name-3, ...: the name is cut if the suffix needs the room. */
void job_name_numbered(const char *name, u32 number, char out[MTS_NAME_SIZE]);

#endif /* MTSCTL_PARSE_H */
