/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol of uapi/mts.h over a unix stream socket, for mtsd and mtsctl.
 *
 * A request is a struct mts_wire_request and @size bytes: the argument of the command, if
 * _IOC_DIR(cmd) has _IOC_WRITE. MTS_IOC_JOB_ADD, and MTS_IOC_JOB_SUBMIT with MTS_JOB_HERE, come
 * with the descriptor of the cgroup (SCM_RIGHTS, with the first byte); cgroup_fd of the argument is
 * ignored (mts_wire_descriptor()). Of users who are not root no descriptor is taken:
 * mts_job_add.cgroup_id names the cgroup. A reply is a struct mts_wire_reply and @size bytes: the
 * argument, if there is no error and _IOC_DIR(cmd) has _IOC_READ; of a list its elements follow,
 * list.elem_size bytes apart (ABI 1: size_1).
 *
 * Requests of one connection are answered in order. The process that connected is the caller:
 * MTS_JOB_ENTER moves it.
 *
 * There are 64 connections at most, 48 of users who are not root, and MTS_WIRE_USER_CALLERS of one
 * such user. Those of users without an account count as one user's. One more takes the place of one
 * that waits for no reply: mtsd reads nothing of that connection any more, so a request is not
 * carried out if sending it gives EPIPE, or if the reply is EAGAIN, behind which mtsd closes the
 * connection. The caller connects again. If all others wait for replies, the new one is told
 * EAGAIN, and closed.
 *
 * A system-wide mtsd answers all users: rights.h says what each may ask. A user who is not root
 * makes no cgroup by MTS_IOC_JOB_SUBMIT: mts_job_submit.cgroup_id names the cgroup that the caller
 * is in alone, the request has MTS_JOB_ENTER, and makes a job of that one, as with MTS_JOB_HERE.
 *
 * Errors beside those of uapi/mts.h:
 * EPERM:  only root may ask this, or a member of the users' group
 * EACCES: the job or the cgroup is not the caller's
 * EBUSY:  MTS_IOC_JOB_SUBMIT: there is another process in the caller's cgroup, or one below it
 * EXDEV:  MTS_JOB_EACH or MTS_JOB_EACH_LEAF by a user: the cgroup above, in which those of children
 *         would be made, is not the user's
 * EOPNOTSUPP: the same with MTS_IOC_JOB_SET; MTS_JOB_ENTER, if the module is behind this mtsd, and
 *         root asks
 * E2BIG:  the cgroup of a user has more than 1024 cgroups or 8192 processes, or 32 levels
 * ENXIO:  the module is behind this mtsd, and not loaded
 * EAGAIN: there are too many connections, or this one has ended: the request is not carried out
 * MTS_WIRE_TOO_...: a limit of the section [users] of mts.conf(5)
 */
#ifndef MTSD_WIRE_H
#define MTSD_WIRE_H

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "uapi/mts.h"

#define MTS_SOCKET "/run/mts/socket"
/*
 * What the path of root's own socket has beside that. Users cannot open it, so that no user keeps
 * root waiting. mtsd has one that runs as root. Root may ask at either.
 */
#define MTS_SOCKET_OF_ROOT ".root"
/* Of the mtsd of a user, below $XDG_RUNTIME_DIR. */
#define MTS_USER_SOCKET "mts/socket"

/* The largest argument; a larger size is refused with EINVAL, and the connection is closed. */
#define MTS_WIRE_ARGUMENT_MAX 16384u

#define MTS_WIRE_USER_CALLERS 8

/* Positive errnos that no command of uapi/mts.h has. */
#define MTS_WIRE_TOO_MANY_JOBS EDQUOT
#define MTS_WIRE_TOO_MANY_PINS EUSERS
#define MTS_WIRE_TOO_SHORT_PAUSE ETIME
#define MTS_WIRE_TOO_MUCH_WEIGHT EDOM
#define MTS_WIRE_TOO_MANY_QUEUED EMLINK
#define MTS_WIRE_TOO_LARGE EFBIG

struct mts_wire_request {
	__u32 cmd; /* MTS_IOC_* */
	__u32 size;
};

struct mts_wire_reply {
	__s32 err; /* 0, or a positive errno */
	__u32 size;
};

/* The field of the descriptor that comes with this command; NULL: none does. */
static inline __s32 *mts_wire_descriptor(unsigned int cmd, void *argument)
{
	struct mts_job_submit *submit = argument;

	if (cmd == MTS_IOC_JOB_ADD)
		return &((struct mts_job_add *)argument)->cgroup_fd;
	return cmd == MTS_IOC_JOB_SUBMIT && submit->flags & MTS_JOB_HERE ? &submit->cgroup_fd :
									   NULL;
}

/* Bytes of an element of a list, if the caller says none. 0: the command asks for no list. */
static inline size_t mts_wire_size_1(unsigned int cmd)
{
	return cmd == MTS_IOC_JOBS  ? MTS_JOB_INFO_SIZE_1 :
	       cmd == MTS_IOC_BINS  ? MTS_BIN_INFO_SIZE_1 :
	       cmd == MTS_IOC_USERS ? sizeof(struct mts_user_weight) :
	       cmd == MTS_IOC_GONE  ? sizeof(struct mts_gone_info) :
				      0;
}

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
