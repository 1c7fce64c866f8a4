// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "ipc.h"
#include "mtsctl.h"

int thaw_main(const struct command *command, int argc, char **argv)
{
	struct mts_status status = { 0 };
	int ret, counted;

	ret = simple_options(command, argc, argv, NULL);
	if (ret != OPTION_END)
		return ret;
	if (optind != argc)
		return usage_error(command,
				   "unexpected '%s': everything is thawed, "
				   "not one job",
				   argv[optind]);
	ret = device_open();
	if (ret)
		return ret;
	/* Thaw even if the count of frozen jobs fails. */
	counted = ipc_status(&status);
	ret = ipc_thaw();
	if (ret)
		return device_failed("thaw", -ret);
	if (counted)
		printf("Everything is thawed.\n");
	else if (!status.frozen)
		printf("Nothing was frozen.\n");
	else
		printf("%u job%s thawed.\n", status.frozen, status.frozen == 1 ? "" : "s");
	printf("Rotation is stopped until 'mtsctl set mode=auto' (or mode=always).\n");
	return EXIT_OK;
}
