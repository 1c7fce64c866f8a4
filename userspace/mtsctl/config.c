// SPDX-License-Identifier: GPL-2.0
/* get and set */
#include <stdio.h>
#include <string.h>

#include "conf_save.h"
#include "format.h"
#include "ipc.h"
#include "mtsctl.h"
#include "settings.h"
#include "words.h"

static int show_json(const struct mts_config *config)
{
	json_t *root = json_root();

	json_put(&root, "mode", json_string(word_of(mode_words, config->mode)));
	json_put(&root, "policy",
		 config->mask & MTS_CONFIG_POLICY ?
			 json_string(word_of(policy_words, config->policy)) :
			 json_null());
	json_put(&root, "share",
		 config->mask & MTS_CONFIG_SHARE ?
			 json_string(word_of(share_words, config->share)) :
			 json_null());
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
	const u32 since_abi_4 = MTS_CONFIG_STEP | MTS_CONFIG_POLICY | MTS_CONFIG_SHARE;
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
	for (size_t i = 0; i < N_SETTINGS; i++) {
		char text[FORMAT_SIZE];

		/* So that `set` takes the output of `get`, with an older module, too. */
		if (settings[i].bit & since_abi_4 & ~config.mask)
			continue;
		printf("%s=%s\n", settings[i].key, settings[i].text(text, &config));
	}
	return EXIT_OK;
}

/* One KEY=VALUE into config, its bit into config->mask. */
static int set_one(const struct command *command, const char *text, struct mts_config *config)
{
	const char *value = strchr(text, '=');
	const struct setting *setting;
	int ret;

	if (!value)
		return usage_error(command, "'%s': write KEY=VALUE, KEY being %s", text,
				   setting_keys());
	setting = setting_find(text, value - text);
	if (!setting)
		return usage_error(command, "unknown key in '%s': KEY is %s", text, setting_keys());
	ret = setting->take(command, value + 1, config);
	if (!ret && (config->mask & setting->bit))
		ret = usage_error(command, "%s is given twice", setting->key);
	config->mask |= setting->bit;
	return ret;
}

/* Against what the module has, as far as the user says nothing. */
static int check_with_module(const struct command *command, const struct mts_config *config)
{
	struct mts_config now = { 0 };
	int ret;

	if (config->mask & MTS_CONFIG_MIN_SLICE && !(config->mask & MTS_CONFIG_SLICE)) {
		ret = ipc_config_get(&now);
		if (ret)
			return device_failed("set", -ret);
	}
	return settings_check(command, config, now.slice_ns);
}

int set_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "save", no_argument, NULL, 's' },
		{ 0 },
	};
	struct mts_config config = { 0 };
	struct conf_save *save = NULL;
	bool wants_save = false;
	int opt, ret;

	while ((opt = next_option(command, argc, argv, "", options)) == 's')
		wants_save = true;
	if (opt != OPTION_END)
		return opt == OPTION_HELP ? EXIT_OK : EXIT_USAGE;
	if (optind == argc)
		return usage_error(command, "nothing to set: write KEY=VALUE, KEY being %s",
				   setting_keys());
	for (int i = optind; i < argc; i++) {
		ret = set_one(command, argv[i], &config);
		if (ret)
			return ret;
	}
	ret = device_open();
	if (!ret)
		ret = check_with_module(command, &config);
	/* What is saved is written before the module changes, so that the two cannot differ. */
	if (!ret && wants_save)
		ret = conf_save_begin(argv + optind, &save);
	if (!ret)
		ret = settings_apply("set", &config);
	return conf_save_end(save, ret);
}
