// SPDX-License-Identifier: GPL-2.0
/*
 * A program that is a job of its own, and pins itself while somebody waits for it.
 *
 *	cc -o steps $(pkg-config --cflags libmts) steps.c $(pkg-config --libs libmts)
 *	systemd-run --user --scope ./steps 100		(as a member of the group mts; or as root)
 */
#include <errno.h>
#include <mts/mts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (1ull << 20)
#define SECOND 1000000000ull

static int failed(const struct mts_connection *connection, const char *what, int err)
{
	fprintf(stderr, "steps: %s: %s\n", what, mts_strerror(connection, err));
	return EXIT_FAILURE;
}

static void say_hello(const struct mts_job_submit *job)
{
	printf("job %u, process %d\n", job->id, getpid());
	fflush(stdout);
}

/* Until the caller types a line. */
static void ask(void)
{
	char line[80];

	printf("continue? ");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		printf("\n");
}

static int list_jobs(struct mts_connection *connection)
{
	struct mts_job_info *jobs;
	__u32 count;
	int err;

	err = mts_jobs_get(connection, &jobs, sizeof(*jobs), &count, NULL);
	if (err)
		return failed(connection, "list of jobs", err);
	for (__u32 i = 0; i < count; i++)
		printf("%u %s: %llu MiB%s\n", jobs[i].id, jobs[i].name, jobs[i].demand / MIB,
		       jobs[i].flags & MTS_JOB_PIN ? ", pinned" : "");
	free(jobs);
	return EXIT_SUCCESS;
}

/* The job and what it does; the connection is open. */
static int work(struct mts_connection *connection, size_t mib)
{
	struct mts_job_submit job = { .max_pause_ns = 20 * SECOND };
	struct mts_status status = { 0 };
	char *memory;
	int err;

	/* First the job, then the memory: that stays charged to where it was allocated. */
	err = mts_job_enter(connection, &job);
	if (err)
		return failed(connection, "cannot be a job", err);
	say_hello(&job);
	memory = malloc(mib * MIB);
	if (!memory)
		return failed(NULL, "memory", ENOMEM);
	memset(memory, 1, mib * MIB);

	err = mts_job_set_pin(connection, job.id, true);
	if (err)
		fprintf(stderr, "steps: not pinned: %s\n", mts_strerror(connection, err));
	ask();
	if (list_jobs(connection))
		return EXIT_FAILURE;
	err = mts_job_set_pin(connection, job.id, false);
	if (err)
		fprintf(stderr, "steps: still pinned: %s\n", mts_strerror(connection, err));

	err = mts_status_wait(connection, &status, 0, 1000);
	if (err < 0)
		return failed(connection, "status", err);
	printf("%u of %u jobs are frozen\n", status.frozen, status.jobs);
	free(memory);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct mts_connection *connection;
	int err, ret;

	err = mts_connect(NULL, 10, &connection);
	if (err)
		return failed(NULL, "no scheduler", err);
	ret = work(connection, argc > 1 ? strtoul(argv[1], NULL, 10) : 16);
	mts_disconnect(connection);
	return ret;
}
