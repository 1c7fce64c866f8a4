// SPDX-License-Identifier: GPL-2.0
#include "settings.h"

#include <string.h>

#include "args.h"
#include "parse.h"

const struct mts_config settings_default = {
	.mask = MTS_CONFIG_ALL,
	.mode = MTS_DEFAULT_MODE,
	MTS_DEFAULT_KNOBS,
	.step = MTS_DEFAULT_STEP,
};

u64 settings_time(const char *name, const char *text, u64 low, u64 high)
{
	const char *wrong;
	u64 ns;

	wrong = parse_time(text, &ns);
	if (wrong)
		args_refuse("%s%s: %s", name, text, wrong);
	if (ns < low || ns > high)
		args_refuse("%s%s: not in %g..%g s", name, text, (double)low / 1e9,
			    (double)high / 1e9);
	return ns;
}

static u64 take_pause(const char *text)
{
	if (!strcmp(text, "auto"))
		return 0;
	return settings_time("max_pause=", text, MTS_PAUSE_MIN_NS, MTS_PAUSE_MAX_NS);
}

static u64 take_bin(const char *text)
{
	const char *wrong;
	u64 bytes;

	if (!strcmp(text, "auto"))
		return 0;
	wrong = parse_size(text, &bytes);
	if (wrong)
		args_refuse("bin=%s: %s", text, wrong);
	if (bytes < MTS_BIN_MIN_BYTES || bytes > MTS_BIN_MAX_BYTES)
		args_refuse("bin=%s: less than 1 MiB, or more than 1 PiB", text);
	return bytes;
}

static u32 take_step(const char *text)
{
	const char *wrong;
	u64 bytes;

	if (!strcmp(text, "auto"))
		return MTS_STEP_AUTO;
	if (!strcmp(text, "bin"))
		return MTS_STEP_BIN;
	wrong = parse_size(text, &bytes);
	if (wrong)
		args_refuse("step=%s: %s", text, wrong);
	if (bytes < 1 << 20 || bytes >> 20 > MTS_STEP_MIB_MAX)
		args_refuse("step=%s: less than 1 MiB, or more than 1 PiB", text);
	return bytes >> 20;
}

static u32 take_overhead(const char *text)
{
	const char *wrong;
	u32 permille;

	if (!strcmp(text, "off"))
		return 0;
	wrong = parse_permille(text, &permille);
	if (wrong)
		args_refuse("overhead=%s: %s", text, wrong);
	if (permille > MTS_OVERHEAD_MAX)
		args_refuse("overhead=%s: more than %u%%", text, MTS_OVERHEAD_MAX / 10);
	return permille;
}

static u16 take_policy(const char *text)
{
	static const u16 policies[] = { MTS_POLICY_TURNS, MTS_POLICY_TOKEN, MTS_POLICY_NONE };

	return policies[args_word("policy=", text, "turns|token|none")];
}

/* Words in the order of their enums in uapi/mts.h. */
void settings_take(struct mts_config *config, const char *word)
{
	const char *value = strchr(word, '=');

	value = value ? value + 1 : word;
	if (!strncmp(word, "mode=", 5))
		config->mode = args_word("mode=", value, "off|auto|always");
	else if (!strncmp(word, "policy=", 7))
		config->policy = take_policy(value);
	else if (!strncmp(word, "pack=", 5))
		config->pack = args_word("pack=", value, "ffd|bfd|rw");
	else if (!strncmp(word, "evict=", 6))
		config->evict = args_word("evict=", value, "off|need|full|auto");
	else if (!strncmp(word, "slice=", 6))
		config->slice_ns =
			settings_time("slice=", value, MTS_SLICE_MIN_NS, MTS_SLICE_MAX_NS);
	else if (!strncmp(word, "min_slice=", 10))
		config->min_slice_ns =
			settings_time("min_slice=", value, MTS_SLICE_MIN_NS, MTS_SLICE_MAX_NS);
	else if (!strncmp(word, "max_pause=", 10))
		config->max_pause_ns = take_pause(value);
	else if (!strncmp(word, "overhead=", 9))
		config->overhead = take_overhead(value);
	else if (!strncmp(word, "step=", 5))
		config->step = take_step(value);
	else if (!strncmp(word, "bin=", 4))
		config->bin_bytes = take_bin(value);
	else
		args_refuse("%s: not KEY=VALUE, KEY being mode, policy, pack, evict, slice, "
			    "min_slice, max_pause, overhead, step or bin",
			    word);
}

void settings_finish(struct mts_config *config)
{
	config->min_slice_ns = mts_min(config->min_slice_ns, config->slice_ns);
}
