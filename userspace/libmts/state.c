// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <time.h>

#include "libmts/connection.h"

/* A slice is 200 ms at least, unless the user has set a shorter one. */
#define WAIT_MS 100u

int mts_status_get(struct mts_connection *connection, struct mts_status *status)
{
	return mts_call(connection, MTS_IOC_STATUS, status);
}

/* Not the generation: a status that is asked for is measured, which counts as a change. */
static bool has_changed(const struct mts_status *a, const struct mts_status *b)
{
	return a->state != b->state || a->reason != b->reason || a->jobs != b->jobs ||
	       a->bins != b->bins || a->current_bin != b->current_bin || a->frozen != b->frozen ||
	       a->round != b->round;
}

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

static void sleep_ms(long long ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

int mts_status_wait(struct mts_connection *connection, struct mts_status *status,
		    unsigned int interval_ms, int timeout_ms)
{
	long long interval = interval_ms ? interval_ms : WAIT_MS, left = interval;
	const long long end = now_ms() + timeout_ms;
	struct mts_status now;
	int err;

	for (;;) {
		err = mts_status_get(connection, &now);
		if (err)
			return err;
		if (has_changed(status, &now)) {
			*status = now;
			return 1;
		}
		if (timeout_ms >= 0)
			left = end - now_ms();
		if (left <= 0) {
			*status = now;
			return 0;
		}
		sleep_ms(left < interval ? left : interval);
	}
}

int mts_stats_get(struct mts_connection *connection, struct mts_stats *stats, size_t size)
{
	union {
		__u64 numbers[MTS_ELEM_SIZE_MAX / sizeof(__u64)];
		char room[MTS_ELEM_SIZE_MAX];
	} got = { { 0 } };
	int ret;

	/* The number of the command has the size. */
	if (size < MTS_STATS_SIZE_1 || size % 8 || size > MTS_ELEM_SIZE_MAX)
		return -EINVAL;
	ret = mts_call(connection, MTS_IOC_STATS_OF(size), &got);
	/* A module of ABI 1 writes only the fields that it knows. */
	if (ret == -ENOTTY)
		ret = mts_call(connection, MTS_IOC_STATS_OF(MTS_STATS_SIZE_1), &got);
	if (!ret)
		memcpy(stats, &got, size);
	return ret;
}

int mts_disk_get(struct mts_connection *connection, struct mts_disk_info *disk)
{
	struct mts_disk_info info = { 0 };
	int ret = mts_call(connection, MTS_IOC_DISK, &info);

	if (ret && ret != -ENOTTY)
		return ret;
	*disk = info;
	return 0;
}

int mts_policy_get(struct mts_connection *connection, struct mts_policy_info *policy)
{
	struct mts_policy_info info = { 0 };
	int ret = mts_call(connection, MTS_IOC_POLICY, &info);

	if (ret && ret != -ENOTTY)
		return ret;
	*policy = info;
	return 0;
}

int mts_config_get(struct mts_connection *connection, struct mts_config *config)
{
	int ret = mts_call(connection, MTS_IOC_CONFIG_GET, config);

	/* Before ABI 4 the field was 0. */
	if (!ret && !(config->mask & MTS_CONFIG_STEP))
		config->step = MTS_STEP_BIN;
	return ret;
}

int mts_config_set(struct mts_connection *connection, const struct mts_config *config)
{
	struct mts_config copy = *config;

	return mts_call(connection, MTS_IOC_CONFIG_SET, &copy);
}

int mts_user_set_weight(struct mts_connection *connection, __u32 user, __u32 weight)
{
	struct mts_user_weight of = { .user = user, .weight = weight };

	return mts_call(connection, MTS_IOC_USER_WEIGHT, &of);
}

int mts_thaw(struct mts_connection *connection)
{
	return mts_call(connection, MTS_IOC_THAW, NULL);
}
