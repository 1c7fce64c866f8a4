// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc.h"
#include "libmts/mts.h"
#include "mtsctl.h"
#include "parse.h"
#include "run_as.h"
#include "run_place.h"
#include "values.h"

static int run_failed(const struct mts_job_submit *job, int err)
{
	if (err == EINVAL && device_is_too_old(job->flags, job->max_pause_ns, job->weight))
		err = ENOTTY;
	switch (err) {
	case EEXIST:
		complain("run: a job or a cgroup named '%s' exists: choose another --name",
			 job->name);
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
		complain(
			"run: the parent cgroup of the jobs has reached its limit of processes "
			"(raise its pids.max), or too many callers ask mtsd at a time (try again)");
		break;
	default:
		device_failed("run: cannot make a job", err);
		break;
	}
	return EXIT_RUN;
}

/* No terminal: neither one of the standard files, nor one whose keys send signals to it. */
static bool is_batch(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd < 0 && !isatty(STDIN_FILENO) && !isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO);
}

/* If the default name is taken, it gets a number: make, make-2, ... */
static int make_job(const char *name, const char *path, struct mts_job_submit *job)
{
	char base[MTS_NAME_SIZE];
	u32 number = 1;
	int ret;

	if (name)
		snprintf(job->name, sizeof(job->name), "%s", name);
	else
		job_name_of(path, job->name);
	memcpy(base, job->name, sizeof(base));
	do {
		ret = ipc_job_enter(job);
		if (ret != -EEXIST || name || number > 2 * MTS_MAX_JOBS)
			break;
		job_name_numbered(base, ++number, job->name);
	} while (true);
	return ret ? run_failed(job, -ret) : EXIT_OK;
}

/* Every error before the command runs exits with EXIT_RUN. */
int run_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "as-root", no_argument, NULL, 'r' },
		{ "each", optional_argument, NULL, 'e' },
		{ "here", no_argument, NULL, 'H' },
		{ "max-pause", required_argument, NULL, 'm' },
		{ "max-wait", required_argument, NULL, 'w' },
		{ "name", required_argument, NULL, 'n' },
		{ "pin", no_argument, NULL, 'p' },
		{ "queue", no_argument, NULL, 'q' },
		{ "size", required_argument, NULL, 's' },
		{ "weight", required_argument, NULL, 'W' },
		{ 0 },
	};
	struct mts_job_submit job = { .flags = MTS_JOB_ENTER };
	const char *name = NULL, *wrong;
	bool as_root = false, here = false;
	u32 invoker;
	int opt, err;

	while ((opt = next_option(command, argc, argv, "+", options)) != OPTION_END) {
		switch (opt) {
		case 'e':
			if (value_each(command, optarg, &job.flags))
				return EXIT_RUN;
			break;
		case 'm':
			if (value_limit(command, "--max-pause ", optarg, &job.max_pause_ns))
				return EXIT_RUN;
			break;
		case 'w':
			if (value_time(command, "--max-wait ", optarg, MTS_WAIT_MIN_NS,
				       MTS_WAIT_MAX_NS, &job.max_wait_ns))
				return EXIT_RUN;
			break;
		case 's':
			if (value_memory(command, "--size ", optarg, &job.size))
				return EXIT_RUN;
			break;
		case 'r':
			as_root = true;
			break;
		case 'H':
			here = true;
			break;
		case 'W':
			if (value_weight(command, "--weight ", optarg, &job.weight))
				return EXIT_RUN;
			break;
		case 'q':
			job.flags |= MTS_JOB_QUEUE;
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
			job.flags |= MTS_JOB_PIN;
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
	if (job.flags & MTS_JOB_QUEUE && job.flags & MTS_JOB_PIN) {
		usage_error(command, "--queue and --pin: a pinned job is never held");
		return EXIT_RUN;
	}
	if (is_batch())
		job.flags |= MTS_JOB_BATCH;
	invoker = as_root ? 0 : run_as_invoker();
	if (invoker) {
		job.flags |= MTS_JOB_USER;
		job.user = invoker;
	}
	job.command = mts_command_number((const char *const *)argv + optind, invoker ?: getuid());
	if (device_open())
		return EXIT_RUN;
	if (ipc_is_for_users()) {
		if (run_in_place(&job, here, name, argv[optind], argv + 1))
			return EXIT_RUN;
	} else {
		if (here) {
			usage_error(command,
				    "--here: only for users whom a mtsd of root's answers");
			return EXIT_RUN;
		}
		run_announce(&job);
		if (make_job(name, argv[optind], &job))
			return EXIT_RUN;
	}
	if (invoker && run_as(invoker))
		return EXIT_RUN;

	execvp(argv[optind], argv + optind);
	err = errno;
	complain("run: %s: %s", argv[optind], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXEC;
}
