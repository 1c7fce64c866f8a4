// SPDX-License-Identifier: GPL-2.0
/* mtsctl remove, pin, unpin, pause and weight. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "ipc.h"
#include "job_find.h"
#include "mtsctl.h"
#include "values.h"

/* @value: for pause, ns; for weight */
static int on_job(const struct command *command, const struct mts_job_info *job, u64 value)
{
	char what[2 * MTS_NAME_SIZE], name[MTS_NAME_SIZE];
	int ret;

	if (!strcmp(command->name, "remove"))
		ret = ipc_job_remove(job->id);
	else if (!strcmp(command->name, "pause"))
		ret = ipc_job_pause(job->id, value);
	else if (!strcmp(command->name, "weight"))
		ret = ipc_job_weight(job->id, value);
	else
		ret = ipc_job_set(job->id, MTS_JOB_PIN,
				  strcmp(command->name, "pin") ? 0 : MTS_JOB_PIN);
	if (!ret)
		return EXIT_OK;
	format_name(name, sizeof(name), job->name);
	if (ret == -ENOENT) {
		complain("%s: job %s (%u) is gone: its last process exited", command->name, name,
			 job->id);
		return EXIT_FAILED;
	}
	snprintf(what, sizeof(what), "%s: job %s (%u)", command->name, name, job->id);
	return device_failed(what, -ret);
}

static bool seen(const struct mts_job_info **found, int n)
{
	for (int i = 0; i < n; i++)
		if (found[i] == found[n])
			return true;
	return false;
}

/* Look up all jobs before the first one is changed. */
static int find_all(const struct command *command, const struct mts_job_info *jobs, u32 count,
		    int argc, char **argv, const struct mts_job_info **found)
{
	int ret, status = EXIT_OK;

	for (int i = 0; i < argc; i++) {
		ret = job_find(command, jobs, count, argv[i], &found[i]);
		if (ret > status)
			status = ret;
	}
	if (status && argc > 1)
		complain("%s: nothing has changed", command->name);
	return status;
}

/* If one job fails, go on with the others. */
static int on_all(const struct command *command, int argc, const struct mts_job_info **found,
		  u64 value)
{
	int ret, jobs = 0, done = 0, status = EXIT_OK;

	for (int i = 0; i < argc; i++) {
		if (seen(found, i))
			continue;
		jobs++;
		if (status == EXIT_PERMISSION)
			continue;
		ret = on_job(command, found[i], value);
		if (ret > status)
			status = ret;
		done += !ret;
	}
	if (status && jobs > 1)
		complain("%s: done for %d of %d jobs", command->name, done, jobs);
	return status;
}

static int on_jobs(const struct command *command, int argc, char **argv, u64 value)
{
	const struct mts_job_info **found = NULL;
	struct mts_job_info *jobs = NULL;
	u64 generation;
	u32 count;
	int ret, status;

	ret = ipc_jobs(&jobs, &count, &generation);
	if (ret)
		return device_failed(command->name, -ret);
	found = calloc(argc, sizeof(*found));
	if (!found) {
		status = device_failed(command->name, ENOMEM);
		goto out;
	}
	status = find_all(command, jobs, count, argc, argv, found);
	if (!status)
		status = on_all(command, argc, found, value);
out:
	free(found);
	free(jobs);
	return status;
}

static int jobs_main(const struct command *command, int argc, char **argv)
{
	int ret;

	ret = simple_options(command, argc, argv, NULL);
	if (ret != OPTION_END)
		return ret;
	if (optind == argc)
		return usage_error(command, "name a job, by its name, its id or the path of "
					    "its cgroup");
	ret = device_open();
	return ret ? ret : on_jobs(command, argc - optind, argv + optind, 0);
}

int remove_main(const struct command *command, int argc, char **argv)
{
	return jobs_main(command, argc, argv);
}

/* JOB... is missing, or the value behind it, @what. */
static int name_jobs_and(const struct command *command, const char *what)
{
	return usage_error(
		command, "name a job, by its name, its id or the path of its cgroup, and %s", what);
}

int pause_main(const struct command *command, int argc, char **argv)
{
	u64 max_pause;
	int ret = simple_options(command, argc, argv, NULL);

	if (ret != OPTION_END)
		return ret;
	if (argc - optind < 2)
		return name_jobs_and(command, "a time");
	ret = value_limit(command, "the time comes last: ", argv[argc - 1], &max_pause);
	if (ret)
		return ret;
	ret = device_open();
	return ret ? ret : on_jobs(command, argc - 1 - optind, argv + optind, max_pause);
}

static int weigh_user(u32 user, u32 weight)
{
	int ret = ipc_user_weight(user, weight);

	if (ret != -ENOSPC)
		return ret ? device_failed("weight", -ret) : EXIT_OK;
	complain("weight: %d users have another weight than %u already: give one of them that "
		 "first",
		 MTS_MAX_USERS, MTS_WEIGHT_DEFAULT);
	return EXIT_FAILED;
}

int weight_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "user", required_argument, NULL, 'u' },
		{ 0 },
	};
	bool of_user = false;
	u32 user, weight;
	int opt, ret;

	while ((opt = next_option(command, argc, argv, "", options)) == 'u') {
		if (value_user(command, "--user ", optarg, &user))
			return EXIT_USAGE;
		of_user = true;
	}
	if (opt != OPTION_END)
		return opt == OPTION_HELP ? EXIT_OK : EXIT_USAGE;
	if (of_user && argc - optind != 1)
		return usage_error(command, "--user takes a user and a weight, and no job");
	if (!of_user && argc - optind < 2)
		return name_jobs_and(command, "a weight");
	ret = value_weight(command, "the weight comes last: ", argv[argc - 1], &weight);
	if (!ret)
		ret = device_open();
	if (!ret && of_user)
		return weigh_user(user, weight);
	return ret ? ret : on_jobs(command, argc - 1 - optind, argv + optind, weight);
}

/* pin and unpin */
int pin_main(const struct command *command, int argc, char **argv)
{
	return jobs_main(command, argc, argv);
}
