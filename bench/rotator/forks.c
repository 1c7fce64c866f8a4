// SPDX-License-Identifier: GPL-2.0
/*
 * Forks, as the kernel's proc connector tells them (linux/cn_proc.h): root, and the first
 * network and PID namespace. The message is sent before the child runs, but the daemon sees
 * it when it is scheduled: with a real-time priority and one processor that is before the
 * child's first instruction, with more processors it is a race.
 */
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rotator.h"

/* Storms of forks: what does not fit is found by each_poll(). */
#define RECEIVE_BUFFER (1 << 20)

/* struct cn_msg ends in an array, so it cannot stand inside another one. */
#define HEADERS (NLMSG_HDRLEN + sizeof(struct cn_msg))

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

int forks_open(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	int size = RECEIVE_BUFFER;
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || !subscribe(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

void forks_read(int fd)
{
	_Alignas(struct nlmsghdr) char message[4096];
	struct proc_event event;
	ssize_t length;

	/* One event a message. ENOBUFS: some were lost; the poll will find them. */
	while ((length = recv(fd, message, sizeof(message), 0)) > 0) {
		if ((size_t)length < HEADERS + sizeof(event))
			continue;
		memcpy(&event, message + HEADERS, sizeof(event));
		if (event.what != PROC_EVENT_FORK ||
		    event.event_data.fork.child_pid != event.event_data.fork.child_tgid)
			continue; /* a thread */
		each_forked(event.event_data.fork.parent_tgid, event.event_data.fork.child_tgid);
	}
}
