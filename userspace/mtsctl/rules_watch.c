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

struct watcher {
	const struct command *command;
	const char *file;
	struct conf *conf;
	struct enrol_ids tried;
	u64 look_ns; /* the last look took it */
	u64 due_ns, again_ns; /* the next looks; 0: none */
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
static int look(struct watcher *w)
{
	const struct enrol_how how = { .tried = &w->tried };
	struct decision *all = NULL;
	u64 began = now_ns();
	struct tree tree;
	int ret, fresh;

	ret = tree_read(&tree);
	if (ret) {
		complain("rules watch: the cgroups cannot be read: %s", strerror(-ret));
		ret = EXIT_FAILED;
		goto out;
	}
	fresh = cgroup_events_watch(&tree);
	if (fresh < 0) {
		complain("rules watch: inotify: %s%s", strerror(-fresh),
			 fresh == -ENOSPC ? ": raise fs.inotify.max_user_watches, two for each "
					    "cgroup (sysctl)" :
					    "");
		ret = EXIT_FAILED;
		goto out;
	}
	/* What was made before it was watched has not been told. */
	if (fresh)
		plan_look(w);
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
	u64 first = w->due_ns ?: w->again_ns, now = now_ns();

	if (w->due_ns && w->again_ns)
		first = mts_min(w->due_ns, w->again_ns);
	if (!first)
		return -1;
	return first <= now ? 0 : (int)((first - now) / MS) + 1;
}

static int run(struct watcher *w, int events, int signals)
{
	struct pollfd fds[] = { { .fd = events, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };
	int ret = EXIT_OK;

	while (!ret) {
		if (poll(fds, 2, timeout_of(w)) < 0 && errno != EINTR)
			return device_failed("rules watch: poll", errno);
		if (fds[1].revents && !take_signal(w, signals))
			break;
		if (fds[0].revents && cgroup_events_read())
			plan_look(w);
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
