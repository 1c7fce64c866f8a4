// SPDX-License-Identifier: GPL-2.0
#include "news_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "words.h"

/* What no look has seen. */
#define UNSEEN "between two looks, so the reason is not known"

/* Turns are over once there are no bins, though jobs may still be frozen: enum mts_state. */
static bool acts(const struct mts_status *status)
{
	return status->state == MTS_STATE_RUNNING || status->state == MTS_STATE_SHARING ||
	       (status->state == MTS_STATE_SWITCHING && status->bins);
}

/* An unload is no stop: the turns end by it. */
static bool is_stopped(const struct mts_status *status)
{
	return status->state == MTS_STATE_STOPPED && status->reason != MTS_REASON_UNLOAD;
}

/* A module that is older than the counters has none of them. */
static u64 begins_since(const struct news_watch *w, const struct mts_stats *stats, bool acts_now)
{
	if (stats->begins || !stats->rounds)
		return mts_sub_floor(stats->begins, w->stats.begins);
	return !w->acts && (acts_now || stats->rounds > w->stats.rounds);
}

bool news_needs_status(const struct news_watch *w, const struct mts_stats *stats)
{
	return !w->known || w->acts || w->is_stopped || w->nwaits ||
	       stats->begins != w->stats.begins || stats->stops != w->stats.stops ||
	       stats->rounds != w->stats.rounds;
}

bool news_needs_jobs(const struct news_watch *w, const struct mts_status *status)
{
	return status->frozen || w->nwaits;
}

static void start(const struct news_watch *w, struct news *news, enum news_kind kind)
{
	news_start(news, kind);
	news_number(news, "time_ns", w->time_ns);
	news_text(news, "from", w->from);
}

/* @times: as often since the last look; more than 1 is said. */
static void finish(struct news_watch *w, struct news *news, u64 times)
{
	if (times > 1)
		news_number(news, "times", times);
	w->tell(w->user, news);
}

/* ---- turns ------------------------------------------------------------------------------- */

static const char *what_acts(const struct mts_status *status)
{
	return status->state == MTS_STATE_SHARING ? "a policy without turns" : "turns";
}

/* @status: NULL: it has ended since. */
static void tell_begin(struct news_watch *w, const struct mts_status *status, u64 times)
{
	struct news news;

	start(w, &news, NEWS_BEGIN);
	news_text(&news, "reason", status ? word_of(reason_words, status->reason) : "unknown");
	news_text(&news, "detail", status ? status->detail : UNSEEN);
	if (status) {
		news_number(&news, "jobs", status->jobs);
		news_number(&news, "demand", status->demand);
		news_number(&news, "capacity", status->capacity);
		news_say(&news, "%s begin%s: %s", what_acts(status),
			 status->state == MTS_STATE_SHARING ? "s" : "", status->detail);
	} else {
		news_say(&news, "turns began: " UNSEEN);
	}
	finish(w, &news, times);
}

static void tell_end(struct news_watch *w, const char *reason, const char *detail, u64 acted_ns,
		     u64 times)
{
	struct news news;

	start(w, &news, NEWS_END);
	news_text(&news, "reason", reason);
	news_text(&news, "detail", detail);
	/* Of turns that no look has seen it is not known. */
	if (acted_ns)
		news_number(&news, "acted_ns", acted_ns);
	if (acted_ns && w->longest.ns) {
		news_text(&news, "job", w->longest.name);
		news_number(&news, "job_id", w->longest.id);
		news_number(&news, "waited_ns", w->longest.ns);
	}
	if (acted_ns)
		w->longest.ns = 0;
	news_say(&news, "turns end: %s", *detail ? detail : reason);
	finish(w, &news, times);
}

/* Those that no look has seen come first. */
static void compare_turns(struct news_watch *w, const struct news_look *look)
{
	const struct mts_status *status = &look->status;
	const char *why = word_of(reason_words, status->reason);
	u64 acted = mts_max(mts_sub_floor(look->mono_ns, w->began_ns), 1);
	bool now = acts(status);
	u64 n = w->known ? begins_since(w, &look->stats, now) : now;

	if (w->acts && n)
		tell_end(w, "unknown", UNSEEN, acted, 1);
	else if (w->acts && !now)
		tell_end(w, why, status->detail, acted, 1);
	if (n > now) {
		tell_begin(w, NULL, n - now);
		tell_end(w, now ? "unknown" : why, now ? UNSEEN : status->detail, 0, n - now);
	}
	if (now && (n || !w->acts)) {
		w->began_ns = look->mono_ns;
		tell_begin(w, status, 1);
	}
	w->acts = now;
}

/* ---- stops ------------------------------------------------------------------------------- */

/* @detail: NULL: no look has seen it. */
static void tell_stop(struct news_watch *w, const char *reason, const char *detail, u64 times)
{
	struct news news;

	start(w, &news, NEWS_STOP);
	news_text(&news, "reason", reason);
	news_text(&news, "detail", detail ?: UNSEEN);
	if (detail)
		news_say(&news, "mts has stopped, all jobs run: %s", *detail ? detail : reason);
	else
		news_say(&news, "mts was stopped, and went on: " UNSEEN);
	finish(w, &news, times);
}

static void compare_stops(struct news_watch *w, const struct news_look *look)
{
	bool now = is_stopped(&look->status);
	u64 n = w->known ? mts_sub_floor(look->stats.stops, w->stats.stops) : 0;
	bool is_new = now && (!w->is_stopped || n);

	if (n > is_new)
		tell_stop(w, "unknown", NULL, n - is_new);
	if (is_new)
		tell_stop(w, word_of(reason_words, look->status.reason), look->status.detail, 1);
	w->is_stopped = now;
}

/* ---- waits ------------------------------------------------------------------------------- */

static void tell_wait(struct news_watch *w, const struct mts_job_info *job, u64 waited)
{
	char name[MTS_NAME_SIZE], time[FORMAT_SIZE];
	struct news news;

	start(w, &news, NEWS_WAIT);
	news_text(&news, "job", job->name);
	news_number(&news, "job_id", job->id);
	news_number(&news, "cgroup_id", job->cgroup_id);
	news_number(&news, "waited_ns", waited);
	news_say(&news, "the job %s %s frozen for %s", format_name(name, sizeof(name), job->name),
		 job->frozen_since_ns ? "has been" : "was", format_time(time, waited));
	finish(w, &news, 1);
}

static void note_wait(struct news_watch *w, const struct mts_job_info *job, u64 waited)
{
	if (waited <= w->longest.ns)
		return;
	w->longest.ns = waited;
	w->longest.id = job->id;
	snprintf(w->longest.name, sizeof(w->longest.name), "%s", job->name);
}

/*
 * A freeze that has ended since the last look took as long as frozen_total_ns has grown, or less
 * if there was a second one, and at most the time since it began.
 */
static void compare_wait(struct news_watch *w, const struct mts_job_info *job, u64 now,
			 const struct news_wait *before, struct news_wait *after)
{
	/* A job in the queue has not begun: it waits for nothing that it has had. */
	u64 since = job->state == MTS_JOB_QUEUED ? 0 : job->frozen_since_ns, waited;

	*after = (struct news_wait){ .id = job->id,
				     .since_ns = since,
				     .total_ns = job->frozen_total_ns };
	if (before && before->since_ns && before->since_ns != since) {
		waited = mts_min(mts_sub_floor(job->frozen_total_ns, before->total_ns),
				 mts_sub_floor(now, before->since_ns));
		note_wait(w, job, waited);
		if (w->wait_ns && waited > w->wait_ns && !before->told)
			tell_wait(w, job, waited);
	}
	if (!since)
		return;
	waited = mts_sub_floor(now, since);
	note_wait(w, job, waited);
	after->told = before && before->since_ns == since && before->told;
	if (w->wait_ns && waited > w->wait_ns && !after->told) {
		after->told = true;
		tell_wait(w, job, waited);
	}
}

static int compare_waits(struct news_watch *w, const struct news_look *look)
{
	struct news_wait *waits;
	u32 n = 0, k = 0;

	waits = calloc((size_t)look->njobs + 1, sizeof(*waits));
	if (!waits) {
		complain("hooks watch: out of memory: this look is left out");
		return -ENOMEM;
	}
	for (u32 i = 0; i < look->njobs; i++) {
		const struct mts_job_info *job = &look->jobs[i];

		while (k < w->nwaits && w->waits[k].id < job->id)
			k++;
		compare_wait(w, job, look->status.now_ns,
			     k < w->nwaits && w->waits[k].id == job->id ? &w->waits[k] : NULL,
			     &waits[n]);
		n += waits[n].since_ns != 0;
	}
	free(w->waits);
	w->waits = waits;
	w->nwaits = n;
	return 0;
}

/* ---- swap, and all of it ------------------------------------------------------------------ */

/* It has to have half as much again before the next time counts. */
static void compare_swap(struct news_watch *w, const struct news_look *look)
{
	char free_text[FORMAT_SIZE], total_text[FORMAT_SIZE];
	u64 low = look->swap_total / 1000 * w->swap_permille;
	struct news news;

	if (look->swap_free >= low + low / 2)
		w->swap_is_low = false;
	if (!w->swap_permille || !look->swap_total || look->swap_free >= low || w->swap_is_low)
		return;
	w->swap_is_low = true;
	start(w, &news, NEWS_SWAP);
	news_number(&news, "swap_free", look->swap_free);
	news_number(&news, "swap_total", look->swap_total);
	news_say(&news, "swap is nearly full: %s of %s are free",
		 format_size(free_text, look->swap_free),
		 format_size(total_text, look->swap_total));
	finish(w, &news, 1);
}

/* The engine has gone, or another one answers, whose counters begin at 0. */
static void forget(struct news_watch *w, const struct news_look *look)
{
	if (w->acts)
		tell_end(w, "unload", "the module is unloaded, or mtsd has ended",
			 mts_max(mts_sub_floor(look->mono_ns, w->began_ns), 1), 1);
	free(w->waits);
	w->waits = NULL;
	w->nwaits = 0;
	w->known = false;
	w->acts = false;
	w->is_stopped = false;
}

static bool is_another(const struct news_watch *w, const struct mts_stats *stats)
{
	return stats->rounds < w->stats.rounds || stats->begins < w->stats.begins ||
	       stats->stops < w->stats.stops || stats->freezes < w->stats.freezes;
}

int news_compare(struct news_watch *w, const struct news_look *look)
{
	bool answers = look->answers;
	int ret = 0;

	w->time_ns = look->time_ns;
	if (!w->from)
		w->from = "module";
	if (w->known && !look->is_unknown && (!answers || is_another(w, &look->stats)))
		forget(w, look);
	if (answers && look->has_status) {
		w->from = look->status.sees & MTS_SEES_BY_USERSPACE ? "mtsd" : "module";
		/* Waits after the last turns do not count for these. */
		if (!w->acts && acts(&look->status))
			w->longest.ns = 0;
		/* First, for the longest wait of turns that have ended. */
		ret = compare_waits(w, look);
		answers = !ret;
	}
	if (answers && look->has_status) {
		compare_turns(w, look);
		compare_stops(w, look);
	}
	if (answers) {
		w->stats = look->stats;
		w->known |= look->has_status;
	}
	compare_swap(w, look);
	return ret;
}

void news_watch_free(struct news_watch *w)
{
	free(w->waits);
	w->waits = NULL;
	w->nwaits = 0;
}
