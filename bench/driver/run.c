// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>

#include "ending.h"
#include "fairness.h"
#include "sample.h"
#include "shell.h"
#include "spawn.h"
#include "util.h"

#define DAEMON_LEAD (1ull * NS_PER_S)

/* The run that fail() must end. */
static struct run *running;

static void clean_up(void)
{
	run_end(running);
}

void run_prepare(struct run *run, const struct input *input)
{
	run->input = input;
	run->jain = NO_INDEX;
	run->jain_room = input->limit_ns / INTERVAL_NS + 1;
	run->jain_series = allocate(run->jain_room, sizeof(*run->jain_series));
	run->series_room = input->limit_ns / NS_PER_S + 2;
	run->series = allocate(run->series_room, sizeof(*run->series));
	run->before = allocate(1, sizeof(*run->before));
	run->previous = allocate(1, sizeof(*run->previous));
	run->now = allocate(1, sizeof(*run->now));
	run->threads_before = allocate(1, sizeof(*run->threads_before));
	run->threads_after = allocate(1, sizeof(*run->threads_after));
}

static uint64_t vm_delta(const struct run *run, const char *name)
{
	return counters_vm(run->now, name) - counters_vm(run->previous, name);
}

static double cpu_delta(const struct run *run, enum cpu cpu)
{
	return counters_cpu_seconds(run->now->cpu[cpu] - run->previous->cpu[cpu]);
}

/* From run->previous to run->now, which change places then. */
static void note_entry(struct run *run, uint64_t now)
{
	struct counters *read = run->now;
	size_t parts;

	assert(run->series_count < run->series_room);
	run->series[run->series_count++] = (struct entry){
		.t = seconds(now - run->start_ns),
		.done = sample_done(&run->jobs, &parts),
		.pswpin = vm_delta(run, "pswpin"),
		.pswpout = vm_delta(run, "pswpout"),
		.pgmajfault = vm_delta(run, "pgmajfault"),
		.pgpgin = vm_delta(run, "pgpgin"),
		.pgpgout = vm_delta(run, "pgpgout"),
		.user = cpu_delta(run, CPU_USER),
		.system = cpu_delta(run, CPU_SYSTEM),
		.free_mib = read->free_mib,
		.memory_full =
			(double)(read->psi[PSI_MEMORY_FULL] - run->previous->psi[PSI_MEMORY_FULL]) /
			1e6,
	};
	run->now = run->previous;
	run->previous = read;
}

static void look_at_all(struct run *run, uint64_t now)
{
	for (size_t i = 0; i < run->jobs.count; i++)
		if (run->jobs.list[i].state == JOB_RUNNING)
			sample_job(&run->jobs.list[i], now);
}

/* Also after a job's end, which is a look. */
static void note_first_goal(struct run *run)
{
	if (run->jain_taken || !fairness_first_goal(&run->jobs))
		return;
	run->jain = fairness_index(&run->jobs);
	run->jain_taken = true;
}

static void note_second(struct run *run, uint64_t now)
{
	counters_read(run->now);
	note_entry(run, now);
	printf("drive: at %.1f %.4f\n", seconds(now - run->start_ns), sample_work(&run->jobs));
	fflush(stdout);
}

/* How often something is due, and when next; times that were missed are not made up for. */
struct clock {
	uint64_t next;
	uint64_t period;
};

static bool is_due(struct clock *clock, uint64_t now)
{
	if (now < clock->next)
		return false;
	clock->next += (now - clock->next) / clock->period * clock->period + clock->period;
	return true;
}

/* An interval that was missed altogether has no index. */
static void note_interval(struct run *run, uint64_t now)
{
	size_t over = (size_t)((now - run->start_ns) / INTERVAL_NS);
	double index = fairness_end(&run->jobs);

	while (run->jain_count < over && run->jain_count < run->jain_room) {
		run->jain_series[run->jain_count++] = index;
		index = NO_INDEX;
	}
	fairness_begin(&run->jobs);
}

static bool may_start(const struct run *run, const struct job *job)
{
	return job->state == JOB_WAITING &&
	       (job->spec->batch == NO_BATCH || job->spec->batch == run->batch);
}

/* Starts the jobs that are due. Return: when the next one is due. */
static uint64_t start_due(struct run *run)
{
	uint64_t next = NEVER;

	for (size_t i = 0; i < run->jobs.count; i++) {
		struct job *job = &run->jobs.list[i];
		uint64_t due = run->start_ns + job->spec->delay_ns;

		if (!may_start(run, job))
			continue;
		if (due <= now_ns())
			job_start(job);
		else
			next = least(next, due);
	}
	return next;
}

/* A job has yet to end by itself. batch: of it only; NO_BATCH: of all. */
static bool is_awaited(const struct run *run, size_t batch)
{
	for (size_t i = 0; i < run->jobs.count; i++) {
		const struct job *job = &run->jobs.list[i];

		if (!job->spec->endless && (batch == NO_BATCH || job->spec->batch == batch) &&
		    (job->state == JOB_WAITING || job->state == JOB_RUNNING))
			return true;
	}
	return false;
}

/* Batches that are over make way: their endless jobs are ended. */
static void next_batch(struct run *run)
{
	while (run->batch < run->input->batch_count && !is_awaited(run, run->batch)) {
		for (size_t i = 0; i < run->jobs.count; i++) {
			struct job *job = &run->jobs.list[i];

			if (job->spec->batch != run->batch || job->state != JOB_RUNNING)
				continue;
			ending_cut(&run->jobs, job);
			ending_kill(&run->jobs, job);
		}
		run->batch++;
	}
}

static void kill_leftovers(struct run *run)
{
	for (size_t i = 0; i < run->jobs.count; i++)
		if (run->jobs.list[i].left)
			ending_kill(&run->jobs, &run->jobs.list[i]);
}

static bool has_endless_only(const struct run *run)
{
	for (size_t i = 0; i < run->jobs.count; i++)
		if (!run->jobs.list[i].spec->endless)
			return false;
	return true;
}

/* Until the time, or until a child has ended. */
static void wait_until(uint64_t until)
{
	uint64_t now = now_ns();
	uint64_t left = until > now ? until - now : 0;
	const struct timespec wait = { .tv_sec = (time_t)(left / NS_PER_S),
				       .tv_nsec = (long)(left % NS_PER_S) };
	int number = sigtimedwait(spawn_signals(), NULL, &wait);

	if (number == SIGINT || number == SIGTERM)
		fail("ended by signal %d", number);
}

static void watch(struct run *run)
{
	const struct input *input = run->input;
	const uint64_t limit = run->start_ns + input->limit_ns;
	const bool endless_only = has_endless_only(run);
	struct clock looks = { run->start_ns + input->sample_ns, input->sample_ns };
	struct clock entries = { run->start_ns + NS_PER_S, NS_PER_S };
	struct clock intervals = { run->start_ns + INTERVAL_NS, INTERVAL_NS };

	for (;;) {
		uint64_t next_start = start_due(run);
		uint64_t now;

		wait_until(least(least(looks.next, entries.next), least(next_start, limit)));
		jobs_reap(&run->jobs);
		now = now_ns();
		if (now >= looks.next) {
			uint64_t late = now - looks.next;

			run->late_ns = late > run->late_ns ? late : run->late_ns;
			look_at_all(run, now);
			is_due(&looks, now);
		}
		note_first_goal(run);
		if (is_due(&intervals, now))
			note_interval(run, now);
		if (now >= limit || (!endless_only && !is_awaited(run, NO_BATCH)))
			return;
		if (is_due(&entries, now))
			note_second(run, now);
		kill_leftovers(run);
		next_batch(run);
	}
}

static void take_last_figures(struct run *run)
{
	const struct input *input = run->input;

	run->end_ns = now_ns();
	counters_read(run->now);
	threads_read(input->watch, input->watch_count, run->threads_after);
	for (size_t i = 0; i < run->jobs.count; i++)
		ending_cut(&run->jobs, &run->jobs.list[i]);
	note_entry(run, run->end_ns);
	if (!run->jain_taken)
		run->jain = fairness_index(&run->jobs);
	run->now = run->previous; /* where note_entry() has left the last figures */
}

void run_measure(struct run *run)
{
	const struct input *input = run->input;
	const struct process *list;

	running = run;
	fail_cleanup = clean_up;
	if (*input->daemon) {
		shell_start_daemon(input->daemon);
		pause_ns(DAEMON_LEAD);
		jobs_reap(&run->jobs);
	}
	processes_read(&list); /* its memory is there from now on */
	threads_read(input->watch, input->watch_count, run->threads_before);
	counters_read(run->before);
	*run->previous = *run->before;
	run->start_ns = now_ns();
	printf("drive: start\n");
	fflush(stdout);
	watch(run);
	take_last_figures(run);
}

void run_end(struct run *run)
{
	const bool mts = run->input->start == START_MTS;
	char *const thaw[] = { (char *)run->jobs.mtsctl, "thaw", NULL };

	/* with mts its statistics are asked for while it does its work */
	if (!mts)
		ending_stop(&run->jobs);
	if (*run->input->after && run->end_ns)
		run->policy = shell_object(&run->jobs, run->input->after);
	if (mts)
		shell_program(&run->jobs, thaw);
	ending_kill_all(&run->jobs);
	shell_stop_daemon(&run->jobs);
	fail_cleanup = NULL;
}
