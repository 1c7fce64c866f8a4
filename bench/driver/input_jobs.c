// SPDX-License-Identifier: GPL-2.0
/* labdrive: the input's "jobs" and "batches". */
#include "input.h"

#include <string.h>

#include "util.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_NAME 63u /* mtsctl run --name takes no more */

static const char name_characters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
static const char digits[] = "0123456789";

static struct job_spec *find(const struct input *input, const char *name)
{
	for (size_t i = 0; i < input->job_count; i++)
		if (!strcmp(input->jobs[i].name, name))
			return &input->jobs[i];
	return NULL;
}

/* It becomes a name of files, of a cgroup, and of a job of mts. */
static void check_name(const struct input *input, const char *name, const char *place)
{
	size_t length = strlen(name);

	if (!length || length > MAX_NAME || strspn(name, name_characters) != length ||
	    *name == '.' || *name == '-')
		fail("%s.name: '%s': not 1 to %u of a-z, 0-9, . and -, or with . or - in front",
		     place, name, MAX_NAME);
	if (input->start == START_MTS && strspn(name, digits) == length)
		fail("%s.name: '%s': a job of mts cannot have a name of digits alone", place, name);
	if (find(input, name))
		fail("%s.name: '%s': a job before it has this name", place, name);
}

static void read_environment(struct job_spec *job, const json_t *object, const char *place)
{
	const char *name;
	json_t *value;

	job->environment = allocate(json_object_size(object) + 1, sizeof(*job->environment));
	json_object_foreach((json_t *)object, name, value)
	{
		if (!*name || strchr(name, '='))
			fail("%s.environment: '%s': not the name of a variable", place, name);
		if (!strcmp(name, "LAB_WORK"))
			fail("%s.environment: LAB_WORK is the driver's to set", place);
		if (!json_is_string(value) ||
		    strlen(json_string_value(value)) != json_string_length(value))
			fail("%s.environment.%s: not a text without NUL", place, name);
		job->environment[job->variables++] = text("%s=%s", name, json_string_value(value));
	}
}

static void read_job(const json_t *object, struct input *input, size_t index)
{
	static const struct key keys[] = {
		{ "name", KIND_TEXT },		{ "command", KIND_LIST },
		{ "each", KIND_BOOLEAN },	{ "resident", KIND_BOOLEAN },
		{ "endless", KIND_BOOLEAN },	{ "delay", KIND_NUMBER },
		{ "environment", KIND_OBJECT },
	};
	struct job_spec *job = &input->jobs[index];
	char place[64], command_place[80];
	size_t words;

	snprintf(place, sizeof(place), "jobs[%zu]", index);
	snprintf(command_place, sizeof(command_place), "%s.command", place);
	input_keys(object, place, keys, COUNT(keys));
	job->name = json_string_value(json_object_get(object, "name"));
	check_name(input, job->name, place);
	job->command = input_texts(json_object_get(object, "command"), command_place, &words);
	if (!words || !*job->command[0])
		fail("%s: empty", command_place);
	job->each = json_is_true(json_object_get(object, "each"));
	job->resident = json_is_true(json_object_get(object, "resident"));
	job->endless = json_is_true(json_object_get(object, "endless"));
	job->delay_ns = input_ns(object, place, "delay", 0, MAX_LIMIT);
	job->batch = NO_BATCH;
	read_environment(job, json_object_get(object, "environment"), place);
}

void input_jobs(const json_t *root, struct input *input)
{
	const json_t *list = json_object_get(root, "jobs");
	size_t count = json_array_size(list);

	if (!count || count > MAX_JOBS)
		fail("jobs: %zu: not 1 to %u", count, MAX_JOBS);
	input->jobs = allocate(count, sizeof(*input->jobs));
	/* job_count grows with them: a name is looked for among those before it */
	for (size_t i = 0; i < count; i++) {
		read_job(json_array_get(list, i), input, i);
		input->job_count++;
	}
}

static void read_batch(struct input *input, const json_t *list, size_t index)
{
	bool ends = false;
	char place[64];
	char **names;
	size_t count;

	snprintf(place, sizeof(place), "batches[%zu]", index);
	if (!json_is_array(list))
		fail("%s: not a list", place);
	names = input_texts(list, place, &count);
	for (size_t i = 0; i < count; i++) {
		struct job_spec *job = find(input, names[i]);

		if (!job)
			fail("%s[%zu]: '%s': no such job", place, i, names[i]);
		if (job->batch != NO_BATCH)
			fail("%s[%zu]: '%s' is in a batch already", place, i, names[i]);
		job->batch = index;
		ends |= !job->endless;
	}
	if (!ends)
		fail("%s: has no job that ends", place);
}

void input_batches(const json_t *root, struct input *input)
{
	const json_t *list = json_object_get(root, "batches");

	input->batch_count = json_array_size(list);
	if (input->start != START_IDEAL) {
		if (input->batch_count)
			fail("batches: only with start \"ideal\"");
		return;
	}
	for (size_t i = 0; i < input->batch_count; i++)
		read_batch(input, json_array_get(list, i), i);
	for (size_t i = 0; i < input->job_count; i++) {
		const struct job_spec *job = &input->jobs[i];

		if (job->batch == NO_BATCH && !job->resident && !job->endless)
			fail("jobs[%zu]: '%s' is in no batch, and neither resident nor endless", i,
			     job->name);
	}
}
