// SPDX-License-Identifier: GPL-2.0
#include "control/config.h"

#include "context.h"
#include "jobs/failsafe.h"
#include "jobs/freezer.h"
#include "jobs/interactive.h"
#include "policy/size.h"
#include "rotor/state.h"

static char *mode = "auto";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "when to rotate at load: auto (default), always, shadow, off");

static char *policy = "turns";
module_param(policy, charp, 0444);
MODULE_PARM_DESC(policy, "how memory is shared at load: turns (default), none, fair, token, auto");

static char *share = "job";
module_param(share, charp, 0444);
MODULE_PARM_DESC(share, "what shares it out at load: each job (default: job), or each user (user)");

static unsigned int slice_ms = MTS_DEFAULT_SLICE_NS / NSEC_PER_MSEC;
module_param(slice_ms, uint, 0444);
MODULE_PARM_DESC(slice_ms, "time slice of a full bin at load, in ms: 10 to 60000 (default 5000)");

static unsigned long long bin_bytes;
module_param(bin_bytes, ullong, 0444);
MODULE_PARM_DESC(bin_bytes, "bin size at load, in bytes: 0 is automatic (default)");

static char *step = MTS_DEFAULT_STEP == MTS_STEP_AUTO ? "auto" : "bin";
module_param(step, charp, 0444);
MODULE_PARM_DESC(step, "what a switch exchanges at load: bin (all), auto, or a size, as 512M");

static char *cgroup_base = "/sys/fs/cgroup/mts";
module_param(cgroup_base, charp, 0444);
MODULE_PARM_DESC(cgroup_base, "cgroup v2 directory for jobs (default /sys/fs/cgroup/mts)");

/* Protected by mts_lock. */
static struct mts_config current_config = {
	.mask = MTS_CONFIG_ALL,
	.demand = MTS_DEFAULT_DEMAND,
	MTS_DEFAULT_KNOBS,
	.interactive = MTS_DEFAULT_INTERACTIVE,
	.step = MTS_DEFAULT_STEP,
	.queue = MTS_DEFAULT_QUEUE,
	.policy = MTS_DEFAULT_POLICY,
	.share = MTS_DEFAULT_SHARE,
};

static const char *const mode_names[] = {
	[MTS_MODE_OFF] = "off",
	[MTS_MODE_AUTO] = "auto",
	[MTS_MODE_ALWAYS] = "always",
	[MTS_MODE_SHADOW] = "shadow",
};

static const char *const policy_names[] = {
	[MTS_POLICY_TURNS] = "turns", [MTS_POLICY_NONE] = "none", [MTS_POLICY_FAIR] = "fair",
	[MTS_POLICY_TOKEN] = "token", [MTS_POLICY_AUTO] = "auto",
};

static const char *const share_names[] = {
	[MTS_SHARE_JOB] = "job",
	[MTS_SHARE_USER] = "user",
};

const char *mts_config_cgroup_base(void)
{
	return cgroup_base;
}

void mts_config_get(struct mts_config *config)
{
	mutex_lock(&mts_lock);
	*config = current_config;
	mutex_unlock(&mts_lock);
}

static bool is_within(u64 value, u64 low, u64 high)
{
	return value >= low && value <= high;
}

bool mts_config_is_pause(u64 ns)
{
	return !ns || is_within(ns, MTS_PAUSE_MIN_NS, MTS_PAUSE_MAX_NS);
}

static int check(const struct mts_config *c)
{
	if (c->mode > MTS_MODE_SHADOW || c->pack > MTS_PACK_RW || c->evict > MTS_EVICT_AUTO ||
	    c->demand > MTS_DEMAND_USED || c->queue > MTS_QUEUE_AUTO ||
	    c->policy > MTS_POLICY_AUTO || c->share > MTS_SHARE_USER)
		return -EINVAL;
	if (!is_within(c->slice_ns, MTS_SLICE_MIN_NS, MTS_SLICE_MAX_NS) ||
	    !is_within(c->min_slice_ns, MTS_SLICE_MIN_NS, c->slice_ns) ||
	    c->overhead > MTS_OVERHEAD_MAX || c->interactive > MTS_INTERACTIVE_MAX)
		return -ERANGE;
	if (!mts_config_is_pause(c->max_pause_ns))
		return -ERANGE;
	if (c->step > MTS_STEP_MIB_MAX && c->step != MTS_STEP_BIN)
		return -ERANGE;
	if (c->bin_bytes && !is_within(c->bin_bytes, MTS_BIN_MIN_BYTES, MTS_BIN_MAX_BYTES))
		return -ERANGE;
	return 0;
}

int mts_config_set(const struct mts_config *set)
{
	struct mts_config merged;
	int err;

	if (set->mask & ~MTS_CONFIG_ALL)
		return -EINVAL;

	mutex_lock(&mts_lock);
	merged = current_config;
	if (set->mask & MTS_CONFIG_MODE)
		merged.mode = set->mode;
	if (set->mask & MTS_CONFIG_PACK)
		merged.pack = set->pack;
	if (set->mask & MTS_CONFIG_EVICT)
		merged.evict = set->evict;
	if (set->mask & MTS_CONFIG_SLICE)
		merged.slice_ns = set->slice_ns;
	if (set->mask & MTS_CONFIG_BIN)
		merged.bin_bytes = set->bin_bytes;
	if (set->mask & MTS_CONFIG_MIN_SLICE)
		merged.min_slice_ns = set->min_slice_ns;
	if (set->mask & MTS_CONFIG_MAX_PAUSE)
		merged.max_pause_ns = set->max_pause_ns;
	if (set->mask & MTS_CONFIG_OVERHEAD)
		merged.overhead = set->overhead;
	if (set->mask & MTS_CONFIG_DEMAND)
		merged.demand = set->demand;
	if (set->mask & MTS_CONFIG_INTERACTIVE)
		merged.interactive = set->interactive;
	if (set->mask & MTS_CONFIG_STEP)
		merged.step = set->step;
	if (set->mask & MTS_CONFIG_QUEUE)
		merged.queue = set->queue;
	if (set->mask & MTS_CONFIG_POLICY)
		merged.policy = set->policy;
	if (set->mask & MTS_CONFIG_SHARE)
		merged.share = set->share;
	/* If only slice_ns is set, min_slice_ns follows it down. */
	if ((set->mask & MTS_CONFIG_SLICE) && !(set->mask & MTS_CONFIG_MIN_SLICE))
		merged.min_slice_ns = min(merged.min_slice_ns, merged.slice_ns);
	err = check(&merged);
	if (!err) {
		current_config = merged;
		mts_gate_set_hands_off(merged.mode == MTS_MODE_OFF ||
				       merged.mode == MTS_MODE_SHADOW);
		/* An automatic limit is set by the next plan; until then the maximum holds. */
		if (set->mask & MTS_CONFIG_MAX_PAUSE)
			mts_failsafe_set_limit(merged.max_pause_ns ?: MTS_PAUSE_STRETCHED_NS,
					       false);
		mts_interactive_set_share(merged.interactive);
		mts_rotor_configure(&merged);
	}
	mutex_unlock(&mts_lock);
	return err;
}

bool mts_config_needs_swapins(void)
{
	u32 policy = READ_ONCE(current_config.policy);

	return policy != MTS_POLICY_TURNS && policy != MTS_POLICY_NONE;
}

/* "bin", "auto", or whole MiB. */
static int parse_step(const char *text, u32 *value)
{
	u64 bytes;
	int err;

	if (!strcmp(text, "bin")) {
		*value = MTS_STEP_BIN;
		return 0;
	}
	if (!strcmp(text, "auto")) {
		*value = MTS_STEP_AUTO;
		return 0;
	}
	err = mts_size_parse(text, &bytes);
	if (err)
		return err;
	if (!bytes || bytes & ((1u << 20) - 1))
		return -EINVAL;
	if (bytes >> 20 > MTS_STEP_MIB_MAX)
		return -ERANGE;
	*value = bytes >> 20;
	return 0;
}

int mts_config_init(void)
{
	struct mts_config c = {
		.mask = MTS_CONFIG_MODE | MTS_CONFIG_POLICY | MTS_CONFIG_SLICE | MTS_CONFIG_BIN |
			MTS_CONFIG_STEP | MTS_CONFIG_SHARE,
		.slice_ns = (u64)slice_ms * NSEC_PER_MSEC,
		.bin_bytes = bin_bytes,
	};
	int err, found = match_string(mode_names, ARRAY_SIZE(mode_names), mode);

	if (found < 0) {
		pr_err("mode=%s: not one of auto, always, shadow, off\n", mode);
		return -EINVAL;
	}
	c.mode = found;
	found = match_string(policy_names, ARRAY_SIZE(policy_names), policy);
	if (found < 0) {
		pr_err("policy=%s: not one of turns, none, fair, token, auto\n", policy);
		return -EINVAL;
	}
	c.policy = found;
	found = match_string(share_names, ARRAY_SIZE(share_names), share);
	if (found < 0) {
		pr_err("share=%s: not one of job, user\n", share);
		return -EINVAL;
	}
	c.share = found;
	err = parse_step(step, &c.step);
	if (err) {
		pr_err("step=%s: not bin, auto, or a size of whole MiB from 1M to 1P\n", step);
		return err;
	}
	err = mts_config_set(&c);
	if (err)
		pr_err("slice_ms=%u or bin_bytes=%llu is out of range: see modinfo mts\n", slice_ms,
		       bin_bytes);
	return err;
}
