// SPDX-License-Identifier: GPL-2.0
#include "ipc.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

#include "libmts/mts.h"

static struct mts_connection *connection;
static const char *chosen;
static unsigned int limit; /* s, of mtsd; 0: none */

void ipc_choose(const char *engine)
{
	chosen = engine;
}

const char *ipc_chosen(void)
{
	return chosen;
}

void ipc_limit(u32 seconds)
{
	limit = seconds;
}

const char *ipc_name(void)
{
	static char path[PATH_MAX];

	if (mts_engine_path(chosen, path, sizeof(path)))
		return MTS_DEVICE;
	return path;
}

int ipc_open(void)
{
	return connection ? 0 : mts_connect(chosen, limit, &connection);
}

void ipc_close(void)
{
	mts_disconnect(connection);
	connection = NULL;
}

bool ipc_is_for_users(void)
{
	return connection && mts_is_for_users(connection);
}

int ipc_config_get(struct mts_config *config)
{
	return mts_config_get(connection, config);
}

int ipc_config_set(const struct mts_config *config)
{
	return mts_config_set(connection, config);
}

int ipc_job_enter(struct mts_job_submit *job)
{
	return mts_job_enter(connection, job);
}

int ipc_job_add(struct mts_job_add *add)
{
	return mts_job_add_cgroup(connection, add);
}

int ipc_job_take(struct mts_job_take *take)
{
	return mts_job_add_process(connection, take);
}

int ipc_job_remove(u32 id)
{
	return mts_job_forget(connection, id);
}

int ipc_job_set(u32 id, u32 mask, u32 flags)
{
	return mts_job_set_flags(connection, id, mask, flags);
}

int ipc_job_pause(u32 id, u64 max_pause_ns)
{
	return mts_job_set_pause(connection, id, max_pause_ns);
}

int ipc_job_weight(u32 id, u32 weight)
{
	return mts_job_set_weight(connection, id, weight);
}

int ipc_status(struct mts_status *status)
{
	return mts_status_get(connection, status);
}

int ipc_stats(struct mts_stats *stats)
{
	return mts_stats_get(connection, stats, sizeof(*stats));
}

int ipc_disk(struct mts_disk_info *disk)
{
	return mts_disk_get(connection, disk);
}

int ipc_policy(struct mts_policy_info *policy)
{
	return mts_policy_get(connection, policy);
}

int ipc_user_weight(u32 user, u32 weight)
{
	return mts_user_set_weight(connection, user, weight);
}

int ipc_users(struct mts_user_weights *weights)
{
	struct mts_user_weight *users = NULL;
	u32 count = 0;
	int ret = mts_users_get(connection, &users, &count);

	if (ret && ret != -ENOTTY)
		return ret;
	weights->n = mts_min(count, MTS_MAX_USERS);
	for (u32 i = 0; i < weights->n; i++)
		weights->of[i] = users[i];
	free(users);
	return 0;
}

int ipc_thaw(void)
{
	return mts_thaw(connection);
}

int ipc_jobs(struct mts_job_info **jobs, u32 *count, u64 *generation)
{
	return mts_jobs_get(connection, jobs, sizeof(**jobs), count, generation);
}

int ipc_bins(struct mts_bin_info **bins, u32 *count, u64 *generation)
{
	return mts_bins_get(connection, bins, count, generation);
}

int ipc_gone(struct mts_gone_info **gone, u32 *count)
{
	return mts_gone_get(connection, gone, count);
}
