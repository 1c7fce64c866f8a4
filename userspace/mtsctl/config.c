// SPDX-License-Identifier: GPL-2.0
/* get and set */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "ipc.h"
#include "mtsctl.h"
#include "values.h"

#define KEYS                                                                              \
	"mode, pack, evict, demand, slice, min_slice, max_pause, overhead, interactive, " \
	"bin, queue or step"

static int show_json(const struct mts_config *config)
{
	json_t *root = json_object();

	json_put(&root, "mode", json_string(word_of(mode_words, config->mode)));
	json_put(&root, "pack", json_string(word_of(pack_words, config->pack)));
	json_put(&root, "evict", json_string(word_of(evict_words, config->evict)));
	json_put(&root, "demand", json_string(word_of(demand_words, config->demand)));
	json_put(&root, "slice_ns", json_u64(config->slice_ns));
	json_put(&root, "min_slice_ns", json_u64(config->min_slice_ns));
	json_put(&root, "max_pause_ns", json_u64_or_null(config->max_pause_ns));
	json_put(&root, "overhead", json_u64(config->overhead));
	json_put(&root, "interactive", json_u64(config->interactive));
	json_put(&root, "bin_bytes", json_u64_or_null(config->bin_bytes));
	json_put(&root, "step",
		 config->mask & MTS_CONFIG_STEP ? json_step(config->step) : json_null());
	json_put(&root, "queue", json_string(word_of(queue_words, config->queue)));
	return json_print(root);
}

int get_main(const struct command *command, int argc, char **argv)
{
	char slice[FORMAT_SIZE], min[FORMAT_SIZE], pause[FORMAT_SIZE], bin[FORMAT_SIZE];
	char overhead[FORMAT_SIZE], interactive[FORMAT_SIZE], step[FORMAT_SIZE];
	struct mts_config config = { 0 };
	bool json = false;
	int ret;

	ret = simple_options(command, argc, argv, &json);
	if (ret != OPTION_END)
		return ret;
	if (optind != argc)
		return usage_error(command, "unexpected '%s'", argv[optind]);
	ret = device_open();
	if (ret)
		return ret;
	ret = ipc_config_get(&config);
	if (ret)
		return device_failed("get", -ret);

	if (json)
		return show_json(&config);
	printf("mode=%s\npack=%s\nevict=%s\ndemand=%s\nslice=%s\nmin_slice=%s\nmax_pause=%s\n"
	       "overhead=%s\ninteractive=%s\nbin=%s\nqueue=%s\n",
	       word_of(mode_words, config.mode), word_of(pack_words, config.pack),
	       word_of(evict_words, config.evict), word_of(demand_words, config.demand),
	       format_time_exact(slice, config.slice_ns),
	       format_time_exact(min, config.min_slice_ns),
	       format_pause(pause, config.max_pause_ns), format_share(overhead, config.overhead),
	       format_share(interactive, config.interactive),
	       config.bin_bytes ? format_size_exact(bin, config.bin_bytes) : "auto",
	       word_of(queue_words, config.queue));
	/* So that `set` takes the output of `get`. */
	if (config.mask & MTS_CONFIG_STEP)
		printf("step=%s\n", format_step(step, config.step));
	return EXIT_OK;
}

static int set_bin(const struct command *command, const char *value, u64 *field)
{
	if (strcmp(value, "auto"))
		return value_memory(command, "bin=", value, field);
	*field = 0;
	return EXIT_OK;
}

/* One KEY=VALUE into config, its bit into config->mask. */
static int set_one(const struct command *command, const char *text, struct mts_config *config)
{
	const char *value = strchr(text, '=');
	char key[16];
	u32 bit, word = 0;
	int ret;

	if (!value)
		return usage_error(command, "'%s': write KEY=VALUE, KEY being " KEYS, text);
	snprintf(key, sizeof(key), "%.*s", (int)mts_min(value - text, sizeof(key) - 1), text);
	value++;
	if (!strcmp(key, "mode")) {
		bit = MTS_CONFIG_MODE;
		ret = value_word(command, "mode=", value, mode_words, &config->mode);
	} else if (!strcmp(key, "pack")) {
		bit = MTS_CONFIG_PACK;
		ret = value_word(command, "pack=", value, pack_words, &config->pack);
	} else if (!strcmp(key, "evict")) {
		bit = MTS_CONFIG_EVICT;
		ret = value_word(command, "evict=", value, evict_words, &config->evict);
	} else if (!strcmp(key, "demand")) {
		bit = MTS_CONFIG_DEMAND;
		ret = value_word(command, "demand=", value, demand_words, &word);
		config->demand = word;
	} else if (!strcmp(key, "slice")) {
		bit = MTS_CONFIG_SLICE;
		ret = value_time(command, "slice=", value, MTS_SLICE_MIN_NS, MTS_SLICE_MAX_NS,
				 &config->slice_ns);
	} else if (!strcmp(key, "min_slice")) {
		bit = MTS_CONFIG_MIN_SLICE;
		ret = value_time(command, "min_slice=", value, MTS_SLICE_MIN_NS, MTS_SLICE_MAX_NS,
				 &config->min_slice_ns);
	} else if (!strcmp(key, "max_pause")) {
		bit = MTS_CONFIG_MAX_PAUSE;
		ret = value_pause(command, "max_pause=", value, &config->max_pause_ns);
	} else if (!strcmp(key, "overhead")) {
		bit = MTS_CONFIG_OVERHEAD;
		ret = value_share(command, "overhead=", value, MTS_OVERHEAD_MAX, &config->overhead);
	} else if (!strcmp(key, "interactive")) {
		bit = MTS_CONFIG_INTERACTIVE;
		ret = value_share(command, "interactive=", value, MTS_INTERACTIVE_MAX,
				  &config->interactive);
	} else if (!strcmp(key, "bin")) {
		bit = MTS_CONFIG_BIN;
		ret = set_bin(command, value, &config->bin_bytes);
	} else if (!strcmp(key, "step")) {
		bit = MTS_CONFIG_STEP;
		ret = value_step(command, "step=", value, &config->step);
	} else if (!strcmp(key, "queue")) {
		bit = MTS_CONFIG_QUEUE;
		ret = value_word(command, "queue=", value, queue_words, &word);
		config->queue = word;
	} else {
		return usage_error(command, "unknown key in '%s': KEY is " KEYS, text);
	}
	if (!ret && (config->mask & bit))
		ret = usage_error(command, "%s is given twice", key);
	config->mask |= bit;
	return ret;
}

/*
 * Check here, because the module refuses the values without an explanation. If slice alone is set,
 * the module shortens a min_slice that is longer.
 */
static int check_slices(const struct command *command, const struct mts_config *config)
{
	char slice[FORMAT_SIZE], min[FORMAT_SIZE];
	struct mts_config now = { 0 };
	u64 limit = config->slice_ns;
	int ret;

	if (!(config->mask & MTS_CONFIG_MIN_SLICE))
		return EXIT_OK;
	if (!(config->mask & MTS_CONFIG_SLICE)) {
		ret = ipc_config_get(&now);
		if (ret)
			return device_failed("set", -ret);
		limit = now.slice_ns;
	}
	if (config->min_slice_ns <= limit)
		return EXIT_OK;
	return usage_error(command, "min_slice=%s would be longer than slice, %s: set both",
			   format_time_exact(min, config->min_slice_ns),
			   format_time_exact(slice, limit));
}

int set_main(const struct command *command, int argc, char **argv)
{
	struct mts_config config = { 0 };
	int ret;

	ret = simple_options(command, argc, argv, NULL);
	if (ret != OPTION_END)
		return ret;
	if (optind == argc)
		return usage_error(command, "nothing to set: write KEY=VALUE, KEY being " KEYS);
	for (int i = optind; i < argc; i++) {
		ret = set_one(command, argv[i], &config);
		if (ret)
			return ret;
	}
	ret = device_open();
	if (!ret)
		ret = check_slices(command, &config);
	if (ret)
		return ret;
	ret = ipc_config_set(&config);
	switch (-ret) {
	case 0:
		return EXIT_OK;
	case ERANGE:
		complain("set: a value is out of range; nothing has changed: "
			 "see 'mtsctl set --help'");
		return EXIT_USAGE;
	case EINVAL:
		complain("set: the module does not know one of these words (is it older than "
			 "mtsctl?); nothing has changed");
		return EXIT_USAGE;
	default:
		return device_failed("set", -ret);
	}
}
