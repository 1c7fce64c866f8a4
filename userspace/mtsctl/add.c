// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "add.h"
#include "cgroup.h"
#include "engine.h"
#include "format.h"
#include "heed.h"
#include "ipc.h"
#include "mtsctl.h"
#include "parse.h"
#include "values.h"
#include "watchdog.h"

#define SHOWN 10 /* processes that are listed by name */

static bool each_unsupported(void)
{
	struct mts_status status;

	return !ipc_status(&status) && status.each_how == MTS_EACH_NONE;
}

static int add_failed(const char *dir, const struct mts_job_add *add, int err)
{
	if (err == EINVAL && device_is_too_old(add->flags, add->max_pause_ns, add->weight))
		err = ENOTTY;
	switch (err) {
	case EBADF:
		complain("add: %s: the module could not use the open directory: "
			 "this is an error in mtsctl",
			 dir);
		break;
	case EINVAL:
		complain("add: %s: not a cgroup v2 directory, or the root cgroup, which holds "
			 "the whole host: name a cgroup below it, or start the job with "
			 "'mtsctl run'",
			 dir);
		break;
	case ENODEV:
		complain("add: %s: the cgroup was removed in the meantime: "
			 "its last process exited",
			 dir);
		break;
	case EBUSY:
		complain("add: %s: it holds PID 1, a kernel thread, mtsctl itself or one of its "
			 "parent processes, such as this shell: these must never be frozen. Start "
			 "the job in a cgroup of its own, with 'mtsctl run' or 'systemd-run'",
			 dir);
		break;
	case EEXIST:
		complain("add: %s: it is a job already, or lies above or below one: see "
			 "'mtsctl status', and 'mtsctl remove' the other first",
			 dir);
		break;
	case EOPNOTSUPP:
		if ((add->flags & (MTS_JOB_EACH | MTS_JOB_EACH_LEAF)) && each_unsupported())
			complain("add: --each: this kernel cannot catch the children of a job: "
				 "add it without --each");
		else
			complain("add: %s: the memory controller is not enabled in it: "
				 "echo +memory > %s/../cgroup.subtree_control",
				 dir, dir);
		break;
	case ENOSPC:
		complain("add: no room: there are %d jobs already: "
			 "'mtsctl remove' one first",
			 MTS_MAX_JOBS);
		break;
	default: {
		char what[PATH_MAX + 8];

		snprintf(what, sizeof(what), "add: %s", dir);
		return device_failed(what, err);
	}
	}
	return EXIT_FAILED;
}

/*
 * systemd kills a service that does not report within WatchdogSec, and a frozen process cannot
 * report. The pause limit is half of WatchdogSec, because sd_watchdog_enabled(3) tells processes to
 * report twice as often. If that is less than the shortest pause limit, the job is pinned.
 */
static void heed_watchdog(const char *dir, u64 shortest, struct mts_job_add *add)
{
	char a[FORMAT_SIZE], b[FORMAT_SIZE];
	u64 watchdog, half;

	if (add->flags & MTS_JOB_PIN || watchdog_of_cgroup(dir, &watchdog) || !watchdog)
		return;
	format_time(a, watchdog);
	/* Whole milliseconds, for a readable message. */
	half = mts_min(watchdog / 2 / 1000000 * 1000000, MTS_PAUSE_MAX_NS);
	if (half < shortest) {
		complain("add: %s: systemd's watchdog expects a sign of life every %s, and by "
			 "itself a user's service gets no pause limit below %s (max_pause= in the "
			 "section [users]): systemd may end it",
			 dir, a, format_time(b, shortest));
		return;
	}
	if (half < MTS_PAUSE_MIN_NS) {
		add->flags |= MTS_JOB_PIN;
		complain(
			"add: %s: systemd's watchdog expects a sign of life every %s, which "
			"is too often for a job that takes turns: the job is pinned, as with --pin; "
			"--max-pause off ignores the watchdog",
			dir, a);
		return;
	}
	if (!device_has_limits()) {
		complain("add: %s: systemd's watchdog expects a sign of life every %s, and the "
			 "loaded module is too old for a pause limit of one job. "
			 "Set one for all jobs: mtsctl set max_pause=%s, or add the job with --pin",
			 dir, a, format_time_exact(b, half));
		return;
	}
	add->max_pause_ns = half;
	complain("add: %s: systemd's watchdog expects a sign of life every %s: the job is never "
		 "frozen for longer than %s; --max-pause sets another limit",
		 dir, a, format_time(b, add->max_pause_ns));
}

/*
 * The module keeps 63 bytes of a name, and commands read digits alone as an id. Containers have
 * names of their own.
 */
static void say_how_to_name(int cgroup_fd, u32 id)
{
	char path[PATH_MAX], text[PATH_MAX], container[CONTAINER_NAME_SIZE];
	const char *name;

	if (cgroup_path_of_fd(cgroup_fd, path) || container_name(path, container))
		return;
	name = strrchr(path, '/') + 1;
	if (strlen(name) >= MTS_NAME_SIZE) {
		complain("add: the name is longer than %d bytes: the job is named %.*s; to name it "
			 "to mtsctl write its id, %u, or the path of the cgroup",
			 MTS_NAME_SIZE - 1, MTS_NAME_SIZE - 1,
			 format_name(text, sizeof(text), name), id);
	} else if (*name && all_digits(name)) {
		complain("add: the job is named %s, but digits alone are an id: write name=%s or "
			 "%u",
			 name, name, id);
	}
}

/*
 * @cgroup_fd: -1 if process @pid alone has become the job. @container: NULL: it is none that was
 * named. Return: an exit status.
 */
static int show_json(u32 id, int cgroup_fd, pid_t pid, const struct engine_container *container)
{
	json_t *root = json_root();
	char path[PATH_MAX];

	json_put(&root, "id", json_u64(id));
	json_put(&root, "cgroup",
		 cgroup_fd < 0 || cgroup_path_of_fd(cgroup_fd, path) ? json_null() :
								       json_text(path));
	json_put(&root, "pid", cgroup_fd < 0 ? json_integer(pid) : json_null());
	json_put(&root, "container", container ? json_text(container->name) : json_null());
	return json_print(root);
}

/* What a login has is in a cgroup of root's: whose that is, its path says. */
static void name_user(struct mts_job_add *add)
{
	char path[PATH_MAX];

	if (ipc_is_for_users() || cgroup_path_of_fd(add->cgroup_fd, path) ||
	    !parse_user_of_cgroup(path, &add->user) || !device_knows(4)) {
		add->user = 0;
		return;
	}
	add->flags |= MTS_JOB_USER;
}

int add_cgroup(const char *dir, const struct add_wish *wish)
{
	struct mts_job_add add = { .flags = wish->flags,
				   .max_pause_ns = wish->max_pause_ns,
				   .weight = wish->weight };
	int ret, failed = EXIT_OK;
	char name[PATH_MAX];

	/* The module checks that the directory is a cgroup. */
	add.cgroup_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (add.cgroup_fd < 0) {
		complain("add: %s: %s", dir, strerror(errno));
		return errno == EACCES ? EXIT_PERMISSION : EXIT_FAILED;
	}
	if (!wish->has_pause)
		heed_watchdog(dir, heed_shortest(dir, wish->users_pause_ns), &add);
	if (wish->container)
		heed_check(wish->container, wish->has_pause, 0, &add.flags, &add.max_pause_ns);
	name_user(&add);
	ret = ipc_job_add(&add);
	if (!ret && wish->json)
		failed = show_json(add.id, add.cgroup_fd, 0, wish->container);
	else if (!ret && wish->container)
		printf("container %s is job %u: %s\n", wish->container->name, add.id,
		       format_name(name, sizeof(name), dir));
	else if (!ret)
		printf("%s is job %u\n", format_name(name, sizeof(name), dir), add.id);
	if (!ret && !wish->json && !wish->container)
		say_how_to_name(add.cgroup_fd, add.id);
	close(add.cgroup_fd);
	if (ret == -ENOSPC && wish->no_room && (*wish->no_room)++)
		return EXIT_FAILED;
	return ret ? add_failed(dir, &add, -ret) : failed;
}

static int take_failed(pid_t pid, int err)
{
	switch (err) {
	case ESRCH:
		complain("add: process %d has ended", pid);
		break;
	case EBUSY:
		complain("add: process %d is PID 1, a kernel thread, mtsd or its guardian, or a "
			 "parent of mtsd or of mtsctl, such as this shell: these must never be "
			 "frozen",
			 pid);
		break;
	case EACCES:
	case EPERM:
		complain("add: process %d: mtsd may not make a cgroup below its cgroup: a mtsd of "
			 "a user can do so only below %s, where systemd has delegated cgroups to "
			 "that user",
			 pid, "user@UID.service");
		return EXIT_PERMISSION;
	case EEXIST:
		complain("add: process %d: its cgroup is a job, or lies below one: see "
			 "'mtsctl why %d'",
			 pid, pid);
		break;
	case EOPNOTSUPP:
		complain("add: process %d: its cgroup is threaded, or mtsd cannot do --each here",
			 pid);
		break;
	case ENOSPC:
		complain("add: no room: there are %d jobs already: 'mtsctl remove' one first",
			 MTS_MAX_JOBS);
		break;
	default:
		return device_failed("add: --pid", err);
	}
	return EXIT_FAILED;
}

/* A job of this process alone. Return: -ENOTTY: not by the module, and not for users. */
static int take(pid_t pid, const struct add_wish *wish)
{
	struct mts_job_take take = { .pid = pid,
				     .flags = wish->flags,
				     .max_pause_ns = wish->max_pause_ns,
				     .weight = wish->weight };
	char name[MTS_NAME_SIZE];
	int ret = ipc_job_take(&take);

	/* Only root may have a process moved. */
	if (ret == -ENOTTY || (ret == -EPERM && ipc_is_for_users()))
		return -ENOTTY;
	if (ret)
		return take_failed(pid, -ret);
	if (wish->json)
		return show_json(take.id, -1, pid, NULL);
	printf("process %d is job %u, %s\n", pid, take.id,
	       format_name(name, sizeof(name), take.name));
	return EXIT_OK;
}

/* Freezing the cgroup would freeze its other processes, too. */
static int refuse_others(const struct command *command, pid_t pid, const char *dir,
			 const struct process *others, u32 total)
{
	complain("add: %s, the cgroup of process %d, holds %u other process%s, "
		 "which would be frozen with it:",
		 dir, pid, total, total == 1 ? "" : "es");
	for (u32 i = 0; i < total && i < SHOWN; i++)
		fprintf(stderr, "  %d %s\n", others[i].pid, others[i].comm);
	if (total > SHOWN)
		fprintf(stderr, "  and %u more\n", total - SHOWN);
	return usage_error(command,
			   "add them all with --yes, or start the process with "
			   "'mtsctl run'. The module evicts whole cgroups; mtsd can add a process "
			   "alone");
}

static int add_pid(const struct command *command, pid_t pid, bool yes, const struct add_wish *wish)
{
	struct process others[SHOWN];
	char path[PATH_MAX], dir[PATH_MAX];
	u32 total;
	int ret;

	ret = cgroup_of_process(pid, path);
	if (ret == -ESRCH) {
		complain("add: no process %d", pid);
		return EXIT_FAILED;
	}
	if (ret) {
		complain("add: the cgroup of process %d: %s", pid,
			 ret == -ENOENT ? "it is in no cgroup v2" : strerror(-ret));
		return EXIT_FAILED;
	}
	/* With --yes the whole cgroup is meant. */
	ret = -ENOTTY;
	if (!strcmp(path, "/") && !process_is_kernel_thread(pid))
		ret = take(pid, wish);
	if (ret != -ENOTTY)
		return ret;
	if (!strcmp(path, "/")) {
		complain("add: process %d is in the root cgroup, which holds %s: "
			 "start it with 'mtsctl run'",
			 pid,
			 process_is_kernel_thread(pid) ? "the kernel's threads" : "the whole host");
		return EXIT_FAILED;
	}
	if (!strncmp(path, "/..", 3)) {
		complain("add: process %d is outside of this cgroup namespace: "
			 "run mtsctl on the host",
			 pid);
		return EXIT_FAILED;
	}
	ret = cgroup_dir(path + 1, dir);
	if (!ret)
		ret = cgroup_processes(dir, pid, others, SHOWN, &total);
	if (ret) {
		complain("add: %s, the cgroup of process %d: %s", path, pid, strerror(-ret));
		return EXIT_FAILED;
	}
	if (total && !yes) {
		ret = take(pid, wish);
		return ret == -ENOTTY ? refuse_others(command, pid, dir, others, total) : ret;
	}
	return add_cgroup(dir, wish);
}

/* Of the container that an engine knows, with all below it. */
static int add_container(const struct command *command, const char *text, struct add_wish *wish)
{
	struct engine_container found;
	struct container container;
	char path[PATH_MAX], dir[PATH_MAX];
	int ret;

	ret = engine_find(command, text, 0, &found);
	if (ret)
		return ret;
	ret = cgroup_of_process(found.pid, path);
	if (!ret && (!container_of_path(path, &container) || strcmp(container.id, found.id)))
		ret = -EXDEV;
	if (!ret) {
		path[container.length] = '\0';
		ret = cgroup_dir(path + 1, dir);
	}
	if (ret == -EXDEV) {
		complain(
			"add: container %s: its process %d is not in a cgroup of the container: it "
			"was started without one (--cgroups=disabled), has ended meanwhile, or is "
			"on another host",
			found.name, found.pid);
		return EXIT_FAILED;
	}
	if (ret) {
		complain("add: container %s: the cgroup of its process %d: %s", found.name,
			 found.pid, ret == -ESRCH ? "the process has ended" : strerror(-ret));
		return EXIT_FAILED;
	}
	wish->container = &found;
	return add_cgroup(dir, wish);
}

int add_main(const struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "container", required_argument, NULL, 'c' },
		{ "each", optional_argument, NULL, 'e' },
		{ "json", no_argument, NULL, 'j' },
		{ "max-pause", required_argument, NULL, 'm' },
		{ "pid", required_argument, NULL, 'P' },
		{ "pin", no_argument, NULL, 'p' },
		{ "weight", required_argument, NULL, 'w' },
		{ "yes", no_argument, NULL, 'y' },
		{ 0 },
	};
	struct add_wish wish = { 0 };
	char dir[PATH_MAX];
	const char *wrong, *container = NULL;
	bool yes = false;
	pid_t pid = 0;
	int opt, ret;

	while ((opt = next_option(command, argc, argv, "", options)) != OPTION_END) {
		switch (opt) {
		case 'c':
			if (container)
				return usage_error(command, "--container '%s': given twice",
						   optarg);
			container = optarg;
			break;
		case 'e':
			if (value_each(command, optarg, &wish.flags))
				return EXIT_USAGE;
			break;
		case 'j':
			wish.json = true;
			break;
		case 'm':
			if (value_limit(command, "--max-pause ", optarg, &wish.max_pause_ns))
				return EXIT_USAGE;
			wish.has_pause = true;
			break;
		case 'P':
			wrong = pid ? "given twice" : parse_pid(optarg, &pid);
			if (wrong)
				return usage_error(command, "--pid '%s': %s", optarg, wrong);
			break;
		case 'p':
			wish.flags |= MTS_JOB_PIN;
			break;
		case 'w':
			if (value_weight(command, "--weight ", optarg, &wish.weight))
				return EXIT_USAGE;
			break;
		case 'y':
			yes = true;
			break;
		case OPTION_HELP:
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind + !!pid + !!container != 1)
		return usage_error(command, "name one cgroup, one --pid, or one --container");
	ret = device_open();
	if (ret)
		return ret;
	if (pid)
		return add_pid(command, pid, yes, &wish);
	if (container)
		return add_container(command, container, &wish);
	ret = cgroup_dir(argv[optind], dir);
	if (ret) {
		complain("add: %s: %s: name a cgroup by its path, such as "
			 "user.slice/my.scope or /sys/fs/cgroup/user.slice/my.scope",
			 argv[optind], strerror(-ret));
		return EXIT_FAILED;
	}
	return add_cgroup(dir, &wish);
}
