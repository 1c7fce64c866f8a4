// SPDX-License-Identifier: GPL-2.0
/*
 * The rotor of module/rotor/rotor.c as a daemon: one thread, the same rounds and slices.
 *
 * What it does not have: a watchdog (if it is killed, what is frozen stays frozen), eyes for
 * real-time threads, tracepoints.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "rotator.h"

/* While a slice runs it is looked this often whether anything can run, and whether it swaps ... */
#define TICK_NS (50 * NS_PER_MS)
/* ... and this often whether the bin still fits. */
#define GROWTH_NS NS_PER_S
/* While nothing rotates, how often it is measured: with and without reclaim of late. */
#define HASTE_NS (100 * NS_PER_MS)
#define QUIET_NS NS_PER_S
#define QUIET_PERCENT 2 /* of the time, at most, goes into measuring */

enum slice_end {
	SLICE_OVER, /* on to the next bin */
	SLICE_REGROUP, /* the bins are out of date */
	SLICE_STOP,
};

static int signals = -1;
static int forks = -1;
static bool stopping;

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "rotator: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* The rotator steers the jobs, so it must not wait for the processor behind them. */
void be_polite(bool polite)
{
	struct sched_param parameters = { .sched_priority = polite ? 0 : 1 };

	if (!*options.root)
		sched_setscheduler(0, polite ? SCHED_OTHER : SCHED_FIFO, &parameters);
}

/* Wait, and see to forks meanwhile. Return: whether jobs came or went, or it is to stop. */
static bool wait_until(uint64_t until)
{
	struct pollfd events[] = { { .fd = signals, .events = POLLIN },
				   { .fd = forks, .events = POLLIN } };
	uint64_t look = now_ns() + options.poll_ns;
	bool changed = false;

	while (!stopping && !changed) {
		u32 before = job_count;
		uint64_t now = now_ns(), next = mts_min(until, look);
		struct timespec time = { .tv_sec = 0 };

		if (now >= until)
			break;
		if (next > now) {
			time.tv_sec = (time_t)((next - now) / NS_PER_S);
			time.tv_nsec = (long)((next - now) % NS_PER_S);
		}
		if (ppoll(events, 2, &time, NULL) < 0 && errno != EINTR)
			die("poll");
		stopping = events[0].revents & POLLIN;
		if (forks >= 0 && events[1].revents)
			forks_read(forks);
		now = now_ns();
		if (now >= look) {
			look = now + options.poll_ns;
			changed = jobs_scan();
			each_poll();
		}
		changed |= job_count != before;
	}
	return changed || stopping;
}

/* ---- a slice ------------------------------------------------------------------ */

static u32 jobs_in_bin(u32 bin)
{
	u32 n = 0;

	for (u32 i = 0; i < job_count; i++)
		n += jobs[i].bin == bin;
	return n;
}

static bool anything_frozen(void)
{
	for (u32 i = 0; i < job_count; i++)
		if (jobs[i].frozen)
			return true;
	return false;
}

static enum slice_end jobs_changed(void)
{
	if (stopping)
		return SLICE_STOP;
	round_place_newcomers();
	switch_settle();
	/* Everything that is left runs already: let the round's end say so. */
	return anything_frozen() ? SLICE_OVER : SLICE_REGROUP;
}

static enum slice_end run_slice(u32 bin)
{
	static u32 early_in_a_row;
	uint64_t now = now_ns(), ends = now + round_now.bins[bin].slice_ns;
	uint64_t next_growth = now + GROWTH_NS;
	uint64_t fair_start = now + (options.config.min_slice_ns << mts_min(early_in_a_row, 16));
	bool regroup;
	u32 asleep = 0;

	round_slice_begins();
	for (; now < ends; now = now_ns()) {
		if (wait_until(mts_min(ends, now + TICK_NS))) {
			enum slice_end end = jobs_changed();

			if (end != SLICE_OVER || !jobs_in_bin(bin))
				return end;
		}
		now = now_ns();
		regroup = round_swaps();
		if (now >= next_growth && now < ends) {
			next_growth = now + GROWTH_NS;
			regroup |= round_outgrown();
		}
		if (regroup) {
			stats.regroups++;
			return SLICE_REGROUP;
		}
		asleep = round_can_run(bin) ? 0 : asleep + 1;
		if (asleep >= 2 && now >= fair_start && now < ends) {
			stats.early_switches++;
			early_in_a_row++;
			return SLICE_OVER;
		}
	}
	/* A bin that slept to the end does not count as one that ran. */
	if (!asleep)
		early_in_a_row = 0;
	return SLICE_OVER;
}

/* ---- a round -------------------------------------------------------------------- */

/* The bin whose jobs have waited longest; normally that is bin 0. */
static u32 first_bin(void)
{
	uint64_t since = UINT64_MAX;
	u32 first = 0;

	for (u32 i = 0; i < job_count; i++) {
		if (!jobs[i].frozen || jobs[i].bin >= round_now.nbins ||
		    jobs[i].frozen_since >= since)
			continue;
		since = jobs[i].frozen_since;
		first = jobs[i].bin;
	}
	return first;
}

static void run_round(void)
{
	enum slice_end end = SLICE_OVER;
	u32 first = first_bin();

	stats.rounds++;
	for (u32 i = 0; i < round_now.nbins && end == SLICE_OVER; i++) {
		u32 bin = (first + i) % round_now.nbins;

		if (!jobs_in_bin(bin))
			continue;
		switch_to(bin);
		end = run_slice(bin);
	}
}

/*
 * Nothing to rotate: everything runs. It is measured again when jobs come or go or the host
 * reclaims, but not too often.
 */
static void idle(uint64_t measuring_ns)
{
	uint64_t began = now_ns();
	uint64_t least = mts_max(HASTE_NS, measuring_ns * 100 / QUIET_PERCENT);
	bool news = false;

	switch_thaw_all();
	round_rests();
	stats_write();
	while (!stopping && !news && now_ns() - began < mts_max(QUIET_NS, least)) {
		uint64_t reclaimed = round_now.reclaimed_ns;

		news = wait_until(now_ns() + HASTE_NS);
		round_note_reclaim();
		news |= round_now.reclaimed_ns != reclaimed;
	}
	while (!stopping && now_ns() - began < least)
		wait_until(began + least);
}

static void rotate(void)
{
	while (!stopping) {
		uint64_t began = now_ns();

		jobs_scan();
		each_poll();
		if (round_plan() >= 2)
			run_round();
		else
			idle(now_ns() - began);
	}
	switch_thaw_all();
	stats_write();
}

static void prepare(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		die("signalfd");
	if (*options.root)
		return;
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("cannot lock its memory");
	setpriority(PRIO_PROCESS, 0, -20);
	be_polite(false);
	if (options.fork_events && options.each.count) {
		forks = forks_open();
		if (forks < 0)
			fputs("rotator: no fork events: looks for children instead\n", stderr);
	}
}

int main(int argc, char **argv)
{
	options_parse(argc, argv);
	round_init();
	if (options.plan) {
		jobs_scan();
		round_plan();
		round_print_plan();
		return EXIT_SUCCESS;
	}
	prepare();
	stats_write();
	rotate();
	return EXIT_SUCCESS;
}
