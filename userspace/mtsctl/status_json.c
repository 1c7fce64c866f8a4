// SPDX-License-Identifier: GPL-2.0
/* mtsctl status --json: the fields of uapi/mts.h under their names. */
#include "cgroup.h"
#include "format.h"
#include "policy.h"
#include "status.h"
#include "words.h"

json_t *status_bin_json(const struct snapshot *s, u32 bin)
{
	if (bin == MTS_BIN_EVERY)
		return json_string("every");
	return bin < s->nbins ? json_u64(bin) : json_null();
}

json_t *status_call_json(const struct mts_job_info *job)
{
	json_t *root;

	if (job->last_call_age_ms == MTS_CALL_AGE_MAX)
		return json_null();
	root = json_object();
	json_put(&root, "kind", json_string(word_of(call_words, job->last_call)));
	json_put(&root, "pid", json_u64_or_null(job->last_call_pid));
	json_put(&root, "age_ms", json_u64(job->last_call_age_ms));
	json_put(&root, "refused", json_boolean(job->last_call_refused));
	return root;
}

static json_t *way_json(const struct mts_page_way *way)
{
	json_t *root;

	if (!way->elapsed_ns)
		return json_null();
	root = json_object();
	json_put(&root, "elapsed_ns", json_u64(way->elapsed_ns));
	json_put(&root, "worked_ns", json_u64(way->worked_ns));
	json_put(&root, "waited_ns", json_u64(way->waited_ns));
	json_put(&root, "age_ns", json_u64(way->age_ns));
	return root;
}

json_t *status_disk_json(const struct mts_disk_info *disk)
{
	json_t *root = json_object();

	json_put(&root, "out", way_json(&disk->out));
	json_put(&root, "in", way_json(&disk->in));
	json_put(&root, "request_ns", json_u64_or_null(disk->request_ns));
	json_put(&root, "waited_for", json_boolean(disk->flags & MTS_DISK_WAITED_FOR));
	json_put(&root, "needs_rows", json_boolean(disk->flags & MTS_DISK_NEEDS_ROWS));
	return root;
}

static json_t *bin_json(const struct snapshot *s, u32 bin)
{
	const struct mts_bin_info *b = &s->bins[bin];
	json_t *root = json_object();

	json_put(&root, "bin", json_u64(bin));
	json_put(&root, "jobs", json_u64(b->jobs));
	json_put(&root, "demand", json_u64(b->demand));
	json_put(&root, "slice_ns", json_u64(b->slice_ns));
	json_put(&root, "runs", json_boolean(snapshot_runs(s, bin)));
	json_put(&root, "runs_in_ns",
		 snapshot_rotates(s) ? json_u64(snapshot_starts_in(s, bin)) : json_null());
	return root;
}

static json_t *frozen_for(const struct snapshot *s, const struct mts_job_info *job)
{
	if (!job->frozen_since_ns)
		return json_null();
	return json_u64(mts_sub_floor(s->status.now_ns, job->frozen_since_ns));
}

/* Names are not unique: the module keeps 63 bytes of them, and two jobs may have the same. */
static json_t *cgroup_json(const struct mts_job_info *job)
{
	char path[PATH_MAX];

	return cgroup_path_of_id(job->cgroup_id, path) ? json_null() : json_text(path);
}

json_t *status_container_json(const struct snapshot *s, const struct mts_job_info *job)
{
	const char *label = snapshot_label(s, job);

	return label == job->name ? json_null() : json_text(label);
}

json_t *status_unit_json(const struct snapshot *s, const struct mts_job_info *job)
{
	const char *unit = snapshot_unit(s, job);

	return unit ? json_text(unit) : json_null();
}

json_t *status_queue_json(const struct snapshot *s, const struct mts_job_info *job)
{
	u64 now = s->status.now_ns;
	json_t *root;

	if (job->state != MTS_JOB_QUEUED)
		return json_null();
	root = json_object();
	json_put(&root, "place", json_u64_or_null(job->queue_place));
	json_put(&root, "waited_ns", json_u64(mts_sub_floor(now, job->queued_since_ns)));
	json_put(&root, "starts_in_ns",
		 job->starts_ns ? json_u64(mts_sub_floor(job->starts_ns, now)) : json_null());
	json_put(&root, "starts_within_ns", json_u64(mts_sub_floor(job->starts_by_ns, now)));
	return root;
}

static json_t *job_json(const struct snapshot *s, const struct mts_job_info *job)
{
	json_t *root = json_object();

	json_put(&root, "id", json_u64(job->id));
	json_put(&root, "name", json_text(job->name));
	json_put(&root, "parent", json_u64_or_null(job->parent));
	json_put(&root, "user", snapshot_knows_users(s) ? json_u64(job->user) : json_null());
	json_put(&root, "each", json_boolean(job->flags & (MTS_JOB_EACH | MTS_JOB_EACH_LEAF)));
	json_put(&root, "each_leaf", json_boolean(job->flags & MTS_JOB_EACH_LEAF));
	json_put(&root, "pin", json_boolean(job->flags & MTS_JOB_PIN));
	json_put(&root, "stays", json_boolean(job->flags & MTS_JOB_STAYS));
	json_put(&root, "state", json_string(word_of(job_state_words, job->state)));
	json_put(&root, "bin", status_bin_json(s, job->bin));
	json_put(&root, "cgroup_id", json_u64(job->cgroup_id));
	json_put(&root, "cgroup", cgroup_json(job));
	json_put(&root, "unit", status_unit_json(s, job));
	json_put(&root, "container", status_container_json(s, job));
	json_put(&root, "demand", json_u64(job->demand));
	json_put(&root, "unused", json_u64(job->unused));
	json_put(&root, "resident", json_u64(job->resident));
	json_put(&root, "swapped", json_u64(job->swapped));
	json_put(&root, "threads", json_u64(job->threads));
	json_put(&root, "frozen_for_ns", frozen_for(s, job));
	json_put(&root, "frozen_total_ns", json_u64(job->frozen_total_ns));
	json_put(&root, "frozen_longest_ns", json_u64(job->frozen_longest_ns));
	json_put(&root, "run_ns", json_u64(job->run_ns));
	json_put(&root, "slices", json_u64(job->slices));
	json_put(&root, "evicted", json_u64(job->evicted));
	json_put(&root, "freeze_failures", json_u64(job->freeze_failures));
	json_put(&root, "input_age_ms",
		 job->input_age_ms == MTS_INPUT_AGE_MAX ? json_null() :
							  json_u64(job->input_age_ms));
	json_put(&root, "max_pause_ns", json_u64_or_null(job->max_pause_ns));
	json_put(&root, "weight", json_u64_or_null(job->weight));
	json_put(&root, "memory_limit", json_u64_or_null(job->memory_limit));
	json_put(&root, "immovable", json_u64(job->immovable));
	json_put(&root, "size", json_u64_or_null(job->size));
	json_put(&root, "size_from", json_string(word_of(size_from_words, job->size_from)));
	json_put(&root, "queue", status_queue_json(s, job));
	json_put(&root, "queued_ns", json_u64(job->queued_ns));
	json_put(&root, "swap_wait_ns", json_u64(job->swap_wait_ns));
	json_put(&root, "delays", json_u64(job->delays));
	json_put(&root, "holdings", json_u64(job->holdings));
	json_put(&root, "calls", json_u64(job->calls));
	json_put(&root, "calls_refused", json_u64(job->calls_refused));
	json_put(&root, "last_call", status_call_json(job));
	return root;
}

static json_t *slice_left(const struct snapshot *s)
{
	if (!snapshot_rotates(s) || s->status.state != MTS_STATE_RUNNING)
		return json_null();
	return json_u64(snapshot_slice_left(s));
}

static json_t *sees_json(u32 sees)
{
	json_t *root = json_array();

	for (const struct word *w = sees_words; w->word; w++)
		if (sees & w->value)
			json_append(&root, json_string(w->word));
	return root;
}

static json_t *head_json(const struct snapshot *s)
{
	const struct mts_status *st = &s->status;
	json_t *root = json_root();

	json_put(&root, "abi", json_u64(st->abi));
	json_put(&root, "state", json_string(word_of(state_words, st->state)));
	json_put(&root, "reason", json_string(word_of(reason_words, st->reason)));
	json_put(&root, "detail", json_text(st->detail));
	json_put(&root, "engine",
		 json_string(st->sees & MTS_SEES_BY_USERSPACE ? "userspace" : "module"));
	json_put(&root, "each_how", json_string(word_of(each_words, st->each_how)));
	json_put(&root, "frozen", json_u64(st->frozen));
	json_put(&root, "current_bin", status_bin_json(s, st->current_bin));
	json_put(&root, "overlaps", json_boolean(snapshot_overlaps(s)));
	json_put(&root, "slice_left_ns", slice_left(s));
	json_put(&root, "generation", json_u64(st->generation));
	json_put(&root, "now_ns", json_u64(st->now_ns));
	json_put(&root, "capacity", json_u64_or_null(st->capacity));
	json_put(&root, "demand", json_u64(st->demand));
	json_put(&root, "resident_demand", json_u64(st->resident_demand));
	json_put(&root, "round", json_u64(st->round));
	json_put(&root, "round_ns", json_u64_or_null(st->round_ns));
	json_put(&root, "longest_pause_ns",
		 st->round_ns ? json_u64(st->longest_pause_ns) : json_null());
	json_put(&root, "max_pause_ns", json_u64_or_null(st->max_pause_ns));
	json_put(&root, "evict",
		 st->max_pause_ns ? json_string(word_of(evict_words, st->evict)) : json_null());
	json_put(&root, "page", status_disk_json(&s->disk));
	json_put(&root, "policy", policy_json(&s->policy, st->now_ns));
	json_put(&root, "interactive", json_u64(st->interactive));
	json_put(&root, "crowded_out", json_u64(st->crowded_out));
	json_put(&root, "limited", json_u64(st->limited));
	json_put(&root, "limited_by", json_u64_or_null(st->limited_by));
	json_put(&root, "sees", sees_json(st->sees));
	json_put(&root, "consistent", json_boolean(s->consistent));
	return root;
}

static json_t *user_weights_json(const struct mts_user_weights *weights)
{
	json_t *root = json_array();

	for (u32 i = 0; i < weights->n; i++) {
		json_t *of = json_object();

		json_put(&of, "user", json_u64(weights->of[i].user));
		json_put(&of, "weight", json_u64(weights->of[i].weight));
		json_append(&root, of);
	}
	return root;
}

int status_show_json(const struct snapshot *s)
{
	json_t *root = head_json(s);
	json_t *bins = json_array(), *jobs = json_array();

	for (u32 i = 0; i < s->nbins; i++)
		json_append(&bins, bin_json(s, i));
	for (u32 i = 0; i < s->njobs; i++)
		json_append(&jobs, job_json(s, &s->jobs[i]));
	json_put(&root, "bins", bins);
	json_put(&root, "jobs", jobs);
	json_put(&root, "user_weights", user_weights_json(&s->weights));
	return json_print(root);
}
