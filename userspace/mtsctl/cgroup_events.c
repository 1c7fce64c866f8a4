// SPDX-License-Identifier: GPL-2.0
#include "cgroup_events.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "host.h"

/* A cgroup's directory, or its cgroup.events. */
struct watch {
	int number;
	char *events; /* the path of cgroup.events; NULL: the directory */
	int populated; /* as last read */
};

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

/* Return: 0 or 1; -1: not known. */
static int is_populated(const char *events)
{
	FILE *file = fopen(events, "re");
	int value = -1;
	char key[64];

	while (file && fscanf(file, "%63s %d", key, &value) == 2 && strcmp(key, "populated"))
		value = -1;
	if (file)
		fclose(file);
	return value;
}

/* Return: 1 if it is new, 0, or -errno. */
static int add(int number, const char *events)
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
	if (!events)
		return 1;
	watches[at].events = strdup(events);
	if (!watches[at].events)
		return -ENOMEM;
	watches[at].populated = is_populated(events);
	return 1;
}

/* The kernel has removed it, with the cgroup. */
static void drop(int number)
{
	bool is_there;
	u32 at = find(number, &is_there);

	if (!is_there)
		return;
	free(watches[at].events);
	nwatches--;
	memmove(watches + at, watches + at + 1, (nwatches - at) * sizeof(*watches));
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
	return add(number, events);
}

int cgroup_events_watch(const struct tree *tree)
{
	int n = 0, ret;

	for (u32 i = 0; i < tree->ncgroups; i++) {
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
	int populated;

	if (event->mask & IN_Q_OVERFLOW)
		return true;
	if (event->mask & IN_IGNORED) {
		drop(event->wd);
		return false;
	}
	if (!is_there)
		return false;
	if (!watches[at].events)
		return event->mask & IN_ISDIR;
	/* -1: it is on its way out. */
	populated = is_populated(watches[at].events);
	if (populated < 0 || populated == watches[at].populated)
		return false;
	watches[at].populated = populated;
	return true;
}

bool cgroup_events_read(void)
{
	char buf[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool news = false;
	ssize_t got;

	while ((got = read(fd, buf, sizeof(buf))) > 0) {
		for (char *at = buf; at < buf + got;) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			news |= is_news(event);
			at += sizeof(*event) + event->len;
		}
	}
	return news;
}
