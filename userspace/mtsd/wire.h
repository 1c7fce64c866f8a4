/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol of uapi/mts.h over a unix stream socket, for mtsd and mtsctl.
 *
 * A request is a struct mts_wire_request and @size bytes: the argument of the command, if
 * _IOC_DIR(cmd) has _IOC_WRITE. MTS_IOC_JOB_ADD comes with the descriptor of the cgroup
 * (SCM_RIGHTS, with the first byte); mts_job_add.cgroup_fd is ignored. A reply is a struct
 * mts_wire_reply and @size bytes: the argument, if there is no error and _IOC_DIR(cmd) has
 * _IOC_READ; of a list its elements follow, list.elem_size bytes apart (ABI 1: size_1).
 *
 * Requests of one connection are answered in order. The process that connected is the caller:
 * MTS_JOB_ENTER moves it.
 */
#ifndef MTSD_WIRE_H
#define MTSD_WIRE_H

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#define MTS_SOCKET "/run/mts/socket"
/* Of the mtsd of a user, below $XDG_RUNTIME_DIR. */
#define MTS_USER_SOCKET "mts/socket"

/* The largest argument; a larger size is refused with EINVAL, and the connection is closed. */
#define MTS_WIRE_ARGUMENT_MAX 16384u

struct mts_wire_request {
	__u32 cmd; /* MTS_IOC_* */
	__u32 size;
};

struct mts_wire_reply {
	__s32 err; /* 0, or a positive errno */
	__u32 size;
};

/* All of @size bytes. False: the other end has closed the connection, or an error. */
static inline bool mts_wire_read(int fd, void *buf, size_t size)
{
	char *at = buf;
	ssize_t got;

	while (size) {
		got = read(fd, at, size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= got;
	}
	return true;
}

#endif /* MTSD_WIRE_H */
