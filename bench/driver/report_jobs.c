// SPDX-License-Identifier: GPL-2.0
/* labdrive: the outcome's "jobs". */
#include "report_jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"
#include "util.h"

#define OUTPUT_SIZE (64 * KIB)
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static json_t *seconds_since(uint64_t ns, uint64_t start)
{
	return ns ? json_real(seconds(ns - start)) : json_null();
}

/* Length of the UTF-8 character at the start of bytes; 0 if there is none that is whole. */
static size_t character(const char *bytes, size_t length)
{
	for (size_t size = 1; size <= 4 && size <= length; size++) {
		json_t *value = json_stringn(bytes, size);

		if (value) {
			json_decref(value);
			return size;
		}
	}
	return 0;
}

/* Bytes that are not UTF-8 are replaced, as Python's errors="replace" does. */
static json_t *text_of(const char *bytes, size_t length)
{
	json_t *value = json_stringn(bytes, length);
	size_t used = 0;
	char *clean;

	if (value)
		return value;
	clean = allocate(length, sizeof(REPLACEMENT));
	for (size_t i = 0; i < length;) {
		size_t size = character(bytes + i, length - i);
		const char *from = size ? bytes + i : REPLACEMENT;
		size_t count = size ? size : sizeof(REPLACEMENT) - 1;

		memcpy(clean + used, from, count);
		used += count;
		i += size ? size : 1;
	}
	value = json_stringn(clean, used);
	free(clean);
	return value;
}

/* The last 64 KiB. */
static json_t *output_of(const struct job *job)
{
	int fd = open(job->output, O_RDONLY | O_CLOEXEC);
	char *buffer = allocate(1, OUTPUT_SIZE);
	struct stat stat;
	ssize_t length = -1;
	json_t *value;

	if (fd >= 0 && !fstat(fd, &stat)) {
		off_t from = stat.st_size > OUTPUT_SIZE ? stat.st_size - OUTPUT_SIZE : 0;

		length = pread(fd, buffer, OUTPUT_SIZE, from);
	}
	if (length < 0)
		warn("%s: its output is lost: %s", job->spec->name, strerror(errno));
	if (fd >= 0)
		close(fd);
	value = text_of(buffer, length > 0 ? (size_t)length : 0);
	free(buffer);
	return value;
}

static json_t *slots_of(const struct job *job, uint64_t start)
{
	size_t count = job_slots(job);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct work_slot *work = &job->work->slots[i];
		const struct slot *slot = &job->slots[i];

		json_array_append_new(
			list,
			json_pack("{so, sI, sI, so, sf}", "name",
				  text_of(work->name, strnlen(work->name, sizeof(work->name))),
				  "done", (json_int_t)slot->done, "goal", (json_int_t)work->goal,
				  "ended", seconds_since(slot->ended_ns, start), "longest_pause",
				  seconds(slot->longest_ns)));
	}
	return list;
}

static json_t *job_object(const struct job *job, uint64_t start)
{
	const struct usage *usage = &job->usage;
	const bool ended = job->state == JOB_ENDED;
	const bool exited = ended && WIFEXITED(job->wait_status);
	const bool killed = ended && WIFSIGNALED(job->wait_status);
	size_t count = job_slots(job);
	uint64_t done = 0, goal = 0;

	for (size_t i = 0; i < count; i++) {
		done += job->slots[i].done;
		goal += job->work->slots[i].goal;
	}
	return json_pack("{ss, so, so, so, so, sf, sf, sI, sI, sf, sI, sI, sf, so, so}", "name",
			 job->spec->name, "started", seconds_since(job->started_ns, start), "ended",
			 seconds_since(ended ? job->ended_ns : 0, start), "status",
			 exited ? json_integer(WEXITSTATUS(job->wait_status)) : json_null(),
			 "signal", killed ? json_integer(WTERMSIG(job->wait_status)) : json_null(),
			 "utime", usage->user, "stime", usage->system, "majflt",
			 (json_int_t)usage->major, "minflt", (json_int_t)usage->minor, "work",
			 sample_job_work(job), "done", (json_int_t)done, "goal", (json_int_t)goal,
			 "longest_pause", seconds(sample_longest_pause(job)), "slots",
			 slots_of(job, start), "output", output_of(job));
}

json_t *report_jobs(const struct jobs *jobs, uint64_t start_ns)
{
	json_t *list = json_array();

	for (size_t i = 0; i < jobs->count; i++)
		json_array_append_new(list, job_object(&jobs->list[i], start_ns));
	return list;
}
