// SPDX-License-Identifier: GPL-2.0
#include "metrics.h"

#include <stdio.h>

#include "format.h"

#define SECOND 1000000000ull

void metric_head(const char *name, const char *type, const char *help)
{
	printf("# HELP mts_%s %s\n# TYPE mts_%s %s\n", name, help, name, type);
}

void metric_end(u64 value)
{
	printf(" %llu\n", value);
}

void metric_end_seconds(u64 ns)
{
	printf(" %llu.%09llu\n", ns / SECOND, ns % SECOND);
}

/* A cgroup may have any name, but the format takes only UTF-8. */
void metric_label(const char *text)
{
	json_t *valid = json_text(text);

	for (const char *p = valid ? json_string_value(valid) : "?"; *p; p++) {
		if (*p == '\n')
			fputs("\\n", stdout);
		else if (*p == '"' || *p == '\\')
			printf("\\%c", *p);
		else
			putchar(*p);
	}
	json_decref(valid);
}

static void whole(const char *name, const char *type, const char *help, u64 value)
{
	metric_head(name, type, help);
	printf("mts_%s", name);
	metric_end(value);
}

static void seconds(const char *name, const char *type, const char *help, u64 ns)
{
	metric_head(name, type, help);
	printf("mts_%s", name);
	metric_end_seconds(ns);
}

void metric_gauge(const char *name, const char *help, u64 value)
{
	whole(name, "gauge", help, value);
}

void metric_gauge_seconds(const char *name, const char *help, u64 ns)
{
	seconds(name, "gauge", help, ns);
}

void metric_gauge_permille(const char *name, const char *help, u32 permille)
{
	metric_head(name, "gauge", help);
	printf("mts_%s %u.%03u\n", name, permille / 1000, permille % 1000);
}

void metric_counter(const char *name, const char *help, u64 value)
{
	whole(name, "counter", help, value);
}

void metric_counter_seconds(const char *name, const char *help, u64 ns)
{
	seconds(name, "counter", help, ns);
}
