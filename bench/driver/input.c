// SPDX-License-Identifier: GPL-2.0
#include "input.h"

#include <string.h>

#include "util.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const start_names[] = {
	[START_PLAIN] = "plain",
	[START_MTS] = "mts",
	[START_IDEAL] = "ideal",
};

static const char *const kind_names[] = {
	[KIND_BOOLEAN] = "true or false", [KIND_NUMBER] = "a number",  [KIND_TEXT] = "a text",
	[KIND_LIST] = "a list",		  [KIND_OBJECT] = "an object",
};

static bool is_kind(const json_t *value, enum kind kind)
{
	switch (kind) {
	case KIND_BOOLEAN:
		return json_is_boolean(value);
	case KIND_NUMBER:
		return json_is_number(value);
	case KIND_TEXT:
		return json_is_string(value);
	case KIND_LIST:
		return json_is_array(value);
	default:
		return json_is_object(value);
	}
}

void input_keys(const json_t *object, const char *place, const struct key *keys, size_t count)
{
	const char *dot = *place ? "." : "";
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		fail("%s: not an object", *place ? place : "the input");
	json_object_foreach((json_t *)object, name, value)
	{
		size_t i = 0;

		while (i < count && strcmp(keys[i].name, name))
			i++;
		if (i == count)
			fail("%s%s%s: unknown key", place, dot, name);
		if (!is_kind(value, keys[i].kind))
			fail("%s%s%s: not %s", place, dot, name, kind_names[keys[i].kind]);
		if (keys[i].kind == KIND_TEXT &&
		    strlen(json_string_value(value)) != json_string_length(value))
			fail("%s%s%s: a NUL in a text", place, dot, name);
	}
	for (size_t i = 0; i < count; i++)
		if (!json_object_get(object, keys[i].name))
			fail("%s%s%s: missing", place, dot, keys[i].name);
}

uint64_t input_ns(const json_t *object, const char *place, const char *key, double low, double high)
{
	double value = json_number_value(json_object_get(object, key));

	if (!(value >= low && value <= high))
		fail("%s%s%s: %g: not within %g to %g seconds", place, *place ? "." : "", key,
		     value, low, high);
	return (uint64_t)(value * 1e9 + 0.5);
}

char **input_texts(const json_t *list, const char *place, size_t *count)
{
	char **texts = allocate(json_array_size(list) + 1, sizeof(*texts));

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *value = json_array_get(list, i);

		if (!json_is_string(value))
			fail("%s[%zu]: not a text", place, i);
		texts[i] = (char *)json_string_value(value);
		if (strlen(texts[i]) != json_string_length(value))
			fail("%s[%zu]: a NUL in a text", place, i);
	}
	*count = json_array_size(list);
	return texts;
}

static enum start read_start(const json_t *root)
{
	const char *name = json_string_value(json_object_get(root, "start"));

	for (size_t i = 0; i < COUNT(start_names); i++)
		if (!strcmp(start_names[i], name))
			return (enum start)i;
	fail("start: '%s': not plain, mts or ideal", name);
}

static void read_watch(const json_t *root, struct input *input)
{
	input->watch = (const char **)input_texts(json_object_get(root, "watch"), "watch",
						  &input->watch_count);
	for (size_t i = 0; i < input->watch_count; i++)
		if (!*input->watch[i])
			fail("watch[%zu]: empty: it would be every thread", i);
}

void input_read(const char *path, struct input *input)
{
	static const struct key keys[] = {
		{ "free_mib", KIND_NUMBER }, { "limit", KIND_NUMBER }, { "sample", KIND_NUMBER },
		{ "start", KIND_TEXT },	     { "batches", KIND_LIST }, { "daemon", KIND_TEXT },
		{ "after", KIND_TEXT },	     { "watch", KIND_LIST },   { "jobs", KIND_LIST },
	};
	json_error_t error;
	/* never freed: the texts are used until the end */
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

	if (!root)
		fail("%s: line %d: %s", path, error.line, error.text);
	input_keys(root, "", keys, COUNT(keys));
	input->free_mib = json_number_value(json_object_get(root, "free_mib"));
	if (!(input->free_mib >= 0 && input->free_mib <= 1e9))
		fail("free_mib: %g: not within 0 to 1e9 MiB", input->free_mib);
	input->limit_ns = input_ns(root, "", "limit", 0.001, MAX_LIMIT);
	input->sample_ns = input_ns(root, "", "sample", 0.001, 1.0);
	input->start = read_start(root);
	input->daemon = json_string_value(json_object_get(root, "daemon"));
	input->after = json_string_value(json_object_get(root, "after"));
	read_watch(root, input);
	input_jobs(root, input);
	input_batches(root, input);
}
