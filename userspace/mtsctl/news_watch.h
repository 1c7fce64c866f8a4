/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds the news: compares what the engine and the host say now with what they said before. What
 * came and went between two looks is found by the counters mts_stats.begins and stops, and by the
 * jobs' frozen_total_ns. So a piece of news may come late, and lack its reason, but none is lost.
 */
#ifndef MTSCTL_NEWS_WATCH_H
#define MTSCTL_NEWS_WATCH_H

#include "mtsctl.h"
#include "news.h"

/**
 * struct news_look - one look
 * @answers: an engine answers; else only time and swap are valid
 * @is_unknown: it does not, but may be there: what is known of it stays until the next look
 * @has_status: @status and the jobs are valid; if not, nothing has changed since the last look
 * @time_ns: CLOCK_REALTIME; @mono_ns: CLOCK_MONOTONIC
 */
struct news_look {
	bool answers;
	bool is_unknown;
	bool has_status;
	struct mts_stats stats;
	struct mts_status status;
	struct mts_job_info *jobs; /* in order of id */
	u32 njobs;
	u64 swap_free, swap_total; /* bytes */
	u64 time_ns, mono_ns;
};

/* A job that was frozen, or has been, while mts acts. */
struct news_wait {
	u32 id;
	bool told; /* of this freeze */
	u64 since_ns; /* 0: it is not frozen */
	u64 total_ns; /* frozen_total_ns of struct mts_job_info */
};

/**
 * struct news_watch - what is known from the looks before
 * @wait_ns: a job that is frozen for longer is news; 0: none is
 * @swap_permille: less free swap than this is news; 0: it is not
 * @tell: takes each piece of news
 */
struct news_watch {
	u64 wait_ns;
	u32 swap_permille;
	void (*tell)(void *user, const struct news *news);
	void *user;
	/* The rest is private. */
	bool known, acts, is_stopped, swap_is_low;
	struct mts_stats stats;
	u64 began_ns; /* CLOCK_MONOTONIC */
	const char *from;
	u64 time_ns;
	struct news_wait *waits;
	u32 nwaits;
	struct {
		u32 id;
		u64 ns;
		char name[MTS_NAME_SIZE];
	} longest; /* since mts acts; 0 ns: none */
};

/* Is the status needed? @stats are of now. While mts idles it is not: then it makes mts measure. */
bool news_needs_status(const struct news_watch *w, const struct mts_stats *stats);

/* Are the jobs needed, with this status? */
bool news_needs_jobs(const struct news_watch *w, const struct mts_status *status);

/* Tells the news. Return: 0 or -ENOMEM, which has been said: the next look finds what is new. */
int news_compare(struct news_watch *w, const struct news_look *look);

void news_watch_free(struct news_watch *w);

#endif /* MTSCTL_NEWS_WATCH_H */
