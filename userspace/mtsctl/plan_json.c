// SPDX-License-Identifier: GPL-2.0
/* mtsctl plan --json; docs/reference.md lists the fields. */
#include "format.h"
#include "plan.h"
#include "policy.h"
#include "policy/forecast.h"
#include "words.h"

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
	bool resident = job->bin == MTS_BIN_EVERY, queues = plan->to_come;
	json_t *root = json_object();

	json_put(&root, "name", json_text(plan->names[i]));
	json_put(&root, "demand", json_u64(job->demand + job->kept_bytes));
	json_put(&root, "stays", json_boolean(job->kept_bytes));
	json_put(&root, "bin", resident ? json_string("every") : json_u64(job->bin));
	json_put(&root, "longest_pause_ns", json_u64(resident ? 0 : plan->bins[job->bin].pause_ns));
	json_put(&root, "queue_starts_after",
		 queues ? json_u64(plan_starts_after(plan, i)) : json_null());
	json_put(&root, "queue_starts_ns",
		 queues && plan->work_ns ? json_u64(plan->starts_ns[i]) : json_null());
	return root;
}

static json_t *done_json(const struct plan *plan, u64 ns)
{
	return plan->work_ns && ns != U64_MAX ? json_u64(ns) : json_null();
}

static const char *chosen_word(const struct plan *plan)
{
	if (plan->queue)
		return "queue";
	if (plan->result.nbins < 2)
		return "none";
	return plan->result.overlaps ? "overlapping" : "bins";
}

/* Without turns it is known beforehand only if everything fits. */
static json_t *forecast_json(const struct plan *plan)
{
	u64 none = plan_fits(plan) ? plan_ideal(plan) : 0, bins = 0;
	json_t *root;

	if (plan->result.nbins > 1)
		bins = plan->work_as_bins;
	else if (!plan->queue && !plan->work_ns)
		return json_null();
	root = json_object();
	json_put(&root, "none_permille", json_u64_or_null(none));
	json_put(&root, "bins_permille", json_u64_or_null(bins));
	json_put(&root, "overlapping_permille", json_u64_or_null(plan->work_as_groups));
	json_put(&root, "batch_permille", json_u64_or_null(plan->paying_work));
	json_put(&root, "batch_max_pause_ns", json_u64_or_null(plan->paying_pause_ns));
	json_put(&root, "queue_permille", json_u64_or_null(plan->work_as_queue));
	json_put(&root, "ideal_permille", json_u64_or_null(plan->to_come ? plan_ideal(plan) : 0));
	json_put(&root, "none_done_ns", done_json(plan, plan_done_ns(plan, none)));
	json_put(&root, "bins_done_ns", done_json(plan, plan_done_ns(plan, bins)));
	json_put(&root, "overlapping_done_ns",
		 done_json(plan, plan_done_ns(plan, plan->work_as_groups)));
	json_put(&root, "queue_done_ns", done_json(plan, plan->queue_ns));
	json_put(&root, "chosen", json_string(chosen_word(plan)));
	return root;
}

int plan_show_json(const struct plan *plan)
{
	const struct mts_plan *r = &plan->result;
	json_t *bins = json_array(), *jobs = json_array(), *root = json_root();

	json_put(&root, "fits", json_boolean(plan_fits(plan)));
	json_put(&root, "config", conf_json(plan));
	json_put(&root, "capacity", json_u64(r->capacity));
	json_put(&root, "demand", json_u64(r->demand));
	json_put(&root, "resident_demand", json_u64(r->resident_demand));
	json_put(&root, "evict",
		 plan_knows_evict(plan) ? json_string(word_of(evict_words, plan->evict)) :
					  json_null());
	json_put(&root, "overlaps", json_boolean(r->overlaps));
	json_put(&root, "run_permille", r->overlaps ? json_u64(mts_forecast_part(r)) : json_null());
	json_put(&root, "forecast", forecast_json(plan));
	json_put(&root, "policy",
		 plan->now_ns ? policy_json(&plan->policy, plan->now_ns) : json_null());
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
