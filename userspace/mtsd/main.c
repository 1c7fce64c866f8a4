// SPDX-License-Identifier: GPL-2.0
/*
 * mtsd: the medium-term scheduler without the module. The rotor, the freezer and the fail-safe are
 * the module's own files; userspace/engine/ has what they ask of the host. Or, with
 * --engine=module, the door to the module for users who are not root.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "context.h"
#include "control/config.h"
#include "engine/cgroup.h"
#include "events/wake.h"
#include "jobs/enrol.h"
#include "jobs/failsafe.h"
#include "jobs/freeze_watch.h"
#include "jobs/lookout.h"
#include "jobs/protect.h"
#include "jobs/thaw.h"
#include "memory/cgroupfs.h"
#include "memory/workers.h"
#include "mtsd/backend.h"
#include "mtsd/guardian.h"
#include "mtsd/notify.h"
#include "mtsd/record.h"
#include "mtsd/server.h"
#include "mtsd/users.h"
#include "mtsd/wire.h"
#include "rotor/rotor.h"
#include "sched_hooks/hooks.h"
#include "version.h"

#define EXIT_USAGE 2
#define RUN_DIR "/run/mts"
#define CONFIG_DIR "/etc/mts"
/*
 * How long to wait until the last mtsd has ended for good: if it was killed as it started a
 * guardian, that process still has its lock for a moment.
 */
#define LOCK_TRIES 200
#define LOCK_PAUSE_NS 10000000

static const char usage[] =
	"usage: mtsd [--engine=userspace] [--user] [--run-dir DIR] [--config DIR] [KEY=VALUE]...\n"
	"       mtsd --engine=module [--run-dir DIR] [--config DIR]\n"
	"       mtsd --thaw [--user] [--run-dir DIR]\n"
	"\n"
	"Lets jobs take turns in memory, as the module mts does, from user space. It stays in the\n"
	"foreground; SIGTERM and SIGINT end it. mtsctl talks to it.\n"
	"\n"
	"  --engine=userspace  its own engine (default): cgroup v2 and process_madvise(2)\n"
	"  --engine=module     ask the module, for users who are not root: it freezes nothing itself\n"
	"  --user              for jobs of one user, without root: mtsd(8)\n"
	"  --run-dir DIR       the socket, and the record of frozen jobs (" RUN_DIR ")\n"
	"  --config DIR        mts.conf and conf.d, whose section [users] it reads (" CONFIG_DIR
	")\n"
	"  --thaw              thaw what a mtsd has left frozen that was killed, and end\n"
	"  -h, --help, -V, --version\n"
	"\n"
	"KEY=VALUE, the same as for insmod mts.ko:\n";

static const char *run_dir = RUN_DIR;
static const char *config_dir = CONFIG_DIR;
static bool asks_module;

static _Noreturn void refuse(const char *what, const char *why)
{
	fprintf(stderr, "mtsd: %s: %s\nTry 'mtsd --help'.\n", what, why);
	exit(EXIT_USAGE);
}

/* ---- start and end ----------------------------------------------------------------------- */

/* A user's own directory; and jobs beside the cgroup of this process, which is delegated. */
static void set_user_defaults(void)
{
	static char run[PATH_MAX];
	char base[PATH_MAX + 32] = "cgroup_base=", *own = base + strlen(base);
	const char *above = getenv("XDG_RUNTIME_DIR");

	if (!above || *above != '/')
		refuse("--user", "XDG_RUNTIME_DIR is not set: log in as the user, or set it to "
				 "/run/user/UID");
	snprintf(run, sizeof(run), "%s/mts", above);
	run_dir = run;
	if (!mts_cgroup_of_pid(getpid(), own, PATH_MAX) || !strcmp(own, mts_cgroup_mount()))
		return;
	strcpy(strrchr(own, '/'), "/mts");
	mts_user_param_take(base);
}

static bool path_in_run_dir(char path[PATH_MAX], const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s", run_dir, name) < PATH_MAX;
}

/* Return: the lock of the only mtsd with this directory; -1: another one runs. */
static int lock_run_dir(void)
{
	char path[PATH_MAX];
	int fd, tries = LOCK_TRIES;

	if (!path_in_run_dir(path, "lock"))
		return -1;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (!--tries) {
			close(fd);
			return -1;
		}
		usleep_range(LOCK_PAUSE_NS / NSEC_PER_USEC, LOCK_PAUSE_NS / NSEC_PER_USEC);
	}
	return fd;
}

/* Thaw what the last mtsd has left frozen. Return: false: not all of it. */
static bool thaw_left(struct record *record)
{
	unsigned int thawed, left = record_thaw(record, NULL, &thawed);

	if (thawed)
		pr_notice("%u jobs thawed that a killed mtsd had left frozen\n", thawed);
	if (left)
		pr_err("%u jobs cannot be thawed: see %s/frozen\n", left, run_dir);
	return !left;
}

/* For ExecStopPost. */
static int thaw_main(void)
{
	struct record *record;
	char path[PATH_MAX];
	int fd, lock;
	bool done;

	if (!path_in_run_dir(path, "frozen"))
		return EXIT_FAILURE;
	fd = record_open(path, false);
	/* No mtsd has run since the host was started. */
	if (fd < 0 && errno == ENOENT)
		return EXIT_SUCCESS;
	lock = lock_run_dir();
	if (lock < 0) {
		fprintf(stderr, "mtsd: a mtsd runs with %s: 'mtsctl thaw' tells it to thaw\n",
			run_dir);
		return EXIT_FAILURE;
	}
	record = fd < 0 ? NULL : record_map(fd);
	if (!record) {
		fprintf(stderr, "mtsd: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	done = thaw_left(record);
	close(lock);
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

static struct record *open_record(int *fd)
{
	struct record *record = NULL;
	char path[PATH_MAX];

	if (path_in_run_dir(path, "frozen")) {
		*fd = record_open(path, true);
		record = *fd < 0 ? NULL : record_map(*fd);
	}
	if (!record) {
		pr_err("%s: %s\n", path, strerror(errno));
		return NULL;
	}
	thaw_left(record);
	record_clear(record);
	return record;
}

static void raise_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

/* As mts_init() of module/main.c; on an error the process ends, and all with it. */
static int start(struct record *record, int fd)
{
	char socket_path[PATH_MAX];
	int err = mts_config_init();

	if (!err)
		err = mts_cgroupfs_init(mts_config_cgroup_base());
	if (!err)
		err = mts_guardian_init(record, fd);
	if (!err)
		err = mts_freeze_watch_init();
	if (!err)
		err = mts_failsafe_init();
	if (!err)
		err = mts_lookout_init();
	if (!err)
		err = mts_workers_init();
	if (!err)
		err = mts_rotor_init();
	if (!err)
		err = mts_hooks_init();
	if (!err && !path_in_run_dir(socket_path, "socket"))
		err = -ENAMETOOLONG;
	return err ?: mts_server_init(socket_path, &mts_backend_engine);
}

static int start_door(void)
{
	char socket_path[PATH_MAX];

	if (!path_in_run_dir(socket_path, "socket"))
		return -ENAMETOOLONG;
	return mts_server_init(socket_path, &mts_backend_module);
}

/* A user's mtsd has no other users. */
static bool load_users(void)
{
	return !geteuid() && mts_users_load(config_dir);
}

/* As mts_exit() of module/main.c. */
static void end(void)
{
	mts_server_exit();
	mts_thaw_and_stop(MTS_REASON_UNLOAD, "mtsd ends");
	mts_hooks_exit();
	mts_rotor_exit();
	mts_workers_exit();
	mts_lookout_exit();
	mts_failsafe_exit();
	mts_job_exit();
	mts_protect_exit();
	mts_freeze_watch_exit();
	mts_wake_exit();
	mts_guardian_exit();
	mts_cgroupfs_exit();
}

static int daemon_main(void)
{
	struct record *record = NULL;
	sigset_t signals;
	int fd, signal_number, err;

	if (mkdir(run_dir, 0755) && errno != EEXIST) {
		pr_err("%s: %s\n", run_dir, strerror(errno));
		return EXIT_FAILURE;
	}
	if (lock_run_dir() < 0) {
		pr_err("another mtsd runs with %s, or it cannot be written\n", run_dir);
		return EXIT_FAILURE;
	}
	/* Before there are threads, so that all of them inherit the mask. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	raise_limits();
	guardian_harden();
	load_users();
	if (!asks_module)
		record = open_record(&fd);
	if (!asks_module && !record)
		return EXIT_FAILURE;
	err = asks_module ? start_door() : start(record, fd);
	if (err) {
		pr_err("not started: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	pr_info("started\n");
	notify("READY=1");
	while (!sigwait(&signals, &signal_number) && signal_number == SIGHUP)
		if (load_users())
			pr_info("the configuration is read again\n");
	notify("STOPPING=1");
	if (asks_module)
		mts_server_exit();
	else
		end();
	pr_info("ended\n");
	return EXIT_SUCCESS;
}

/* ---- the command line -------------------------------------------------------------------- */

enum {
	OPTION_ENGINE = 256,
	OPTION_CONFIG,
	OPTION_RUN_DIR,
	OPTION_THAW,
	OPTION_USER,
	OPTION_GUARDIAN,
};

static const struct option options[] = {
	{ "engine", required_argument, NULL, OPTION_ENGINE },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "run-dir", required_argument, NULL, OPTION_RUN_DIR },
	{ "user", no_argument, NULL, OPTION_USER },
	{ "thaw", no_argument, NULL, OPTION_THAW },
	{ "guardian", no_argument, NULL, OPTION_GUARDIAN }, /* by mtsd itself */
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

int main(int argc, char **argv)
{
	const char *wrong;
	bool thaw = false, user = false;
	int option;

	while ((option = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
		switch (option) {
		case OPTION_ENGINE:
			asks_module = !strcmp(optarg, "module");
			if (!asks_module && strcmp(optarg, "userspace"))
				refuse(optarg, "the engines are userspace and module");
			break;
		case OPTION_CONFIG:
			config_dir = optarg;
			break;
		case OPTION_RUN_DIR:
			run_dir = optarg;
			break;
		case OPTION_USER:
			user = true;
			set_user_defaults();
			break;
		case OPTION_THAW:
			thaw = true;
			break;
		case OPTION_GUARDIAN:
			guardian_main();
		case 'h':
			fputs(usage, stdout);
			mts_user_param_help();
			return EXIT_SUCCESS;
		case 'V':
			puts("mtsd " MTS_VERSION);
			return EXIT_SUCCESS;
		default:
			return EXIT_USAGE;
		}
	}
	if (asks_module && (user || thaw || optind < argc))
		refuse("--engine=module",
		       "goes with --run-dir and --config alone: the module has its "
		       "own settings, and thaws by itself");
	for (; optind < argc; optind++) {
		wrong = mts_user_param_take(argv[optind]);
		if (wrong)
			refuse(argv[optind], wrong);
	}
	return thaw ? thaw_main() : daemon_main();
}
