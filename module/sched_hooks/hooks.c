// SPDX-License-Identifier: GPL-2.0
#include "sched_hooks/hooks.h"

#include <linux/cgroup.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/cgroup.h>
#include <trace/events/kmem.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/task.h>
#include <trace/events/vmscan.h>

#ifdef CONFIG_X86
#include <asm/ibt.h>
#include <asm/text-patching.h>
#endif

#include "compat/compat.h"
#include "jobs/interactive.h"
#include "sched_hooks/cgroups.h"
#include "sched_hooks/each.h"
#include "sched_hooks/evdev.h"
#include "sched_hooks/follow.h"
#include "sched_hooks/input.h"
#include "sched_hooks/kprobes.h"
#include "sched_hooks/moves.h"
#include "sched_hooks/outside.h"
#include "sched_hooks/pipes.h"
#include "sched_hooks/pressure.h"
#include "sched_hooks/realtime.h"
#include "sched_hooks/swapins.h"

static unsigned int debug_fail_hook;
module_param(debug_fail_hook, uint, 0400);
MODULE_PARM_DESC(debug_fail_hook,
		 "for tests: hook number N, counted from 1, cannot be installed (default 0: none)");

static void mts_hook_kswapd_wake(void *data, int nid, int zid, int order)
{
	mts_pressure_note();
}

static void mts_hook_direct_reclaim(void *data, MTS_DIRECT_RECLAIM_ARGS)
{
	mts_pressure_note();
}

static void mts_hook_rss_stat(void *data, MTS_RSS_STAT_ARGS)
{
	mts_hook_growth(mm);
}

/* How often to check whether there still is input. Switching a hook off late costs little. */
#define UPDATE_JIFFIES (5 * HZ)

static void update_hooks(struct work_struct *work);
static DECLARE_DELAYED_WORK(update_work, update_hooks);
static DEFINE_MUTEX(hooks_lock); /* which hooks are installed and switched on */
static bool closing; /* under hooks_lock */
static bool kprobes_are_good;
static bool modules_changed; /* a module has come: a missing function may exist now */

enum what {
	TRACEPOINT,
	KPROBE, /* where the kernel has no tracepoint */
};

enum need {
	REQUIRED, /* mts does not load without it */
	OPTIONAL, /* without it mts does not see some events (MTS_SEES_*) */
};

enum when {
	ALWAYS,
	USED, /* switched on only while there is input: the function is on a hot path */
	LOADED, /* installed while the kernel module with the function is loaded */
	LEAVES, /* installed while a job has MTS_JOB_EACH_LEAF: the tracepoint is on a hot path */
};

/* All hooks. Installed in this order, removed in reverse order. */
static struct hook {
	const char *where;
	void *handler;
	enum what what;
	enum need need;
	u32 sees; /* MTS_SEES_*; of two hooks with the same bit, both are needed */
	enum when when;
	bool works; /* its bit of MTS_SEES_* holds */
	bool installed;
	bool on; /* with USED: switched on */
	atomic64_t hits; /* calls of a kprobe's handler */
	u64 missed; /* nmissed of earlier installations of the kprobe */
	struct tracepoint *tracepoint;
	struct kprobe kprobe;
} hooks[] = {
	{ "sched_process_fork", mts_hook_fork, TRACEPOINT, REQUIRED },
	{ "cgroup_notify_populated", mts_hook_populated, TRACEPOINT, REQUIRED },
	{ "cgroup_rmdir", mts_hook_rmdir, TRACEPOINT, REQUIRED },
	{ "cgroup_notify_frozen", mts_hook_frozen, TRACEPOINT, REQUIRED },
	{ "cgroup_attach_task", mts_hook_attach, TRACEPOINT, REQUIRED },
	{ "task_newtask", mts_hook_newtask, TRACEPOINT, REQUIRED },
	{ "signal_generate", mts_hook_signal, TRACEPOINT, REQUIRED },
	{ "mm_vmscan_kswapd_wake", mts_hook_kswapd_wake, TRACEPOINT, REQUIRED },
	{ "mm_vmscan_direct_reclaim_begin", mts_hook_direct_reclaim, TRACEPOINT, REQUIRED },
	{ "rss_stat", mts_hook_rss_stat, TRACEPOINT, OPTIONAL, 0, LEAVES },
	{ "n_tty_receive_buf2", mts_hook_tty_input, KPROBE, OPTIONAL, MTS_SEES_TTY },
	{ "n_tty_write", mts_hook_tty_output, KPROBE, OPTIONAL, MTS_SEES_TTY_OUTPUT },
	{ "rt_mutex_adjust_pi", mts_hook_policy, KPROBE, OPTIONAL, MTS_SEES_REALTIME },
	{ "cgroup_attach_task", mts_hook_move, KPROBE, OPTIONAL },
	{ "input_event", mts_hook_input_event, KPROBE, OPTIONAL, MTS_SEES_EVDEV },
	{ "evdev_read", mts_hook_evdev_read, KPROBE, OPTIONAL, MTS_SEES_EVDEV, LOADED },
	{ "unix_stream_sendmsg", mts_hook_unix_send, KPROBE, OPTIONAL, MTS_SEES_UNIX, USED },
	{ MTS_PIPE_WRITE, mts_hook_pipe_write, KPROBE, OPTIONAL, MTS_SEES_PIPES, USED },
};

/* The table's handlers are untyped. Here the compiler checks their types against the kernel's. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_process_fork(mts_hook_fork);
	check_trace_callback_type_rss_stat(mts_hook_rss_stat);
	check_trace_callback_type_cgroup_notify_populated(mts_hook_populated);
	check_trace_callback_type_cgroup_rmdir(mts_hook_rmdir);
	check_trace_callback_type_cgroup_notify_frozen(mts_hook_frozen);
	check_trace_callback_type_cgroup_attach_task(mts_hook_attach);
	check_trace_callback_type_task_newtask(mts_hook_newtask);
	check_trace_callback_type_signal_generate(mts_hook_signal);
	check_trace_callback_type_mm_vmscan_kswapd_wake(mts_hook_kswapd_wake);
	check_trace_callback_type_mm_vmscan_direct_reclaim_begin(mts_hook_direct_reclaim);
	(void)(kprobe_pre_handler_t[]){ mts_hook_tty_input,  mts_hook_tty_output,
					mts_hook_policy,     mts_hook_unix_send,
					mts_hook_move,	     mts_hook_input_event,
					mts_hook_evdev_read, mts_hook_pipe_write };
}

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i].what == TRACEPOINT && !strcmp(tp->name, hooks[i].where))
			hooks[i].tracepoint = tp;
}

/* ---- install and remove -------------------------------------------------------- */

/* Every kprobe calls this, which counts the hit and calls the hook's handler. */
static int on_kprobe(struct kprobe *probe, struct pt_regs *regs)
{
	struct hook *hook = container_of(probe, struct hook, kprobe);
	kprobe_pre_handler_t handler = hook->handler;

	atomic64_inc(&hook->hits);
	return handler(probe, regs);
}

static int install_at(struct hook *hook, unsigned int offset)
{
	/* Clear it: an earlier registration leaves .addr set, which is refused with a name. */
	hook->kprobe = (struct kprobe){
		.symbol_name = hook->where,
		.offset = offset,
		.pre_handler = on_kprobe,
		.flags = hook->when == USED ? KPROBE_FLAG_DISABLED : 0,
	};
	hook->on = false;
	return register_kprobe(&hook->kprobe);
}

#if defined(CONFIG_X86) && defined(CONFIG_KPROBES_ON_FTRACE)
/*
 * A kprobe at a function's entry uses ftrace. To switch it on or off, ftrace walks all functions of
 * the kernel: 4.4 ms in which no other task runs. A kprobe behind the ftrace call is a
 * breakpoint of its own, and the arguments are still in their registers. The ftrace call is the
 * first instruction, or the second, after endbr64 (or what replaced it). Try both: a wrong offset
 * is inside an instruction, which kprobes refuse.
 */
static int install_switchable(struct hook *hook)
{
	int err = install_at(hook, CALL_INSN_SIZE);

	if (err)
		err = install_at(hook, ENDBR_INSN_SIZE + CALL_INSN_SIZE);
	return err;
}
#else
static int install_switchable(struct hook *hook)
{
	return install_at(hook, 0);
}
#endif

static bool fails_for_test(const struct hook *hook)
{
	return hook - hooks + 1 == debug_fail_hook;
}

/* With LEAVES: it is installed only when there is such a job. */
static int can_install(const struct hook *hook)
{
	if (fails_for_test(hook))
		return -EINVAL;
	return hook->tracepoint ? 0 : -ENOENT;
}

static int install(struct hook *hook)
{
	int err = -ENOENT;

	if (fails_for_test(hook))
		err = -EINVAL;
	else if (hook->what == KPROBE && hook->when == USED)
		err = install_switchable(hook);
	else if (hook->what == KPROBE)
		err = install_at(hook, 0);
	else if (hook->tracepoint)
		err = tracepoint_probe_register(hook->tracepoint, hook->handler, NULL);
	WRITE_ONCE(hook->installed, !err);
	return err;
}

/* Removes several kprobes by one call, as each call waits for all processors to leave handlers. */
static void remove(struct hook **some, int n)
{
	struct kprobe *probes[ARRAY_SIZE(hooks)];
	int i, nprobes = 0;

	for (i = 0; i < n; i++) {
		WRITE_ONCE(some[i]->installed, false);
		if (some[i]->what == KPROBE)
			probes[nprobes++] = &some[i]->kprobe;
		else
			tracepoint_probe_unregister(some[i]->tracepoint, some[i]->handler, NULL);
	}
	unregister_kprobes(probes, nprobes);
	for (i = 0; i < n; i++) {
		some[i]->missed += some[i]->kprobe.nmissed;
		some[i]->kprobe.nmissed = 0;
	}
}

/* When it returns, no handler runs, and all work that handlers have queued is done. */
static void remove_all(void)
{
	struct hook *installed[ARRAY_SIZE(hooks)];
	int i, n = 0;

	mutex_lock(&hooks_lock);
	closing = true;
	for (i = ARRAY_SIZE(hooks); i--;)
		if (hooks[i].installed)
			installed[n++] = &hooks[i];
	remove(installed, n);
	mutex_unlock(&hooks_lock);
	tracepoint_synchronize_unregister();
	mts_each_sync();
	mts_input_sync();
	/* Now no handler and no irq_work of input.c can call mts_follow() any more. */
	mts_follow_sync();
	cancel_delayed_work_sync(&update_work);
	mts_follow_exit();
	mts_pipes_exit();
	mts_evdev_exit();
}

/* Install a hook at load. Return: an error if a required one fails. */
static int install_first(struct hook *hook)
{
	int err;

	if (hook->what == KPROBE && !kprobes_are_good)
		return 0;
	err = hook->when == LEAVES ? can_install(hook) : install(hook);
	if (err && hook->need == REQUIRED) {
		pr_err("cannot hook %s: error %d\n", hook->where, err);
		return err;
	}
	if (err && hook->when != LOADED)
		pr_notice("cannot hook %s: error %d: not used\n", hook->where, err);
	hook->works = !err;
	return 0;
}

static int install_all(void)
{
	int i, err = 0;

	kprobes_are_good = mts_kprobes_work();
	mutex_lock(&hooks_lock);
	for (i = 0; i < ARRAY_SIZE(hooks) && !err; i++)
		err = install_first(&hooks[i]);
	mutex_unlock(&hooks_lock);
	if (err)
		remove_all();
	return err;
}

/* ---- hooks that are switched on and off, or come with a module ------------------- */

/* Cheap; to install a hook takes milliseconds, because all kernel symbols are searched. */
static void switch_on(struct hook *hook, bool on)
{
	int err;

	if (hook->on == on)
		return;
	err = on ? enable_kprobe(&hook->kprobe) : disable_kprobe(&hook->kprobe);
	if (!err)
		hook->on = on;
}

/* With LEAVES. To install it patches the kernel's text, so it stays until it is hit for nothing. */
static void update_leaves(struct hook *hook)
{
	bool used = atomic_read(&mts_job_leaves) && hook->works && !closing;

	lockdep_assert_held(&hooks_lock);
	if (used && !hook->installed)
		install(hook);
	else if (!used && hook->installed)
		remove(&hook, 1);
}

static void update_hook(struct hook *hook, bool used, bool look_again)
{
	if (hook->installed && kprobe_gone(&hook->kprobe))
		remove(&hook, 1);
	if (!hook->installed && look_again)
		install(hook);
	if (hook->when == USED && hook->installed)
		switch_on(hook, used);
	hook->works = hook->installed;
}

static void update_hooks(struct work_struct *work)
{
	bool used = mts_interactive_is_used(), look_again;
	int i;

	mutex_lock(&hooks_lock);
	look_again = xchg(&modules_changed, false) && kprobes_are_good;
	for (i = 0; i < ARRAY_SIZE(hooks) && !closing; i++)
		if (hooks[i].when == LEAVES)
			update_leaves(&hooks[i]);
		else if (hooks[i].when != ALWAYS)
			update_hook(&hooks[i], used, look_again);
	if (!used || closing)
		mts_follow_set(false);
	else if (!mts_follow_set(true))
		mts_input_catch_up();
	if (used && !closing)
		schedule_delayed_work(&update_work, UPDATE_JIFFIES);
	mutex_unlock(&hooks_lock);
}

static void queue_update(void)
{
	mod_delayed_work(system_percpu_wq, &update_work, 0);
}

static int on_module(struct notifier_block *nb, unsigned long state, void *module)
{
	if (state == MODULE_STATE_LIVE || state == MODULE_STATE_GOING) {
		WRITE_ONCE(modules_changed, true);
		mts_follow_again();
	}
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = on_module };

/* ---- status and statistics -------------------------------------------------------- */

u32 mts_hooks_each_how(void)
{
	return MTS_EACH_BEFORE_USER;
}

static struct hook *hook_on_growth(void)
{
	int i;

	for (i = 0; hooks[i].when != LEAVES; i++)
		;
	return &hooks[i];
}

bool mts_hooks_see_growth(void)
{
	return hook_on_growth()->works;
}

void mts_hooks_watch_growth(void)
{
	if (!atomic_read(&mts_job_leaves))
		return;
	mutex_lock(&hooks_lock);
	update_leaves(hook_on_growth());
	mutex_unlock(&hooks_lock);
}

void mts_hooks_watch_swapins(bool wanted)
{
	mts_swapins_watch(wanted);
}

u32 mts_hooks_see(void)
{
	u32 sees = 0, lacks = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (hooks[i].works)
			sees |= hooks[i].sees;
		else
			lacks |= hooks[i].sees;
	}
	return (sees & ~lacks) | (mts_swapins_are_seen() ? MTS_SEES_SWAPINS : 0);
}

u64 mts_hooks_hits(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		sum += atomic64_read(&hooks[i].hits);
	return sum;
}

u64 mts_hooks_misses(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		sum += hooks[i].missed + hooks[i].kprobe.nmissed;
	return sum;
}

u64 mts_hooks_last_reclaim(void)
{
	return mts_pressure_last_reclaim();
}

int mts_hooks_init(void)
{
	int err = mts_each_init(queue_update);

	if (err)
		return err;
	mts_follow_init(queue_update);
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	err = install_all();
	if (err)
		goto out_each;
	if (kprobes_are_good)
		mts_swapins_init();
	err = register_module_notifier(&module_notifier);
	if (err)
		goto out_hooks;
	return 0;

out_hooks:
	remove_all();
out_each:
	mts_each_exit();
	return err;
}

void mts_hooks_exit(void)
{
	mts_swapins_watch(false);
	unregister_module_notifier(&module_notifier);
	remove_all();
	mts_each_exit();
}
