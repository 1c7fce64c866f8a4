/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs hooks, one at a time, so that none runs beside itself. It never waits: the caller calls
 * hooks_run_step() when a child has ended, or when hooks_run_due() says so.
 *
 * For each kind of event one piece of news waits at most. News that come meanwhile, or sooner than
 * @every_ns after the last, take its place; "merged" says how many pieces the last one stands for.
 */
#ifndef MTSCTL_HOOKS_RUN_H
#define MTSCTL_HOOKS_RUN_H

#include "hooks.h"
#include "news.h"

/**
 * struct hooks_run - hooks that run, and news that wait for them
 * @every_ns: the hooks run no more often for a kind of event; 0: no limit
 * @timeout_ns: a hook that takes longer is ended
 * @is_loud: each end is told on standard output, not only failures on standard error
 */
struct hooks_run {
	u64 every_ns;
	u64 timeout_ns;
	bool is_loud;
	/* The rest is private, but for the caller's reading. */
	struct {
		bool waits;
		u64 merged;
		u64 order; /* of the coming of @news */
		u64 next_ns; /* not before; CLOCK_MONOTONIC */
		struct news news;
	} slots[NEWS_KINDS];
	u64 orders;
	struct hooks hooks; /* of the event that runs */
	u32 at; /* the hook that runs, or is next */
	bool is_busy; /* an event runs */
	enum news_kind kind; /* of it */
	char **environment;
	int input; /* its JSON */
	pid_t pid; /* 0: none runs */
	u64 began_ns, deadline_ns;
	bool is_asked, is_late; /* to end; because of the time limit */
	bool is_ending; /* mtsctl itself */
	u32 failures, runs;
};

/* SIGCHLD must be blocked, and is to be taken with signalfd(2). */
void hooks_run_begin(struct hooks_run *run);

void hooks_run_add(struct hooks_run *run, const struct news *news);

/* Starts, ends and reaps what is due. */
void hooks_run_step(struct hooks_run *run);

/* When hooks_run_step() is to be called at the latest, CLOCK_MONOTONIC; U64_MAX: not at all. */
u64 hooks_run_due(const struct hooks_run *run);

/* Ends what runs, within some seconds. News that wait are dropped, which is said. */
void hooks_run_end(struct hooks_run *run);

#endif /* MTSCTL_HOOKS_RUN_H */
