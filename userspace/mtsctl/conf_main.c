// SPDX-License-Identifier: GPL-2.0
/* mtsctl config check and load. */
#include <stdio.h>
#include <string.h>

#include "conf.h"
#include "host.h"
#include "ipc.h"
#include "mtsctl.h"

/* min_slice alone: against the slice that the module has. */
static int check_with_module(const struct command *command, const struct conf *conf)
{
	const struct setting *min = setting_find("min_slice", strlen("min_slice"));
	struct command at = *command;
	struct mts_config now;
	int ret = ipc_config_get(&now);

	if (ret)
		return device_failed("config load", -ret);
	at.place = &conf->origins[min - settings];
	return settings_check(&at, &conf->config, now.slice_ns);
}

static int load(const struct command *command, const struct conf *conf)
{
	bool has_any = conf->config.mask || conf->weights.n;
	struct mts_user_weights before = { 0 };
	int ret = EXIT_OK;

	/* Where nothing answers, no user has a weight that is to be taken back. */
	if (!has_any && ipc_open()) {
		printf("%s; nothing to set\n", conf_summary(conf));
		return EXIT_OK;
	}
	ret = device_open();
	if (!ret && conf->config.mask)
		ret = check_with_module(command, conf);
	if (!ret)
		ret = weights_conf_load(&conf->weights, &before);
	if (ret)
		return ret;
	if (conf->config.mask)
		ret = settings_apply("config load", &conf->config);
	if (ret)
		weights_conf_undo(&conf->weights, &before);
	else if (has_any || before.n)
		printf("%s; the settings hold now\n", conf_summary(conf));
	else
		printf("%s; nothing to set\n", conf_summary(conf));
	return ret;
}

int config_main(const struct command *command, int argc, char **argv)
{
	bool loads;
	struct conf conf;
	int ret;

	ret = simple_options(command, argc, argv, NULL);
	if (ret != OPTION_END)
		return ret;
	if (argc - optind < 1 || argc - optind > 2)
		return usage_error(command, "say check or load, and at most one file");
	loads = !strcmp(argv[optind], "load");
	if (!loads && strcmp(argv[optind], "check"))
		return usage_error(command, "'%s': say check or load", argv[optind]);
	ret = conf_read(&conf, command, argv[optind + 1]);
	if (ret && loads)
		complain("config load: nothing has changed");
	else if (!ret && !conf.nfiles)
		printf("no configuration: neither %s/" CONF_MAIN " nor %s/" CONF_FOLDER
		       "/*.conf exists\n",
		       host_config(), host_config());
	else if (!ret && loads)
		ret = load(command, &conf);
	else if (!ret)
		printf("%s; no error\n", conf_summary(&conf));
	conf_free(&conf);
	return ret;
}
