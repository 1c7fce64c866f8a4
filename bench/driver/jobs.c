// SPDX-License-Identifier: GPL-2.0
#include "jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"
#include "shell.h"
#include "spawn.h"
#include "util.h"

static void make_directory(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		fail("%s: cannot make it: %s", path, strerror(errno));
}

static void make_work_file(struct job *job, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || ftruncate(fd, sizeof(*job->work)))
		fail("%s: %s", path, strerror(errno));
	job->work = mmap(NULL, sizeof(*job->work), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (job->work == MAP_FAILED)
		fail("%s: %s", path, strerror(errno));
	close(fd);
	job->work->magic = WORK_MAGIC;
}

static void make_argv(struct job *job, enum start start, const char *mtsctl)
{
	const struct job_spec *spec = job->spec;
	size_t words = 0, used = 0;

	while (spec->command[words])
		words++;
	job->argv = allocate(words + 8, sizeof(*job->argv));
	if (start == START_MTS) {
		job->argv[used++] = (char *)mtsctl;
		job->argv[used++] = "run";
		if (spec->each)
			job->argv[used++] = "--each=child";
		if (spec->resident)
			job->argv[used++] = "--pin";
		job->argv[used++] = "--name";
		job->argv[used++] = (char *)spec->name;
		job->argv[used++] = "--";
	}
	memcpy(job->argv + used, spec->command, words * sizeof(*job->argv));
}

/* What is in the job's environment and in the driver's is the job's. */
static bool is_replaced(const struct job_spec *spec, const char *variable)
{
	size_t length = strcspn(variable, "=") + 1;

	if (!strncmp(variable, "LAB_WORK=", length))
		return true;
	for (size_t i = 0; i < spec->variables; i++)
		if (!strncmp(spec->environment[i], variable, length))
			return true;
	return false;
}

static void make_envp(struct job *job, const char *work)
{
	const struct job_spec *spec = job->spec;
	size_t count = 0, used = 0;

	while (environ[count])
		count++;
	job->envp = allocate(count + spec->variables + 2, sizeof(*job->envp));
	for (size_t i = 0; i < count; i++)
		if (!is_replaced(spec, environ[i]))
			job->envp[used++] = environ[i];
	for (size_t i = 0; i < spec->variables; i++)
		job->envp[used++] = spec->environment[i];
	job->envp[used] = text("LAB_WORK=%s", work);
}

static void prepare(struct job *job, const struct job_spec *spec, const char *directory)
{
	char *work = text("%s/%s.work", directory, spec->name);

	job->spec = spec;
	job->output = text("%s/%s.out", directory, spec->name);
	job->output_fd =
		open(job->output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (job->output_fd < 0)
		fail("%s: %s", job->output, strerror(errno));
	make_work_file(job, work);
	make_envp(job, work);
	job->slots = allocate(WORK_SLOTS, sizeof(*job->slots));
	free(work);
}

void jobs_prepare(struct jobs *jobs, const struct input *input, const char *directory)
{
	jobs->count = input->job_count;
	jobs->list = allocate(jobs->count, sizeof(*jobs->list));
	make_directory(directory);
	for (size_t i = 0; i < jobs->count; i++) {
		struct job *job = &jobs->list[i];

		prepare(job, &input->jobs[i], directory);
		make_argv(job, input->start, jobs->mtsctl);
	}
}

void job_start(struct job *job)
{
	const struct spawn what = {
		.argv = job->argv,
		.envp = job->envp,
		.output_fd = job->output_fd,
		.error_fd = job->output_fd,
	};

	job->started_ns = now_ns();
	job->pid = spawn(&what);
	job->state = JOB_RUNNING;
}

size_t job_slots(const struct job *job)
{
	uint32_t used = __atomic_load_n(&job->work->used, __ATOMIC_RELAXED);

	return used < WORK_SLOTS ? used : WORK_SLOTS;
}

static struct job *find(const struct jobs *jobs, pid_t session)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->list[i].pid == session && session)
			return &jobs->list[i];
	return NULL;
}

struct job *jobs_owner(const struct jobs *jobs, const struct process *process)
{
	for (; process; process = process_find(process->parent)) {
		struct job *job = find(jobs, process->session);

		if (job)
			return job;
	}
	return NULL;
}

static void ended(struct job *job, int wait_status, const struct rusage *rusage)
{
	struct usage usage = usage_of(rusage);

	if (job->state != JOB_RUNNING)
		return; /* cut off: its usage was read before */
	job->ended_ns = now_ns();
	job->wait_status = wait_status;
	usage_add(&job->usage, &usage);
	job->state = JOB_ENDED;
	job->left = true;
	sample_close(job);
}

/* A process of a job whose own parent has ended. */
static void orphan_ended(const struct jobs *jobs, pid_t session, const struct rusage *rusage)
{
	struct job *job = find(jobs, session);
	struct usage usage = usage_of(rusage);

	if (job && job->state != JOB_CUT)
		usage_add(&job->usage, &usage);
}

void jobs_reap(struct jobs *jobs)
{
	struct process process;
	struct rusage rusage;
	siginfo_t info;
	int wait_status;

	for (;;) {
		struct job *job;

		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
			return;
		/* its session is known only until it has been waited for */
		if (!process_read(info.si_pid, &process))
			process.session = 0;
		if (wait4(info.si_pid, &wait_status, 0, &rusage) != info.si_pid)
			fail("cannot wait for a child: %s", strerror(errno));
		job = find(jobs, info.si_pid);
		if (job)
			ended(job, wait_status, &rusage);
		else if (!shell_ended(info.si_pid, wait_status))
			orphan_ended(jobs, process.session, &rusage);
	}
}
