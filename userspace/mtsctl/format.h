/* SPDX-License-Identifier: GPL-2.0 */
/* Sizes, times and texts for people (80 columns) and for JSON. */
#ifndef MTSCTL_FORMAT_H
#define MTSCTL_FORMAT_H

#include <jansson.h>

#include "policy/pure.h"

#define FORMAT_SIZE 32
#define COLUMNS 80

/* Rounded, at most 8 columns: "12.0 GiB", "1023 MiB", "5 B". */
const char *format_size(char buf[FORMAT_SIZE], u64 bytes);

/* Rounded, at most 8 columns: "12 us", "350 ms", "1.3 s", "2m 05s", "3h 07m". */
const char *format_time(char buf[FORMAT_SIZE], u64 ns);

/* Of a page, at most 8 columns: "850 ns", "8.2 us", "152 us"; "-" for 0. */
const char *format_page_time(char buf[FORMAT_SIZE], u64 ns);

/* Exact, as parse_size() and parse_time() take them: "96M", "1500ms". */
const char *format_size_exact(char buf[FORMAT_SIZE], u64 bytes);
const char *format_time_exact(char buf[FORMAT_SIZE], u64 ns);

/* The same for step, of struct mts_config: "bin", "auto", "512M". */
const char *format_step(char buf[FORMAT_SIZE], u32 step);

/* The same for max_pause, where 0 is "auto". */
const char *format_pause(char buf[FORMAT_SIZE], u64 ns);

/* Exact, as `set` takes it: "5%", "2.5%", "off". */
const char *format_share(char buf[FORMAT_SIZE], u32 permille);

/* Replaces bytes that are not printable ASCII by "?": a cgroup may have any name. */
const char *format_name(char *buf, size_t size, const char *name);

/* The same, but blanks stay: a text of several words. */
const char *format_text(char *buf, size_t size, const char *text);

/* As format_name(), and ".." in the middle where the name is longer than width. */
const char *format_name_short(char *buf, size_t width, const char *name);

/* The same, and behind it " [WEIGHT]", where that is not the usual one. */
const char *format_name_weight(char *buf, size_t width, const char *name, u32 weight);

/* "label      text", the text filled to 80 columns. */
void print_field(const char *label, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The field schema_version of every JSON object that a command prints. It grows only if a field is
 * removed or changes its meaning; docs/reference.md says what that means for a reader.
 */
#define JSON_SCHEMA_VERSION 1

/* The object that a command prints; it has schema_version. NULL: out of memory. */
json_t *json_root(void);

/* Jansson has no unsigned 64-bit numbers: larger values become INT64_MAX. */
json_t *json_u64(u64 value);
/* The same; null for 0, which means none or automatic. */
json_t *json_u64_or_null(u64 value);
/* Of struct mts_config: "bin", "auto", or bytes. */
json_t *json_step(u32 step);

/* Any bytes: text that is not UTF-8 goes through format_name(). */
json_t *json_text(const char *text);

/*
 * Puts a value into an object, which then owns the value. Without memory the object
 * is freed and becomes NULL; further calls on NULL do nothing.
 */
void json_put(json_t **object, const char *key, json_t *value);

/* The same for the end of an array. */
void json_append(json_t **array, json_t *value);

/* Prints and frees it. NULL means that memory ran out: says so. Return: an exit status. */
int json_print(json_t *root);
/* The same, compact: an object a line. */
int json_print_line(json_t *root);

#endif /* MTSCTL_FORMAT_H */
