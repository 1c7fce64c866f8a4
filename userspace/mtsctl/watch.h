/* SPDX-License-Identifier: GPL-2.0 */
/* Trace events as tracefs prints them: a line each. docs/tracing.md has the events. */
#ifndef MTSCTL_WATCH_H
#define MTSCTL_WATCH_H

#include <stdbool.h>

#include "policy/pure.h"

#define WATCH_FIELDS 24

/**
 * struct watch_event - a line, taken apart in place
 * @seconds: as printed: CLOCK_MONOTONIC, with six digits after the point
 * @fields: "key=value ...", whole
 */
struct watch_event {
	const char *seconds;
	const char *name;
	const char *fields;
	unsigned int n;
	struct {
		const char *key;
		const char *value;
		bool is_number;
	} field[WATCH_FIELDS];
};

/**
 * watch_parse() - take a line of trace_pipe apart
 * @line: without its end; pieces of it are what @event points to
 *
 * Strict, as a task's name, which comes first, can be anything: the line is laid
 * out in columns (trace_print_context(), kernel/trace/trace_output.c). The fields
 * "name" and "detail", where there are any, are the rest of the line, and text
 * whatever they look like.
 *
 * Return: is it an event? What it points to is good until the next call.
 */
bool watch_parse(char *line, struct watch_event *event);

/* Is this what trace_pipe says where events were overwritten? So many of them. */
bool watch_parse_lost(const char *line, u64 *lost);

/* A line for people, and the same for programs. Return: an exit status. */
int watch_show(const struct watch_event *event);
int watch_show_json(const struct watch_event *event);

#endif /* MTSCTL_WATCH_H */
