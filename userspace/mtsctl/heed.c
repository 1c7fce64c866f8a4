// SPDX-License-Identifier: GPL-2.0
#include "heed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "conf.h"
#include "container.h"
#include "format.h"
#include "ipc.h"
#include "program.h"

#define SECOND 1000000000ull
#define KEEP ":keep"
/* PID 1 answers at once, unless the host thrashes. */
#define ANSWER_LIMIT_NS (5 * SECOND)
/* A user's engine may answer as slowly as the user likes, and a user may have many containers. */
#define ENGINES_LIMIT_NS (60 * SECOND)

u64 heed_shortest(const char *dir, u64 users_pause_ns)
{
	struct stat st;

	return !stat(dir, &st) && (!st.st_uid || st.st_uid == geteuid()) ? 0 : users_pause_ns;
}

/* ---- what a check asks for ---------------------------------------------------------------- */

/* How long pauses may be, if the job has no limit of its own. */
static u64 longest_pause(void)
{
	struct mts_config config;

	return !ipc_config_get(&config) && config.max_pause_ns ? config.max_pause_ns :
								 MTS_PAUSE_UNATTENDED_NS;
}

static void warn_of_check(const struct engine_container *container, u64 half, u64 pause)
{
	char remedy[FORMAT_SIZE + 32] = "--pin", time[FORMAT_SIZE];
	char a[FORMAT_SIZE], b[FORMAT_SIZE];

	if (half >= MTS_PAUSE_MIN_NS)
		snprintf(remedy, sizeof(remedy), "%s%s",
			 device_has_limits() ? "--max-pause " : "mtsctl set max_pause=",
			 format_time_exact(time, half));
	complain("add: container %s: a pause may take %s, and %s waits for the health check for "
		 "only %s: the container may become unhealthy; %s avoids it",
		 container->name, format_time(a, pause), container->engine,
		 format_time(b, container->check_timeout_ns), remedy);
}

void heed_check(const struct engine_container *container, bool has_pause, u64 shortest_ns,
		u32 *flags, u64 *max_pause_ns)
{
	char interval[FORMAT_SIZE], timeout[FORMAT_SIZE], limit[FORMAT_SIZE];
	u64 half, pause;

	if (!container->check_timeout_ns || *flags & MTS_JOB_PIN)
		return;
	half = mts_min(container->check_timeout_ns / 2 / 1000000 * 1000000, MTS_PAUSE_MAX_NS);
	format_time(interval, container->check_interval_ns);
	format_time(timeout, container->check_timeout_ns);
	if (has_pause || (half >= MTS_PAUSE_MIN_NS && !device_has_limits())) {
		pause = *max_pause_ns ?: longest_pause();
		if (half < pause)
			warn_of_check(container, half, pause);
	} else if (half < shortest_ns) {
		complain("add: container %s: %s waits for the health check for only %s, and by "
			 "itself a user's container gets no pause limit below %s (max_pause= in "
			 "the section [users]): it may become unhealthy",
			 container->name, container->engine, timeout,
			 format_time(limit, shortest_ns));
	} else if (half < MTS_PAUSE_MIN_NS) {
		*flags |= MTS_JOB_PIN;
		complain("add: container %s: %s waits for the health check for only %s, which is "
			 "too short for a job that takes turns: the job is pinned, as with --pin; "
			 "--max-pause off ignores the check",
			 container->name, container->engine, timeout);
	} else if (!*max_pause_ns || half < *max_pause_ns) {
		*max_pause_ns = half;
		complain("add: container %s: %s calls a health check every %s, and waits for it "
			 "for %s: the job is never frozen for longer than %s; --max-pause sets "
			 "another limit",
			 container->name, container->engine, interval, timeout,
			 format_time(limit, half));
	}
}

/* ---- a container that is a job ------------------------------------------------------------ */

/* The job of the container's cgroup. Return: 0: there is none any more, or -errno. */
static int find_job(const char *id, struct mts_job_info *found)
{
	struct mts_job_info *jobs = NULL;
	struct container container;
	u64 generation;
	u32 count;
	int ret = ipc_jobs(&jobs, &count, &generation);

	if (ret)
		return ret;
	container_expect(jobs, count);
	for (u32 i = 0; i < count && !ret; i++) {
		if (!container_of_job(&jobs[i], &container, NULL) || strcmp(container.id, id))
			continue;
		*found = jobs[i];
		ret = 1;
	}
	free(jobs);
	return ret;
}

/* Return: false: it has ended. */
static bool find_dir(const struct mts_job_info *job, char dir[PATH_MAX], struct stat *st)
{
	char path[PATH_MAX];

	return !cgroup_path_of_id(job->cgroup_id, path) && !cgroup_dir(path + 1, dir) &&
	       !stat(dir, st);
}

/*
 * As a service: of a user one after the other, so that a user with many containers, or what looks
 * like them, has one process of root's run at a time. It goes on until this process ends.
 */
static void take_turn(u32 user)
{
	const char *run = getenv("RUNTIME_DIRECTORY");
	char path[PATH_MAX];
	int fd;

	if (!run || !user)
		return;
	snprintf(path, sizeof(path), "%s/%u", run, user);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX))
		complain("rules heed: %s: %s", path, strerror(errno));
}

static int heed(const struct command *command, const char *id, bool keep, u64 users_pause_ns)
{
	struct engine_container found;
	struct mts_job_info job = { 0 };
	char dir[PATH_MAX];
	u64 max_pause_ns;
	struct stat st;
	u32 flags;
	int ret = find_job(id, &job);

	if (ret < 0)
		return device_failed("rules heed", -ret);
	/* It has ended meanwhile; or it is never frozen. */
	if (!ret || job.flags & MTS_JOB_PIN || !find_dir(&job, dir, &st))
		return EXIT_OK;
	/* The cgroup's owner has the engine that knows the container. */
	take_turn(st.st_uid);
	ret = engine_find(command, id, st.st_uid, &found);
	if (ret)
		return ret;
	flags = job.flags;
	max_pause_ns = job.max_pause_ns;
	heed_check(&found, keep, heed_shortest(dir, users_pause_ns), &flags, &max_pause_ns);
	ret = 0;
	if (flags & MTS_JOB_PIN)
		ret = ipc_job_set(job.id, MTS_JOB_PIN, MTS_JOB_PIN);
	else if (max_pause_ns != job.max_pause_ns)
		ret = ipc_job_pause(job.id, max_pause_ns);
	return ret && ret != -ENOENT ? device_failed("rules heed", -ret) : EXIT_OK;
}

int heed_main(const struct command *command, const char *what)
{
	size_t length = strcspn(what, ":");
	char id[CONTAINER_ID + 1];
	struct conf conf;
	u64 shortest;
	int ret;

	if (length != CONTAINER_ID || (what[length] && strcmp(what + length, KEEP)))
		return usage_error(command, "heed '%s': name a container by its whole id", what);
	memcpy(id, what, length);
	id[length] = '\0';
	ret = conf_read(&conf, command, NULL);
	shortest = conf.users.max_pause_ns;
	conf_free(&conf);
	if (!ret)
		ret = device_open();
	return ret ? ret : heed(command, id, what[length], shortest);
}

/* mtsctl rules heed, in a service of its own. */
static void start_service(const char *id, bool keep)
{
	char unit[CONTAINER_ID + 64];
	char *const argv[] = { "systemctl", "--no-block", "start", unit, NULL };
	struct program_answer answer;
	int ret;

	snprintf(unit, sizeof(unit), "mts-container@%s%s.service", id, keep ? KEEP : "");
	ret = program_ask(argv, ANSWER_LIMIT_NS, &answer);
	if (!ret && (!WIFEXITED(answer.status) || WEXITSTATUS(answer.status)))
		complain("rules: the health check of container %.*s is not heeded: %s",
			 CONTAINER_ID_SHORT, id, answer.complaint);
	else if (ret)
		complain("rules: the health check of container %.*s is not heeded: systemctl: %s",
			 CONTAINER_ID_SHORT, id, strerror(-ret));
	free(answer.output);
}

u64 heed_until(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec + ENGINES_LIMIT_NS;
}

void heed_container(const struct command *command, const char *path, bool has_pause,
		    u64 users_pause_ns, u64 until_ns)
{
	struct container container;

	if (!container_of_path(path, &container) || path[container.length])
		return;
	if (getenv("NOTIFY_SOCKET"))
		start_service(container.id, has_pause);
	else if (heed_until() - ENGINES_LIMIT_NS < until_ns)
		heed(command, container.id, has_pause, users_pause_ns);
	else
		complain("rules: the health check of container %.*s is not heeded: engines have "
			 "been asked for a minute: 'mtsctl rules heed %s' asks again",
			 CONTAINER_ID_SHORT, container.id, container.id);
}
