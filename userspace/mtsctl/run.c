// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc.h"
#include "mtsctl.h"
#include "parse.h"
#include "values.h"

static int run_failed(const struct mts_job_create *create, int err)
{
	if (err == EINVAL && device_is_too_old(create->flags, create->max_pause_ns))
		err = ENOTTY;
	switch (err) {
	case EEXIST:
		complain("run: a job or a cgroup named '%s' exists: choose another --name",
			 create->name);
		break;
	case ENOSPC:
		complain("run: no room: there are %d jobs already", MTS_MAX_JOBS);
		break;
	case ENODEV:
		complain("run: the parent cgroup of the jobs was removed: load the module again");
		break;
	case EBUSY:
		complain("run: mtsctl runs as PID 1 of this host, which must never be frozen: "
			 "run mtsctl from a shell");
		break;
	case EOPNOTSUPP:
		complain("run: --each: this kernel cannot catch the children of a job: "
			 "run each command as a job of its own, without --each");
		break;
	case EACCES:
		complain("run: this process may not move to a cgroup of %s: a login session is "
			 "root's. Start it where systemd has delegated cgroups to you: "
			 "systemd-run --user --scope mtsctl --user run ...",
			 ipc_name());
		return EXIT_RUN;
	case EAGAIN:
		complain("run: the parent cgroup of the jobs has reached its limit of processes: "
			 "raise its pids.max");
		break;
	default:
		device_failed("run: cannot make a job", err);
		break;
	}
	return EXIT_RUN;
}

/* If the default name is taken, it gets a number: make, make-2, ... */
static int create_job(const char *name, const char *path, u32 flags, u64 max_pause)
{
	struct mts_job_create create = { .flags = flags | MTS_JOB_ENTER,
					 .max_pause_ns = max_pause };
	char base[MTS_NAME_SIZE];
	u32 number = 1;
	int ret;

	if (name)
		snprintf(create.name, sizeof(create.name), "%s", name);
	else
		job_name_of(path, create.name);
	memcpy(base, create.name, sizeof(base));
	do {
		ret = ipc_job_create(&create);
		if (ret != -EEXIST || name || number > 2 * MTS_MAX_JOBS)
			break;
		job_name_numbered(base, ++number, create.name);
	} while (true);
	return ret ? run_failed(&create, -ret) : EXIT_OK;
}

/* Every error before the command runs exits with EXIT_RUN. */
int run_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "each", optional_argument, NULL, 'e' },
		{ "max-pause", required_argument, NULL, 'm' },
		{ "name", required_argument, NULL, 'n' },
		{ "pin", no_argument, NULL, 'p' },
		{ 0 },
	};
	const char *name = NULL, *wrong;
	u64 max_pause = 0;
	u32 flags = 0;
	int opt, err;

	while ((opt = next_option(command, argc, argv, "+", options)) != OPTION_END) {
		switch (opt) {
		case 'e':
			if (value_each(command, optarg, &flags))
				return EXIT_RUN;
			break;
		case 'm':
			if (value_limit(command, "--max-pause ", optarg, &max_pause))
				return EXIT_RUN;
			break;
		case 'n':
			wrong = name ? "given twice" : parse_job_name(optarg);
			if (wrong) {
				usage_error(command, "--name '%s': %s", optarg, wrong);
				return EXIT_RUN;
			}
			name = optarg;
			break;
		case 'p':
			flags |= MTS_JOB_PIN;
			break;
		case OPTION_HELP:
			return EXIT_OK;
		default:
			return EXIT_RUN;
		}
	}
	if (optind == argc) {
		usage_error(command, "a command is missing");
		return EXIT_RUN;
	}
	if (device_open() || create_job(name, argv[optind], flags, max_pause))
		return EXIT_RUN;

	execvp(argv[optind], argv + optind);
	err = errno;
	complain("run: %s: %s", argv[optind], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXEC;
}
