// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "engine/forks.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/cgroup.h"
#include "events/stats.h"
#include "job.h"
#include "jobs/enrol.h"

/* Storms of forks: what does not fit stays in its parent's job. */
#define RECEIVE_BUFFER (1 << 20)

/* struct cn_msg ends in an array, so it cannot stand inside another one. */
#define HEADERS (NLMSG_HDRLEN + sizeof(struct cn_msg))

static int events = -1;
static int stop = -1;
static struct task_struct *thread;

static bool subscribe(int fd)
{
	_Alignas(struct nlmsghdr) char message[HEADERS + sizeof(enum proc_cn_mcast_op)] = { 0 };
	struct nlmsghdr *header = (struct nlmsghdr *)message;
	struct cn_msg *connector = NLMSG_DATA(header);
	enum proc_cn_mcast_op operation = PROC_CN_MCAST_LISTEN;

	header->nlmsg_len = sizeof(message);
	header->nlmsg_type = NLMSG_DONE;
	connector->id.idx = CN_IDX_PROC;
	connector->id.val = CN_VAL_PROC;
	connector->len = sizeof(operation);
	memcpy(connector->data, &operation, sizeof(operation));
	return send(fd, message, sizeof(message), 0) == (ssize_t)sizeof(message);
}

static int open_events(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
	int size = RECEIVE_BUFFER;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || !subscribe(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The EACH job that a new process is in, with a reference; NULL: none. */
static struct mts_job *each_job_of(pid_t child)
{
	struct mts_job *job, *found = NULL;
	char path[4096];

	if (!mts_cgroup_of_pid(child, path, sizeof(path)))
		return NULL;
	rcu_read_lock();
	mts_job_for_each_rcu(job)
		if (READ_ONCE(job->flags) & MTS_JOB_EACH && !strcmp(job->cgrp->path, path) &&
		    mts_job_tryget(job)) {
			found = job;
			break;
		}
	rcu_read_unlock();
	return found;
}

static void note_fork(pid_t child)
{
	const struct mts_wish wish = { .flags = MTS_JOB_ENTER };
	struct mts_job *parent, *job;

	if (!atomic_read(&mts_job_each))
		return;
	parent = each_job_of(child);
	if (!parent)
		return;
	/* mts_job_create() moves the process that asks. */
	mts_user_caller()->pid = child;
	mts_user_caller()->from = parent->cgrp;
	if (!mts_job_create("", &wish, parent, &job)) {
		mts_stats_inc(jobs_each);
		mts_job_put(job);
	} else {
		mts_stats_inc(each_missed);
	}
	mts_job_put(parent);
}

static void read_events(void)
{
	_Alignas(struct nlmsghdr) char message[4096];
	struct proc_event event;
	ssize_t length;

	/* One event in a message. */
	while ((length = recv(events, message, sizeof(message), 0)) > 0) {
		if ((size_t)length < HEADERS + offsetof(struct proc_event, event_data) +
					     sizeof(event.event_data.fork))
			continue;
		memcpy(&event, message + HEADERS, min(sizeof(event), length - HEADERS));
		/* A new thread has another group leader. */
		if (event.what == PROC_EVENT_FORK &&
		    event.event_data.fork.child_pid == event.event_data.fork.child_tgid)
			note_fork(event.event_data.fork.child_tgid);
	}
	if (length < 0 && errno == ENOBUFS && atomic_read(&mts_job_each))
		mts_stats_inc(each_missed);
}

static int forks_main(void *unused)
{
	struct pollfd fds[] = {
		{ .fd = stop, .events = POLLIN },
		{ .fd = events, .events = POLLIN },
	};

	sched_set_fifo(current);
	while (!kthread_should_stop()) {
		poll(fds, ARRAY_SIZE(fds), -1);
		if (fds[1].revents)
			read_events();
	}
	return 0;
}

bool mts_forks_are_seen(void)
{
	return events >= 0;
}

int mts_forks_init(void)
{
	events = open_events();
	if (events < 0)
		return -EOPNOTSUPP;
	stop = eventfd(0, EFD_CLOEXEC);
	thread = kthread_create(forks_main, NULL, "mts_forks");
	if (stop < 0 || IS_ERR(thread)) {
		close(events);
		events = -1;
		return -ENOMEM;
	}
	wake_up_process(thread);
	return 0;
}

void mts_forks_exit(void)
{
	if (events < 0)
		return;
	mts_user_stop_polling(thread, stop);
	close(events);
	close(stop);
	events = -1;
}
