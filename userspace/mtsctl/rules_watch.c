// SPDX-License-Identifier: GPL-2.0
/* mtsctl rules watch: makes jobs of what comes, too. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "../mtsd/notify.h"
#include "cgroup_events.h"
#include "enrol.h"
#include "heed.h"
#include "ipc.h"
#include "rules.h"

#define MS 1000000ull
/* A process that has just been started has the name of what started it, until it calls exec. */
#define SETTLE_NS (100 * MS)
/* What takes longer for that is seen in a second look. */
#define AGAIN_NS (600 * MS)
/* A user who makes cgroups all the time costs a fifth of a processor, and delays a look so far. */
#define LOOK_PART 4
#define DELAY_MAX_NS (5000 * MS)
/* Between looks while not all cgroups are watched, or not all can be jobs. */
#define POLL_NS (5000 * MS)

struct watcher {
	const struct command *command;
	const char *file;
	struct conf *conf;
	struct enrol_ids tried;
	u64 look_ns; /* the last look took it */
	u64 due_ns, again_ns; /* the next looks; 0: none */
	u64 read_ns; /* events are not read before */
	bool is_short; /* of watches, and that has been said */
};

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* A second one after it; and the first is not put off by what comes until then. */
static void plan_look(struct watcher *w)
{
	u64 delay = mts_min(mts_max(SETTLE_NS, LOOK_PART * w->look_ns), DELAY_MAX_NS);

	if (!w->due_ns)
		w->due_ns = now_ns() + delay;
	w->again_ns = now_ns() + delay + AGAIN_NS;
}

/* Return: an exit status. */
static int watch_all(struct watcher *w, const struct tree *tree)
{
	int fresh = cgroup_events_watch(tree);
	bool is_short = fresh == -ENOSPC;

	if (fresh < 0 && !is_short) {
		complain("rules watch: inotify: %s", strerror(-fresh));
		return EXIT_FAILED;
	}
	if (is_short && !w->is_short)
		complain(
			"rules watch: too many cgroups to be told of each: those that come are "
			"looked for every %llu s. Raise fs.inotify.max_user_watches (sysctl): four "
			"for each cgroup",
			POLL_NS / (1000 * MS));
	w->is_short = is_short;
	/* What was made before it was watched has not been told. */
	if (fresh > 0)
		plan_look(w);
	return EXIT_OK;
}

/* Return: an exit status. */
static int look(struct watcher *w)
{
	const struct enrol_how how = { .command = w->command,
				       .tried = &w->tried,
				       .users_pause_ns = w->conf->users.max_pause_ns,
				       .heed_until_ns = heed_until() };
	struct decision *all = NULL;
	u64 began = now_ns();
	struct tree tree;
	int ret;

	ret = tree_read(&tree);
	if (ret) {
		complain("rules watch: the cgroups cannot be read: %s", strerror(-ret));
		ret = EXIT_FAILED;
		goto out;
	}
	ret = watch_all(w, &tree);
	if (ret)
		goto out;
	all = decide(w->conf, &tree);
	ret = all ? enrol_all(w->conf, &tree, all, &how) : device_failed("rules watch", ENOMEM);
	/* An open device keeps the module from being unloaded. */
	ipc_close();
	fflush(stdout);
	/* It has been said why a cgroup cannot be a job; the others can. */
	if (ret == EXIT_FAILED && all)
		ret = EXIT_OK;
out:
	free(all);
	tree_free(&tree);
	w->look_ns = now_ns() - began;
	if ((w->is_short || w->tried.is_full) && !w->again_ns)
		w->again_ns = now_ns() + mts_max(POLL_NS, LOOK_PART * w->look_ns);
	return ret;
}

/* SIGHUP. With an error in a file the old rules stay. */
static void read_again(struct watcher *w)
{
	struct conf conf;

	notify("RELOADING=1");
	if (conf_read(&conf, w->command, w->file)) {
		complain("rules watch: the rules stay as they were");
		conf_free(&conf);
	} else {
		conf_free(w->conf);
		*w->conf = conf;
		w->tried.n = 0;
		printf("%s; read again\n", conf_summary(w->conf));
		plan_look(w);
	}
	notify("READY=1");
}

/* Return: false: it is to end. */
static bool take_signal(struct watcher *w, int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo == SIGHUP)
		read_again(w);
	return info.ssi_signo == SIGHUP;
}

/* The looks that are due. Return: an exit status. */
static int take_looks(struct watcher *w)
{
	u64 now = now_ns();
	bool is_due = w->due_ns && now >= w->due_ns;
	bool is_again = w->again_ns && now >= w->again_ns;

	if (is_due)
		w->due_ns = 0;
	if (is_again)
		w->again_ns = 0;
	return is_due || is_again ? look(w) : EXIT_OK;
}

static int timeout_of(const struct watcher *w)
{
	u64 times[] = { w->due_ns, w->again_ns, w->read_ns }, first = U64_MAX, now = now_ns();

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		first = times[i] ? mts_min(first, times[i]) : first;
	if (first == U64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now) / MS) + 1;
}

/* A user may cause events all the time: reading them costs a fifth of a processor, too. */
static void take_events(struct watcher *w)
{
	u64 began = now_ns();

	if (cgroup_events_read())
		plan_look(w);
	w->read_ns = now_ns() + LOOK_PART * (now_ns() - began);
}

static int run(struct watcher *w, int events, int signals)
{
	struct pollfd fds[] = { { .fd = events, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };
	int ret = EXIT_OK;

	while (!ret) {
		if (now_ns() >= w->read_ns)
			w->read_ns = 0;
		fds[0].fd = w->read_ns ? -1 : events;
		if (poll(fds, 2, timeout_of(w)) < 0 && errno != EINTR)
			return device_failed("rules watch: poll", errno);
		if (fds[1].revents && !take_signal(w, signals))
			break;
		if (fds[0].revents)
			take_events(w);
		ret = take_looks(w);
	}
	return ret;
}

int rules_watch(const struct command *command, struct conf *conf, const char *file)
{
	struct watcher w = { .command = command, .conf = conf, .file = file };
	int events, signals, ret;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	events = cgroup_events_open();
	if (signals < 0 || events < 0)
		return device_failed("rules watch", signals < 0 ? errno : -events);
	ret = look(&w);
	if (!ret) {
		printf("%s; watching\n", conf_summary(conf));
		fflush(stdout);
		notify("READY=1");
		ret = run(&w, events, signals);
	}
	notify("STOPPING=1");
	free(w.tried.ids);
	return ret;
}
