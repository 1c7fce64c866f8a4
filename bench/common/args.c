// SPDX-License-Identifier: GPL-2.0
#include "args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECONDS 100000000.0

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
