// SPDX-License-Identifier: GPL-2.0
#include "control/commands.h"

#include "context.h"
#include "control/config.h"
#include "events/stats.h"
#include "events/wake.h"
#include "jobs/calls.h"
#include "jobs/enrol.h"
#include "jobs/freezer.h"
#include "jobs/gone.h"
#include "jobs/interactive.h"
#include "jobs/ops.h"
#include "jobs/thaw.h"
#include "memory/reclaim.h"
#include "rotor/choice.h"
#include "rotor/status.h"
#include "rotor/users.h"
#include "sched_hooks/hooks.h"

/* If two tasks set a policy at a time, the last one here goes by what is set last. */
static void watch_swapins(void)
{
	static DEFINE_MUTEX(lock);

	mutex_lock(&lock);
	mts_hooks_watch_swapins(mts_config_needs_swapins());
	mutex_unlock(&lock);
}

static int config_set(const struct mts_config *config)
{
	int err = mts_config_set(config);

	if (err)
		return err;
	if (config->mask & MTS_CONFIG_MODE) {
		mts_gate_open(MTS_REASON_NONE);
		mts_reclaim_retry();
	}
	if (config->mask & MTS_CONFIG_POLICY)
		watch_swapins();
	mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
	/*
	 * The rotor may be in a long switch. The caller must find no job frozen by mts on return.
	 */
	if (!mts_gate_may_freeze())
		mts_thaw_all();
	return 0;
}

/* Of a job, as the caller may set them. */
#define KNOWN_FLAGS (MTS_JOB_EACH | MTS_JOB_EACH_LEAF | MTS_JOB_PIN)

/* If @flags has EACH or EACH_LEAF: does this kernel support it? */
static bool is_each_supported(u32 flags)
{
	return (!(flags & MTS_JOB_EACH) || mts_hooks_each_how() != MTS_EACH_NONE) &&
	       (!(flags & MTS_JOB_EACH_LEAF) || mts_hooks_see_growth());
}

/* A user is named with the flag alone. Return: 0, -EINVAL or -ERANGE. */
static int check_user(u32 flags, u32 user)
{
	if (!(flags & MTS_JOB_USER))
		return user ? -EINVAL : 0;
	return user == MTS_USER_NONE ? -ERANGE : 0;
}

static bool is_weight(u32 weight)
{
	return !weight || (weight >= MTS_WEIGHT_MIN && weight <= MTS_WEIGHT_MAX);
}

static int check_wish(const struct mts_wish *wish)
{
	int err = check_user(wish->flags, wish->user);

	if (err)
		return err;
	if (!mts_config_is_pause(wish->max_pause_ns) || !is_weight(wish->weight))
		return -ERANGE;
	return is_each_supported(wish->flags) ? 0 : -EOPNOTSUPP;
}

static bool is_terminated(const char *name)
{
	return strnlen(name, MTS_NAME_SIZE) < MTS_NAME_SIZE;
}

/* As struct mts_job_submit says; @name, @id and @cgroup_id are its fields. */
static int make_job(const struct mts_wish *wish, char *name, u32 *id, u64 *cgroup_id)
{
	struct mts_job *job;
	int err;

	if (!is_terminated(name))
		return -EINVAL;
	err = check_wish(wish);
	if (!err)
		err = mts_job_create(name, wish, NULL, &job);
	if (err)
		return err;
	mts_hooks_watch_growth();
	*id = job->id;
	*cgroup_id = cgroup_ino(job->cgrp);
	strscpy_pad(name, job->name, MTS_NAME_SIZE);
	mts_stats_inc(jobs_created);
	mts_job_put(job);
	return 0;
}

/*
 * As struct mts_job_add says; @id and @cgroup_id are its fields. @name: out: that of the job; NULL:
 * not wanted.
 */
static int enrol_cgroup(const struct mts_wish *wish, int fd, char *name, u32 *id, u64 *cgroup_id)
{
	struct mts_job *job;
	int err = check_wish(wish);

	if (!err)
		err = mts_job_add(fd, wish, &job);
	if (err)
		return err;
	mts_hooks_watch_growth();
	*id = job->id;
	*cgroup_id = cgroup_ino(job->cgrp);
	if (name)
		strscpy_pad(name, job->name, MTS_NAME_SIZE);
	mts_stats_inc(jobs_added);
	mts_job_put(job);
	return 0;
}

static int job_create(struct mts_job_create *create)
{
	const struct mts_wish wish = {
		.flags = create->flags,
		.max_pause_ns = create->max_pause_ns,
		.weight = create->weight,
		.user = create->user,
	};

	if (create->flags & ~(MTS_JOB_ENTER | MTS_JOB_USER | KNOWN_FLAGS))
		return -EINVAL;
	return make_job(&wish, create->name, &create->id, &create->cgroup_id);
}

/* Is the job to be held? That it is pinned or has no process yet is an error only with QUEUE. */
static bool is_for_queue(u32 flags)
{
	struct mts_config config;

	if (flags & MTS_JOB_QUEUE)
		return true;
	if (!(flags & MTS_JOB_BATCH) || !(flags & (MTS_JOB_ENTER | MTS_JOB_HERE)) ||
	    flags & MTS_JOB_PIN)
		return false;
	mts_config_get(&config);
	return config.queue == MTS_QUEUE_AUTO;
}

static bool is_submit(const struct mts_job_submit *submit)
{
	const u32 known = KNOWN_FLAGS | MTS_JOB_ENTER | MTS_JOB_QUEUE | MTS_JOB_BATCH |
			  MTS_JOB_HERE | MTS_JOB_USER;
	u32 flags = submit->flags, where = flags & (MTS_JOB_ENTER | MTS_JOB_HERE);

	if (flags & ~known || !is_terminated(submit->name))
		return false;
	if ((submit->cgroup_fd || submit->each_max) && !(flags & MTS_JOB_HERE))
		return false;
	if (flags & MTS_JOB_QUEUE && (flags & MTS_JOB_PIN || !where))
		return false;
	return where != (MTS_JOB_ENTER | MTS_JOB_HERE);
}

static int job_submit(struct mts_job_submit *submit)
{
	struct mts_wish wish = {
		.flags = submit->flags & ~MTS_JOB_BATCH,
		.max_pause_ns = submit->max_pause_ns,
		.weight = submit->weight,
		.user = submit->user,
		.size = submit->size,
		.max_wait_ns = submit->max_wait_ns ?: MTS_WAIT_DEFAULT_NS,
		.command = submit->command,
		.each_max = submit->each_max,
	};

	if (!is_submit(submit))
		return -EINVAL;
	if ((wish.size && (wish.size < MTS_BIN_MIN_BYTES || wish.size > MTS_BIN_MAX_BYTES)) ||
	    wish.max_wait_ns < MTS_WAIT_MIN_NS || wish.max_wait_ns > MTS_WAIT_MAX_NS)
		return -ERANGE;
	if (is_for_queue(submit->flags))
		wish.flags |= MTS_JOB_QUEUE;
	/* What processes need that become jobs of their own is not seen in this one. */
	if (wish.flags & (MTS_JOB_EACH | MTS_JOB_EACH_LEAF))
		wish.command = 0;
	if (submit->flags & MTS_JOB_HERE)
		return enrol_cgroup(&wish, submit->cgroup_fd, submit->name, &submit->id,
				    &submit->cgroup_id);
	return make_job(&wish, submit->name, &submit->id, &submit->cgroup_id);
}

static int job_add(struct mts_job_add *add)
{
	const struct mts_wish wish = {
		.flags = add->flags,
		.max_pause_ns = add->max_pause_ns,
		.weight = add->weight,
		.user = add->user,
	};

	if (add->flags & ~(MTS_JOB_USER | KNOWN_FLAGS) || add->pad)
		return -EINVAL;
	return enrol_cgroup(&wish, add->cgroup_fd, NULL, &add->id, &add->cgroup_id);
}

static int job_remove(const struct mts_job_remove *remove)
{
	return remove->pad ? -EINVAL : mts_job_remove(remove->id);
}

static int job_set(const struct mts_job_set *set)
{
	int err;

	if (set->pad || set->mask & ~KNOWN_FLAGS || set->flags & ~KNOWN_FLAGS)
		return -EINVAL;
	if (!is_each_supported(set->mask & set->flags))
		return -EOPNOTSUPP;
	err = mts_job_set(set->id, set->mask, set->flags);
	mts_hooks_watch_growth();
	return err;
}

static int job_pause(const struct mts_job_pause *pause)
{
	if (pause->pad)
		return -EINVAL;
	if (!mts_config_is_pause(pause->max_pause_ns))
		return -ERANGE;
	return mts_job_pause(pause->id, pause->max_pause_ns);
}

static int job_weight(const struct mts_job_weight *weight)
{
	return is_weight(weight->weight) ? mts_job_weight(weight->id, weight->weight) : -ERANGE;
}

static int user_weight(const struct mts_user_weight *of)
{
	if (!is_weight(of->weight) || of->user == MTS_USER_NONE)
		return -ERANGE;
	return mts_users_weigh(of->user, of->weight);
}

/* @size: size of the caller's struct mts_stats, which may be of another version. */
static int stats(void *arg, size_t size)
{
	struct mts_stats stats;

	if (size < MTS_STATS_SIZE_1 || size % sizeof(u64))
		return -ENOTTY;
	mts_stats_get(&stats);
	stats.hook_hits = mts_hooks_hits();
	stats.hook_misses = mts_hooks_misses();
	memcpy(arg, &stats, min(size, sizeof(stats)));
	return 0;
}

static int thaw_all(void)
{
	char comm[TASK_COMM_LEN];

	get_task_comm(comm, current);
	mts_thaw_and_stop(MTS_REASON_USER, "%s (%d) asked for a thaw", comm, task_tgid_nr(current));
	return 0;
}

bool mts_command_changes(unsigned int cmd)
{
	switch (cmd) {
	case MTS_IOC_CONFIG_SET:
	case MTS_IOC_JOB_CREATE:
	case MTS_IOC_JOB_SUBMIT:
	case MTS_IOC_JOB_ADD:
	case MTS_IOC_JOB_REMOVE:
	case MTS_IOC_JOB_SET:
	case MTS_IOC_JOB_PAUSE:
	case MTS_IOC_JOB_WEIGHT:
	case MTS_IOC_USER_WEIGHT:
	case MTS_IOC_THAW:
		return true;
	}
	return false;
}

static bool is_stats(unsigned int cmd)
{
	return cmd == MTS_IOC_STATS_OF(_IOC_SIZE(cmd));
}

bool mts_command_is_known(unsigned int cmd)
{
	switch (cmd) {
	case MTS_IOC_CONFIG_GET:
	case MTS_IOC_STATUS:
	case MTS_IOC_DISK:
	case MTS_IOC_POLICY:
		return true;
	}
	return mts_command_changes(cmd) || is_stats(cmd);
}

int mts_command(unsigned int cmd, void *arg)
{
	switch (cmd) {
	case MTS_IOC_CONFIG_GET:
		mts_config_get(arg);
		return 0;
	case MTS_IOC_CONFIG_SET:
		return config_set(arg);
	case MTS_IOC_JOB_CREATE:
		return job_create(arg);
	case MTS_IOC_JOB_SUBMIT:
		return job_submit(arg);
	case MTS_IOC_JOB_ADD:
		return job_add(arg);
	case MTS_IOC_JOB_REMOVE:
		return job_remove(arg);
	case MTS_IOC_JOB_SET:
		return job_set(arg);
	case MTS_IOC_JOB_PAUSE:
		return job_pause(arg);
	case MTS_IOC_JOB_WEIGHT:
		return job_weight(arg);
	case MTS_IOC_USER_WEIGHT:
		return user_weight(arg);
	case MTS_IOC_STATUS:
		mts_status_get(arg);
		return 0;
	case MTS_IOC_DISK:
		mts_status_disk(arg);
		return 0;
	case MTS_IOC_POLICY:
		mts_auto_info(arg);
		return 0;
	case MTS_IOC_THAW:
		return thaw_all();
	}
	return is_stats(cmd) ? stats(arg, _IOC_SIZE(cmd)) : -ENOTTY;
}

/* ---- lists ---------------------------------------------------------------------- */

static u32 job_state(struct mts_job *job)
{
	if (mts_freezer_is_foreign(job))
		return MTS_JOB_FOREIGN;
	if (READ_ONCE(job->held))
		return MTS_JOB_QUEUED;
	if (READ_ONCE(job->delayed))
		return MTS_JOB_DELAYED;
	if (READ_ONCE(job->frozen))
		return mts_ops->is_frozen(job) ? MTS_JOB_FROZEN : MTS_JOB_FREEZING;
	if (job->flags & MTS_JOB_PIN)
		return MTS_JOB_RESIDENT;
	if (job->untouchable)
		return MTS_JOB_UNTOUCHABLE;
	if (job->realtime)
		return MTS_JOB_REALTIME;
	if (mts_job_is_interactive(job))
		return MTS_JOB_INTERACTIVE;
	if (READ_ONCE(job->call.honoured) && mts_job_is_called(job))
		return MTS_JOB_CALLED;
	if (job->limited)
		return MTS_JOB_LIMITED;
	if (job->has_no_swap)
		return MTS_JOB_NO_SWAP;
	if (job->sleeps)
		return MTS_JOB_SLEEPING;
	if (job->holder)
		return MTS_JOB_HOLDER;
	return mts_job_left_out(job) ? MTS_JOB_LEFT_OUT : MTS_JOB_RUNNING;
}

static u32 call_age_ms(struct mts_job *job)
{
	s64 last = atomic64_read(&job->call.last_ns), now = ktime_get_ns();

	if (!last)
		return MTS_CALL_AGE_MAX;
	/* Not negative: the call may have come after the clock was read. */
	return min_t(u64, div_u64(max(now - last, 0LL), NSEC_PER_MSEC), MTS_CALL_AGE_MAX - 1);
}

static void job_info(struct mts_job *job, struct mts_job_info *info)
{
	bool held = READ_ONCE(job->held), frozen = READ_ONCE(job->frozen);
	u64 since = READ_ONCE(job->frozen_since);

	*info = (struct mts_job_info){
		.id = job->id,
		.parent = job->parent,
		.flags = job->flags | (job->kept_bytes ? MTS_JOB_STAYS : 0),
		.state = job_state(job),
		.bin = job->bin,
		.freeze_failures = job->freeze_failures,
		.cgroup_id = cgroup_ino(job->cgrp),
		.demand = job->demand,
		.unused = job->unused,
		.threads = job->threads,
		.resident = job->rss,
		.swapped = job->usage.swap,
		.frozen_since_ns = frozen && !held ? since : 0,
		.frozen_total_ns = READ_ONCE(job->frozen_total),
		.frozen_longest_ns = READ_ONCE(job->frozen_longest),
		.run_ns = job->run_ns,
		.slices = job->slices,
		.evicted = job->evicted,
		.input_age_ms = mts_interactive_age_ms(job),
		.max_pause_ns = job->max_pause_ns,
		.calls = atomic64_read(&job->call.calls),
		.calls_refused = atomic64_read(&job->call.refused),
		.last_call = READ_ONCE(job->call.last_kind),
		.last_call_pid = READ_ONCE(job->call.last_pid),
		.last_call_age_ms = call_age_ms(job),
		.last_call_refused = READ_ONCE(job->call.last_refused),
		.memory_limit = job->confined ? job->limits.most : 0,
		.immovable = job->immovable,
		.size = job->size,
		.size_from = job->size_from,
		.queue_place = held ? job->queue_place : 0,
		.queued_since_ns = held ? since : 0,
		.starts_ns = held ? job->starts_at : 0,
		.starts_by_ns = held ? since + job->max_wait_ns : 0,
		.queued_ns = READ_ONCE(job->held_for),
		.swap_wait_ns = job->swap_wait_ns,
		.delays = job->delays,
		.holdings = job->holdings,
		.weight = job->weight,
		.user = job->owner,
	};
	strscpy(info->name, job->name, sizeof(info->name));
}

/* Fill up to n elements; return how many there are. The caller holds mts_lock. */
static u32 fill_jobs(void *buf, u32 n)
{
	struct mts_job_info *infos = buf;
	struct mts_job *job;
	u32 i = 0;

	mts_job_for_each(job) {
		if (i == n)
			break;
		job_info(job, &infos[i++]);
	}
	return mts_job_count();
}

static u32 fill_gone(void *buf, u32 n)
{
	return mts_gone_list(buf, n);
}

static u32 fill_users(void *buf, u32 n)
{
	return mts_users_list_weights(buf, n);
}

static u32 fill_bins(void *buf, u32 n)
{
	return mts_status_bins(buf, n);
}

struct kind_of_list {
	u32 (*fill)(void *buf, u32 n);
	size_t size; /* of an element */
	size_t size_1; /* of an element in ABI 1 */
};

static const struct kind_of_list jobs_list = { fill_jobs, sizeof(struct mts_job_info),
					       MTS_JOB_INFO_SIZE_1 };
static const struct kind_of_list gone_list = { fill_gone, sizeof(struct mts_gone_info),
					       sizeof(struct mts_gone_info) };
static const struct kind_of_list users_list = { fill_users, sizeof(struct mts_user_weight),
						sizeof(struct mts_user_weight) };
static const struct kind_of_list bins_list = { fill_bins, sizeof(struct mts_bin_info),
					       MTS_BIN_INFO_SIZE_1 };

static const struct kind_of_list *kind_of(unsigned int cmd)
{
	switch (cmd) {
	case MTS_IOC_JOBS:
		return &jobs_list;
	case MTS_IOC_BINS:
		return &bins_list;
	case MTS_IOC_GONE:
		return &gone_list;
	case MTS_IOC_USERS:
		return &users_list;
	}
	return NULL;
}

bool mts_command_is_list(unsigned int cmd)
{
	return kind_of(cmd);
}

int mts_command_list(unsigned int cmd, struct mts_list *list, struct mts_elements *elements)
{
	const struct kind_of_list *kind = kind_of(cmd);
	u32 distance = list->elem_size ?: kind->size_1, n;

	if (list->pad || distance < kind->size_1 || distance > MTS_ELEM_SIZE_MAX ||
	    distance % sizeof(u64))
		return -EINVAL;
	/* The caller may offer more room than there can be elements. */
	n = min_t(u32, list->count, MTS_MAX_JOBS);
	elements->at = kvcalloc(max(n, 1U), kind->size, GFP_KERNEL);
	if (!elements->at)
		return -ENOMEM;
	elements->size = kind->size;
	elements->distance = distance;
	mutex_lock(&mts_lock);
	list->total = kind->fill(elements->at, n);
	list->generation = mts_jobs_generation();
	mutex_unlock(&mts_lock);
	list->count = min(n, list->total);
	return 0;
}
