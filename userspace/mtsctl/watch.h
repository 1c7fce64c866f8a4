/* SPDX-License-Identifier: GPL-2.0 */
/* Parses trace events as tracefs prints them, one a line. docs/tracing.md lists the events. */
#ifndef MTSCTL_WATCH_H
#define MTSCTL_WATCH_H

#include <stdbool.h>

#include "policy/pure.h"

#define WATCH_FIELDS 24

/**
 * struct watch_event - a line, parsed in place
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
 * watch_parse() - parse a line of trace_pipe
 * @line: without its newline; @event points into it
 *
 * The parser is strict, because the line begins with a task's name, which can be
 * any text. It relies on the columns of trace_print_context() in
 * kernel/trace/trace_output.c. A field "name" or "detail" is always the last one:
 * it takes the rest of the line, and is always text.
 *
 * Return: is it an event? @event is valid until the next call.
 */
bool watch_parse(char *line, struct watch_event *event);

/*
 * The same of its parts. @fields: "key=value ..."; the event points into all of them. Return:
 * false: there are too many fields.
 */
bool watch_compose(const char *seconds, const char *name, char *fields, struct watch_event *event);

/* Is this the line of trace_pipe for lost events? Then also how many. */
bool watch_parse_lost(const char *line, u64 *lost);

/* Print the event as text, or as JSON. Return: an exit status. */
int watch_show(const struct watch_event *event);
int watch_show_json(const struct watch_event *event);

#endif /* MTSCTL_WATCH_H */
