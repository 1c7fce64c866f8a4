// SPDX-License-Identifier: GPL-2.0
/* mtsctl status without --json: 80 columns of ASCII. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "format.h"
#include "ipc.h"
#include "policy.h"
#include "status.h"
#include "status_sums.h"
#include "words.h"

/* Width of the columns ID and JOB together. */
#define ID_NAME_WIDTH 28

static void show_next(const struct snapshot *s)
{
	const struct mts_status *st = &s->status;
	char left[FORMAT_SIZE];
	u32 next;

	switch (st->state) {
	case MTS_STATE_OFF:
		print_field("next", "nothing, until 'mtsctl set mode=auto'");
		return;
	case MTS_STATE_STOPPED:
		print_field("next", "nothing, until 'mtsctl set mode=auto' (or mode=always) "
				    "starts the rotation again");
		return;
	case MTS_STATE_PAUSED:
		print_field("next", "turns go on when the host has resumed");
		return;
	case MTS_STATE_SHARING:
		print_field("next", policy_is_chosen(&s->policy) ?
					    "all jobs run on, until another policy promises a "
					    "tenth more" :
					    "all jobs run on; 'mtsctl set policy=' chooses "
					    "another way");
		return;
	case MTS_STATE_IDLE:
		if (st->reason == MTS_REASON_NO_SWAP)
			print_field("next", "nothing, until there is swap (swapon)");
		else if (st->reason == MTS_REASON_NO_JOBS)
			print_field("next", "nothing, until there are two jobs that can take turns "
					    "(mtsctl run, mtsctl add)");
		else if (st->reason == MTS_REASON_POLICY)
			print_field("next", "nothing, until 'mtsctl set policy=turns' (or fair, "
					    "token, or auto)");
		else if (st->reason == MTS_REASON_SHADOW)
			print_field("next", "nothing is frozen: mode=shadow only decides what "
					    "mode=auto would do");
		else if (st->reason == MTS_REASON_EXEMPT)
			print_field("next", "turns are tried again when the exempt jobs leave "
					    "room: 'mtsctl unpin' some, or add memory");
		else if (st->reason == MTS_REASON_NO_GAIN || st->reason == MTS_REASON_SLOW_SWAP)
			print_field("next",
				    "the policy is tried again when the jobs change, or after a "
				    "backoff (30 s to 10 minutes), or after 'mtsctl set'");
		else if (st->reason == MTS_REASON_COPES && policy_is_chosen(&s->policy))
			print_field("next", "a policy that promises a tenth more, if one does in "
					    "two windows");
		else
			print_field("next", "turns, when memory gets short");
		return;
	}
	if (!snapshot_rotates(s)) {
		if (st->state == MTS_STATE_SWITCHING)
			print_field("next", "every job runs as soon as its memory is back");
		return;
	}
	next = snapshot_after(s, MTS_BIN_NONE);
	if (st->state == MTS_STATE_SWITCHING)
		print_field("next", "%s %u runs as soon as the switch is done",
			    snapshot_bin_word(s), st->current_bin);
	else if (next == MTS_BIN_NONE)
		print_field("next", "no %s waits", snapshot_bin_word(s));
	else
		print_field("next", "%s %u runs in %s", snapshot_bin_word(s), next,
			    format_time(left, snapshot_starts_in(s, next)));
}

static void show_interactive(const struct mts_status *st)
{
	if (st->sees & MTS_SEES_BY_USERSPACE)
		print_field("input", "is not seen by mtsd: pin the jobs that people use");
	else if (!(st->sees & MTS_SEES_TTY))
		print_field("input", "is not seen in this kernel: pin the jobs that people use");
	else if (st->interactive || st->crowded_out)
		print_field("input", "%u job%s in every bin for it, %u for which there is no room",
			    st->interactive, st->interactive == 1 ? "" : "s", st->crowded_out);
}

/* In the words of `sees` of status --json. */
static void show_unseen(u32 sees)
{
	char list[128];
	size_t len = 0;

	for (const struct word *w = sees_words; w->word; w++)
		if (!(sees & w->value))
			len += snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "",
					w->word);
	if (len)
		print_field("not seen", "%s", list);
}

/* Of bins that overlap: how many run, and how full they make the memory. */
static void show_groups(const struct snapshot *s)
{
	char a[FORMAT_SIZE];
	u64 demand = 0;

	if (!snapshot_rotates(s) || !snapshot_overlaps(s))
		return;
	for (u32 i = 0; i < s->nbins; i++)
		if (snapshot_runs(s, i))
			demand = mts_add_sat(demand, s->bins[i].demand);
	print_field("groups", "%u of %u run, with a demand of %s: a switch exchanges only some",
		    snapshot_running(s), s->nbins, format_size(a, demand));
}

/* Longer than any automatic pause of a job that is attended. */
static bool pauses_are_long(const struct mts_status *st)
{
	struct mts_config config;

	return st->max_pause_ns > MTS_PAUSE_STRETCHED_NS && !ipc_config_get(&config) &&
	       !config.max_pause_ns;
}

static void show_round(const struct mts_status *st)
{
	char a[FORMAT_SIZE], b[FORMAT_SIZE];

	if (st->round_ns)
		print_field("round", "%llu: %s long, longest pause %s", st->round,
			    format_time(a, st->round_ns), format_time(b, st->longest_pause_ns));
	if (st->max_pause_ns)
		print_field("turns", "evict=%s, pauses of up to %s%s",
			    word_of(evict_words, st->evict), format_time(a, st->max_pause_ns),
			    pauses_are_long(st) ? " for jobs that are not attended" : "");
}

/* "5.0 s ago" */
static const char *age_of(char buf[FORMAT_SIZE + 4], const struct mts_page_way *way)
{
	if (!way->elapsed_ns)
		return "not known";
	format_time(buf, way->age_ns);
	return strcat(buf, " ago");
}

static void show_page(const struct mts_disk_info *disk)
{
	char out[FORMAT_SIZE], in[FORMAT_SIZE], a[FORMAT_SIZE + 4], b[FORMAT_SIZE + 4];

	if (!disk->out.elapsed_ns && !disk->in.elapsed_ns)
		return;
	print_field("page", "%s out (%s), %s in (%s)%s",
		    format_page_time(out, disk->out.elapsed_ns), age_of(a, &disk->out),
		    format_page_time(in, disk->in.elapsed_ns), age_of(b, &disk->in),
		    disk->flags & MTS_DISK_NEEDS_ROWS ?
			    ": the disk is slow unless pages lie in rows" :
		    disk->flags & MTS_DISK_WAITED_FOR ? ": the disk is what switches wait for" :
							"");
}

/* Limits of cgroups: which jobs cannot be evicted, and which wait for memory by their limits. */
static void show_cgroup_limits(const struct snapshot *s)
{
	u32 no_swap = 0, confined = 0;

	for (u32 i = 0; i < s->njobs; i++) {
		no_swap += s->jobs[i].state == MTS_JOB_NO_SWAP;
		confined += s->jobs[i].memory_limit > 0;
	}
	if (no_swap)
		print_field("no swap",
			    "%u job%s in every bin: memory.swap.max leaves nothing of %s to evict",
			    no_swap, no_swap == 1 ? "" : "s", no_swap == 1 ? "it" : "them");
	if (confined)
		print_field("confined",
			    "%u job%s by memory.high or memory.max: what %s for begins no turns",
			    confined, confined == 1 ? "" : "s",
			    confined == 1 ? "it waits" : "they wait");
}

static void show_jobs_count(const struct snapshot *s)
{
	u32 queued = 0;

	for (u32 i = 0; i < s->njobs; i++)
		queued += s->jobs[i].state == MTS_JOB_QUEUED;
	if (queued)
		print_field("jobs", "%u, %u of them frozen now, %u in the queue", s->status.jobs,
			    s->status.frozen, queued);
	else
		print_field("jobs", "%u, %u of them frozen now", s->status.jobs, s->status.frozen);
}

/* Policies without turns: who swaps, and what is done about it. */
static void show_sharing(const struct snapshot *s)
{
	u32 delayed = 0;
	char name[MTS_NAME_SIZE];

	if (s->status.state != MTS_STATE_SHARING)
		return;
	for (u32 i = 0; i < s->njobs; i++) {
		const struct mts_job_info *job = &s->jobs[i];

		delayed += job->state == MTS_JOB_DELAYED;
		if (job->state == MTS_JOB_HOLDER)
			print_field("holder", "job %s (%u) keeps its memory, the others make room",
				    format_name(name, sizeof(name), snapshot_label(s, job)),
				    job->id);
	}
	if (s->status.reason == MTS_REASON_FAIR)
		print_field("delayed", "%u job%s: frozen for half of the time, 50 ms at a time",
			    delayed, delayed == 1 ? "" : "s");
}

static void show_limits(const struct snapshot *s)
{
	const struct mts_status *st = &s->status;
	const struct mts_job_info *job = snapshot_job(s, st->limited_by);
	char name[MTS_NAME_SIZE], a[FORMAT_SIZE];

	if (st->limited)
		print_field("limits", "%u job%s in every bin because of %s own pause limit",
			    st->limited, st->limited == 1 ? "" : "s",
			    st->limited == 1 ? "its" : "their");
	if (job)
		print_field("slices", "are shorter for job %s (%u), which is frozen for %s at most",
			    format_name(name, sizeof(name), snapshot_label(s, job)), job->id,
			    format_time(a, job->max_pause_ns));
}

static void show_head(const struct snapshot *s)
{
	const struct mts_status *st = &s->status;
	char a[FORMAT_SIZE], b[FORMAT_SIZE];

	if (st->sees & MTS_SEES_BY_USERSPACE)
		print_field("engine", "mtsd, in user space");
	print_field("state", "%s", word_of(state_words, st->state));
	print_field("why", "%s", *st->detail ? st->detail : word_of(reason_words, st->reason));
	show_next(s);
	if (st->capacity)
		print_field("capacity", "%s %s", format_size(a, st->capacity),
			    snapshot_overlaps(s) ? "for the groups that run" : "in a bin");
	else
		print_field("capacity", "not measured yet");
	print_field("demand", "%s in %ss, %s of resident jobs", format_size(a, st->demand),
		    snapshot_bin_word(s), format_size(b, st->resident_demand));
	show_jobs_count(s);
	show_interactive(st);
	show_unseen(st->sees);
	show_groups(s);
	show_round(st);
	policy_show(&s->policy, st->now_ns);
	show_sharing(s);
	show_page(&s->disk);
	show_limits(s);
	show_cgroup_limits(s);
	print_field("--each", "%s",
		    st->each_how == MTS_EACH_NONE ? "cannot catch children in this kernel" :
		    st->each_how == MTS_EACH_AFTER_FORK ?
						    "catches each child after its fork: what it "
						    "has touched by then stays with its parent" :
						    "catches each process that grows; =child: each "
						    "child, before it runs");
	if (!s->consistent)
		print_field("note", "jobs come and go faster than mtsctl can list them: "
				    "the lists below may not agree with each other");
}

/* By bin, then the jobs in every bin, then the jobs in none; in each by id. */
static int by_bin(const void *a, const void *b)
{
	const struct mts_job_info *const *x = a, *const *y = b;
	u32 bx = (*x)->bin, by = (*y)->bin;

	if (bx != by)
		return bx < by ? -1 : 1;
	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

static void show_job(const struct snapshot *s, const struct mts_job_info *job, int id_width)
{
	int name_width = ID_NAME_WIDTH - id_width;
	char demand[FORMAT_SIZE], resident[FORMAT_SIZE], swapped[FORMAT_SIZE];
	char name[ID_NAME_WIDTH + 1], bin[16], frozen[FORMAT_SIZE] = "";

	if (job->bin == MTS_BIN_EVERY)
		snprintf(bin, sizeof(bin), "every");
	else if (job->bin == MTS_BIN_NONE)
		snprintf(bin, sizeof(bin), "-");
	else
		snprintf(bin, sizeof(bin), "%u", job->bin);
	if (job->frozen_since_ns)
		format_time(frozen, mts_sub_floor(s->status.now_ns, job->frozen_since_ns));
	printf("%*u %-*s %-8s %5s %8s %8s %8s%*s\n", id_width, job->id, name_width,
	       format_name_weight(name, name_width, snapshot_label(s, job), job->weight),
	       word_of(job_state_words, job->state), bin, format_size(demand, job->demand),
	       format_size(resident, job->resident), format_size(swapped, job->swapped),
	       *frozen ? 8 : 0, frozen);
}

/* Another job has the same name, or the name is so long that it may be cut. */
static bool name_is_unclear(const struct snapshot *s, const struct mts_job_info *job)
{
	const char *label = snapshot_label(s, job);

	if (label == job->name && strlen(label) == MTS_NAME_SIZE - 1)
		return true;
	for (u32 i = 0; i < s->njobs; i++)
		if (&s->jobs[i] != job && !strcmp(snapshot_label(s, &s->jobs[i]), label))
			return true;
	return false;
}

/* The whole path, also beyond 80 columns, because a cut path is not unique either. */
static void show_cgroups(const struct snapshot *s, int id_width)
{
	char path[PATH_MAX], text[PATH_MAX];
	bool head = false;

	for (u32 i = 0; i < s->njobs; i++) {
		const struct mts_job_info *job = &s->jobs[i];

		if (!name_is_unclear(s, job))
			continue;
		if (!head)
			printf("\n%*s CGROUP of jobs with the same name, or with a long one\n",
			       id_width, "ID");
		head = true;
		if (cgroup_path_of_id(job->cgroup_id, path))
			printf("%*u cgroup id %llu\n", id_width, job->id, job->cgroup_id);
		else
			printf("%*u %s\n", id_width, job->id,
			       format_name(text, sizeof(text), path));
	}
}

static void show_jobs(const struct snapshot *s)
{
	const struct mts_job_info **sorted = calloc(s->njobs, sizeof(*sorted));
	int id_width = 4;

	if (!sorted)
		return;
	for (u32 i = 0; i < s->njobs; i++) {
		int width = snprintf(NULL, 0, "%u", s->jobs[i].id);

		if (width > id_width)
			id_width = width;
		sorted[i] = &s->jobs[i];
	}
	qsort(sorted, s->njobs, sizeof(*sorted), by_bin);
	printf("\n%*s %-*s %-8s %5s %8s %8s %8s %7s\n", id_width, "ID", ID_NAME_WIDTH - id_width,
	       "JOB", "STATE", snapshot_overlaps(s) ? "GROUP" : "BIN", "DEMAND", "RESIDENT",
	       "SWAPPED", "FROZEN");
	for (u32 i = 0; i < s->njobs; i++)
		show_job(s, sorted[i], id_width);
	show_cgroups(s, id_width);
	free(sorted);
}

/* Those that have just come have no place yet: they come last. */
static int by_place(const void *a, const void *b)
{
	const struct mts_job_info *const *x = a, *const *y = b;
	u32 px = (*x)->queue_place - 1, py = (*y)->queue_place - 1;

	if (px != py)
		return px < py ? -1 : 1;
	return (*x)->id < (*y)->id ? -1 : 1;
}

static void show_waiting(const struct snapshot *s, const struct mts_job_info *job, int id_width)
{
	int name_width = ID_NAME_WIDTH - id_width;
	char name[ID_NAME_WIDTH + 1], needs[FORMAT_SIZE] = "?", waited[FORMAT_SIZE];
	char starts[FORMAT_SIZE] = "?", latest[FORMAT_SIZE];
	u64 now = s->status.now_ns;

	if (job->size)
		format_size(needs, job->size);
	if (job->starts_ns)
		format_time(starts, mts_sub_floor(job->starts_ns, now));
	printf("%*u %-*s %8s %-8s %8s %9s %9s\n", id_width, job->id, name_width,
	       format_name_short(name, name_width, snapshot_label(s, job)), needs,
	       word_of(size_from_words, job->size_from),
	       format_time(waited, mts_sub_floor(now, job->queued_since_ns)), starts,
	       format_time(latest, mts_sub_floor(job->starts_by_ns, now)));
}

/* The jobs that have not begun, in the order in which they are to start. */
static void show_queue(const struct snapshot *s, bool all)
{
	const struct mts_job_info **queue = calloc((size_t)s->njobs + 1, sizeof(*queue));
	int id_width = 4;
	u32 n = 0, shown;

	if (!queue)
		return;
	for (u32 i = 0; i < s->njobs; i++) {
		int width = snprintf(NULL, 0, "%u", s->jobs[i].id);

		if (s->jobs[i].state != MTS_JOB_QUEUED)
			continue;
		queue[n++] = &s->jobs[i];
		id_width = width > id_width ? width : id_width;
	}
	qsort(queue, n, sizeof(*queue), by_place);
	if (n)
		printf("\n%*s %-*s %8s %-8s %8s %9s %9s\n", id_width, "ID",
		       ID_NAME_WIDTH - id_width, "QUEUE", "NEEDS", "FROM", "WAITED", "STARTS IN",
		       "LATEST IN");
	shown = all ? n : mts_min(n, STATUS_JOBS_SHOWN);
	for (u32 i = 0; i < shown; i++)
		show_waiting(s, queue[i], id_width);
	if (shown < n)
		printf("%u more\n", n - shown);
	free(queue);
}

void status_show(const struct snapshot *s, bool all, enum group_by by)
{
	bool sum_up = !all && s->njobs > STATUS_JOBS_SHOWN;

	show_head(s);
	if (s->nbins || sum_up)
		status_show_bins(s);
	if (by != BY_JOB && s->njobs)
		status_show_sums(s, by);
	else if (by == BY_JOB && snapshot_has_users(s))
		status_show_sums(s, BY_USER);
	if (by == BY_JOB && sum_up)
		printf("\nThe %u jobs: mtsctl status --all\n", s->njobs);
	else if (by == BY_JOB && s->njobs)
		show_jobs(s);
	show_queue(s, all);
}
