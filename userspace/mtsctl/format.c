// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "mtsctl.h"

#define LABEL 11 /* columns of a field's label */

const char *format_size(char buf[FORMAT_SIZE], u64 bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = bytes;
	int unit = 0;

	while (value >= 1023.5 && unit < 6) {
		value /= 1024;
		unit++;
	}
	snprintf(buf, FORMAT_SIZE, "%.*f %s", unit && value < 99.95 ? 1 : 0, value, units[unit]);
	return buf;
}

const char *format_time(char buf[FORMAT_SIZE], u64 ns)
{
	u64 s = ns / 1000000000 + (ns % 1000000000 >= 500000000);

	if (!ns)
		snprintf(buf, FORMAT_SIZE, "0 s");
	else if (ns < 1000000)
		snprintf(buf, FORMAT_SIZE, "%llu us", (ns + 999) / 1000);
	else if (ns < 999500000)
		snprintf(buf, FORMAT_SIZE, "%llu ms", (ns + 500000) / 1000000);
	else if (ns < 59950000000)
		snprintf(buf, FORMAT_SIZE, "%.1f s", ns / 1e9);
	else if (s < 3600)
		snprintf(buf, FORMAT_SIZE, "%llum %02llus", s / 60, s % 60);
	else if (s < 86400)
		snprintf(buf, FORMAT_SIZE, "%lluh %02llum", s / 3600, s / 60 % 60);
	else if (s < 1000 * 86400)
		snprintf(buf, FORMAT_SIZE, "%llud %02lluh", s / 86400, s / 3600 % 24);
	else
		snprintf(buf, FORMAT_SIZE, "%llud", s / 86400);
	return buf;
}

const char *format_page_time(char buf[FORMAT_SIZE], u64 ns)
{
	if (!ns)
		snprintf(buf, FORMAT_SIZE, "-");
	else if (ns < 1000)
		snprintf(buf, FORMAT_SIZE, "%llu ns", ns);
	else if (ns < 99950)
		snprintf(buf, FORMAT_SIZE, "%.1f us", ns / 1e3);
	else
		format_time(buf, ns);
	return buf;
}

const char *format_size_exact(char buf[FORMAT_SIZE], u64 bytes)
{
	static const char letters[] = "KMGTP";
	int unit = -1;

	while (bytes && bytes % 1024 == 0 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(buf, FORMAT_SIZE, "%llu", bytes);
	else
		snprintf(buf, FORMAT_SIZE, "%llu%c", bytes, letters[unit]);
	return buf;
}

const char *format_time_exact(char buf[FORMAT_SIZE], u64 ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	int unit = 0;

	while (ns && ns % 1000 == 0 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	if (ns && unit == 3 && ns % 3600 == 0)
		snprintf(buf, FORMAT_SIZE, "%lluh", ns / 3600);
	else
		snprintf(buf, FORMAT_SIZE, "%llu%s", ns, ns ? units[unit] : "s");
	return buf;
}

const char *format_step(char buf[FORMAT_SIZE], u32 step)
{
	if (step == MTS_STEP_BIN)
		return "bin";
	return step == MTS_STEP_AUTO ? "auto" : format_size_exact(buf, (u64)step << 20);
}

const char *format_pause(char buf[FORMAT_SIZE], u64 ns)
{
	return ns ? format_time_exact(buf, ns) : "auto";
}

const char *format_share(char buf[FORMAT_SIZE], u32 permille)
{
	if (!permille)
		snprintf(buf, FORMAT_SIZE, "off");
	else if (permille % 10)
		snprintf(buf, FORMAT_SIZE, "%u.%u%%", permille / 10, permille % 10);
	else
		snprintf(buf, FORMAT_SIZE, "%u%%", permille / 10);
	return buf;
}

const char *format_name(char *buf, size_t size, const char *name)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++)
		buf[n++] = *name > ' ' && *name < 127 ? *name : '?';
	buf[n] = '\0';
	return buf;
}

const char *format_text(char *buf, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < size; text++)
		buf[n++] = *text >= ' ' && *text < 127 ? *text : '?';
	buf[n] = '\0';
	return buf;
}

const char *format_name_short(char *buf, size_t width, const char *name)
{
	size_t len = strlen(name);
	size_t head = (width - 2) / 2;

	format_name(buf, width + 1, name);
	if (len > width) {
		size_t tail = width - 2 - head;

		memcpy(buf + head, "..", 2);
		format_name(buf + head + 2, tail + 1, name + len - tail);
	}
	return buf;
}

const char *format_name_weight(char *buf, size_t width, const char *name, u32 weight)
{
	char suffix[16] = "";
	int len = 0;

	if (weight && weight != MTS_WEIGHT_DEFAULT)
		len = snprintf(suffix, sizeof(suffix), " [%u]", weight);
	/* format_name_short() needs two columns. */
	if ((size_t)len + 2 > width) {
		len = 0;
		*suffix = '\0';
	}
	format_name_short(buf, width - len, name);
	strcat(buf, suffix);
	return buf;
}

void print_field(const char *label, const char *format, ...)
{
	size_t column = LABEL;
	char text[1024];
	va_list args;
	char *rest;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	printf("%-*s", LABEL, label);
	for (char *word = strtok_r(text, " \t\n", &rest); word;
	     word = strtok_r(NULL, " \t\n", &rest)) {
		size_t len = strlen(word);

		if (column > LABEL && column + 1 + len > COLUMNS - 1) {
			printf("\n%*s", LABEL, "");
			column = LABEL;
		}
		column += printf("%s%s", column > LABEL ? " " : "", word);
	}
	putchar('\n');
}

json_t *json_root(void)
{
	json_t *root = json_object();

	json_put(&root, "schema_version", json_integer(JSON_SCHEMA_VERSION));
	return root;
}

json_t *json_u64(u64 value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *json_u64_or_null(u64 value)
{
	return value ? json_u64(value) : json_null();
}

json_t *json_step(u32 step)
{
	char buf[FORMAT_SIZE];

	if (step == MTS_STEP_BIN || step == MTS_STEP_AUTO)
		return json_string(format_step(buf, step));
	return json_u64((u64)step << 20);
}

json_t *json_text(const char *text)
{
	json_t *string = json_string(text);
	char name[1024];

	return string ? string : json_string(format_name(name, sizeof(name), text));
}

void json_put(json_t **object, const char *key, json_t *value)
{
	if (!json_object_set_new(*object, key, value))
		return;
	json_decref(*object);
	*object = NULL;
}

void json_append(json_t **array, json_t *value)
{
	if (!json_array_append_new(*array, value))
		return;
	json_decref(*array);
	*array = NULL;
}

static int print_with(json_t *root, size_t flags)
{
	int ret = root ? json_dumpf(root, stdout, flags) : -1;

	json_decref(root);
	if (ret) {
		complain("cannot write JSON: out of memory, or standard output failed");
		return EXIT_FAILED;
	}
	putchar('\n');
	return EXIT_OK;
}

int json_print(json_t *root)
{
	return print_with(root, JSON_INDENT(2));
}

int json_print_line(json_t *root)
{
	return print_with(root, JSON_COMPACT | JSON_REAL_PRECISION(15));
}
