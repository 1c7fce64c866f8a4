// SPDX-License-Identifier: GPL-2.0
/* The jobs to plan for: sizes, cgroups, or the jobs of the module. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "format.h"
#include "ipc.h"
#include "parse.h"
#include "plan.h"
#include "policy/bins.h"
#include "policy/demand.h"
#include "policy/disk.h"
#include "policy/users.h"
#include "snapshot.h"

static int no_memory(void)
{
	complain("plan: out of memory");
	return EXIT_FAILED;
}

int plan_add(struct plan *plan, const char *name, const struct mts_plan_job *job)
{
	if (plan->njobs == MTS_MAX_JOBS) {
		complain("plan: more than %d jobs", MTS_MAX_JOBS);
		return EXIT_USAGE;
	}
	if (!plan->jobs) {
		plan->jobs = calloc(MTS_MAX_JOBS, sizeof(*plan->jobs));
		plan->names = calloc(MTS_MAX_JOBS, sizeof(*plan->names));
		plan->by_size = calloc(MTS_MAX_JOBS, sizeof(*plan->by_size));
		if (!plan->jobs || !plan->names || !plan->by_size)
			return no_memory();
	}
	plan->names[plan->njobs] = strdup(name);
	if (!plan->names[plan->njobs])
		return no_memory();
	plan->jobs[plan->njobs++] = *job;
	return EXIT_OK;
}

int plan_add_sizes(const struct command *command, struct plan *plan, const char *option,
		   const char *text, u32 flags)
{
	struct mts_plan_job job = { .flags = flags, .prev_bin = MTS_BIN_NONE, .threads = 1 };
	const char *wrong;
	char name[FORMAT_SIZE];
	u32 count;
	int ret = EXIT_OK;

	wrong = parse_size_count(text, &job.demand, &count);
	if (wrong)
		return usage_error(command, "%s %s: %s", option, text, wrong);
	format_size(name, job.demand);
	while (!ret && count--) {
		ret = plan_add(plan, name, &job);
		if (!ret)
			plan->by_size[plan->njobs - 1] = true;
	}
	return ret;
}

int plan_add_cgroup(struct plan *plan, const char *name)
{
	struct mts_plan_job job = { .prev_bin = MTS_BIN_NONE, .threads = 1 };
	struct mts_mem_limits limits;
	struct mts_usage usage = { 0 };
	char dir[PATH_MAX];
	int ret;

	ret = cgroup_dir(name, dir);
	if (ret) {
		complain("plan: %s: %s: name a cgroup by its path", name, strerror(-ret));
		return EXIT_FAILED;
	}
	ret = cgroup_usage(dir, &usage);
	if (ret == -EOPNOTSUPP) {
		complain("plan: %s: it has no memory.current: not a cgroup v2, or the memory "
			 "controller is not enabled in it "
			 "(echo +memory > %s/../cgroup.subtree_control)",
			 dir, dir);
		return EXIT_FAILED;
	}
	if (ret) {
		complain("plan: %s: %s", dir, strerror(-ret));
		return EXIT_FAILED;
	}
	cgroup_limits(dir, &limits, usage.swap);
	plan->managed = mts_add_sat(plan->managed, mts_policy_resident(&usage));
	job.demand = mts_min(mts_policy_demand(&usage), limits.most);
	if (mts_policy_has_no_swap(job.demand, &limits)) {
		job.flags = MTS_PLAN_RESIDENT;
		plan->no_swap++;
	} else {
		job.kept_bytes = mts_policy_immovable(job.demand, &limits);
		job.demand -= job.kept_bytes;
	}
	return plan_add(plan, name, &job);
}

/* As in the module: a job that cannot be frozen now is in every bin. */
static bool is_resident(const struct mts_job_info *job)
{
	/* The plan decides anew which jobs are limited. */
	if (job->state == MTS_JOB_LIMITED)
		return false;
	return job->bin == MTS_BIN_EVERY || job->flags & MTS_JOB_PIN ||
	       job->state == MTS_JOB_RESIDENT || job->state == MTS_JOB_REALTIME ||
	       job->state == MTS_JOB_INTERACTIVE || job->state == MTS_JOB_LEFT_OUT ||
	       job->state == MTS_JOB_FOREIGN || job->state == MTS_JOB_UNTOUCHABLE ||
	       job->state == MTS_JOB_NO_SWAP || job->state == MTS_JOB_SLEEPING;
}

/* As the rotor (rotor/users.c). */
static int divide_between_users(struct plan *plan, const struct snapshot *s)
{
	struct mts_user_job *jobs = calloc((size_t)s->njobs + 1, sizeof(*jobs));
	void *scratch = calloc(1, mts_users_scratch(s->njobs) + 1);
	int ret = jobs && scratch ? EXIT_OK : no_memory();

	for (u32 i = 0; !ret && i < s->njobs; i++)
		jobs[i] = (struct mts_user_job){
			.user = s->jobs[i].user,
			.weight = s->jobs[i].weight,
			.takes_turns = !plan->jobs[i].flags,
		};
	if (!ret)
		mts_users_divide(jobs, s->njobs, &s->weights, scratch);
	for (u32 i = 0; !ret && i < s->njobs; i++)
		plan->jobs[i].entitled = jobs[i].entitled;
	free(jobs);
	free(scratch);
	return ret;
}

static int add_jobs(struct plan *plan, const struct snapshot *s)
{
	int ret = EXIT_OK;

	for (u32 i = 0; !ret && i < s->njobs; i++) {
		const struct mts_job_info *job = &s->jobs[i];
		bool resident = is_resident(job);
		bool stays = job->flags & MTS_JOB_STAYS && !resident;
		u64 kept = resident ? 0 : stays ? job->demand : job->immovable;
		struct mts_plan_job plan_job = {
			/* Frozen by another process: it cannot grow. */
			.demand = job->state == MTS_JOB_FOREIGN ? job->resident :
								  mts_sub_floor(job->demand, kept),
			.kept_bytes = kept,
			.max_pause_ns = job->max_pause_ns,
			.flags = resident ? MTS_PLAN_RESIDENT : 0,
			.prev_bin = job->bin < s->nbins ? job->bin : MTS_BIN_NONE,
			.threads = job->threads,
			.entitled = mts_entitled(job->weight),
			.runs = !job->frozen_since_ns,
		};

		/* Interactive jobs use the same room, before limited ones. */
		if (stays || job->state == MTS_JOB_INTERACTIVE)
			plan->room = mts_sub_floor(plan->room, job->demand);
		plan->no_swap += job->state == MTS_JOB_NO_SWAP;
		plan->managed = mts_add_sat(plan->managed, job->resident);
		ret = plan_add(plan, job->name, &plan_job);
	}
	return ret;
}

static void take_config(struct plan *plan, const struct mts_config *config,
			const struct mts_status *status, u32 given)
{
	if (!(given & MTS_CONFIG_PACK))
		plan->conf.pack = config->pack;
	if (!(given & MTS_CONFIG_EVICT))
		plan->conf.evict = config->evict;
	if (!(given & MTS_CONFIG_SLICE))
		plan->conf.slice_ns = config->slice_ns;
	if (!(given & MTS_CONFIG_MIN_SLICE))
		plan->conf.min_slice_ns = config->min_slice_ns;
	if (!(given & MTS_CONFIG_MAX_PAUSE))
		plan->conf.max_pause_ns = config->max_pause_ns;
	if (!(given & MTS_CONFIG_OVERHEAD))
		plan->conf.overhead = config->overhead;
	if (!(given & MTS_CONFIG_STEP))
		plan->step = config->step;
	if (given & MTS_CONFIG_BIN)
		return;
	if (config->bin_bytes)
		plan->conf.capacity = config->bin_bytes;
	else if (status->capacity)
		plan->conf.capacity = mts_add_sat(status->capacity, status->resident_demand);
}

static u64 alone_ns(const struct mts_page_way *way)
{
	return mts_disk_alone_ns(&(struct mts_page_cost){ .elapsed_ns = way->elapsed_ns,
							  .worked_ns = way->worked_ns,
							  .waited_ns = way->waited_ns });
}

static u64 of_a_mib(u64 out_ns, u64 in_ns)
{
	return mts_add_sat(out_ns, in_ns) * ((1ul << 20) / sysconf(_SC_PAGESIZE));
}

/* As the rotor: what switches took, and what a page took last. */
static void take_costs(struct plan *plan, const struct snapshot *s, const struct mts_stats *stats)
{
	const struct mts_page_way *out = &s->disk.out, *in = &s->disk.in;

	/* The measured mean, if it is of one kind of bins. Thawing takes no time. */
	if (stats->switches && (!stats->passes || stats->passes == stats->switches))
		plan->conf.switch_ns = mts_add_sat(mts_add_sat(stats->freeze_ns, stats->evict_ns),
						   stats->bring_back_ns) /
				       stats->switches;
	plan->conf.switch_overlaps = snapshot_overlaps(s);
	if (!out->elapsed_ns || !in->elapsed_ns)
		return;
	plan->conf.mib_ns = of_a_mib(alone_ns(out), alone_ns(in));
	plan->conf.mib_work_ns = of_a_mib(out->worked_ns, in->worked_ns);
}

int plan_from_module(struct plan *plan, u32 given, bool switch_given)
{
	struct mts_config config = { 0 };
	struct mts_stats stats = { 0 };
	struct snapshot s;
	int ret;

	ret = device_open();
	if (ret == EXIT_NO_MODULE)
		complain("plan: without the module, give the jobs to plan for: "
			 "mtsctl plan --size 6Gx10, or --cgroup PATH");
	if (ret)
		return ret;
	ret = snapshot_take(&s);
	if (!ret)
		ret = ipc_config_get(&config);
	if (!ret)
		ret = ipc_stats(&stats);
	if (ret) {
		ret = device_failed("plan", -ret);
		goto out;
	}
	take_config(plan, &config, &s.status, given);
	plan->policy = s.policy;
	plan->now_ns = s.status.now_ns;
	/* The plan is for the present turns: they keep their choice until they end. */
	if (s.status.max_pause_ns && config.evict == MTS_EVICT_AUTO && !switch_given &&
	    !(given & MTS_CONFIG_EVICT))
		plan->evict = s.status.evict;
	if (!switch_given)
		take_costs(plan, &s, &stats);
	plan->room = mul_u64_u64_div_u64(mts_add_sat(s.status.capacity, s.status.resident_demand),
					 config.interactive, 1000);
	ret = add_jobs(plan, &s);
	if (!ret && config.share == MTS_SHARE_USER)
		ret = divide_between_users(plan, &s);
out:
	snapshot_free(&s);
	return ret;
}
