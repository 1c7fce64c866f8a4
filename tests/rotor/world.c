// SPDX-License-Identifier: GPL-2.0
#include "world.h"

#include "check.h"
#include "events/wake.h"
#include "host.h"
#include "jobs/calls.h"
#include "jobs/failsafe.h"
#include "jobs/freezer.h"
#include "jobs/thaw.h"
#include "jobs/interactive.h"
#include "jobs/lookout.h"
#include "jobs/protect.h"
#include "context/virtual/machine.h"
#include "memory/reclaim.h"
#include "rotor/rotor.h"
#include "rotor/state.h"
#include "rotor/status.h"
#include "rotor/users.h"

/* Longest run, ns of virtual time. */
#define LONGEST_NS (3600 * (u64)NSEC_PER_SEC)

static struct mts_config config;
static bool gentle;
/* No actions: jobs have all their memory, and run. */
static bool quiet;

static bool unattended;

/*
 * A stream of its own: runs in which all weights are the default, and all jobs one user's, stay the
 * same. 0: these.
 */
static u64 weights;

#define FIRST_USER 1000
#define USERS 6

/* SplitMix64 (Steele, Lea & Flood 2014). */
static u64 draw_of_weights(u64 n)
{
	u64 z = weights += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (z ^ z >> 31) % n;
}

static void weigh(struct model *model)
{
	if (weights && model && draw_of_weights(4))
		host_weigh(model,
			   MTS_WEIGHT_MIN + draw_of_weights(1 + draw_of_weights(MTS_WEIGHT_MAX)));
}

/* A new job's weight, and whose it is. */
static void endow(struct model *model)
{
	weigh(model);
	if (weights && model)
		host_give(model, FIRST_USER + draw_of_weights(1 + draw_of_weights(USERS)));
}

/* The next run begins as a freshly loaded module does. */
static void forget_weights_of_users(void)
{
	u32 i;

	for (i = 0; weights && i < USERS; i++)
		mts_users_weigh(FIRST_USER + i, 0);
}

/* As mts_config_set() of control/config.c and config_set() of control/device.c. */
static void configure(void)
{
	bool off = config.mode == MTS_MODE_OFF || config.mode == MTS_MODE_SHADOW;

	mutex_lock(&mts_lock);
	mts_gate_set_hands_off(off);
	mts_failsafe_set_limit(config.max_pause_ns ?: MTS_PAUSE_STRETCHED_NS, false);
	mts_interactive_set_share(config.interactive);
	mts_rotor_configure(&config);
	mutex_unlock(&mts_lock);
	check_limit(config.max_pause_ns);
	mts_gate_open(MTS_REASON_NONE);
	mts_reclaim_retry();
	mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
	if (off)
		mts_thaw_all();
}

static u64 draw_slice(void)
{
	return (u64[]){ 10, 100, 1000, 5000, 60000 }[machine_draw(5)] * NSEC_PER_MSEC;
}

/* Beyond the least; mostly within what is automatic. */
static u64 draw_pause(void)
{
	u64 most = machine_draw(8) ? MTS_PAUSE_STRETCHED_NS : MTS_PAUSE_MAX_NS;

	return machine_draw(most - MTS_PAUSE_MIN_NS);
}

/* Disjoint bins, or groups of any size. */
static u32 draw_step(void)
{
	return machine_chance(2) ? MTS_STEP_BIN :
	       machine_chance(2) ? MTS_STEP_AUTO :
				   1 + machine_draw(host.memory >> 20);
}

static void draw_config(void)
{
	config = (struct mts_config){
		.mask = MTS_CONFIG_ALL,
		.mode = machine_draw(4) ? MTS_MODE_ALWAYS : machine_draw(4),
		.pack = machine_draw(3),
		.evict = machine_draw(4),
		.slice_ns = draw_slice(),
		.bin_bytes = machine_chance(4) ? host.memory / (2 + machine_draw(8)) : 0,
		.max_pause_ns = machine_chance(2) ? 0 : MTS_PAUSE_MIN_NS + draw_pause(),
		.overhead = machine_draw(4) ? MTS_DEFAULT_OVERHEAD : machine_draw(501),
		.interactive = machine_draw(4) ? MTS_DEFAULT_INTERACTIVE : machine_draw(901),
		.demand = machine_draw(2),
		.step = draw_step(),
	};
	config.min_slice_ns = min_t(u64, config.slice_ns, MTS_DEFAULT_MIN_SLICE_NS);
	if (weights)
		config.share = draw_of_weights(2);
	/* The other policies do little, so they are drawn less often. */
	if (machine_chance(8))
		config.policy = machine_draw(5);
	/* Mode auto, too: it is drawn least above. */
	if (machine_chance(3))
		config.mode = MTS_MODE_AUTO;
}

/* ---- actions, each on a job or on the host ---------------------------------------------- */

static void birth(struct model *unused)
{
	u32 n = machine_chance(8) ? 1 + machine_draw(12) : 1;

	while (n--)
		endow(host_add(0, machine_chance(10) ? MTS_JOB_PIN : 0,
			       !gentle && machine_chance(6) ?
				       MTS_PAUSE_MIN_NS + machine_draw(20ull * NSEC_PER_SEC) :
				       0));
}

static void submission(struct model *unused)
{
	u32 n = machine_chance(4) ? 1 + machine_draw(8) : 1;

	while (n--)
		endow(host_submit(0, machine_draw(3),
				  machine_draw(3) ? machine_draw(60ull * NSEC_PER_SEC) : U64_MAX,
				  MTS_WAIT_MIN_NS + machine_draw(300ull * NSEC_PER_SEC)));
}

static void death(struct model *model)
{
	host_end_job(model);
}

/* All that have begun end at once. */
static void exodus(struct model *unused)
{
	struct model *model;
	u32 i;

	/* The rotor may bury one while another one ends. */
	for (i = 0; i < nmodels; i++) {
		model = host_get(i);
		if (!model)
			continue;
		if (!model->ended && !model->job->held)
			host_end_job(model);
		host_put(model);
	}
}

static void removal(struct model *model)
{
	host_remove(model);
}

static void cgroup_removed(struct model *model)
{
	model->cgrp.online = false;
	host_end_job(model);
}

static void grows(struct model *model)
{
	model->growth = machine_draw(2) ? machine_draw(host.memory / 4) : 0;
}

static void shrinks(struct model *model)
{
	u64 gone;

	host_advance();
	model->size = PAGE_SIZE + machine_draw(model->size + 1);
	gone = mts_sub_floor(model->resident, model->size);
	model->resident -= gone;
}

static void sleeps_or_wakes(struct model *model)
{
	model->awake = !model->awake;
}

/* Of its cgroup: memory.max, memory.swap.max; or it moves below a cgroup with memory.max. */
static void limits_change(struct model *model)
{
	host_advance();
	model->limits_changed = machine_now();
	switch (machine_draw(4)) {
	case 0:
		model->limit = U64_MAX;
		model->swap_limit = U64_MAX;
		model->limit_above = false;
		break;
	case 1:
		model->limit = max(model->resident, PAGE_SIZE + machine_draw(model->size + 1));
		break;
	case 2:
		/* What is in swap stays there. */
		model->swap_limit = machine_draw(2) ? 0 : machine_draw(model->size + 1);
		break;
	case 3:
		model->limit_above = true;
		break;
	}
}

static void types(struct model *model)
{
	u32 n = 1 + machine_draw(8);

	while (n--) {
		rcu_read_lock();
		mts_interactive_give(model->job, machine_draw(3));
		rcu_read_unlock();
		machine_sleep(machine_around(200ull * NSEC_PER_MSEC));
	}
}

static void is_called(struct model *model)
{
	bool init = machine_chance(4);
	const struct mts_caller by = { .pid = init ? 1 : 77, .comm = "caller", .is_init = init };
	u64 until = machine_now() / NSEC_PER_MSEC + 10 + machine_draw(10000);

	rcu_read_lock();
	mts_calls_extend(&model->job->task_until, until);
	if (init)
		mts_calls_extend(&model->job->init_until, until);
	mts_calls_ring(model->job, machine_chance(2) ? MTS_CALL_TASK : MTS_CALL_SIGNAL, &by);
	rcu_read_unlock();
}

static void holds_lock(struct model *model)
{
	model->waited_until = machine_now() + machine_draw(5ull * NSEC_PER_SEC);
}

static void becomes_realtime(struct model *model)
{
	model->realtime = !model->realtime;
	rcu_read_lock();
	if (model->realtime)
		mts_interactive_spare(model->job);
	rcu_read_unlock();
}

static void pinned_or_not(struct model *model)
{
	mutex_lock(&mts_lock);
	WRITE_ONCE(model->job->flags, model->job->flags ^ MTS_JOB_PIN);
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
	mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
}

static void pause_limit(struct model *model)
{
	u64 ns = machine_chance(3) ? 0 : MTS_PAUSE_MIN_NS + machine_draw(30ull * NSEC_PER_SEC);

	mutex_lock(&mts_lock);
	WRITE_ONCE(model->job->max_pause_ns, ns);
	model->limited = machine_now();
	mts_jobs_changed();
	mutex_unlock(&mts_lock);
	mts_wake_rotor(MTS_ROTOR_EV_JOBS);
	mts_wake_rotor(MTS_ROTOR_EV_CONFIG);
}

/* Of the job, or of its user. */
static void weight(struct model *model)
{
	if (draw_of_weights(4))
		weigh(model);
	else
		mts_users_weigh(model->job->owner,
				draw_of_weights(2) * (1 + draw_of_weights(MTS_WEIGHT_MAX)));
}

static void resists(struct model *model)
{
	model->stuck = !model->stuck;
}

/* As a shell does: open, write, close. freeze_watch.c reports the first two. */
static void others_write(struct model *model)
{
	bool freeze = !model->foreign;

	model->open = true;
	mts_freezer_note_open(model->job);
	if (machine_chance(4))
		machine_sleep(machine_draw(3ull * NSEC_PER_MSEC));
	model->foreign = freeze;
	model_freeze_by_other(model, freeze, false);
	mts_freezer_note_write(model->job);
	model->open = false;
}

static void others_freeze_above(struct model *model)
{
	model_freeze_by_other(model, !model->frozen_above, true);
}

static void new_config(struct model *unused)
{
	draw_config();
	configure();
}

static void thaw_command(struct model *unused)
{
	mts_thaw_and_stop(MTS_REASON_USER, "asked for");
}

static void out_of_memory(struct model *unused)
{
	host_oom();
}

static void suspend(struct model *unused)
{
	/* What a user or the kernel does before all tasks are frozen comes in between. */
	if (host.suspended)
		host_resume(PM_POST_HIBERNATION);
	else
		host_suspend(PM_HIBERNATION_PREPARE);
}

static void weather(struct model *unused)
{
	host.mishaps = machine_chance(2) ? 0 : (u32[]){ 3, 30, 200 }[machine_draw(3)];
	host.last_foul = machine_now();
}

static void swap_changes(struct model *unused)
{
	host.swap = machine_chance(3) ? host.swap_used : host.swap_used + machine_draw(host.memory);
}

static void disk_changes(struct model *unused)
{
	host.bulk_ns = machine_around(20000);
	host.fault_ns = host.bulk_ns * (1 + machine_draw(20));
	host.request_ns = host.bulk_ns * (1 + machine_draw(20));
}

static void read_status(struct model *unused)
{
	struct mts_status status;

	mts_status_get(&status);
}

/* Long enough for a lost wake-up to show. */
static void nothing(struct model *unused)
{
	machine_sleep(90ull * NSEC_PER_SEC);
}

static void opened_again(struct model *unused)
{
	/* Opens the gate, whatever closed it. */
	configure();
}

static const struct action {
	const char *name;
	void (*does)(struct model *model);
	u32 weight;
	bool on_job;
	bool gentle; /* allowed in gentle runs, too */
} actions[] = {
	{ "birth", birth, 30, false, true },
	{ "submission", submission, 15 },
	{ "death", death, 25, true, true },
	{ "exodus", exodus, 3 },
	{ "removal", removal, 5, true, true },
	{ "its cgroup is removed", cgroup_removed, 5, true },
	{ "grows", grows, 20, true, true },
	{ "shrinks", shrinks, 10, true, true },
	{ "sleeps or wakes", sleeps_or_wakes, 20, true, true },
	{ "limits change", limits_change, 10, true, true },
	{ "types", types, 10, true },
	{ "is called", is_called, 10, true },
	{ "holds a lock that is waited for", holds_lock, 10, true },
	{ "real-time or not", becomes_realtime, 5, true },
	{ "pinned or not", pinned_or_not, 8, true },
	{ "pause limit", pause_limit, 8, true },
	{ "resists freezing or not", resists, 4, true },
	{ "weight", weight, 8, true, true },
	{ "others write cgroup.freeze", others_write, 12, true },
	{ "others freeze above", others_freeze_above, 8, true },
	{ "new configuration", new_config, 8 },
	{ "thaw", thaw_command, 4 },
	{ "out of memory", out_of_memory, 2 },
	{ "suspend or resume", suspend, 4 },
	{ "weather", weather, 12 },
	{ "swap", swap_changes, 4 },
	{ "disk", disk_changes, 4 },
	{ "status", read_status, 10, false, true },
	{ "opened", opened_again, 10 },
	{ "nothing", nothing, 2, false, true },
};

/* How often it is drawn. */
static u32 often(const struct action *action)
{
	if ((gentle && !action->gentle) || (action->does == weight && !weights))
		return 0;
	return action->weight;
}

static const struct action *draw_action(void)
{
	u32 i, sum = 0, at;

	for (i = 0; i < ARRAY_SIZE(actions); i++)
		sum += often(&actions[i]);
	at = machine_draw(sum);
	for (i = 0;; i++) {
		if (at < often(&actions[i]))
			return &actions[i];
		at -= often(&actions[i]);
	}
}

static void act(void)
{
	const struct action *action = draw_action();
	struct model *model = NULL;

	if (action->on_job) {
		model = host_some();
		if (!model)
			return;
	}
	coverage.actions[action - actions]++;
	check_note(action->name);
	if (model)
		mts_user_log("... %s", model->job->name);
	action->does(model);
	if (model)
		host_put(model);
}

static u64 switches_wanted;

void world_load(const struct mts_config *with)
{
	config = *with;
	configure();
	if (mts_failsafe_init() || mts_lookout_init() || mts_rotor_init())
		mts_user_bug(__FILE__, __LINE__, "cannot be loaded");
}

void world_configure(const struct mts_config *with)
{
	config = *with;
	configure();
}

void world_unload(void)
{
	check_note("unload");
	mts_thaw_and_stop(MTS_REASON_UNLOAD, "the module is being unloaded");
	mts_rotor_exit();
	mts_lookout_exit();
	mts_failsafe_exit();
	host_remove_all();
	mts_protect_exit();
	mts_wake_exit();
	check_end();
	host_end();
}

static int world_main(void *unused)
{
	u64 began = machine_now(), pace;
	struct mts_config drawn;
	u32 n;

	gentle = machine_chance(4);
	quiet = gentle && machine_chance(2);
	host_begin(gentle);
	host.unattended = unattended;
	check_begin(gentle);
	pace = (u64[]){ 2, 50, 500, 5000 }[machine_draw(4)] * NSEC_PER_MSEC;
	config = (struct mts_config){ 0 };
	draw_config();
	if (gentle) {
		config.mode = MTS_MODE_ALWAYS;
		config.max_pause_ns = 0;
	}
	drawn = config;
	world_load(&drawn);
	for (n = 2 + machine_draw(12); n--;) {
		struct model *model = host_add(0, 0, 0);

		endow(model);
		if (!quiet || !model)
			continue;
		model->growth = 0;
		model->awake = true;
	}
	while (check_switches() < switches_wanted && machine_now() < began + LONGEST_NS) {
		machine_sleep(machine_around(pace));
		host_advance();
		if (!quiet)
			act();
	}
	if (quiet)
		check_shares();
	forget_weights_of_users();
	world_unload();
	return 0;
}

void world_run(u64 seed, u64 switches, bool weighs)
{
	switches_wanted = switches;
	weights = weighs ? seed + 1 : 0;
	unattended = seed % 2;
	machine_begin(seed);
	machine_run(world_main, NULL);
}

u32 world_nactions(void)
{
	return ARRAY_SIZE(actions);
}

const char *world_action(u32 i)
{
	return actions[i].name;
}
