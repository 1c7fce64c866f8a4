// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command again and again and says how far it is in a work counter
 * (bench/common/work.h). By itself the counter counts runs. So that progress
 * shows inside a run too, it can count bytes of a file that the command has read
 * from its standard input (--feed), or steps that the command or its children
 * report (--steps).
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "run.h"
#include "work.h"

#define MAX_RUNS 1000000u
#define CHUNK 65536u
#define STEP_DESCRIPTOR 9

static const char usage[] =
	"usage: repeat [options] -- COMMAND [ARGUMENT...]\n"
	"\n"
	"Runs COMMAND several times and counts the runs for the laboratory ($LAB_WORK).\n"
	"\n"
	"  -n, --runs N         how often (1)\n"
	"  -N, --name NAME      of the work counter (COMMAND's name)\n"
	"  -b, --before SH      shell command that is run once before the first run\n"
	"  -s, --steps N        COMMAND has N steps: it writes a byte to descriptor 9 after each\n"
	"  -f, --feed FILE      what every run reads from its standard input; counted in bytes\n"
	"  -o, --output FILE    where the output of a run goes, written anew each time\n"
	"  -h, --help\n"
	"\n"
	"exit status: 0, or that of the first run that fails (128 + signal), 1 for errors of its\n"
	"own, 2 usage\n";

struct task {
	uint64_t runs;
	uint64_t steps; /* in a run; 0: COMMAND does not say */
	const char *name;
	const char *before;
	const char *feed;
	const char *output;
	char **command;
};

static struct task parse(int argc, char **argv)
{
	struct task task = { .runs = 1 };
	const struct args_option table[] = {
		{ "runs", 'n', ARGS_NUMBER, &task.runs },
		{ "name", 'N', ARGS_TEXT, &task.name },
		{ "before", 'b', ARGS_TEXT, &task.before },
		{ "steps", 's', ARGS_NUMBER, &task.steps },
		{ "feed", 'f', ARGS_TEXT, &task.feed },
		{ "output", 'o', ARGS_TEXT, &task.output },
		{ 0 },
	};

	args_options("repeat", usage, table, argc, argv);
	if (!task.runs || task.runs > MAX_RUNS)
		args_refuse("--runs %" PRIu64 ": not from 1 to %u", task.runs, MAX_RUNS);
	if (task.steps > MAX_RUNS)
		args_refuse("--steps %" PRIu64 ": more than %u", task.steps, MAX_RUNS);
	if (task.steps && task.feed)
		args_refuse("--steps and --feed: work is counted in one way");
	task.command = argv + optind;
	if (!task.command[0])
		args_refuse("no command");
	if (!task.name)
		task.name = basename(task.command[0]);
	return task;
}

/* Ends the program as a shell would say it of its last command. */
static void expect_success(const char *what, int status)
{
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "repeat: %s: killed by signal %d\n", what, WTERMSIG(status));
		exit(128 + WTERMSIG(status));
	}
	if (WEXITSTATUS(status)) {
		fprintf(stderr, "repeat: %s: exit status %d\n", what, WEXITSTATUS(status));
		exit(WEXITSTATUS(status));
	}
}

static uint64_t feed_size(const char *path)
{
	struct stat stat_buffer;

	if (stat(path, &stat_buffer))
		err(EXIT_FAILURE, "%s", path);
	if (!stat_buffer.st_size)
		errx(EXIT_FAILURE, "%s: empty: there is nothing to count", path);
	return (uint64_t)stat_buffer.st_size;
}

/*
 * In the child: standard input or descriptor 9 are @end of a pipe, and output goes where it
 * belongs.
 */
static __attribute__((noreturn)) void run_command(const struct task *task, int end)
{
	if (task->feed)
		dup2(end, STDIN_FILENO);
	if (task->steps)
		dup2(end, STEP_DESCRIPTOR);
	if (task->output) {
		int out = open(task->output, O_WRONLY | O_CREAT | O_TRUNC, 0666);

		if (out < 0)
			err(EXIT_FAILURE, "%s", task->output);
		dup2(out, STDOUT_FILENO);
		close(out);
	}
	execvp(task->command[0], task->command);
	fprintf(stderr, "repeat: %s: %s\n", task->command[0], strerror(errno));
	_exit(127);
}

/* Writes all of the file into the pipe; a reader that ends early is found by its status. */
static void feed(const char *path, int pipe_end, struct work_slot *slot)
{
	static char chunk[CHUNK];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	bool open_end = true;
	ssize_t got;

	if (file < 0)
		err(EXIT_FAILURE, "%s", path);
	while (open_end && (got = read(file, chunk, sizeof(chunk))) > 0) {
		ssize_t sent = 0;

		while (open_end && sent < got) {
			ssize_t now = write(pipe_end, chunk + sent, (size_t)(got - sent));

			if (now > 0)
				sent += now;
			else if (errno != EINTR)
				open_end = false;
		}
		work_add(slot, (uint64_t)sent);
	}
	close(file);
}

/* Counts until the command and all its children have closed their end. */
static void count_steps(int pipe_end, struct work_slot *slot)
{
	char bytes[64];
	ssize_t got;

	while ((got = read(pipe_end, bytes, sizeof(bytes))) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			work_add(slot, (uint64_t)got);
}

static int run_once(const struct task *task, struct work_slot *slot)
{
	const unsigned int theirs = task->feed ? 0 : 1; /* the end of the pipe */
	int ends[2] = { -1, -1 };
	int status;
	pid_t child;

	if ((task->feed || task->steps) && pipe2(ends, O_CLOEXEC))
		err(EXIT_FAILURE, "pipe");
	child = fork();
	if (child < 0)
		err(EXIT_FAILURE, "fork");
	if (!child)
		run_command(task, ends[theirs]);
	if (task->feed || task->steps) {
		close(ends[theirs]);
		if (task->feed)
			feed(task->feed, ends[!theirs], slot);
		else
			count_steps(ends[!theirs], slot);
		close(ends[!theirs]);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			err(EXIT_FAILURE, "waitpid");
	return status;
}

int main(int argc, char **argv)
{
	struct task task = parse(argc, argv);
	struct work_slot *slot;
	uint64_t unit = task.steps ? task.steps : 1;

	signal(SIGPIPE, SIG_IGN);
	if (task.before)
		expect_success("--before", system(task.before));
	if (task.feed)
		unit = feed_size(task.feed);
	slot = work_join(task.name, task.runs * unit);
	for (uint64_t run = 1; run <= task.runs; run++) {
		expect_success(task.command[0], run_once(&task, slot));
		/* it succeeded: what it left unread or did not report is done as well */
		if (work_done(slot) < run * unit)
			work_add(slot, run * unit - work_done(slot));
		else if (work_done(slot) > run * unit)
			errx(EXIT_FAILURE, "%s reported more than its steps", task.command[0]);
	}
	return EXIT_SUCCESS;
}
