// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "plan.h"
#include "policy/bins.h"
#include "policy/forecast.h"
#include "policy/plan.h"
#include "policy/slices.h"
#include "policy/window.h"
#include "words.h"

#define LIST_WIDTH 36

static bool fits(const struct plan *plan)
{
	return plan->result.nbins < 2 && plan->result.demand <= plan->result.capacity &&
	       plan->result.resident_demand <= plan->conf.capacity;
}

/*
 * "6.0 GiB x3, make, make-2, +4": the names of the jobs in a bin, as many as fit.
 * Jobs with the same name share an entry.
 */
static void list_jobs(const struct plan *plan, u32 bin, u32 njobs, char list[LIST_WIDTH + 1])
{
	size_t used = 0;
	u32 listed = 0;

	list[0] = '\0';
	for (u32 i = 0; i < plan->njobs && listed < njobs; i++) {
		const char *full = plan->names[i];
		char name[20], item[48], more[16] = "";
		u32 same = 1, after;
		int len;

		if (plan->jobs[i].bin != bin)
			continue;
		for (u32 j = i + 1; j < plan->njobs; j++) {
			if (plan->jobs[j].bin != bin)
				continue;
			if (strcmp(plan->names[j], full))
				break;
			same++;
			i = j;
		}
		/* Sizes contain a blank, which format_name_short() would replace. */
		if (plan->by_size)
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

static void show_bins(const struct plan *plan)
{
	char demand[FORMAT_SIZE], slice[FORMAT_SIZE], pause[FORMAT_SIZE], list[LIST_WIDTH + 1];
	bool overfull = false;
	u32 residents = 0;
	u64 resident_demand = 0;

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
	for (u32 i = 0; i < plan->njobs; i++) {
		if (plan->jobs[i].bin != MTS_BIN_EVERY)
			continue;
		residents++;
		resident_demand = mts_add_sat(resident_demand, plan->jobs[i].demand);
	}
	if (residents) {
		list_jobs(plan, MTS_BIN_EVERY, residents, list);
		printf("%4s  %8s  %8s %8s %5u  %s\n", "all", format_size(demand, resident_demand),
		       "", "never", residents, list);
	}
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
	if (!mts_window_chooses(plan->step))
		return "step is set";
	return plan->result.overlaps ? "at least a tenth more" : "the other is not a tenth better";
}

static void show_work(const char *what, u64 permille, const char *chosen)
{
	printf("%-17s %10.2f%s%s\n", what, permille / 1000.0, chosen ? "  chosen: " : "",
	       chosen ? chosen : "");
}

/* What would be done in processors' worth: a table, as each line is compared with the others. */
static void show_forecast(const struct plan *plan)
{
	const char *why = why_chosen(plan);
	bool overlaps = plan->result.overlaps;

	printf("\n%-17s PROCESSORS\n", "FORECAST");
	printf("%-17s %10s  known when it is measured, before turns\n", "no turns", "-");
	show_work("bins", plan->work_as_bins, overlaps ? NULL : why);
	if (plan->work_as_groups)
		show_work("overlapping bins", plan->work_as_groups, overlaps ? why : NULL);
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

/* The choice for evict=auto depends on the time of a switch. */
static bool knows_evict(const struct plan *plan)
{
	return plan->result.nbins > 1 &&
	       (plan->conf.evict != MTS_EVICT_AUTO || plan->conf.switch_ns);
}

static const char *format_evict(char buf[FORMAT_SIZE], const struct plan *plan)
{
	const char *asked = word_of(evict_words, plan->conf.evict);

	if (plan->evict == plan->conf.evict || !knows_evict(plan))
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

void plan_show(const struct plan *plan)
{
	const struct mts_plan *r = &plan->result;
	char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], d[FORMAT_SIZE], e[FORMAT_SIZE];
	char evict[FORMAT_SIZE], step[FORMAT_SIZE], name[MTS_NAME_SIZE];
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
	else if (fits(plan))
		print_field("result", "everything fits: no job will be frozen");
	else if (r->resident_demand > plan->conf.capacity)
		print_field("result", "the resident jobs alone need more than the capacity: the "
				      "kernel will page");
	else if (r->nbins < 2)
		print_field("result", "one bin, larger than the capacity: rotation cannot help, "
				      "the kernel will page");
	else
		show_result(plan);
	if (r->nbins > 1 && !plan->conf.switch_ns)
		print_field("note", "slices and pauses do not include the time of switches: "
				    "add --swap-speed SIZE or --switch TIME");
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
	else if (mts_plan_pauses_too_long(r))
		print_field(
			"warning",
			"the longest pause is above max_pause=%s: mode=auto gives up such turns, "
			"and all jobs run at once, as without mts. Fewer jobs, faster swap, a "
			"shorter min_slice or a larger capacity make it shorter",
			format_time_exact(a, r->max_pause_ns + MTS_PAUSE_MARGIN_NS));
	if (r->nbins > 1)
		show_forecast(plan);
	if (plan->njobs)
		show_bins(plan);
}

static json_t *conf_json(const struct plan *plan)
{
	const struct mts_plan_conf *conf = &plan->conf;
	json_t *root = json_object();

	json_put(&root, "pack", json_string(word_of(pack_words, conf->pack)));
	json_put(&root, "evict", json_string(word_of(evict_words, conf->evict)));
	json_put(&root, "capacity", json_u64(conf->capacity));
	json_put(&root, "slice_ns", json_u64(conf->slice_ns));
	json_put(&root, "min_slice_ns", json_u64(conf->min_slice_ns));
	json_put(&root, "max_pause_ns", json_u64_or_null(conf->max_pause_ns));
	json_put(&root, "overhead", json_u64(conf->overhead));
	json_put(&root, "switch_ns", json_u64(conf->switch_ns));
	json_put(&root, "processors", json_u64(conf->processors));
	json_put(&root, "step", json_step(plan->step));
	return root;
}

static json_t *bin_json(const struct plan *plan, u32 i)
{
	const struct mts_plan_bin *bin = &plan->bins[i];
	json_t *root = json_object();

	json_put(&root, "bin", json_u64(i));
	json_put(&root, "jobs", json_u64(bin->jobs));
	json_put(&root, "demand", json_u64(bin->demand));
	json_put(&root, "slice_ns", json_u64(bin->slice_ns));
	json_put(&root, "pause_ns", json_u64(bin->pause_ns));
	json_put(&root, "overfull", json_boolean(bin->flags & MTS_PLAN_OVERFULL));
	return root;
}

static json_t *job_json(const struct plan *plan, u32 i)
{
	const struct mts_plan_job *job = &plan->jobs[i];
	bool resident = job->bin == MTS_BIN_EVERY;
	json_t *root = json_object();

	json_put(&root, "name", json_text(plan->names[i]));
	json_put(&root, "demand", json_u64(job->demand + job->kept_bytes));
	json_put(&root, "stays", json_boolean(job->kept_bytes));
	json_put(&root, "bin", resident ? json_string("every") : json_u64(job->bin));
	json_put(&root, "longest_pause_ns", json_u64(resident ? 0 : plan->bins[job->bin].pause_ns));
	return root;
}

/* Without turns it is not known beforehand. */
static json_t *forecast_json(const struct plan *plan)
{
	json_t *root;

	if (plan->result.nbins < 2)
		return json_null();
	root = json_object();
	json_put(&root, "none_permille", json_null());
	json_put(&root, "bins_permille", json_u64(plan->work_as_bins));
	json_put(&root, "overlapping_permille", json_u64_or_null(plan->work_as_groups));
	json_put(&root, "chosen", json_string(plan->result.overlaps ? "overlapping" : "bins"));
	return root;
}

int plan_show_json(const struct plan *plan)
{
	const struct mts_plan *r = &plan->result;
	json_t *bins = json_array(), *jobs = json_array(), *root = json_object();

	json_put(&root, "fits", json_boolean(fits(plan)));
	json_put(&root, "config", conf_json(plan));
	json_put(&root, "capacity", json_u64(r->capacity));
	json_put(&root, "demand", json_u64(r->demand));
	json_put(&root, "resident_demand", json_u64(r->resident_demand));
	json_put(&root, "evict",
		 knows_evict(plan) ? json_string(word_of(evict_words, plan->evict)) : json_null());
	json_put(&root, "overlaps", json_boolean(r->overlaps));
	json_put(&root, "run_permille", r->overlaps ? json_u64(mts_forecast_part(r)) : json_null());
	json_put(&root, "forecast", forecast_json(plan));
	json_put(&root, "round_ns", json_u64(r->round_ns));
	json_put(&root, "longest_pause_ns", json_u64(r->longest_pause_ns));
	json_put(&root, "limited_by",
		 plan->limits.by < plan->njobs ? json_text(plan->names[plan->limits.by]) :
						 json_null());
	json_put(&root, "no_swap", json_u64(plan->no_swap));
	json_put(&root, "swap_out_bytes", json_u64(r->swap_out_bytes));
	json_put(&root, "swap_in_bytes", json_u64(r->swap_in_bytes));
	for (u32 i = 0; i < r->nbins; i++)
		json_append(&bins, bin_json(plan, i));
	for (u32 i = 0; i < plan->njobs; i++)
		json_append(&jobs, job_json(plan, i));
	json_put(&root, "bins", bins);
	json_put(&root, "jobs", jobs);
	return json_print(root);
}
