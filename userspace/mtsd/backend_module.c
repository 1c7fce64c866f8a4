// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "context.h"
#include "mtsd/backend.h"
#include "uapi/mts.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int call(unsigned int cmd, void *argument)
{
	int fd = open(MTS_DEVICE, O_RDWR | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno == ENOENT || errno == ENODEV ? -ENXIO : -errno;
	while (ioctl(fd, cmd, argument)) {
		err = -errno;
		if (err != -EINTR)
			break;
		err = 0;
	}
	close(fd);
	return err;
}

/* The module moves the process that asks it, and that is mtsd. */
static bool enters(unsigned int cmd, const void *argument)
{
	if (cmd == MTS_IOC_JOB_CREATE)
		return ((const struct mts_job_create *)argument)->flags & MTS_JOB_ENTER;
	if (cmd == MTS_IOC_JOB_SUBMIT)
		return ((const struct mts_job_submit *)argument)->flags & MTS_JOB_ENTER;
	return false;
}

static int command(unsigned int cmd, void *argument)
{
	return enters(cmd, argument) ? -EOPNOTSUPP : call(cmd, argument);
}

/* Of an element, if the caller says none. */
static size_t size_1(unsigned int cmd)
{
	return cmd == MTS_IOC_JOBS  ? MTS_JOB_INFO_SIZE_1 :
	       cmd == MTS_IOC_BINS  ? MTS_BIN_INFO_SIZE_1 :
	       cmd == MTS_IOC_USERS ? sizeof(struct mts_user_weight) :
				      sizeof(struct mts_gone_info);
}

static int list(unsigned int cmd, struct mts_list *list, struct mts_elements *elements)
{
	u64 theirs = list->buf;
	int err;

	elements->size = list->elem_size ?: size_1(cmd);
	elements->distance = elements->size;
	if (elements->distance > MTS_ELEM_SIZE_MAX)
		return -EINVAL;
	list->count = min_t(u32, list->count, MTS_MAX_JOBS);
	elements->at = kvcalloc(max(list->count, 1u), elements->distance, GFP_KERNEL);
	if (!elements->at)
		return -ENOMEM;
	list->buf = (uintptr_t)elements->at;
	err = call(cmd, list);
	/* An address of this process is not for the caller. */
	list->buf = theirs;
	if (err)
		kvfree(elements->at);
	return err;
}

/*
 * The device is made anew with each load. If its owner or mode is changed, it counts as another
 * one, too: jobs of users are root's then, which is the safe mistake.
 */
static u64 instance(void)
{
	struct stat st;

	if (stat(MTS_DEVICE, &st))
		return 0;
	return (u64)st.st_ctim.tv_sec * NSEC_PER_SEC + st.st_ctim.tv_nsec + ((u64)st.st_ino << 40);
}

const struct mts_backend mts_backend_module = {
	.command = command,
	.list = list,
	.instance = instance,
};
