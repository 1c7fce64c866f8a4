// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs come and go, freeze and thaw; and the rest of what the module asks of a kernel, of which a
 * simulated host has little: no real-time threads, no input, no process outside that waits for a
 * job, and all of the disk for swap.
 */
#include <limits.h>

#include "context/virtual/enrol.h"
#include "context/virtual/machine.h"
#include "events/wake.h"
#include "jobs/enrol.h"
#include "jobs/failsafe.h"
#include "jobs/freezer.h"
#include "jobs/thaw.h"
#include "jobs/interactive.h"
#include "jobs/ops.h"
#include "jobs/protect.h"
#include "jobs/ran.h"
#include "jobs/tasks.h"
#include "jobs/waits.h"
#include "jobs/watched.h"
#include "memory/cgroupfs.h"
#include "memory/memory.h"
#include "rotor/rotor.h"
#include "rotor/state.h"
#include "rotor/status.h"
#include "sched_hooks/hooks.h"
#include "simulator.h"

/* ---- jobs come and go --------------------------------------------------------------------- */

atomic_t mts_job_marked;

static struct cgroup base = { .online = true };
static u32 reaped; /* jobs with a lower index have been */

/* @held: it is for the queue, and its size is known */
static void enrol(struct job *job, bool held)
{
	struct mts_job *mts = mts_user_job_new(held ? MTS_JOB_QUEUE : 0, 0, &job->cgrp);

	mts->held = held;
	mts->max_wait_ns = MTS_WAIT_MAX_NS;
	mts->size = held ? job->demand->size : 0;
	mts->size_from = held ? MTS_SIZE_GIVEN : MTS_SIZE_UNKNOWN;
	job->cgrp = (struct cgroup){ .parent = &base, .online = true };
	job->mts = mts;
	mutex_lock(&mts_lock);
	mts->id = job - host.jobs + 1;
	snprintf(mts->name, sizeof(mts->name), "job-%u", mts->id);
	mts_jobs_insert(mts);
	mutex_unlock(&mts_lock);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
}

void jobs_enrol(struct job *job)
{
	enrol(job, false);
}

void jobs_submit(struct job *job)
{
	enrol(job, true);
	if (mts_freezer_hold(job->mts))
		host_start_job(job);
}

/* As the hook of an exit does. */
void jobs_ended(struct job *job)
{
	set_bit(MTS_JOB_EV_EMPTIED, &job->mts->events);
	atomic_inc(&mts_job_marked);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
}

static void bury(struct job *job)
{
	mutex_lock(&mts_lock);
	mts_jobs_delete(job->mts);
	mutex_unlock(&mts_lock);
	mts_freezer_retire(job->mts);
	mts_protect_end(job->mts);
	mts_ran_end(job->mts);
	mts_job_put(job->mts);
	job->reaped = true;
}

bool mts_job_reap(void (*step)(const char *doing))
{
	bool any = false;
	u32 i;

	if (!atomic_xchg(&mts_job_marked, 0))
		return false;
	for (i = reaped; i < host.arrived; i++) {
		if (!host.jobs[i].ended || host.jobs[i].reaped)
			continue;
		step("jobs that ended are cleared away");
		bury(&host.jobs[i]);
		any = true;
	}
	while (reaped < host.arrived && host.jobs[reaped].reaped)
		reaped++;
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
	return any;
}

/* ---- the module is loaded ----------------------------------------------------------------- */

/* As config_set() of control/device.c, and mts_init() of main.c. */
void jobs_load(void)
{
	const struct mts_config *config = &host.scenario->config;

	mutex_lock(&mts_lock);
	mts_gate_set_hands_off(config->mode == MTS_MODE_OFF);
	mts_failsafe_set_limit(config->max_pause_ns ?: MTS_PAUSE_STRETCHED_NS, false);
	mts_interactive_set_share(config->interactive);
	mts_rotor_configure(config);
	mutex_unlock(&mts_lock);
	if (mts_failsafe_init() || mts_rotor_init())
		mts_user_bug(__FILE__, __LINE__, "no memory");
}

void jobs_unload(void)
{
	u32 i;

	mts_thaw_and_stop(MTS_REASON_UNLOAD, "the scenario is over");
	mts_rotor_exit();
	mts_failsafe_exit();
	for (i = 0; i < host.arrived; i++)
		if (!host.jobs[i].reaped)
			bury(&host.jobs[i]);
	mts_wake_exit();
}

/* By then the rotor has seen which jobs came and went, and what fits (slice.c). */
#define SETTLED_NS (2 * (u64)NSEC_PER_SEC)
/* The watchdog looks again so long before it thaws a job. */
#define WATCHED_NS (2 * (u64)MTS_PAUSE_MARGIN_NS)

bool jobs_calm(u64 *from, u64 *until)
{
	struct mts_status status;
	const struct job *job;

	*from = host.changed + SETTLED_NS;
	if (!figures_slice_runs())
		return false;
	if (machine_now() < *from)
		return true;
	mts_status_get(&status);
	*until = status.slice_ends_ns;
	list_for_each_entry(job, &host.frozen, frozen) {
		*until = mts_min(*until, host.began + job->frozen_at +
						 mts_sub_floor(status.max_pause_ns, WATCHED_NS));
		break;
	}
	return true;
}

int register_oom_notifier(struct notifier_block *nb)
{
	return 0;
}

int register_pm_notifier(struct notifier_block *nb)
{
	return 0;
}

/* ---- the freezer --------------------------------------------------------------------------- */

static int op_freeze(struct mts_job *mts, bool freeze)
{
	struct job *job = job_of(mts);

	host_advance();
	if (job->ended || job->is_frozen == freeze)
		return 0;
	if (!freeze) {
		host_start_job(job);
		return 0;
	}
	/* It does not run yet. */
	if (mts->held) {
		host_hold_job(job);
		return 0;
	}
	host_stop_job(job);
	/* To freeze and to thaw it. */
	move_work(host.scenario->costs.freeze);
	return 0;
}

static bool op_freeze_set(struct mts_job *mts)
{
	return job_of(mts)->is_frozen;
}

static bool op_never(struct mts_job *mts)
{
	return false;
}

static bool op_is_frozen(struct mts_job *mts)
{
	return job_of(mts)->is_frozen || job_of(mts)->ended;
}

static int op_awake(struct mts_job *mts)
{
	return job_of(mts)->ended ? 0 : job_of(mts)->threads;
}

static bool op_stalls(struct mts_job *mts)
{
	enum phase phase = job_of(mts)->phase;

	return phase == PHASE_FAULT || phase == PHASE_THRASH;
}

/* ---- its memory ----------------------------------------------------------------------------- */

static int op_usage(struct mts_job *mts, struct mts_usage *usage)
{
	struct job *job = job_of(mts);

	host_advance();
	host_settle(job);
	*usage = (struct mts_usage){
		.current_bytes = job->resident,
		.swap = job->touched - job->resident,
		/* No other program runs here: the host's count is theirs. */
		.refaults = U64_MAX,
		.major_faults = job->faults,
	};
	return 0;
}

static int op_resident(struct mts_job *mts, u64 *bytes)
{
	host_advance();
	host_settle(job_of(mts));
	*bytes = job_of(mts)->resident;
	return 0;
}

/* No cgroup has a limit. */
static void op_limits(struct mts_job *mts, struct mts_mem_limits *limits)
{
	*limits = (struct mts_mem_limits){ .most = U64_MAX, .room = U64_MAX, .swap = U64_MAX };
}

static int op_ran(struct mts_job *mts, struct mts_ran *ran)
{
	const struct job *job = job_of(mts);

	host_advance();
	host_settle(job_of(mts));
	*ran = (struct mts_ran){ .user_ns = job->user_ns, .system_ns = job->ran_ns - job->user_ns };
	return 0;
}

static void op_swap_waits(struct mts_job *mts, struct mts_swap_waits *waits)
{
	struct job *job = job_of(mts);

	host_advance();
	host_settle(job);
	*waits = (struct mts_swap_waits){ job->waited_ns, op_stalls(mts) };
}

/* demand=used is not simulated: all is used. */
static void op_use(struct mts_move *move)
{
}

static void op_use_outdated(struct mts_job *mts)
{
}

/* Cgroups above a job's protect nothing of their own, and have no limits. */
static u64 op_above(struct mts_job *mts, u32 up)
{
	return 0;
}

static int op_get(struct mts_job *mts, u32 up, enum mts_setting setting, u64 *value)
{
	if (setting != MTS_SETTING_LOW)
		return -ENODEV;
	*value = job_of(mts)->low;
	return 0;
}

static int op_set(struct mts_job *mts, u32 up, enum mts_setting setting, u64 value)
{
	if (setting != MTS_SETTING_LOW)
		return -ENODEV;
	host_advance();
	host_protect_job(job_of(mts), value);
	return 0;
}

static const struct mts_ops ops = {
	.freeze = op_freeze,
	.freeze_asked = op_freeze_set,
	.freeze_set = op_freeze_set,
	.frozen_above = op_never,
	.freeze_is_open = op_never,
	.is_frozen = op_is_frozen,
	.awake = op_awake,
	.stalls = op_stalls,
	.swap_waits = op_swap_waits,
	.usage = op_usage,
	.resident = op_resident,
	.limits = op_limits,
	.ran = op_ran,
	.evict = move_evict,
	.bring_back = move_bring_back,
	.use_begins = op_use,
	.use_ends = op_use,
	.use_outdated = op_use_outdated,
	.above = op_above,
	.get = op_get,
	.set = op_set,
};

const struct mts_ops *mts_ops = &ops;

/* ---- the host ------------------------------------------------------------------------------- */

unsigned long totalram_pages(void)
{
	return host.scenario->memory >> PAGE_SHIFT;
}

long get_nr_swap_pages(void)
{
	return LONG_MAX >> PAGE_SHIFT;
}

unsigned int num_online_cpus(void)
{
	return host.scenario->processors;
}

bool mts_reclaim_is_swap_full(void)
{
	return false;
}

bool mts_reclaim_is_refused(void)
{
	return false;
}

/* What of it jobs cannot hold is not known to the policy, as on a host. */
u64 mts_memory_free(void)
{
	host_advance();
	return mts_sub_floor(host.scenario->memory, host_resident());
}

u64 mts_memory_available(void)
{
	return mts_memory_free();
}

u64 mts_memory_swapins(void)
{
	host_advance();
	return host_swapins();
}

u64 mts_memory_reclaimed(void)
{
	host_advance();
	return host.reclaimed + (u64)(host.cycles >> FIX);
}

u64 mts_hooks_last_reclaim(void)
{
	host_advance();
	return host.last_reclaim;
}

/* ---- tasks ---------------------------------------------------------------------------------- */

void mts_tasks_scan(void)
{
}

/* No job is attended. */
void mts_tasks_scan_attended(void)
{
}

void mts_tasks_look(void)
{
	u32 i;

	host_advance();
	for (i = 0; i < host.arrived; i++) {
		struct job *job = &host.jobs[i];

		if (job->reaped)
			continue;
		host_settle(job);
		job->mts->look.stalled_ns += job->stalled_ns;
		job->stalled_ns = 0;
		if (!job->is_frozen)
			mts_admission_count(&job->mts->look, op_awake(job->mts));
	}
}

bool mts_tasks_running_can_run(void)
{
	return true;
}

void mts_waits_look_outside(void)
{
}

void mts_waits_look(u64 planned)
{
}

bool mts_watched_are_any(void)
{
	return false;
}

void mts_watched_look(void)
{
}
