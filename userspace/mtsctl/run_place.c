// SPDX-License-Identifier: GPL-2.0
#include "run_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "format.h"
#include "host.h"
#include "ipc.h"
#include "mtsctl.h"
#include "parse.h"

#define WORDS_OF_SCOPE 13 /* before what the user wrote */
#define EACH (MTS_JOB_EACH | MTS_JOB_EACH_LEAF)

/* The cgroup that this process is in: as a user sees it, and open. Return: a descriptor, or -1. */
static int open_own(char path[PATH_MAX])
{
	char dir[PATH_MAX];

	if (cgroup_of_process(getpid(), path) || cgroup_dir(path + 1, dir))
		return -1;
	return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Return: NULL, or why this cgroup cannot be the job's. */
static const char *why_not(int cgroup, const char *path)
{
	char dir[PATH_MAX];
	struct stat st;
	u32 others;

	if (cgroup < 0 || fstat(cgroup, &st))
		return "it cannot be opened";
	if (st.st_uid != geteuid())
		return "it is another user's: that of a login is root's";
	if (cgroup_dir(path + 1, dir) || cgroup_processes(dir, getpid(), NULL, 0, &others))
		return "it cannot be read";
	return others ? "other processes are in it, too, and would be frozen with the job" : NULL;
}

static int make(struct mts_job_submit *job, const char *path)
{
	char name[PATH_MAX];
	int ret;

	run_announce(job);
	ret = ipc_job_enter(job);
	if (!ret)
		return EXIT_OK;
	/* A rule of root's was faster. */
	if (ret == -EEXIST && !(job->flags & (MTS_JOB_PIN | MTS_JOB_QUEUE | EACH)) &&
	    !job->max_pause_ns && !job->weight) {
		complain("run: %s is a job already, by a rule or of root: the command runs in it",
			 format_name(name, sizeof(name), path));
		return EXIT_OK;
	}
	if (ret == -EEXIST)
		complain("run: %s is a job already, or lies below one: what is started there "
			 "belongs to that job",
			 format_name(name, sizeof(name), path));
	else if (ret == -EOPNOTSUPP && job->flags & EACH)
		complain("run: --each: what answers cannot catch the children of a job so, or the "
			 "memory controller is not enabled in %s: see each_how of 'mtsctl status "
			 "--json', and try --each=child",
			 format_name(name, sizeof(name), path));
	else if (ret == -EOPNOTSUPP)
		complain("run: %s: the memory controller is not enabled in it",
			 format_name(name, sizeof(name), path));
	else
		device_failed("run: cannot make a job", -ret);
	return EXIT_RUN;
}

/* Is there a systemd manager of this user? Its directory is named to systemd-run. */
static bool find_manager(char dir[PATH_MAX])
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	char path[PATH_MAX];

	if (run && *run)
		snprintf(dir, PATH_MAX, "%s", run);
	else
		snprintf(dir, PATH_MAX, "/run/user/%u", geteuid());
	if (snprintf(path, sizeof(path), "%s/systemd/private", dir) >= PATH_MAX)
		return false;
	return !access(path, R_OK | W_OK) && !setenv("XDG_RUNTIME_DIR", dir, 1);
}

static int no_manager(const char *why, const char *path, const char *dir)
{
	char name[PATH_MAX];

	complain("run: the cgroup %s cannot be a job: %s. And there is no systemd manager of this "
		 "user, to make another one, in %s: log in anew, or have root run 'loginctl "
		 "enable-linger', or run mtsctl as root",
		 format_name(name, sizeof(name), path), why, dir);
	return EXIT_RUN;
}

void run_announce(const struct mts_job_submit *job)
{
	if (job->flags & MTS_JOB_QUEUE && isatty(STDERR_FILENO))
		complain("run: starts when its memory is free; 'mtsctl status' shows the queue, "
			 "Ctrl-C leaves it");
}

static int write_file(int dir, const char *file, const char *text)
{
	int fd = openat(dir, file, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Where the memory controller is another hierarchy's, there is none to enable. */
static int enable_memory(int cgroup)
{
	int fd = openat(cgroup, "cgroup.controllers", O_RDONLY | O_CLOEXEC);
	char has[256] = "";

	if (fd >= 0) {
		if (read(fd, has, sizeof(has) - 1) < 0)
			*has = '\0';
		close(fd);
	}
	return strstr(has, "memory") ? write_file(cgroup, "cgroup.subtree_control", "+memory") : 0;
}

/* Make a cgroup in this one, and move there. Return: an exit status. */
static int enter_inner(int cgroup, const char *path, const char *name, const char *command)
{
	char inner[MTS_NAME_SIZE], procs[MTS_NAME_SIZE + 16], shown[PATH_MAX];
	int err;

	if (name)
		snprintf(inner, sizeof(inner), "%s", name);
	else
		job_name_of(command, inner);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", inner);
	err = mkdirat(cgroup, inner, 0755) ? -errno : 0;
	/* The kernel enables controllers for the cgroups in one that has no process itself. */
	if (!err)
		err = write_file(cgroup, procs, "0");
	if (!err)
		err = enable_memory(cgroup);
	if (!err)
		return EXIT_OK;
	complain("run: --each: no cgroup %s can be made in %s: %s", inner,
		 format_name(shown, sizeof(shown), path), strerror(-err));
	return EXIT_RUN;
}

/* sim.scope; make-4711.scope, which no other run of the same command has */
static void name_scope(const char *name, const char *command, char unit[2 * MTS_NAME_SIZE])
{
	char base[MTS_NAME_SIZE];

	if (name) {
		snprintf(unit, 2 * MTS_NAME_SIZE, "--unit=%s.scope", name);
		return;
	}
	job_name_of(command, base);
	snprintf(unit, 2 * MTS_NAME_SIZE, "--unit=%s-%d.scope", base, getpid());
}

static int run_in_scope(u32 flags, const char *name, const char *command, char **args)
{
	char unit[2 * MTS_NAME_SIZE], self[PATH_MAX], engine[PATH_MAX];
	char **words, **word;
	size_t n = 0;
	ssize_t length;

	length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length < 0) {
		complain("run: /proc/self/exe: %s", strerror(errno));
		return EXIT_RUN;
	}
	self[length] = '\0';
	while (args[n])
		n++;
	words = calloc(WORDS_OF_SCOPE + n + 1, sizeof(*words));
	if (!words) {
		complain("run: out of memory");
		return EXIT_RUN;
	}
	name_scope(name, command, unit);
	word = words;
	*word++ = "systemd-run";
	*word++ = "--user";
	*word++ = "--scope";
	*word++ = "--quiet";
	*word++ = "--collect";
	*word++ = "--property=MemoryAccounting=yes"; /* a job has the memory controller */
	/* systemd leaves the cgroups in it alone. */
	if (flags & EACH)
		*word++ = "--property=Delegate=yes";
	*word++ = unit;
	*word++ = "--";
	*word++ = self;
	if (ipc_chosen()) {
		snprintf(engine, sizeof(engine), "--engine=%s", ipc_chosen());
		*word++ = engine;
	}
	*word++ = "run";
	*word++ = "--here";
	memcpy(word, args, n * sizeof(*word));
	execvp(*words, words);
	complain("run: systemd-run: %s: it makes the cgroup of the job", strerror(errno));
	free(words);
	return EXIT_RUN;
}

/* In this very cgroup. Return: an exit status. */
static int run_here(struct mts_job_submit *job, int cgroup, const char *path, const char *name,
		    const char *command)
{
	int ret = EXIT_OK;

	if (job->flags & EACH)
		ret = enter_inner(cgroup, path, name, command);
	return ret ? ret : make(job, path);
}

int run_in_place(struct mts_job_submit *job, bool here, const char *name, const char *command,
		 char **args)
{
	char path[PATH_MAX] = "?", dir[PATH_MAX], shown[PATH_MAX];
	int cgroup = open_own(path), ret;
	const char *why = why_not(cgroup, path);

	if (!why && (here || !(job->flags & EACH) || !find_manager(dir))) {
		ret = run_here(job, cgroup, path, name, command);
	} else if (!here) {
		ret = find_manager(dir) ? run_in_scope(job->flags, name, command, args) :
					  no_manager(why, path, dir);
	} else {
		complain("run: --here: the cgroup %s cannot be a job: %s",
			 format_name(shown, sizeof(shown), path), why);
		ret = EXIT_RUN;
	}
	if (cgroup >= 0)
		close(cgroup);
	return ret;
}
