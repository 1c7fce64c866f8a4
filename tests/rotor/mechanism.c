// SPDX-License-Identifier: GPL-2.0
/* Implements the operations (jobs/ops.h and its neighbours) on the host's models. */
#include "host.h"

#include "check.h"
#include "events/stats.h"
#include "events/wake.h"
#include "jobs/calls.h"
#include "jobs/freezer.h"
#include "jobs/interactive.h"
#include "jobs/ops.h"
#include "jobs/tasks.h"
#include "jobs/waits.h"
#include "jobs/watched.h"
#include "context/virtual/machine.h"
#include "memory/cgroupfs.h"
#include "memory/memory.h"
#include "memory/workers.h"
#include "policy/admission.h"
#include "policy/demand.h"
#include "policy/ties.h"
#include "policy/working_set.h"
#include "rotor/roster.h"
#include "rotor/state.h"

/* Bytes that the disk moves between two checks whether to stop. */
#define CHUNK (8ull << 20)
/* Longest mishap under a lock, and otherwise, ns. */
#define LOCKED_NS (NSEC_PER_SEC / 2)
#define HANG_NS (30ll * NSEC_PER_SEC)

/*
 * Draw a mishap for this operation, and wait if it is late or hangs. Operations under a job's
 * freeze_lock hang for half a second at most: they wait for cgroup_mutex only.
 */
static enum host_mishap mishap(enum host_op op, u64 longest)
{
	enum host_mishap what = MISHAP_NONE;

	host_advance();
	if (host.mishaps && machine_draw(1000) < host.mishaps)
		what = 1 + machine_draw(MISHAPS - 1);
	if (host.fails[op]) {
		host.fails[op]--;
		what = MISHAP_FAILS;
	}
	host_mishaps[op][mts_rotor.phase.state & 7][what]++;
	if (what)
		host.last_foul = machine_now();
	if (what == MISHAP_LATE)
		machine_sleep(machine_draw(min(longest, NSEC_PER_SEC)));
	else if (what == MISHAP_HANGS)
		machine_sleep(machine_draw(longest));
	else if (host.hangs[op])
		machine_sleep(xchg(&host.hangs[op], 0));
	if (what)
		host.last_foul = machine_now();
	return what;
}

/* ---- the freezer ------------------------------------------------------------------------ */

static void stop_tasks(struct model *model)
{
	enum host_mishap what = mishap(OP_STOPS, 1);
	u64 ns = host.plain	 ? NSEC_PER_MSEC :
		 host_chance(20) ? machine_draw(NSEC_PER_SEC / 2) :
				   machine_around(NSEC_PER_MSEC);

	if (model->stuck || what == MISHAP_HANGS || what == MISHAP_FAILS)
		model->stops_at = U64_MAX;
	else
		model->stops_at = machine_now() + (what == MISHAP_LATE ? 3 * NSEC_PER_SEC : ns);
}

static void update_freeze(struct model *model)
{
	bool asked = model->frozen_by_file || model->frozen_above;

	host_advance();
	if (asked && !model->stops_at)
		stop_tasks(model);
	if (!asked) {
		if (model_is_frozen(model))
			mts_wake_rotor(MTS_ROTOR_EV_FROZEN);
		model->stops_at = 0;
	}
	host_stops_changed();
}

void model_freeze_by_other(struct model *model, bool freeze, bool above)
{
	if (above)
		model->frozen_above = freeze;
	else
		model->frozen_by_file = freeze;
	update_freeze(model);
}

static int op_freeze(struct mts_job *job, bool freeze)
{
	struct model *model = model_of(job);
	enum host_mishap what;

	lockdep_assert_held(&job->freeze_lock);
	model->in_op++;
	what = mishap(freeze ? OP_FREEZE : OP_THAW, LOCKED_NS);
	model->in_op--;
	if (!model->cgrp.online)
		return -ENODEV;
	/* A thaw needs no memory. It fails only by a fault of the kernel. */
	if (what == MISHAP_FAILS)
		return freeze ? -ENOMEM : -EIO;
	if (!freeze && model->foreign)
		mts_user_bug(__FILE__, __LINE__, "%s: thawed, though others have frozen it",
			     job->name);
	model->frozen_by_file = freeze;
	update_freeze(model);
	return 0;
}

static bool op_freeze_asked(struct mts_job *job)
{
	mts_user_point();
	return model_of(job)->frozen_by_file || model_of(job)->frozen_above;
}

static bool op_freeze_set(struct mts_job *job)
{
	mts_user_point();
	return model_of(job)->frozen_by_file;
}

static bool op_frozen_above(struct mts_job *job)
{
	mts_user_point();
	return model_of(job)->frozen_above;
}

static bool op_freeze_is_open(struct mts_job *job)
{
	mts_user_point();
	return model_of(job)->open;
}

static bool op_is_frozen(struct mts_job *job)
{
	/* No event tells that the last task froze: compare with the clock. */
	mts_user_now();
	return model_of(job)->ended || model_is_frozen(model_of(job));
}

static int op_awake(struct mts_job *job)
{
	mts_user_point();
	return host_chance(64) ? -ENODATA : model_of(job)->awake ? model_of(job)->threads : 0;
}

static bool op_stalls(struct mts_job *job)
{
	mts_user_point();
	return host_chance(16);
}

/* ---- memory ----------------------------------------------------------------------------- */

static int op_usage(struct mts_job *job, struct mts_usage *usage)
{
	struct model *model = model_of(job);

	if (mishap(OP_USAGE, NSEC_PER_SEC) == MISHAP_FAILS || !model->cgrp.online)
		return -ENODEV;
	if (host.measuring_ns)
		machine_sleep(host.measuring_ns);
	/* The rest is waiting. */
	host.busy += host.measuring_ns / 10;
	*usage = (struct mts_usage){
		.current_bytes = model->resident,
		.swap = model->swap,
		.refaults = model->refaults,
		.major_faults = model->major_faults,
	};
	return 0;
}

static int op_resident(struct mts_job *job, u64 *bytes)
{
	host_advance();
	*bytes = model_of(job)->resident;
	return model_of(job)->cgrp.online ? 0 : -ENODEV;
}

static void op_limits(struct mts_job *job, struct mts_mem_limits *limits)
{
	const struct model *model = model_of(job);

	mts_user_point();
	*limits = (struct mts_mem_limits){
		.most = model->limit,
		.room = mts_sub_floor(model->limit, model->resident),
		.reached = mts_limit_is_reached(model->resident, model->limit),
		.swap = model->swap_limit,
	};
	if (!model->limit_above)
		return;
	limits->most = min(limits->most, host.limit_above);
	limits->reached |= mts_limit_is_reached(host_used_below_limit(), host.limit_above);
	limits->n = 1;
	limits->above[0] = (struct mts_limit){ .id = 1, .depth = 1, .bytes = host.limit_above };
}

static int op_ran(struct mts_job *job, struct mts_ran *ran)
{
	struct model *model = model_of(job);

	host_advance();
	if (!model->cgrp.online)
		return -ENODEV;
	*ran = (struct mts_ran){ .user_ns = model->user, .system_ns = model->ran - model->user };
	return 0;
}

static void disk(u64 bytes)
{
	u64 left = bytes / PAGE_SIZE * host.bulk_ns;

	host.busy += bytes / PAGE_SIZE * min(host.page_ns, host.bulk_ns);
	if (host.suspended)
		mts_user_bug(__FILE__, __LINE__, "memory is moved, though the host suspends");
	while (left) {
		u64 ns = min(left, 20ull * NSEC_PER_MSEC);

		machine_sleep(ns);
		mts_promise_step("the disk is at work");
		left -= ns;
	}
}

bool mts_reclaim_is_swap_full(void)
{
	return get_nr_swap_pages() < 64;
}

bool mts_reclaim_is_refused(void)
{
	return false;
}

void mts_reclaim_retry(void)
{
}

static u64 op_evict(struct mts_eviction *e, struct mts_job *job, bool *all, bool *again)
{
	struct model *model = model_of(job);
	u64 got = 0, bytes;

	*all = *again = false;
	if (mishap(OP_EVICT, HANG_NS) == MISHAP_FAILS)
		return 0;
	while (!e->should_abort() && !e->is_to_run(job) && atomic64_read(&e->left) > 0) {
		if (e->should_yield() && e->owner == current) {
			*again = true;
			return got;
		}
		bytes = min3((u64)atomic64_read(&e->left), model->resident, CHUNK);
		bytes = min3(bytes, mts_sub_floor(host.swap, host.swap_used),
			     mts_sub_floor(model->swap_limit, model->swap));
		if (bytes < PAGE_SIZE) {
			*all = model->resident < PAGE_SIZE;
			break;
		}
		MTS_USER_ASSERT(!job->realtime || model->realtime);
		model->resident -= bytes;
		model->swap += bytes;
		host.swap_used += bytes;
		host.swapouts += bytes >> PAGE_SHIFT;
		atomic64_add(-(s64)bytes, &e->left);
		got += bytes;
		mts_stats_add(evict_got, bytes);
		disk(bytes);
	}
	return got;
}

static u64 op_bring_back(struct mts_move *move)
{
	u64 pages = 0, bytes;
	u32 i;

	move->again = false;
	if (mishap(OP_BRING, HANG_NS) == MISHAP_FAILS)
		return 0;
	for (i = 0; i < move->n; i++) {
		struct model *model = model_of(move->jobs[i].job);

		MTS_USER_ASSERT(!i || move->jobs[i - 1].job->id < move->jobs[i].job->id);
		while (model->swap > move->jobs[i].skip_bytes) {
			bytes = min3(model->swap - move->jobs[i].skip_bytes, CHUNK,
				     mts_memory_free());
			if (move->should_abort() || mts_move_is_late(move) || bytes < PAGE_SIZE)
				return pages;
			if (mts_move_should_yield(move)) {
				move->again = true;
				return pages;
			}
			bytes = min3(bytes, model->swap,
				     mts_sub_floor(model->limit, model->resident));
			if (bytes < PAGE_SIZE)
				break;
			model->swap -= bytes;
			model->resident += bytes;
			host.swap_used -= bytes;
			host.swapins += bytes >> PAGE_SHIFT;
			model->refaults += bytes >> PAGE_SHIFT;
			pages += bytes >> PAGE_SHIFT;
			move->request_ns = move->request_ns ?: host.request_ns;
			disk(bytes);
		}
	}
	return pages;
}

/* Use in a slice: four of five jobs leave a part of their memory unused. */
static void op_use_begins(struct mts_move *move)
{
	u32 i;

	if (mishap(OP_USE, NSEC_PER_SEC) == MISHAP_FAILS)
		return;
	for (i = 0; i < move->n; i++) {
		move->jobs[i].job->touched.marks_cleared = true;
		move->jobs[i].job->slice_tells_little = true;
		model_of(move->jobs[i].job)->use_began = check_switches();
	}
}

static void op_use_outdated(struct mts_job *job)
{
	job->touched.told = false;
	job->working_set = (struct mts_working_set){ 0 };
}

/* Does the job run in the slice that has begun, or is about to begin in this switch? */
static bool has_slice(const struct model *model)
{
	return model->job->bin == mts_rotor.phase.running && model->use_began == check_switches() &&
	       (mts_rotor.phase.state == MTS_STATE_RUNNING ||
		mts_rotor.phase.state == MTS_STATE_SWITCHING);
}

static void op_use_ends(struct mts_move *move)
{
	u32 i;

	if (mishap(OP_USE, NSEC_PER_SEC) == MISHAP_FAILS)
		return;
	for (i = 0; i < move->n; i++) {
		struct mts_job *job = move->jobs[i].job;
		struct model *model = model_of(job);

		if (!job->touched.marks_cleared)
			continue;
		if (has_slice(model))
			mts_user_bug(__FILE__, __LINE__,
				     "%s: the record of its slice ends, and the slice goes on",
				     job->name);
		job->touched.marks_cleared = false;
		/* Few slices of this host are whole: so some of the others tell all, too. */
		job->touched.told |= !job->slice_tells_little || host_chance(4);
		if (!job->touched.told) {
			op_use_outdated(job);
			continue;
		}
		job->use = (struct mts_slice_use){
			.used = model->size - model->size / 8 * (job->id % 5),
			.unused = model->size / 8 * (job->id % 5),
		};
		mts_working_set_note(&job->working_set, &job->use);
	}
}

static u32 slice_above(const struct mts_job *job, u32 up)
{
	return up == 1 ? job->id % 2 : TOP_SLICE;
}

static u64 *setting_of(struct mts_job *job, u32 up, enum mts_setting setting)
{
	struct model *model = model_of(job);

	if (up)
		return &host.slice_low[slice_above(job, up)];
	return setting == MTS_SETTING_LOW ? &model->low : &model->weight;
}

static u64 op_above(struct mts_job *job, u32 up)
{
	return up <= 2 ? 1 + slice_above(job, up) : 0;
}

static int op_get(struct mts_job *job, u32 up, enum mts_setting setting, u64 *value)
{
	if (mishap(OP_GET, LOCKED_NS) == MISHAP_FAILS)
		return -ENOMEM;
	*value = *setting_of(job, up, setting);
	return 0;
}

static int op_set(struct mts_job *job, u32 up, enum mts_setting setting, u64 value)
{
	if (mishap(OP_SET, LOCKED_NS) == MISHAP_FAILS)
		return -ENOMEM;
	*setting_of(job, up, setting) = value;
	return 0;
}

/* It waits for nothing else. */
static void op_swap_waits(struct mts_job *job, struct mts_swap_waits *waits)
{
	const struct model *model = model_of(job);

	host_advance();
	*waits = (struct mts_swap_waits){
		.waited_ns = model->stalled,
		.waiting = model->swap && !model->stops_at,
	};
}

static const struct mts_ops ops = {
	.freeze = op_freeze,
	.freeze_asked = op_freeze_asked,
	.freeze_set = op_freeze_set,
	.frozen_above = op_frozen_above,
	.freeze_is_open = op_freeze_is_open,
	.is_frozen = op_is_frozen,
	.awake = op_awake,
	.stalls = op_stalls,
	.swap_waits = op_swap_waits,
	.usage = op_usage,
	.resident = op_resident,
	.limits = op_limits,
	.ran = op_ran,
	.evict = op_evict,
	.bring_back = op_bring_back,
	.use_begins = op_use_begins,
	.use_ends = op_use_ends,
	.use_outdated = op_use_outdated,
	.above = op_above,
	.get = op_get,
	.set = op_set,
};

const struct mts_ops *mts_ops = &ops;

/* ---- threads that move memory: the rotor's alone ---------------------------------------- */

void mts_workers_run(void (*work)(void *data), void *data, u32 wanted)
{
	work(data);
}

void mts_workers_call(void)
{
}

u64 mts_workers_busy(void)
{
	return host.busy;
}

u64 mts_workers_delayed(void)
{
	return 0;
}

/* ---- tasks ------------------------------------------------------------------------------ */

void mts_tasks_scan(void)
{
	u32 i;

	rcu_read_lock();
	for (i = 0; i < nmodels; i++) {
		struct model *model = models[i];

		if (model)
			WRITE_ONCE(model->job->realtime, model->realtime);
	}
	rcu_read_unlock();
}

void mts_tasks_scan_attended(void)
{
	u32 i;

	rcu_read_lock();
	for (i = 0; i < nmodels; i++) {
		struct model *model = models[i];

		if (model)
			WRITE_ONCE(model->job->attended, !model->unattended);
	}
	rcu_read_unlock();
}

void mts_tasks_look(void)
{
	u32 i;

	host_advance();
	rcu_read_lock();
	for (i = 0; i < nmodels; i++) {
		struct model *model = models[i];

		if (!model)
			continue;
		model->job->look.stalled_ns += model->stalled - model->stalled_seen;
		model->stalled_seen = model->stalled;
		if (!READ_ONCE(model->job->frozen))
			mts_admission_count(&model->job->look, model->awake ? model->threads : 0);
	}
	rcu_read_unlock();
}

bool mts_tasks_running_can_run(void)
{
	bool can = false;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < nmodels && !can; i++)
		can = models[i] && models[i]->job->runs && models[i]->awake;
	rcu_read_unlock();
	return can;
}

/* ---- processes that wait ---------------------------------------------------------------- */

static const struct mts_caller locker = { .pid = 1000, .comm = "flock" };

void mts_waits_look_outside(void)
{
	u32 i;

	rcu_read_lock();
	for (i = 0; i < nmodels; i++) {
		struct model *model = models[i];

		if (!model || machine_now() >= model->waited_until)
			continue;
		if (READ_ONCE(model->job->frozen) || mts_job_has_call(model->job))
			mts_calls_seen(model->job, MTS_CALL_LOCK, &locker);
	}
	rcu_read_unlock();
}

void mts_waits_look(u64 planned)
{
	u64 now = mts_user_now();
	u32 i, j;

	rcu_read_lock();
	for (i = 0; i < nmodels; i++)
		for (j = 0; models[i] && models[i]->job->runs && j < nmodels; j++)
			if (models[j] && i != j && host_chance(500))
				mts_ties_note(&models[i]->job->ties, models[j]->job->id, now,
					      models[j]->job->frozen);
	rcu_read_unlock();
}

/* Here calls recorded by hooks expire by themselves. */
bool mts_watched_are_any(void)
{
	bool any = false;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < nmodels && !any; i++) {
		struct model *model = models[i];

		any = model && mts_job_has_call(model->job);
	}
	rcu_read_unlock();
	return any;
}

void mts_watched_look(void)
{
}
