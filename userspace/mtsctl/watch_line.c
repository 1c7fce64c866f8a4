// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "mtsctl.h"
#include "watch.h"

/* "            task-12345   [001] ..... " up to the "-" */
#define TASK_COLUMNS 16

/* Skip spaces and digits. Return: the text after them; NULL: there are no digits. */
static char *skip_number(char *at)
{
	char *digits = at + strspn(at, " ");
	size_t n = strspn(digits, "0123456789");

	return n ? digits + n : NULL;
}

/* Skip a pid, the processor in brackets, and flags. Return: the time; NULL: another format. */
static char *skip_context(char *line)
{
	char *at;

	if (strnlen(line, TASK_COLUMNS + 1) <= TASK_COLUMNS || line[TASK_COLUMNS] != '-')
		return NULL;
	at = skip_number(line + TASK_COLUMNS + 1);
	if (!at)
		return NULL;
	at += strspn(at, " ");
	if (*at != '[')
		return NULL;
	at = skip_number(at + 1);
	if (!at || *at != ']')
		return NULL;
	/* Flags such as "..1.." and "d.h2." do not look like a time. */
	at += 1 + strspn(at + 1, " ");
	at += strcspn(at, " ");
	return at + strspn(at, " ");
}

/* End the text at "delimiter". Return: the text after it; NULL: there is none. */
static char *cut(char *text, const char *delimiter)
{
	char *at = strstr(text, delimiter);

	if (!at)
		return NULL;
	*at = '\0';
	return at + strlen(delimiter);
}

static bool is_time(const char *text)
{
	size_t s = strspn(text, "0123456789");
	size_t us = text[s] == '.' ? strspn(text + s + 1, "0123456789") : 0;

	return s && us == 6 && !text[s + 1 + us];
}

static bool is_word(const char *text)
{
	for (; islower((unsigned char)*text) || isdigit((unsigned char)*text) || *text == '_';)
		text++;
	return !*text;
}

static bool is_number(const char *text)
{
	text += *text == '-';
	return *text && !text[strspn(text, "0123456789")];
}

static bool is_rest_of_line(const char *key)
{
	return !strcmp(key, "name") || !strcmp(key, "detail");
}

/* Return: the text after the field, or NULL at the end. *good: it has the form "key=value". */
static char *parse_field(char *at, struct watch_event *event, bool *good)
{
	char *value = cut(at, "="), *next = NULL;
	bool rest;

	*good = value && *at && is_word(at) && event->n < WATCH_FIELDS;
	if (!*good)
		return NULL;
	rest = is_rest_of_line(at);
	if (!rest)
		next = cut(value, " ");
	event->field[event->n].key = at;
	event->field[event->n].value = value;
	event->field[event->n].is_number = !rest && is_number(value);
	event->n++;
	return next;
}

/* Parse a copy, because the text itself is printed without --json. */
static bool parse_fields(char *fields, struct watch_event *event)
{
	static char copy[4096];
	bool good = true;
	char *at = copy;

	if (strlen(fields) >= sizeof(copy))
		return false;
	strcpy(copy, fields);
	event->fields = fields;
	event->n = 0;
	while (at && good)
		at = parse_field(at, event, &good);
	return good;
}

bool watch_parse(char *line, struct watch_event *event)
{
	char *seconds = skip_context(line), *name, *fields;

	if (!seconds)
		return false;
	name = cut(seconds, ": ");
	if (!name || !is_time(seconds))
		return false;
	fields = cut(name, ": ");
	if (!fields || !*name || !is_word(name))
		return false;
	event->seconds = seconds;
	event->name = name;
	return parse_fields(fields, event);
}

bool watch_compose(const char *seconds, const char *name, char *fields, struct watch_event *event)
{
	event->seconds = seconds;
	event->name = name;
	return parse_fields(fields, event);
}

bool watch_parse_lost(const char *line, u64 *lost)
{
	unsigned int cpu;
	int end = 0;

	return sscanf(line, "CPU:%u [LOST %llu EVENTS]%n", &cpu, lost, &end) == 2 && end &&
	       !line[end];
}

int watch_show(const struct watch_event *event)
{
	const char *c;

	printf("%14s  %-16s  ", event->seconds, event->name);
	/* A cgroup may have any name. */
	for (c = event->fields; *c; c++)
		putchar(isprint((unsigned char)*c) ? *c : '?');
	putchar('\n');
	return EXIT_OK;
}

int watch_show_json(const struct watch_event *event)
{
	json_t *root = json_root(), *fields = json_object();
	unsigned int i;

	for (i = 0; i < event->n; i++) {
		const char *value = event->field[i].value;

		json_put(&fields, event->field[i].key,
			 event->field[i].is_number ? json_integer(strtoll(value, NULL, 10)) :
						     json_text(value));
	}
	json_put(&root, "timestamp", json_real(strtod(event->seconds, NULL)));
	json_put(&root, "event", json_string(event->name));
	json_put(&root, "fields", fields);
	return json_print_line(root);
}
