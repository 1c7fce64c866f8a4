// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "plan.h"
#include "policy.h"
#include "policy/bins.h"
#include "policy/forecast.h"
#include "policy/plan.h"
#include "policy/slices.h"
#include "policy/window.h"
#include "words.h"

#define LIST_WIDTH 36

/* @row: a bin, or MTS_BIN_EVERY; with --queue the time at which jobs begin */
static bool is_listed(const struct plan *plan, u32 i, u64 row)
{
	return (plan->queue ? plan->starts_ns[i] : plan->jobs[i].bin) == row;
}

/*
 * "6.0 GiB x3, make, make-2, +4": the names of the jobs in a row, as many as fit.
 * Jobs with the same name share an entry.
 */
static void list_jobs(const struct plan *plan, u64 row, u32 njobs, char list[LIST_WIDTH + 1])
{
	size_t used = 0;
	u32 listed = 0;

	list[0] = '\0';
	for (u32 i = 0; i < plan->njobs && listed < njobs; i++) {
		const char *full = plan->names[i];
		char name[20], item[48], more[16] = "";
		u32 same = 1, after;
		int len;

		if (!is_listed(plan, i, row))
			continue;
		for (u32 j = i + 1; j < plan->njobs; j++) {
			if (!is_listed(plan, j, row))
				continue;
			if (strcmp(plan->names[j], full))
				break;
			same++;
			i = j;
		}
		/* Sizes contain a blank, which format_name_short() would replace. */
		if (plan->by_size[i])
			snprintf(name, sizeof(name), "%.19s", full);
		else
			format_name_short(name, sizeof(name) - 1, full);
		len = snprintf(item, sizeof(item), "%s%s", used ? ", " : "", name);
		if (same > 1)
			len += snprintf(item + len, sizeof(item) - len, " x%u", same);

		after = njobs - listed - same;
		if (after)
			snprintf(more, sizeof(more), ", +%u", after);
		if (used + len + strlen(more) > LIST_WIDTH) {
			snprintf(list + used, LIST_WIDTH + 1 - used, "%s+%u", used ? ", " : "",
				 njobs - listed);
			return;
		}
		strcpy(list + used, item);
		used += len;
		listed += same;
	}
}

static void show_residents(const struct plan *plan)
{
	char demand[FORMAT_SIZE], list[LIST_WIDTH + 1];
	u64 resident_demand = 0;
	u32 residents = 0;

	for (u32 i = 0; i < plan->njobs; i++) {
		if (plan->jobs[i].bin != MTS_BIN_EVERY)
			continue;
		residents++;
		resident_demand = mts_add_sat(resident_demand, plan->jobs[i].demand);
	}
	if (!residents)
		return;
	list_jobs(plan, MTS_BIN_EVERY, residents, list);
	printf("%4s  %8s  %8s %8s %5u  %s\n", "all", format_size(demand, resident_demand), "",
	       "never", residents, list);
}

/* The time at which the next ones begin; U64_MAX: there are none. */
static u64 next_start(const struct plan *plan, u64 last)
{
	u64 next = U64_MAX;

	for (u32 i = 0; i < plan->njobs; i++)
		if (plan->starts_ns[i] > last)
			next = mts_min(next, plan->starts_ns[i]);
	return next;
}

static void show_starts(const struct plan *plan)
{
	char demand[FORMAT_SIZE], begins[FORMAT_SIZE], list[LIST_WIDTH + 1];

	printf("\n%12s %10s %5s  %s\n", plan->work_ns ? "BEGIN IN" : "BEGIN AFTER", "DEMAND",
	       "JOBS", "WHICH");
	/* The oldest one always begins at once. */
	for (u64 row = 0; row != U64_MAX; row = next_start(plan, row)) {
		u64 sum = 0;
		u32 n = 0, one = 0;

		for (u32 i = 0; i < plan->njobs; i++) {
			if (!is_listed(plan, i, row))
				continue;
			sum = mts_add_sat(sum, plan->jobs[i].demand);
			one = i;
			n++;
		}
		if (!row)
			strcpy(begins, "at once");
		else if (plan->work_ns)
			format_time(begins, row);
		else
			snprintf(begins, sizeof(begins), "%u ended", plan_starts_after(plan, one));
		list_jobs(plan, row, n, list);
		printf("%12s %10s %5u  %s\n", begins, format_size(demand, sum), n, list);
	}
}

static void show_bins(const struct plan *plan)
{
	char demand[FORMAT_SIZE], slice[FORMAT_SIZE], pause[FORMAT_SIZE], list[LIST_WIDTH + 1];
	bool overfull = false;

	printf("\n%4s%*s %8s %8s %5s  %s\n", plan->result.overlaps ? "GROUP" : "BIN",
	       plan->result.overlaps ? 10 : 11, "DEMAND", "SLICE", "PAUSE", "JOBS", "WHICH");
	for (u32 i = 0; i < plan->result.nbins; i++) {
		const struct mts_plan_bin *bin = &plan->bins[i];
		bool over = bin->flags & MTS_PLAN_OVERFULL;

		overfull |= over;
		list_jobs(plan, i, bin->jobs, list);
		printf("%4u  %8s%c %8s %8s %5u  %s\n", i, format_size(demand, bin->demand),
		       over ? '!' : ' ', format_time(slice, bin->slice_ns),
		       format_time(pause, bin->pause_ns), bin->jobs, list);
	}
	show_residents(plan);
	if (overfull)
		printf("\n! more than the capacity: the kernel will page while this %s runs\n",
		       plan->result.overlaps ? "group" : "bin");
}

/* Groups that run at a time, on average. */
static double groups_at_a_time(const struct plan *plan)
{
	return plan->result.nbins * mts_forecast_part(&plan->result) / 1000.0;
}

static const char *why_chosen(const struct plan *plan)
{
	if (plan->queue)
		return NULL;
	if (!mts_window_chooses(plan->step))
		return "step is set";
	if (plan->result.overlaps)
		return "at least a tenth more";
	return mts_forecast_is_better(plan->work_as_groups, plan->work_as_bins) ?
		       "the other exceeds max_pause" :
		       "the other is not a tenth better";
}

/* @ns: U64_MAX: never */
static void show_line(const struct plan *plan, const char *what, u64 permille, u64 ns,
		      const char *more)
{
	char time[FORMAT_SIZE];

	printf("%-17s %10.2f", what, permille / 1000.0);
	if (plan->work_ns)
		printf(" %9s", ns == U64_MAX ? "never" : format_time(time, ns));
	printf("%s%s\n", more ? "  " : "", more ? more : "");
}

static void show_work(const struct plan *plan, const char *what, u64 permille, const char *why)
{
	char chosen[64];

	if (why)
		snprintf(chosen, sizeof(chosen), "chosen: %s", why);
	show_line(plan, what, permille, plan_done_ns(plan, permille), why ? chosen : NULL);
}

/* What would be done in processors' worth: a table, as each line is compared with the others. */
static void show_forecast(const struct plan *plan)
{
	const char *why = why_chosen(plan);
	bool overlaps = plan->result.overlaps;

	printf("\n%-17s PROCESSORS%s\n", "FORECAST", plan->work_ns ? "   DONE IN" : "");
	if (plan_fits(plan)) {
		show_work(plan, "no turns", plan_ideal(plan),
			  plan->queue ? NULL : "everything fits");
	} else {
		printf("%-17s %10s%s  known when it is measured, before turns\n", "no turns", "-",
		       plan->work_ns ? "         -" : "");
		if (plan->result.nbins > 1)
			show_work(plan, "bins", plan->work_as_bins, overlaps ? NULL : why);
		if (plan->work_as_groups)
			show_work(plan, "overlapping bins", plan->work_as_groups,
				  overlaps ? why : NULL);
	}
	if (!plan->to_come)
		return;
	show_line(plan, "queue", plan->work_as_queue, plan->queue_ns,
		  plan->queue ? "chosen: --queue" : "mtsctl run --queue: some begin later");
	if (!plan_fits(plan))
		show_work(plan, "memory for all", plan_ideal(plan), NULL);
}

static u64 largest(const struct plan *plan)
{
	u64 demand = 0;

	for (u32 i = 0; i < plan->njobs; i++)
		demand = mts_max(demand, plan->jobs[i].demand);
	return demand;
}

static void show_queue(const struct plan *plan)
{
	bool swaps = largest(plan) > plan->result.capacity;
	char time[FORMAT_SIZE], last[64] = "", done[64] = "";
	u32 at_once = 0, latest = 0;

	for (u32 i = 0; i < plan->njobs; i++) {
		at_once += is_listed(plan, i, 0);
		if (plan->starts_ns[i] > plan->starts_ns[latest])
			latest = i;
	}
	if (at_once < plan->njobs && plan->work_ns)
		snprintf(last, sizeof(last), ", the last one in %s",
			 format_time(time, plan->starts_ns[latest]));
	else if (at_once < plan->njobs)
		snprintf(last, sizeof(last), ", the last one when %u have ended",
			 plan_starts_after(plan, latest));
	if (plan->work_ns)
		snprintf(done, sizeof(done), ", and all are done in %s",
			 format_time(time, plan->queue_ns));
	print_field("result", "%u job%s at once%s%s; none is frozen once it has begun%s", at_once,
		    at_once == 1 ? " begins" : "s begin", last, done,
		    swaps ? "" : ", and none is swapped");
	if (swaps)
		print_field("warning",
			    "a job of %s has no room even by itself: it begins when no other one "
			    "runs, and the kernel will page",
			    format_size(time, largest(plan)));
}

static void show_result(const struct plan *plan)
{
	const struct mts_plan *r = &plan->result;
	char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], d[FORMAT_SIZE];

	if (r->overlaps)
		print_field("result",
			    "%u groups that overlap: about %.1f of them run at a time, and each "
			    "job for %.1f %% of the time; a round of %s, longest pause %s, per "
			    "round %s swapped out and %s in",
			    r->nbins, groups_at_a_time(plan), mts_forecast_part(r) / 10.0,
			    format_time(a, r->round_ns), format_time(b, r->longest_pause_ns),
			    format_size(c, r->swap_out_bytes), format_size(d, r->swap_in_bytes));
	else
		print_field("result",
			    "%u bins, a round of %s, longest pause %s, per round %s "
			    "swapped out and %s in",
			    r->nbins, format_time(a, r->round_ns),
			    format_time(b, r->longest_pause_ns), format_size(c, r->swap_out_bytes),
			    format_size(d, r->swap_in_bytes));
}

static const char *format_evict(char buf[FORMAT_SIZE], const struct plan *plan)
{
	const char *asked = word_of(evict_words, plan->conf.evict);

	if (plan->evict == plan->conf.evict || !plan_knows_evict(plan))
		return asked;
	snprintf(buf, FORMAT_SIZE, "%s (%s)", asked, word_of(evict_words, plan->evict));
	return buf;
}

static bool any_stays(const struct plan *plan)
{
	for (u32 i = 0; i < plan->njobs; i++)
		if (plan->jobs[i].kept_bytes)
			return true;
	return false;
}

/* What limits turns, or speaks against them. */
static void show_notes(const struct plan *plan)
{
	const struct mts_plan *r = &plan->result;
	char a[FORMAT_SIZE], name[MTS_NAME_SIZE];

	if (r->nbins > 1 && !plan->conf.switch_ns)
		print_field("note", "slices and pauses do not include the time of switches: "
				    "add --swap-speed SIZE or --switch TIME");
	if (plan->paying_pause_ns)
		print_field("batch",
			    "if no job is attended pauses grow up to %s: %llu.%02llu "
			    "processors' worth of work",
			    format_time(a, plan->paying_pause_ns), plan->paying_work / 1000,
			    plan->paying_work % 1000 / 10);
	if (plan->limits.by < plan->njobs)
		print_field("limits",
			    "the slices are shorter for job %s, which is frozen for %s at "
			    "most",
			    format_name(name, sizeof(name), plan->names[plan->limits.by]),
			    format_time(a, plan->jobs[plan->limits.by].max_pause_ns));
	if (plan->no_swap)
		print_field("no swap",
			    "%u job%s in every bin: memory.swap.max leaves nothing of %s to evict",
			    plan->no_swap, plan->no_swap == 1 ? "" : "s",
			    plan->no_swap == 1 ? "it" : "them");
	if (mts_plan_exempt_take_all(plan->bins, r))
		print_field("warning",
			    "the resident jobs leave no room for any other job: each has a bin of "
			    "its own, and the kernel will page. Pin fewer jobs, or add memory");
	else if (r->breaks_limit)
		print_field(
			"warning",
			"the longest pause is above max_pause=%s: mode=auto gives up such turns, "
			"and all jobs run at once, as without mts. Fewer jobs, faster swap, a "
			"shorter min_slice or a larger capacity make it shorter",
			format_time_exact(a, r->max_pause_ns + MTS_PAUSE_MARGIN_NS));
	else if (mts_plan_pauses_too_long(r))
		print_field(
			"note",
			"the longest pause is above max_pause=%s: jobs run at the limit, before "
			"there is room for them",
			format_time_exact(a, r->max_pause_ns + MTS_PAUSE_MARGIN_NS));
}

void plan_show(const struct plan *plan)
{
	const struct mts_plan *r = &plan->result;
	char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], d[FORMAT_SIZE], e[FORMAT_SIZE];
	char evict[FORMAT_SIZE], step[FORMAT_SIZE];
	const char *where = r->overlaps ? "for the groups that run" : "in a bin";

	if (r->resident_demand)
		print_field("capacity", "%s %s: %s less %s of resident jobs%s",
			    format_size(a, r->capacity), where, format_size(b, plan->conf.capacity),
			    format_size(c, r->resident_demand),
			    any_stays(plan) ? " and kept memory" : "");
	else
		print_field("capacity", "%s %s", format_size(a, r->capacity), where);
	print_field("demand", "%s in %ss, %u job%s in all", format_size(a, r->demand),
		    r->overlaps ? "group" : "bin", plan->njobs, plan->njobs == 1 ? "" : "s");
	print_field("rules",
		    "pack=%s evict=%s slice=%s min_slice=%s max_pause=%s overhead=%s switch=%s "
		    "processors=%u step=%s",
		    word_of(pack_words, plan->conf.pack), format_evict(evict, plan),
		    format_time_exact(a, plan->conf.slice_ns),
		    format_time_exact(b, plan->conf.min_slice_ns),
		    format_pause(c, plan->conf.max_pause_ns), format_share(d, plan->conf.overhead),
		    format_time_exact(e, plan->conf.switch_ns), plan->conf.processors,
		    format_step(step, plan->step));
	if (!plan->njobs)
		print_field("result", "no jobs: nothing to plan");
	else if (plan->queue)
		show_queue(plan);
	else if (plan_fits(plan))
		print_field("result", "everything fits: no job will be frozen");
	else if (r->resident_demand > plan->conf.capacity)
		print_field("result", "the resident jobs alone need more than the capacity: the "
				      "kernel will page");
	else if (r->nbins < 2)
		print_field("result", "one bin, larger than the capacity: rotation cannot help, "
				      "the kernel will page");
	else
		show_result(plan);
	if (!plan->queue)
		show_notes(plan);
	policy_show(&plan->policy, plan->now_ns);
	if (r->nbins > 1 || plan->queue || plan->work_ns)
		show_forecast(plan);
	if (plan->queue && plan->njobs)
		show_starts(plan);
	else if (plan->njobs)
		show_bins(plan);
}
