// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <sys/random.h>

#include "context.h"
#include "engine/cgroup.h"
#include "engine/process.h"
#include "engine/taken.h"
#include "mtsd/backend.h"
#include "uapi/mts.h"

/* A job of one running process: make a cgroup of it, and add that. */
static int take(struct mts_job_take *take)
{
	struct mts_job_add add = {
		.flags = take->flags,
		.max_pause_ns = take->max_pause_ns,
		.weight = take->weight,
		.user = take->user,
	};
	struct cgroup *cgrp;
	int err;

	if (take->pad)
		return -EINVAL;
	if (take->pid <= 0)
		return -ESRCH;
	err = mts_process_check(take->pid);
	if (err)
		return err;
	/* The new cgroup is mtsd's own. */
	if (!(take->flags & MTS_JOB_USER) && !take->user) {
		add.flags |= MTS_JOB_USER;
		add.user = mts_process_user(take->pid);
	}
	cgrp = mts_taken_make(take->pid);
	if (IS_ERR(cgrp))
		return PTR_ERR(cgrp);
	add.cgroup_fd = cgrp->dir;
	err = mts_command(MTS_IOC_JOB_ADD, &add);
	if (err) {
		mts_taken_give_back(cgrp);
	} else {
		take->id = add.id;
		take->cgroup_id = add.cgroup_id;
		strscpy(take->name, strrchr(cgrp->path, '/') + 1, sizeof(take->name));
	}
	cgroup_put(cgrp);
	return err;
}

static int command(unsigned int cmd, void *argument)
{
	return cmd == MTS_IOC_JOB_TAKE ? take(argument) : mts_command(cmd, argument);
}

/* 64 bits by chance: no two starts have the same. */
static u64 instance(void)
{
	static u64 drawn; /* under the lock of users.c */

	if (!drawn && getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
		drawn = 1;
	return drawn;
}

const struct mts_backend mts_backend_engine = {
	.command = command,
	.list = mts_command_list,
	.instance = instance,
	.enters = true,
};
