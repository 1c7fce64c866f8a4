// SPDX-License-Identifier: GPL-2.0
#include "args.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECONDS 100000000.0
#define MAX_OPTIONS 32u

static const char *program = "?";

void args_program(const char *name)
{
	program = name;
}

void args_refuse(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nTry '%s --help'.\n", program);
	exit(ARGS_USAGE);
}

uint64_t args_number(const char *option, const char *text, unsigned int kilo)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || errno)
		args_refuse("%s %s: not a number", option, text);
	if (!*end)
		return value;
	unit = kilo ? strchr(units, *end) : NULL;
	if (!unit || end[1])
		args_refuse("%s %s: not a number%s", option, text, kilo ? " (of K, M or G)" : "");
	for (; unit >= units; unit--)
		if (__builtin_mul_overflow(value, kilo, &value))
			args_refuse("%s %s: too large", option, text);
	return value;
}

uint64_t args_size(const char *option, const char *text)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t size = args_number(option, text, 1024);

	if (!size || size % page)
		args_refuse("%s %s: not a multiple of a page, %" PRIu64 " bytes", option, text,
			    page);
	if (size > SIZE_MAX / 2)
		args_refuse("%s %s: too large", option, text);
	return size;
}

uint64_t args_seconds(const char *option, const char *text)
{
	double value;
	char *end;

	if (strspn(text, "0123456789.") != strlen(text))
		args_refuse("%s %s: not a number of seconds", option, text);
	value = strtod(text, &end);
	if (end == text || *end || value > MAX_SECONDS)
		args_refuse("%s %s: not a number of seconds", option, text);
	return (uint64_t)(value * 1e9 + 0.5);
}

unsigned int args_word(const char *option, const char *text, const char *words)
{
	size_t length = strlen(text);
	const char *word = words;

	for (unsigned int index = 0;; index++) {
		size_t end = strcspn(word, "|");

		if (end == length && !strncmp(word, text, end))
			return index;
		if (!word[end])
			args_refuse("%s%s: not one of %s", option, text, words);
		word += end + 1;
	}
}

static uint64_t take_number(const struct args_option *option, const char *text)
{
	static const unsigned int kilo[] = { [ARGS_COUNT] = 1000, [ARGS_BYTES] = 1024 };
	unsigned int kind = option->kind & ~ARGS_POSITIVE;
	bool positive = option->kind & ARGS_POSITIVE;
	char name[32];
	uint64_t value;

	snprintf(name, sizeof(name), "--%s", option->name);
	if (kind == ARGS_SIZE)
		return args_size(name, text);
	if (kind == ARGS_SECONDS) {
		value = args_seconds(name, text);
		if (positive && value < 1000000u)
			args_refuse("%s %s: less than a millisecond", name, text);
		return value;
	}
	value = args_number(name, text, kilo[kind]);
	if (positive && !value)
		args_refuse("%s %s: nothing to do", name, text);
	return value;
}

static void take(const struct args_option *option, const char *text)
{
	if (option->kind == ARGS_FLAG)
		*(bool *)option->value = true;
	else if (option->kind == ARGS_TEXT)
		*(const char **)option->value = text;
	else
		*(uint64_t *)option->value = take_number(option, text);
}

/* The value of getopt_long() for an option: its letter, or a number above all characters. */
static int value_of(const struct args_option *options, unsigned int index)
{
	return options[index].letter ? options[index].letter : 256 + (int)index;
}

void args_options(const char *name, const char *usage, const struct args_option *options, int argc,
		  char **argv)
{
	struct option known[MAX_OPTIONS + 2] = { 0 };
	char letters[2 * MAX_OPTIONS + 2];
	unsigned int count = 0;
	char *end = letters;
	int value;

	args_program(name);
	for (; options[count].name; count++) {
		bool flag = options[count].kind == ARGS_FLAG;

		known[count] = (struct option){ options[count].name,
						flag ? no_argument : required_argument, NULL,
						value_of(options, count) };
		if (options[count].letter)
			end += sprintf(end, flag ? "%c" : "%c:", options[count].letter);
	}
	known[count] = (struct option){ "help", no_argument, NULL, 'h' };
	strcpy(end, "h");
	while ((value = getopt_long(argc, argv, letters, known, NULL)) != -1) {
		unsigned int index = 0;

		if (value == 'h') {
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		}
		if (value == '?') {
			fprintf(stderr, "Try '%s --help'.\n", program);
			exit(ARGS_USAGE);
		}
		while (value_of(options, index) != value)
			index++;
		take(&options[index], optarg);
	}
}
