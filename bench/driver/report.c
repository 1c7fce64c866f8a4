// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "fairness.h"
#include "report_jobs.h"
#include "sample.h"
#include "shell.h"
#include "util.h"

/* Seconds of a day in ns have 14 digits. */
#define DIGITS 15

/* Those of /proc/vmstat that begin so are reported. */
static const char *const vm_prefixes[] = {
	"pgpgin",	"pgpgout", "pswpin",	 "pswpout",	  "pgfault",
	"pgmajfault",	"pgscan_", "pgsteal_",	 "allocstall_",	  "oom_kill",
	"workingset_",	"swap_ra", "pageoutrun", "pgrotated",	  "pgactivate",
	"pgdeactivate", "zswpin",  "zswpout",	 "compact_stall", "slabs_scanned",
};

static json_t *index_or_null(double index)
{
	return index == NO_INDEX ? json_null() : json_real(index);
}

static bool is_reported(const char *name)
{
	for (size_t i = 0; i < sizeof(vm_prefixes) / sizeof(vm_prefixes[0]); i++)
		if (!strncmp(name, vm_prefixes[i], strlen(vm_prefixes[i])))
			return true;
	return false;
}

static json_t *vmstat_object(const struct run *run)
{
	json_t *object = json_object();
	const char *line = run->now->vmstat;
	unsigned long long value;
	char name[64];

	/* line: at the newline before it, but for the first */
	while (line && sscanf(line, "%63s %llu", name, &value) == 2) {
		/* workingset_nodes is a level: it may fall */
		int64_t delta = (int64_t)(value - counters_vm(run->before, name));

		if (is_reported(name))
			json_object_set_new(object, name, json_integer(delta));
		line = strchr(line + 1, '\n');
	}
	return object;
}

static json_t *disk_object(const struct run *run)
{
	json_t *object = json_pack("{ss}", "name", counters_disk());

	for (size_t i = 0; i < DISKS; i++)
		json_object_set_new(
			object, counters_disk_names[i],
			json_integer((json_int_t)(run->now->disk[i] - run->before->disk[i])));
	return object;
}

static json_t *cpu_object(const struct run *run)
{
	json_t *object = json_object();

	for (size_t i = 0; i < CPUS; i++)
		json_object_set_new(
			object, counters_cpu_names[i],
			json_real(counters_cpu_seconds(run->now->cpu[i] - run->before->cpu[i])));
	return object;
}

static json_t *psi_object(const struct run *run)
{
	json_t *object;

	if (!counters_have_psi())
		return json_null();
	object = json_object();
	for (size_t i = 0; i < PSIS; i++)
		json_object_set_new(
			object, counters_psi_names[i],
			json_real((double)(run->now->psi[i] - run->before->psi[i]) / 1e6));
	return object;
}

/* Threads of one name are added up. */
static json_t *threads_object(const struct run *run)
{
	json_t *object = json_object();

	for (size_t i = 0; i < run->threads_after->count; i++) {
		const struct thread *thread = &run->threads_after->list[i];
		double sum = json_number_value(json_object_get(object, thread->name));

		sum += seconds(thread_since(thread, run->threads_before));
		json_object_set_new_nocheck(object, thread->name, json_real(sum));
	}
	return object;
}

static json_t *series_list(const struct run *run)
{
	json_t *list = json_array();
	size_t parts;

	sample_done(&run->jobs, &parts);
	for (size_t i = 0; i < run->series_count; i++) {
		const struct entry *entry = &run->series[i];
		double work = parts ? entry->done / (double)parts : 0;

		json_array_append_new(
			list, json_pack("{sf, sf, sI, sI, sI, sI, sI, sf, sf, sf, so}", "t",
					entry->t, "work", work, "pswpin", (json_int_t)entry->pswpin,
					"pswpout", (json_int_t)entry->pswpout, "pgmajfault",
					(json_int_t)entry->pgmajfault, "pgpgin",
					(json_int_t)entry->pgpgin, "pgpgout",
					(json_int_t)entry->pgpgout, "user", entry->user, "system",
					entry->system, "free_mib", entry->free_mib, "memory_full",
					counters_have_psi() ? json_real(entry->memory_full) :
							      json_null()));
	}
	return list;
}

static json_t *jain_list(const struct run *run)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->jain_count; i++)
		json_array_append_new(list, index_or_null(run->jain_series[i]));
	return list;
}

/* Whether it ended before the driver ended it. */
static json_t *daemon_object(const struct run *run)
{
	const struct shell *daemon = shell_daemon();
	const bool early = daemon->ended && daemon->ended_ns <= run->end_ns;

	if (!daemon->pid)
		return json_null();
	if (!early)
		return json_pack("{sb, sn, sn}", "ended", 0, "status", "signal");
	return json_pack(
		"{sb, so, so}", "ended", 1, "status",
		WIFEXITED(daemon->wait_status) ? json_integer(WEXITSTATUS(daemon->wait_status)) :
						 json_null(),
		"signal",
		WIFSIGNALED(daemon->wait_status) ? json_integer(WTERMSIG(daemon->wait_status)) :
						   json_null());
}

static json_t *warnings_list(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < warning_count(); i++)
		json_array_append_new(list, json_string(warning(i)));
	return list;
}

static bool is_finished(const struct run *run)
{
	for (size_t i = 0; i < run->jobs.count; i++) {
		const struct job *job = &run->jobs.list[i];

		if (!job->spec->endless && (job->state != JOB_ENDED || job->wait_status))
			return false;
	}
	return true;
}

void report(const struct run *run)
{
	/* first: it may add a warning */
	json_t *jobs = report_jobs(&run->jobs, run->start_ns);
	json_t *outcome = json_pack(
		"{sf, sb, sf, sf, sf, so, sf, so, so, so, so, so, so, so, so, so, so, so}",
		"elapsed", seconds(run->end_ns - run->start_ns), "finished", is_finished(run),
		"free_mib", run->free_mib, "pinned_mib", run->pinned_mib, "late",
		seconds(run->late_ns), "jobs", jobs, "work", sample_work(&run->jobs), "jain",
		index_or_null(run->jain), "jain_series", jain_list(run), "vmstat",
		vmstat_object(run), "disk", disk_object(run), "cpu", cpu_object(run), "threads",
		threads_object(run), "psi", psi_object(run), "series", series_list(run), "policy",
		run->policy ? run->policy : json_null(), "daemon", daemon_object(run), "warnings",
		warnings_list());
	char *line = outcome ? json_dumps(outcome, JSON_COMPACT | JSON_ENSURE_ASCII |
							   JSON_REAL_PRECISION(DIGITS)) :
			       NULL;

	if (!line)
		fail("the outcome cannot be made: no memory");
	printf("drive: result %s\n", line);
}
