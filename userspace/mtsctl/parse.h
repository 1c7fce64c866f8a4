/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What people write: sizes, times, names. Strict: no signs, no blanks, no
 * exponents, nothing after the value, no overflow. Numbers are decimal, also with
 * a 0 in front; 0x is refused.
 *
 * Each function returns NULL, or says in words what is wrong; then the result
 * is as it was.
 */
#ifndef MTSCTL_PARSE_H
#define MTSCTL_PARSE_H

#include <sys/types.h>

#include "policy/pure.h"
#include "uapi/mts.h"

/* 96M, 1.5G, 96MiB, 4096, 4096B: bytes; K, M, G, T, P are powers of 1024. */
const char *parse_size(const char *text, u64 *bytes);

/* The same, or 40%, 12.5%: of total. 0% is refused. */
const char *parse_size_or_share(const char *text, u64 total, u64 *bytes);

/* 5%, 2.5%, 0.1%: per mille, whole ones. 0% is 0. */
const char *parse_permille(const char *text, u32 *permille);

/* A whole number, 1 to max. */
const char *parse_count(const char *text, u32 max, u32 *count);

/* 6G, 6Gx10: so many of that size, at least one, of at least one byte. */
const char *parse_size_count(const char *text, u64 *bytes, u32 *count);

/* 2s, 500ms, 1.5s, 1m, 250us, 100ns: nanoseconds. The unit is not optional. */
const char *parse_time(const char *text, u64 *ns);

/* The same, or seconds without a unit, as top(1) and sleep(1) take them. */
const char *parse_interval(const char *text, u64 *ns);

const char *parse_pid(const char *text, pid_t *pid);

/* No byte but digits; so is the empty text. */
bool all_digits(const char *text);

/* A job's id: digits alone. */
bool parse_id(const char *text, u32 *id);

/* A name that MTS_IOC_JOB_CREATE takes and that no command takes for an id. */
const char *parse_job_name(const char *text);

/* Such a name from a command's path: what cannot stay becomes "_". */
void job_name_of(const char *path, char name[MTS_NAME_SIZE]);

/* name-2, name-3, ...: shortened where the suffix needs the room. */
void job_name_numbered(const char *name, u32 number, char out[MTS_NAME_SIZE]);

#endif /* MTSCTL_PARSE_H */
