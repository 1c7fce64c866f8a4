// SPDX-License-Identifier: GPL-2.0
#include "labels.h"
#include "mtsctl.h"
#include "status.h"
#include "values.h"

int status_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "by", required_argument, NULL, 'g' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	bool all = false, json = false;
	struct snapshot s;
	u32 by = BY_JOB;
	int opt, ret;

	while ((opt = next_option(command, argc, argv, "", options)) != OPTION_END) {
		switch (opt) {
		case 'a':
			all = true;
			break;
		case 'g':
			if (value_word(command, "--by ", optarg, group_by_words, &by))
				return EXIT_USAGE;
			break;
		case 'j':
			json = true;
			break;
		case OPTION_HELP:
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind != argc)
		return usage_error(command, "unexpected '%s'", argv[optind]);
	if (json && by != BY_JOB)
		return usage_error(command, "--by is not for --json, which lists the jobs");
	ret = device_open();
	if (ret)
		return ret;
	ret = snapshot_take(&s);
	if (!ret)
		labels_find(&s);
	if (ret)
		ret = device_failed("status", -ret);
	else if (json)
		ret = status_show_json(&s);
	else
		status_show(&s, all, by);
	snapshot_free(&s);
	return ret;
}
