// SPDX-License-Identifier: GPL-2.0
#include "watch_look.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ipc.h"
#include "mtsctl.h"
#include "watch.h"
#include "words.h"

#define SECOND 1000000000ull
/* Half of the shortest slice, unless the user has set a shorter one. */
#define LOOK_NS 100000000

/* What was seen: the jobs in order of id. */
struct look {
	struct mts_status status;
	struct mts_job_info *jobs;
	u32 count;
};

static int take_look(struct look *look)
{
	u64 generation;
	int ret = ipc_status(&look->status);

	return ret ? ret : ipc_jobs(&look->jobs, &look->count, &generation);
}

/* Prints an event. Return: an exit status. */
__attribute__((format(printf, 4, 5))) static int show(bool json, u64 ns, const char *name,
						      const char *format, ...)
{
	char seconds[32], fields[1024];
	struct watch_event event;
	va_list args;

	snprintf(seconds, sizeof(seconds), "%llu.%06llu", ns / SECOND, ns % SECOND / 1000);
	va_start(args, format);
	vsnprintf(fields, sizeof(fields), format, args);
	va_end(args);
	if (!watch_compose(seconds, name, fields, &event))
		return EXIT_OK;
	return json ? watch_show_json(&event) : watch_show(&event);
}

/* A bin of every job and of none as trace events have them. */
static int bin_of(const struct mts_job_info *job)
{
	return (int)job->bin;
}

static int show_job(bool json, u64 now, const struct mts_job_info *job, const char *what)
{
	return show(json, now, "mts_job",
		    "job=%u bin=%d what=%s parent=%u each=%d pin=%d demand_bytes=%llu "
		    "unused_bytes=%llu cgroup_id=%llu name=%s",
		    job->id, bin_of(job), what, job->parent, !!(job->flags & MTS_JOB_EACH),
		    !!(job->flags & MTS_JOB_PIN), job->demand, job->unused, job->cgroup_id,
		    job->name);
}

/* Between two looks it may have been thawed and frozen anew. */
static int show_freezes(bool json, u64 now, const struct mts_job_info *before,
			const struct mts_job_info *job)
{
	u64 since = before ? before->frozen_since_ns : 0;
	int ret = EXIT_OK;

	if (since == job->frozen_since_ns)
		return EXIT_OK;
	if (since)
		ret = show(json, job->frozen_since_ns ?: now, "mts_thaw",
			   "job=%u bin=%d frozen_ns=%llu cgroup_id=%llu name=%s", job->id,
			   bin_of(job),
			   mts_sub_floor(job->frozen_total_ns, before->frozen_total_ns),
			   job->cgroup_id, job->name);
	if (!ret && job->frozen_since_ns)
		ret = show(json, job->frozen_since_ns, "mts_freeze",
			   "job=%u bin=%d cgroup_id=%llu name=%s", job->id, bin_of(job),
			   job->cgroup_id, job->name);
	return ret;
}

static int show_jobs(bool json, const struct look *before, const struct look *now)
{
	u64 ns = now->status.now_ns;
	u32 i = 0, k = 0;
	int ret = EXIT_OK;

	while (!ret && (i < before->count || k < now->count)) {
		const struct mts_job_info *old = i < before->count ? &before->jobs[i] : NULL;
		const struct mts_job_info *job = k < now->count ? &now->jobs[k] : NULL;

		if (old && (!job || old->id < job->id)) {
			ret = show_job(json, ns, old, "forgotten");
			i++;
			continue;
		}
		if (old && old->id > job->id)
			old = NULL;
		if (!old)
			ret = show_job(json, ns, job, "enrolled");
		if (!ret)
			ret = show_freezes(json, ns, old, job);
		i += !!old;
		k++;
	}
	return ret;
}

static int show_status(bool json, const struct mts_status *before, const struct mts_status *now)
{
	int ret = EXIT_OK;

	if (now->state == MTS_STATE_STOPPED && before->state != MTS_STATE_STOPPED)
		ret = show(json, now->now_ns, "mts_stop", "reason=%s frozen=%u detail=%s",
			   word_of(reason_words, now->reason), before->frozen, now->detail);
	else if (before->reason != now->reason)
		ret = show(json, now->now_ns, "mts_admission",
			   "before=%s reason=%s bins=%u demand_bytes=%llu capacity_bytes=%llu",
			   word_of(reason_words, before->reason),
			   word_of(reason_words, now->reason), now->bins, now->demand,
			   now->capacity);
	if (!ret && before->round != now->round)
		ret = show(json, now->now_ns, "mts_round",
			   "round=%llu bins=%u jobs=%u demand_bytes=%llu resident_bytes=%llu "
			   "capacity_bytes=%llu round_ns=%llu longest_pause_ns=%llu",
			   now->round, now->bins, now->jobs, now->demand, now->resident_demand,
			   now->capacity, now->round_ns, now->longest_pause_ns);
	return ret;
}

static int ended_with(int err)
{
	if (err == -EPROTO || err == -ENXIO || err == -ENODEV) {
		complain("the module has been unloaded, or mtsd has ended");
		return EXIT_NO_MODULE;
	}
	return device_failed("watch", -err);
}

/* Return: false: the reader of standard output is gone, or a signal has come. */
static bool wait_for_look(const sigset_t *waiting, const volatile sig_atomic_t *ended)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	struct pollfd out = { .fd = STDOUT_FILENO };

	if (ppoll(&out, 1, &pause, waiting) < 0)
		out.revents = 0;
	return !*ended && !(out.revents & POLLERR);
}

int watch_look(bool json, const sigset_t *waiting, const volatile sig_atomic_t *ended)
{
	struct look before = { 0 }, now = { 0 };
	int ret = EXIT_OK, err = take_look(&before);

	while (!err && !ret && wait_for_look(waiting, ended)) {
		err = take_look(&now);
		if (err)
			break;
		ret = show_status(json, &before.status, &now.status);
		if (!ret)
			ret = show_jobs(json, &before, &now);
		/* main() prints the error of standard output. */
		if (!ret && fflush(stdout))
			ret = EXIT_FAILED;
		free(before.jobs);
		before = now;
		now = (struct look){ 0 };
	}
	free(before.jobs);
	free(now.jobs);
	return err && !*ended ? ended_with(err) : ret;
}
