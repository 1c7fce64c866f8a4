// SPDX-License-Identifier: GPL-2.0
#include "host.h"

#include "context/virtual/enrol.h"
#include "context/virtual/machine.h"
#include "events/wake.h"
#include "jobs/enrol.h"
#include "jobs/freezer.h"
#include "jobs/protect.h"
#include "jobs/ran.h"
#include "rotor/rotor.h"
#include "rotor/roster.h"
#include "rotor/state.h"

#define GIB (1ull << 30)
#define MIB (1ull << 20)

struct host host;
struct model *models[MAX_MODELS];
u32 nmodels;
u64 host_mishaps[OPS][8][MISHAPS];

static struct cgroup base = { .online = true };
static struct model *all[1 << 16];
static u32 nall;
static u32 next_id;
static struct notifier_block *oom, *pm;
static struct task_struct *kernel;
static DECLARE_WAIT_QUEUE_HEAD(kernel_wait);
static bool stops_changed;

bool host_chance(u64 n)
{
	return !host.plain && machine_chance(n);
}

unsigned long totalram_pages(void)
{
	return host.memory >> PAGE_SHIFT;
}

long get_nr_swap_pages(void)
{
	return (host.swap - min(host.swap, host.swap_used)) >> PAGE_SHIFT;
}

unsigned int num_online_cpus(void)
{
	return host.processors;
}

int register_oom_notifier(struct notifier_block *nb)
{
	oom = nb;
	return 0;
}

int register_pm_notifier(struct notifier_block *nb)
{
	pm = nb;
	return 0;
}

void host_oom(void)
{
	u64 freed = 0;

	if (oom)
		oom->notifier_call(oom, 0, &freed);
}

void host_suspend(unsigned long event)
{
	host.suspended = pm && pm->notifier_call(pm, event, NULL) == NOTIFY_OK;
}

void host_resume(unsigned long event)
{
	host.suspended = false;
	if (pm)
		pm->notifier_call(pm, event, NULL);
}

struct model *model_of(const struct mts_job *job)
{
	return (struct model *)job->freeze_file;
}

bool model_is_frozen(const struct model *model)
{
	return model->stops_at && machine_now() >= model->stops_at;
}

/* ---- time passes ------------------------------------------------------------------------ */

static u64 used(void)
{
	u64 sum = host.memory / 16;
	u32 i;

	for (i = 0; i < nmodels; i++)
		sum += models[i] ? models[i]->resident : 0;
	return sum;
}

static u64 free_bytes(void)
{
	return mts_sub_floor(host.memory, used());
}

/* The host's own reclaim takes memory from this job. Return: bytes. */
static u64 take_from(struct model *model, u64 bytes)
{
	u64 room = min(mts_sub_floor(host.swap, host.swap_used),
		       mts_sub_floor(model->swap_limit, model->swap));
	u64 got = min3(bytes, model->resident, room);

	model->resident -= got;
	model->swap += got;
	host.swap_used += got;
	host.swapouts += got >> PAGE_SHIFT;
	host.reclaimed += got >> PAGE_SHIFT;
	return got;
}

/* Bytes that memory.low does not keep; all of them, if @is_ignored. */
static u64 unprotected(const struct model *model, bool is_ignored)
{
	return is_ignored ? model->resident : mts_sub_floor(model->resident, model->low);
}

static void reclaim(u64 bytes, const struct model *for_whom)
{
	u32 i, frozen, ignored;

	if (machine_now() - host.last_reclaim > 10 * NSEC_PER_MSEC)
		mts_wake_rotor(MTS_ROTOR_EV_RECLAIM);
	host.last_reclaim = machine_now();
	/* Where nothing else is left memory.low does not count. */
	for (ignored = 0; ignored < 2; ignored++)
		for (frozen = 2; frozen--;)
			for (i = 0; i < nmodels && bytes; i++)
				if (models[i] && models[i] != for_whom &&
				    model_is_frozen(models[i]) == frozen)
					bytes -= take_from(models[i],
							   min(bytes,
							       unprotected(models[i], ignored)));
}

u64 host_used_below_limit(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < nmodels; i++)
		sum += models[i] && models[i]->limit_above ? models[i]->resident : 0;
	return sum;
}

/* It reclaims for its own limits. Return: bytes that it may have on top of what it has. */
static u64 make_room(struct model *model, u64 bytes)
{
	u64 room = mts_sub_floor(model->limit, model->resident);

	if (model->limit_above)
		room = min(room, mts_sub_floor(host.limit_above, host_used_below_limit()));
	/* Each page that comes pushes out another one of its own. */
	if (bytes > room)
		room += take_from(model, bytes - room);
	return min(bytes, room);
}

static void touch(struct model *model, u64 bytes)
{
	u64 from_swap;

	bytes = make_room(model, bytes);
	if (bytes > free_bytes())
		reclaim(bytes - free_bytes(), model);
	bytes = min(bytes, free_bytes());
	from_swap = min(bytes, model->swap);
	model->swap -= from_swap;
	host.swap_used -= from_swap;
	host.swapins += from_swap >> PAGE_SHIFT;
	model->refaults += from_swap >> PAGE_SHIFT;
	model->major_faults += from_swap >> PAGE_SHIFT;
	model->resident += bytes;
}

static void run_for(struct model *model, u64 ns, u32 nrunning)
{
	u64 lack, most;

	model->size += mul_u64_u64_div_u64(model->growth, ns, NSEC_PER_SEC);
	model->size = min(model->size, host.memory);
	lack = mts_sub_floor(model->size, model->resident);
	/* Swapped pages come back one by one; new pages at 1 GiB/s. */
	most = model->swap ? ns / host.fault_ns * PAGE_SIZE :
			     mul_u64_u64_div_u64(GIB, ns, NSEC_PER_SEC);
	touch(model, min(lack, most));
	if (!model->awake)
		return;
	model->stalled += model->stalls ? ns * model->stalls / 1000 : lack ? ns : 0;
	ns = min(ns, ns * host.processors / nrunning) * (model->runs ?: 1000) / 1000;
	model->ran += ns;
	model->user += lack > most ? ns / 16 : ns;
}

void host_advance(void)
{
	u64 now = machine_now(), ns = now - host.advanced;
	u32 i, n = 0;

	if (ns < NSEC_PER_MSEC)
		return;
	host.advanced = now;
	if (host.swapin_every_ns)
		host.swapins += now / host.swapin_every_ns - (now - ns) / host.swapin_every_ns;
	if (host.reclaims)
		host.last_reclaim = now;
	for (i = 0; i < nmodels; i++)
		n += models[i] && !models[i]->ended && models[i]->awake &&
		     !model_is_frozen(models[i]);
	for (i = 0; i < nmodels; i++)
		if (models[i] && !models[i]->ended && !model_is_frozen(models[i]) &&
		    !models[i]->job->held)
			run_for(models[i], ns, n);
}

/* The next time at which the tasks of a job are frozen. */
static u64 next_stop(void)
{
	u64 next = U64_MAX;
	u32 i;

	for (i = 0; i < nmodels; i++)
		if (models[i] && models[i]->stops_at > machine_now())
			next = min(next, models[i]->stops_at);
	return next;
}

/* A thread of the kernel: tells the rotor that a cgroup is frozen, as the hook does. */
static int kernel_main(void *unused)
{
	while (!kthread_should_stop()) {
		u64 next = next_stop();

		stops_changed = false;
		mts_user_wait_on(&kernel_wait);
		if (!stops_changed && !kthread_should_stop())
			mts_user_sleep(next);
		mts_user_wait_on(NULL);
		if (machine_now() >= next)
			mts_wake_rotor(MTS_ROTOR_EV_FROZEN);
	}
	return 0;
}

void host_stops_changed(void)
{
	stops_changed = true;
	wake_up(&kernel_wait);
}

/* ---- jobs come and go ------------------------------------------------------------------- */

atomic_t mts_job_marked;

static void begin(void)
{
	u32 i;

	for (i = 0; i < SLICES; i++)
		host.slice_low[i] = host.slice_own[i];
	next_id = 1;
	kernel = kthread_create(kernel_main, NULL, "kernel");
	wake_up_process(kernel);
}

void host_begin(bool gentle)
{
	host = (struct host){
		.memory = GIB << machine_draw(9), /* up to 256 GiB */
		.processors = 1u << machine_draw(7), /* up to 64 */
		/* NVMe, SSD, or rotating disk */
		.bulk_ns = (u64[]){ 2000, 10000, 60000 }[machine_draw(3)],
		/* A fast processor, and a slow one. */
		.page_ns = (u64[]){ 1500, 6000 }[machine_draw(2)],
		.advanced = machine_now(),
		.slice_own = { [1] = 64 * (GIB >> 10), [TOP_SLICE] = GIB },
	};
	if (gentle) {
		host.memory = GIB << machine_draw(2);
		host.bulk_ns = 2000;
	}
	host.fault_ns = host.bulk_ns * (2 + machine_draw(20));
	host.request_ns = host.bulk_ns * (1 + machine_draw(20));
	host.limit_above = host.memory / 2;
	host.swap = host.memory * (1 + machine_draw(16)) / 4;
	begin();
}

void host_begin_plain(const struct host *given)
{
	host = *given;
	host.plain = true;
	host.advanced = machine_now();
	begin();
}

void host_protect_slice(u32 slice, u64 bytes)
{
	host.slice_own[slice] = bytes;
	host.slice_low[slice] = bytes;
}

/* @wait_ns: its longest wait, of a job for the queue; 0: it is not for it */
static struct model *add(u64 size, u32 flags, u64 max_pause_ns, u64 ran, u64 wait_ns)
{
	struct mts_job *job;
	struct model *model;
	u32 i;

	for (i = 0; i < nmodels && models[i]; i++)
		;
	if (i == (host.plain ? MAX_MODELS : DRAWN_MODELS) || nall == ARRAY_SIZE(all))
		return NULL;
	nmodels = max(nmodels, i + 1);
	model = calloc(1, sizeof(*model));
	all[nall++] = model;
	*model = (struct model){
		.cgrp = { .parent = &base, .online = true },
		.size = size ?: PAGE_SIZE + machine_draw(host.memory * 3 / 4),
		.growth = host_chance(3) ? machine_draw(host.memory / 16) : 0,
		.limit = U64_MAX,
		.swap_limit = U64_MAX,
		.threads = host.plain ? 1 : 1 + machine_draw(4),
		.awake = !host_chance(5),
		.own_low = host_chance(4) ? machine_draw(GIB) : 0,
		.own_weight = 100,
		.ran = ran,
		.user = ran,
		.seen = machine_now(),
	};
	model->low = model->own_low;
	model->weight = model->own_weight;
	job = mts_user_job_new(flags, max_pause_ns, &model->cgrp);
	model->job = job;
	job->freeze_file = (struct file *)model;
	job->held = wait_ns;
	job->max_wait_ns = wait_ns;
	mts_ran_begin(job);
	mutex_lock(&mts_lock);
	job->id = next_id++;
	model->unattended = host.unattended && job->id % 8;
	snprintf(job->name, sizeof(job->name), "job-%u", job->id);
	kref_get(&job->ref);
	mts_jobs_insert(job);
	models[i] = model;
	mutex_unlock(&mts_lock);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
	return model;
}

struct model *host_add(u64 size, u32 flags, u64 max_pause_ns)
{
	return add(size, flags, max_pause_ns, 0, 0);
}

struct model *host_submit(u64 size, bool says, u64 runs_ns, u64 wait_ns)
{
	struct model *model = add(size, MTS_JOB_QUEUE, 0, 0, wait_ns);

	if (!model)
		return NULL;
	mutex_lock(&mts_lock);
	model->job->size = says ? model->size : 0;
	model->job->size_from = says ? MTS_SIZE_GIVEN : MTS_SIZE_UNKNOWN;
	model->job->runs_ns = runs_ns;
	mutex_unlock(&mts_lock);
	mts_freezer_hold(model->job);
	return model;
}

void host_give(struct model *model, u32 user)
{
	mutex_lock(&mts_lock);
	model->job->owner = user;
	mutex_unlock(&mts_lock);
}

void host_weigh(struct model *model, u32 weight)
{
	mutex_lock(&mts_lock);
	WRITE_ONCE(model->job->weight, weight);
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
	mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
}

struct model *host_add_with_past(u64 size, u64 ran)
{
	return add(size, 0, 0, ran, 0);
}

static void bury(struct model *model)
{
	u32 i;

	mts_freezer_retire(model->job);
	mts_protect_end(model->job);
	mts_ran_end(model->job);
	if (model->frozen_by_file && !model->foreign && model->cgrp.online)
		mts_user_bug(__FILE__, __LINE__, "%s: no job any more, and left frozen",
			     model->job->name);
	model->buried = true;
	for (i = 0; i < nmodels; i++)
		if (models[i] == model)
			models[i] = NULL;
	host.swap_used -= model->swap;
	/* The references of the job table and of this model. */
	mts_job_put(model->job);
	mts_job_put(model->job);
}

void host_end_job(struct model *model)
{
	model->ended = true;
	set_bit(MTS_JOB_EV_EMPTIED, &model->job->events);
	atomic_inc(&mts_job_marked);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
}

/* As mts_job_remove() and mts_job_reap() of jobs/enrol.c. */
void host_remove(struct model *model)
{
	bool ours;

	mutex_lock(&mts_lock);
	kref_get(&model->job->ref);
	mutex_unlock(&mts_lock);
	mts_freezer_retire(model->job);
	mutex_lock(&mts_lock);
	ours = model->job->published;
	if (ours)
		mts_jobs_delete(model->job);
	mutex_unlock(&mts_lock);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
	if (ours)
		bury(model);
	mts_job_put(model->job);
}

bool mts_job_reap(void (*step)(const char *doing))
{
	struct model *graves[MAX_MODELS];
	u32 i, n = 0;

	if (!atomic_xchg(&mts_job_marked, 0))
		return false;
	mutex_lock(&mts_lock);
	for (i = 0; i < nmodels; i++) {
		if (!models[i] || !models[i]->ended || !models[i]->job->published)
			continue;
		mts_jobs_delete(models[i]->job);
		graves[n++] = models[i];
	}
	mutex_unlock(&mts_lock);
	if (n)
		mts_wake_rotor(MTS_ROTOR_EV_JOBS);
	for (i = 0; i < n; i++)
		mts_freezer_retire(graves[i]->job);
	for (i = 0; i < n; i++) {
		if (step)
			step("jobs that ended are cleared away");
		bury(graves[i]);
	}
	return n;
}

void host_remove_all(void)
{
	struct model *model;

	while ((model = host_some())) {
		host_remove(model);
		host_put(model);
	}
	mts_job_reap(NULL);
}

static bool is_there(const struct model *model)
{
	return model && !model->ended && model->job->published;
}

struct model *host_some(void)
{
	struct model *model = NULL;
	u32 i, n = 0;

	mutex_lock(&mts_lock);
	for (i = 0; i < nmodels; i++)
		n += is_there(models[i]);
	if (n)
		n = machine_draw(n);
	for (i = 0; i < nmodels && !model; i++)
		if (is_there(models[i]) && !n--)
			model = models[i];
	if (model)
		kref_get(&model->job->ref);
	mutex_unlock(&mts_lock);
	return model;
}

struct model *host_get(u32 i)
{
	struct model *model = NULL;

	mutex_lock(&mts_lock);
	if (i < nmodels && is_there(models[i])) {
		model = models[i];
		kref_get(&model->job->ref);
	}
	mutex_unlock(&mts_lock);
	return model;
}

void host_put(struct model *model)
{
	mts_job_put(model->job);
}

void host_end(void)
{
	kthread_stop(kernel);
	while (nall)
		free(all[--nall]);
}

/* ---- the host's interface to the rotor -------------------------------------------------- */

u64 mts_memory_free(void)
{
	host_advance();
	return free_bytes();
}

u64 mts_memory_available(void)
{
	return mts_memory_free();
}

bool mts_memory_kswapd_sleeps(void)
{
	return machine_now() - host.last_reclaim > NSEC_PER_SEC;
}

u64 mts_memory_swapins(void)
{
	host_advance();
	return host.swapins;
}

u64 mts_memory_reclaimed(void)
{
	return host.reclaimed;
}

u64 mts_memory_written(void)
{
	return 0;
}

u64 mts_memory_swapouts(void)
{
	return host.swapouts;
}

u64 mts_hooks_last_reclaim(void)
{
	host_advance();
	return host.last_reclaim;
}
