// SPDX-License-Identifier: GPL-2.0
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ipc.h"
#include "nearest.h"
#include "values.h"

/* ---- what each value may be ---------------------------------------------------------- */

/* Of a field of 16 bits. */
static int take_word16(const struct command *command, const char *key, const char *value,
		       const struct word *words, u16 *field)
{
	u32 word;
	int ret = value_word(command, key, value, words, &word);

	if (!ret)
		*field = word;
	return ret;
}

static int take_mode(const struct command *command, const char *value, struct mts_config *config)
{
	return value_word(command, "mode=", value, mode_words, &config->mode);
}

static int take_policy(const struct command *command, const char *value, struct mts_config *config)
{
	return take_word16(command, "policy=", value, policy_words, &config->policy);
}

static int take_share(const struct command *command, const char *value, struct mts_config *config)
{
	return take_word16(command, "share=", value, share_words, &config->share);
}

static int take_pack(const struct command *command, const char *value, struct mts_config *config)
{
	return take_word16(command, "pack=", value, pack_words, &config->pack);
}

static int take_evict(const struct command *command, const char *value, struct mts_config *config)
{
	return take_word16(command, "evict=", value, evict_words, &config->evict);
}

static int take_demand(const struct command *command, const char *value, struct mts_config *config)
{
	return take_word16(command, "demand=", value, demand_words, &config->demand);
}

static int take_slice(const struct command *command, const char *value, struct mts_config *config)
{
	return value_time(command, "slice=", value, MTS_SLICE_MIN_NS, MTS_SLICE_MAX_NS,
			  &config->slice_ns);
}

static int take_min_slice(const struct command *command, const char *value,
			  struct mts_config *config)
{
	return value_time(command, "min_slice=", value, MTS_SLICE_MIN_NS, MTS_SLICE_MAX_NS,
			  &config->min_slice_ns);
}

static int take_max_pause(const struct command *command, const char *value,
			  struct mts_config *config)
{
	return value_pause(command, "max_pause=", value, &config->max_pause_ns);
}

static int take_overhead(const struct command *command, const char *value,
			 struct mts_config *config)
{
	return value_share(command, "overhead=", value, MTS_OVERHEAD_MAX, &config->overhead);
}

static int take_interactive(const struct command *command, const char *value,
			    struct mts_config *config)
{
	return value_share(command, "interactive=", value, MTS_INTERACTIVE_MAX,
			   &config->interactive);
}

static int take_bin(const struct command *command, const char *value, struct mts_config *config)
{
	if (strcmp(value, "auto"))
		return value_memory(command, "bin=", value, &config->bin_bytes);
	config->bin_bytes = 0;
	return EXIT_OK;
}

static int take_queue(const struct command *command, const char *value, struct mts_config *config)
{
	return take_word16(command, "queue=", value, queue_words, &config->queue);
}

static int take_step(const struct command *command, const char *value, struct mts_config *config)
{
	return value_step(command, "step=", value, &config->step);
}

/* ---- how each is shown ----------------------------------------------------------------- */

static const char *text_mode(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	(void)buf;
	return word_of(mode_words, config->mode);
}

static const char *text_policy(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	(void)buf;
	return word_of(policy_words, config->policy);
}

static const char *text_share(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	(void)buf;
	return word_of(share_words, config->share);
}

static const char *text_pack(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	(void)buf;
	return word_of(pack_words, config->pack);
}

static const char *text_evict(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	(void)buf;
	return word_of(evict_words, config->evict);
}

static const char *text_demand(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	(void)buf;
	return word_of(demand_words, config->demand);
}

static const char *text_slice(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	return format_time_exact(buf, config->slice_ns);
}

static const char *text_min_slice(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	return format_time_exact(buf, config->min_slice_ns);
}

static const char *text_max_pause(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	return format_pause(buf, config->max_pause_ns);
}

static const char *text_overhead(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	return format_share(buf, config->overhead);
}

static const char *text_interactive(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	return format_share(buf, config->interactive);
}

static const char *text_bin(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	return config->bin_bytes ? format_size_exact(buf, config->bin_bytes) : "auto";
}

static const char *text_queue(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	(void)buf;
	return word_of(queue_words, config->queue);
}

static const char *text_step(char buf[FORMAT_SIZE], const struct mts_config *config)
{
	return format_step(buf, config->step);
}

/* ---- the table --------------------------------------------------------------------------- */

/* In the order in which `get` shows them. */
const struct setting settings[N_SETTINGS] = {
	{ "mode", MTS_CONFIG_MODE, take_mode, text_mode },
	{ "policy", MTS_CONFIG_POLICY, take_policy, text_policy },
	{ "share", MTS_CONFIG_SHARE, take_share, text_share },
	{ "pack", MTS_CONFIG_PACK, take_pack, text_pack },
	{ "evict", MTS_CONFIG_EVICT, take_evict, text_evict },
	{ "demand", MTS_CONFIG_DEMAND, take_demand, text_demand },
	{ "slice", MTS_CONFIG_SLICE, take_slice, text_slice },
	{ "min_slice", MTS_CONFIG_MIN_SLICE, take_min_slice, text_min_slice },
	{ "max_pause", MTS_CONFIG_MAX_PAUSE, take_max_pause, text_max_pause },
	{ "overhead", MTS_CONFIG_OVERHEAD, take_overhead, text_overhead },
	{ "interactive", MTS_CONFIG_INTERACTIVE, take_interactive, text_interactive },
	{ "bin", MTS_CONFIG_BIN, take_bin, text_bin },
	{ "queue", MTS_CONFIG_QUEUE, take_queue, text_queue },
	{ "step", MTS_CONFIG_STEP, take_step, text_step },
};

const struct setting *setting_find(const char *key, size_t length)
{
	for (size_t i = 0; i < N_SETTINGS; i++)
		if (strlen(settings[i].key) == length && !strncmp(settings[i].key, key, length))
			return &settings[i];
	return NULL;
}

const char *setting_keys(void)
{
	static char keys[256];
	size_t used = 0;

	for (size_t i = 0; i < N_SETTINGS && !keys[sizeof(keys) - 1]; i++)
		used += snprintf(keys + used, sizeof(keys) - used, "%s%s", settings[i].key,
				 i + 1 == N_SETTINGS ? "" :
				 i + 2 == N_SETTINGS ? " or " :
						       ", ");
	return keys;
}

const char *setting_nearest(const char *key)
{
	const char *keys[N_SETTINGS + 1] = { NULL };

	for (size_t i = 0; i < N_SETTINGS; i++)
		keys[i] = settings[i].key;
	return nearest(key, keys);
}

int settings_check(const struct command *command, const struct mts_config *config, u64 slice_ns)
{
	u64 limit = config->mask & MTS_CONFIG_SLICE ? config->slice_ns : slice_ns;
	char slice[FORMAT_SIZE], min[FORMAT_SIZE];

	if (!(config->mask & MTS_CONFIG_MIN_SLICE) || !limit || config->min_slice_ns <= limit)
		return EXIT_OK;
	return usage_error(command, "min_slice=%s would be longer than slice, %s: set both",
			   format_time_exact(min, config->min_slice_ns),
			   format_time_exact(slice, limit));
}

int settings_apply(const char *what, const struct mts_config *config)
{
	int ret = ipc_config_set(config);

	switch (-ret) {
	case 0:
		return EXIT_OK;
	case ERANGE:
		complain("%s: a value is out of range; nothing has changed: "
			 "see 'mtsctl set --help'",
			 what);
		return EXIT_USAGE;
	case EINVAL:
		complain("%s: the module does not know one of these words (is it older than "
			 "mtsctl?); nothing has changed",
			 what);
		return EXIT_USAGE;
	default:
		return device_failed(what, -ret);
	}
}
