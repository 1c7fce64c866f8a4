// SPDX-License-Identifier: GPL-2.0
/* sched_hooks/hooks.h and jobs/freeze_watch.h in user space. */
#define _GNU_SOURCE
#include "sched_hooks/hooks.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "engine/cgroup.h"
#include "engine/forks.h"
#include "engine/own.h"
#include "engine/taken.h"
#include "events/stats.h"
#include "events/wake.h"
#include "jobs/enrol.h"
#include "jobs/freeze_watch.h"
#include "job.h"
#include "memory/memory.h"

/*
 * Tasks that wait for memory for 2 % of half a second, the shortest window that the kernel takes:
 * below it the host may reclaim, but it costs the jobs next to nothing. Without CAP_SYS_RESOURCE
 * the window is two seconds.
 */
static const char *const triggers[] = { "some 10000 500000", "some 40000 2000000" };
/* Without pressure stall information: look at the host's counters this often. */
#define LOOK_MS 500

static int watches = -1;
static DEFINE_MUTEX(watched_lock); /* @job and @watch of cgroups; above cgroups_lock */
static int stop = -1;
static struct task_struct *thread;
static atomic64_t last_reclaim;
static atomic64_t reclaimed;

/* ---- what the host reclaims -------------------------------------------------------------- */

/* Have the host's counters grown since the last look? */
static void note_reclaim(bool wake)
{
	s64 now = mts_memory_reclaimed(), before = atomic64_xchg(&reclaimed, now);

	if (now == before)
		return;
	atomic64_set(&last_reclaim, ktime_get_ns());
	if (!wake)
		return;
	mts_stats_inc(reclaim_wakeups);
	mts_wake_rotor(MTS_ROTOR_EV_RECLAIM);
}

u64 mts_hooks_last_reclaim(void)
{
	note_reclaim(false);
	return atomic64_read(&last_reclaim);
}

/* ---- cgroup.events ----------------------------------------------------------------------- */

int mts_freeze_watch_init(void)
{
	watches = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return watches < 0 ? -errno : 0;
}

void mts_freeze_watch_exit(void)
{
	close(watches);
	watches = -1;
}

static int begin(struct cgroup *cgrp)
{
	char path[4096 + 32];
	int err = mts_guardian_learn(cgrp);

	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/cgroup.events", cgrp->path);
	cgrp->watch = inotify_add_watch(watches, path, IN_MODIFY);
	if (cgrp->watch >= 0)
		return 0;
	err = -errno;
	mts_guardian_forget(cgrp);
	return err == -ENOENT ? -ENODEV : err;
}

/* Of two jobs of one cgroup the second one is refused: it would share what the first one has. */
int mts_freeze_watch_begin(struct mts_job *job)
{
	int err = -EEXIST;

	mutex_lock(&watched_lock);
	if (!job->cgrp->job) {
		err = begin(job->cgrp);
		job->cgrp->job = err ? NULL : job;
	}
	mutex_unlock(&watched_lock);
	return err;
}

void mts_freeze_watch_end(struct mts_job *job)
{
	struct cgroup *cgrp = job->cgrp;

	mutex_lock(&watched_lock);
	if (cgrp && cgrp->job == job) {
		cgrp->job = NULL;
		inotify_rm_watch(watches, cgrp->watch);
		cgrp->watch = -1;
		mts_guardian_forget(cgrp);
		mts_taken_give_back(cgrp);
	}
	mutex_unlock(&watched_lock);
}

/* The event does not say what has changed: both may have. */
static void note_event(const struct inotify_event *event)
{
	struct mts_job *job;

	rcu_read_lock();
	mts_job_for_each_rcu(job) {
		if (READ_ONCE(job->cgrp->watch) != event->wd)
			continue;
		if (event->mask & IN_IGNORED || !mts_cgroup_event(job->cgrp, "populated")) {
			set_bit(MTS_JOB_EV_EMPTIED, &job->events);
			atomic_inc(&mts_job_marked);
			mts_wake_rotor(MTS_ROTOR_EV_JOBS);
		}
		break;
	}
	rcu_read_unlock();
	mts_wake_rotor(MTS_ROTOR_EV_FROZEN);
}

static void read_events(void)
{
	_Alignas(struct inotify_event) char buf[4096];
	ssize_t length, at;

	while ((length = read(watches, buf, sizeof(buf))) > 0)
		for (at = 0; at < length;) {
			const struct inotify_event *event = (void *)(buf + at);

			note_event(event);
			at += sizeof(*event) + event->len;
		}
}

/* ---- the thread -------------------------------------------------------------------------- */

static int open_pressure(void)
{
	int fd = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	u32 i;

	for (i = 0; fd >= 0 && i < ARRAY_SIZE(triggers); i++)
		if (write(fd, triggers[i], strlen(triggers[i]) + 1) > 0)
			return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int events_main(void *unused)
{
	struct pollfd fds[] = {
		{ .fd = stop, .events = POLLIN },
		{ .fd = watches, .events = POLLIN },
		{ .fd = open_pressure(), .events = POLLPRI },
	};

	if (fds[2].fd < 0)
		pr_notice("no pressure stall information: looks for reclaim twice a second\n");
	while (!kthread_should_stop()) {
		int n = poll(fds, ARRAY_SIZE(fds), fds[2].fd < 0 ? LOOK_MS : -1);

		if (fds[1].revents)
			read_events();
		if (!n || fds[2].revents)
			note_reclaim(true);
	}
	if (fds[2].fd >= 0)
		close(fds[2].fd);
	return 0;
}

int mts_hooks_init(void)
{
	stop = eventfd(0, EFD_CLOEXEC);
	if (stop < 0)
		return -errno;
	note_reclaim(false);
	atomic64_set(&last_reclaim, 0);
	thread = kthread_create(events_main, NULL, "mts_events");
	if (IS_ERR(thread)) {
		close(stop);
		return PTR_ERR(thread);
	}
	wake_up_process(thread);
	if (mts_forks_init())
		pr_notice("no process connector: children of --each jobs get no jobs\n");
	return 0;
}

void mts_hooks_exit(void)
{
	mts_forks_exit();
	mts_user_stop_polling(thread, stop);
	close(stop);
}

u32 mts_hooks_each_how(void)
{
	return mts_forks_are_seen() ? MTS_EACH_AFTER_FORK : MTS_EACH_NONE;
}

u32 mts_hooks_see(void)
{
	return MTS_SEES_BY_USERSPACE;
}

u64 mts_hooks_hits(void)
{
	return 0;
}

u64 mts_hooks_misses(void)
{
	return 0;
}

/* The kernel tells user space of no growth: MTS_JOB_EACH_LEAF is not supported. */
bool mts_hooks_see_growth(void)
{
	return false;
}

void mts_hooks_watch_growth(void)
{
}

/* The kernel counts pressure without being asked. */
void mts_hooks_watch_swapins(bool wanted)
{
}
