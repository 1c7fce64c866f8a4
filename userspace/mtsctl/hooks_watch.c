// SPDX-License-Identifier: GPL-2.0
/*
 * mtsctl hooks watch: looks, tells the journal, and runs hooks.
 *
 * It must not be frozen, nor hold up the rotor. A real-time thread makes any job exempt that it is
 * in, so it is one. While mts idles it asks for the counters alone: the module answers from
 * atomics, while a status has an idle rotor measure all jobs.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "../mtsd/notify.h"
#include "hooks_main.h"
#include "hooks_run.h"
#include "ipc.h"
#include "journal.h"
#include "news_watch.h"
#include "vitals.h"

#define MS 1000000ull
#define SECOND (1000 * MS)
/* Counters that change while they are read are read again. */
#define TRIES 3
/* An mtsd that is stuck is not to block hooks and signals for good. */
#define ENGINE_LIMIT_S 10

struct hooks_watcher {
	const struct command *command;
	const char *file;
	struct conf *conf;
	u64 interval, look_ns; /* the next look */
	struct news_watch news;
	struct hooks_run run;
	bool was_absent; /* and that has been said */
};

static u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static void configure(struct hooks_watcher *w)
{
	w->news.wait_ns = w->conf->hooks.wait_ns;
	w->news.swap_permille = w->conf->hooks.swap_permille;
	w->run.every_ns = w->conf->hooks.every_ns;
	w->run.timeout_ns = w->conf->hooks.timeout_ns;
}

static void tell(void *user, const struct news *news)
{
	struct hooks_watcher *w = user;

	journal_write(news);
	hooks_run_add(&w->run, news);
}

/* ---- a look -------------------------------------------------------------------------------- */

static bool is_same(const struct mts_stats *a, const struct mts_stats *b)
{
	return a->begins == b->begins && a->stops == b->stops && a->rounds == b->rounds;
}

/* The status, and counters that belong to it. Return: 0 or -errno. */
static int ask(const struct news_watch *news, struct news_look *look)
{
	struct mts_stats before;
	u64 generation;
	int ret;

	ret = ipc_stats(&look->stats);
	if (ret || !news_needs_status(news, &look->stats))
		return ret;
	for (int i = 0; i < TRIES; i++) {
		before = look->stats;
		ret = ipc_status(&look->status) ?: ipc_stats(&look->stats);
		if (ret || is_same(&before, &look->stats))
			break;
	}
	if (!ret && news_needs_jobs(news, &look->status))
		ret = ipc_jobs(&look->jobs, &look->njobs, &generation);
	look->status.detail[MTS_DETAIL_SIZE - 1] = '\0';
	look->has_status = !ret;
	return ret;
}

/*
 * Is the engine still there? EPROTO: mtsd has closed the socket. All other errors of a call, as for
 * want of memory, are of this look alone.
 */
static bool is_gone(int err, bool was_open)
{
	if (was_open)
		return err == -ENODEV || err == -ENXIO || err == -EPROTO;
	return err != -ENOMEM && err != -EAGAIN && err != -ETIMEDOUT && err != -EMFILE &&
	       err != -ENFILE && err != -EINTR;
}

/* Return: an exit status. No engine is no error: it may come later. */
static int look_at_engine(struct hooks_watcher *w, struct news_look *look)
{
	int err = ipc_open();
	bool was_open = !err;

	if (!err)
		err = ask(&w->news, look);
	/* An open device keeps the module from being unloaded. */
	ipc_close();
	look->answers = !err;
	look->is_unknown = err && !is_gone(err, was_open);
	if (err == -EACCES || err == -EPERM)
		return device_absent(-err);
	if (err && !w->was_absent)
		complain("hooks watch: %s: %s: waiting until it answers", ipc_name(),
			 device_error(-err));
	w->was_absent = err;
	return EXIT_OK;
}

/* Return: an exit status. */
static int look(struct hooks_watcher *w)
{
	struct news_look now = { 0 };
	struct vitals vitals;
	int ret;

	if (vitals_read(&vitals)) {
		complain("hooks watch: /proc cannot be read");
		return EXIT_FAILED;
	}
	ret = look_at_engine(w, &now);
	now.swap_free = vitals.swap_free;
	now.swap_total = vitals.swap_total;
	now.time_ns = clock_ns(CLOCK_REALTIME);
	now.mono_ns = clock_ns(CLOCK_MONOTONIC);
	if (!ret)
		news_compare(&w->news, &now);
	free(now.jobs);
	w->look_ns = now.mono_ns + w->interval;
	return ret;
}

/* ---- the command --------------------------------------------------------------------------- */

/* SIGHUP. With an error in a file the old settings stay. */
static void read_again(struct hooks_watcher *w)
{
	struct conf conf;

	notify("RELOADING=1");
	if (conf_read(&conf, w->command, w->file)) {
		complain("hooks watch: the settings stay as they were");
		conf_free(&conf);
	} else {
		conf_free(w->conf);
		*w->conf = conf;
		configure(w);
		printf("read again\n");
		fflush(stdout);
	}
	notify("READY=1");
}

/* Return: false: it is to end. SIGCHLD only wakes the loop. */
static bool take_signal(struct hooks_watcher *w, int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo == SIGHUP)
		read_again(w);
	return info.ssi_signo == SIGHUP || info.ssi_signo == SIGCHLD;
}

static int timeout_of(const struct hooks_watcher *w)
{
	u64 due = mts_min(w->look_ns, hooks_run_due(&w->run)), now = clock_ns(CLOCK_MONOTONIC);

	return due <= now ? 0 : (int)(mts_min(due - now, 3600 * SECOND) / MS) + 1;
}

static int run(struct hooks_watcher *w, int signals)
{
	struct pollfd fd = { .fd = signals, .events = POLLIN };
	int ret = EXIT_OK;

	while (!ret) {
		if (poll(&fd, 1, timeout_of(w)) < 0 && errno != EINTR)
			return device_failed("hooks watch: poll", errno);
		if (fd.revents && !take_signal(w, signals))
			break;
		if (clock_ns(CLOCK_MONOTONIC) >= w->look_ns)
			ret = look(w);
		hooks_run_step(&w->run);
	}
	return ret;
}

/* Hooks are not real-time: the flag keeps it from children. */
static void become_exempt(void)
{
	const struct sched_param priority = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority))
		complain("hooks watch: no real-time priority (%s): as a part of a job it would be "
			 "frozen with it",
			 strerror(errno));
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int hooks_watch(const struct command *command, struct conf *conf, const char *file, u64 interval)
{
	struct hooks_watcher w = {
		.command = command, .file = file, .conf = conf, .interval = interval
	};
	int signals = open_signals(), ret;

	if (signals < 0)
		return device_failed("hooks watch", errno);
	ret = vitals_open();
	if (ret)
		return device_failed("hooks watch: /proc", -ret);
	become_exempt();
	ipc_limit(ENGINE_LIMIT_S);
	w.news.tell = tell;
	w.news.user = &w;
	configure(&w);
	hooks_run_begin(&w.run);
	ret = look(&w);
	if (!ret) {
		printf("watching\n");
		fflush(stdout);
		notify("READY=1");
		hooks_run_step(&w.run);
		ret = run(&w, signals);
	}
	notify("STOPPING=1");
	hooks_run_end(&w.run);
	news_watch_free(&w.news);
	close(signals);
	return ret;
}
