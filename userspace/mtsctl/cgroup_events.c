// SPDX-License-Identifier: GPL-2.0
#include "cgroup_events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "cgroup.h"
#include "host.h"

/* A cgroup's directory, or its cgroup.events. */
struct watch {
	int number;
	char *path; /* of the cgroup, whose cgroup.events it is; NULL: its directory */
	int populated; /* as last read */
	bool has_gone; /* the kernel has removed it, with the cgroup */
	bool has_changed; /* cgroup.events is to be read again */
};

#define READS_MAX 64 /* of one call: more than the kernel's queue has by default */

static int fd = -1;
static struct watch *watches; /* by their numbers */
static u32 nwatches, room;

int cgroup_events_open(void)
{
	fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Return: its index, or where it belongs. */
static u32 find(int number, bool *is_there)
{
	u32 low = 0, high = nwatches;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (watches[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	*is_there = low < nwatches && watches[low].number == number;
	return low;
}

/* The rest is for the other programs of this user, such as systemd and udev. */
static u32 limit(void)
{
	char path[PATH_MAX];
	u32 most = 0;
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/sys/fs/inotify/max_user_watches", host_proc()) >=
	    (int)sizeof(path))
		return U32_MAX;
	file = fopen(path, "re");
	if (file && fscanf(file, "%u", &most) != 1)
		most = 0;
	if (file)
		fclose(file);
	return most ? most / 2 : U32_MAX;
}

/* Return: 1 if it is new, 0, or -errno. */
static int add(int number, const char *path)
{
	bool is_there;
	u32 at = find(number, &is_there);

	if (is_there)
		return 0;
	if (nwatches == room) {
		u32 more = room ? 2 * room : 256;
		void *grown = realloc(watches, more * sizeof(*watches));

		if (!grown)
			return -ENOMEM;
		watches = grown;
		room = more;
	}
	memmove(watches + at + 1, watches + at, (nwatches - at) * sizeof(*watches));
	watches[at] = (struct watch){ .number = number };
	nwatches++;
	if (!path)
		return 1;
	watches[at].path = strdup(path);
	if (!watches[at].path)
		return -ENOMEM;
	watches[at].populated = cgroup_event(path, "populated");
	return 1;
}

/* A cgroup that goes meanwhile is not watched. */
static int watch_one(const char *path)
{
	char dir[PATH_MAX], events[PATH_MAX];
	int number, ret;

	if (snprintf(dir, sizeof(dir), "%s%s", host_cgroups(), strcmp(path, "/") ? path : "") >=
		    (int)sizeof(dir) ||
	    snprintf(events, sizeof(events), "%s/cgroup.events", dir) >= (int)sizeof(events))
		return 0;
	number = inotify_add_watch(fd, dir, IN_CREATE | IN_ONLYDIR);
	if (number < 0)
		return errno == ENOENT ? 0 : -errno;
	ret = add(number, NULL);
	if (ret < 0)
		return ret;
	/* The root cgroup has no such file. */
	number = inotify_add_watch(fd, events, IN_MODIFY);
	if (number < 0)
		return errno == ENOENT ? ret : -errno;
	return add(number, path);
}

int cgroup_events_watch(const struct tree *tree)
{
	u32 most = limit();
	int n = 0, ret;

	for (u32 i = 0; i < tree->ncgroups; i++) {
		if (nwatches + 2 > most && 2 * tree->ncgroups > most)
			return -ENOSPC;
		ret = watch_one(tree->cgroups[i].path);
		if (ret < 0)
			return ret;
		n += ret;
	}
	return n;
}

static bool is_news(const struct inotify_event *event)
{
	bool is_there;
	u32 at = find(event->wd, &is_there);

	if (!is_there)
		return false;
	if (event->mask & IN_IGNORED)
		watches[at].has_gone = true;
	else if (watches[at].path)
		watches[at].has_changed = true;
	return !watches[at].has_gone && !watches[at].path && event->mask & IN_ISDIR;
}

/*
 * The kernel has dropped events, also of cgroups that have gone: watches everything anew, at the
 * next cgroup_events_watch().
 */
static void begin_anew(void)
{
	int new = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	/* Under the number that is polled. */
	if (new < 0 || dup3(new, fd, O_CLOEXEC) < 0) {
		if (new >= 0)
			close(new);
		return;
	}
	close(new);
	for (u32 i = 0; i < nwatches; i++)
		free(watches[i].path);
	nwatches = 0;
}

/* Reads each file once, however many events it has had, and lets go of what has gone. */
static bool sweep(void)
{
	bool news = false;
	u32 n = 0;

	for (u32 i = 0; i < nwatches; i++) {
		struct watch w = watches[i];
		/* -1: it is on its way out. */
		int populated =
			w.has_changed && !w.has_gone ? cgroup_event(w.path, "populated") : -1;

		if (w.has_gone) {
			free(w.path);
			continue;
		}
		news |= populated >= 0 && populated != w.populated;
		w.populated = populated >= 0 ? populated : w.populated;
		w.has_changed = false;
		watches[n++] = w;
	}
	nwatches = n;
	return news;
}

bool cgroup_events_read(void)
{
	char buf[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool news = false, has_lost = false;
	ssize_t got;

	for (int i = 0; i < READS_MAX && (got = read(fd, buf, sizeof(buf))) > 0; i++) {
		for (char *at = buf; at < buf + got;) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			has_lost |= event->mask & IN_Q_OVERFLOW;
			news |= is_news(event);
			at += sizeof(*event) + event->len;
		}
	}
	if (has_lost)
		begin_anew();
	return sweep() || news || has_lost;
}
