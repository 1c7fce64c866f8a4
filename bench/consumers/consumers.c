// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmark tool of Maziero, dos Santos & Santin, "Evaluation of desktop operating systems
 * under thrashing conditions" (2012), section 4: N consumer processes that bring the system to
 * thrashing one by one and let it recover, a process that measures, and a master.
 */
#include "consumers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	(void)number;
	signalled = 1;
}

/* A child that runs one part, and dies with the master. */
static pid_t start(const struct options *options, int (*part)(const struct options *))
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid < 0) {
		fprintf(stderr, "consumers: fork: %s\n", strerror(errno));
		exit(EXIT_FAILURE);
	}
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	exit(part(options));
}

/* The master process. It has little memory of its own, and only waits. */
static int run(struct options *options)
{
	pid_t measuring = start(options, measure);
	pid_t consumers[1000];
	int result = EXIT_SUCCESS;
	uint64_t running = 0;

	for (; running < options->processes; running++) {
		options->index = running;
		consumers[running] = start(options, consume);
	}
	while (running) {
		int status;
		pid_t pid = wait(&status);

		if (pid < 0 && errno == EINTR && signalled) {
			for (uint64_t i = 0; i < options->processes; i++)
				if (consumers[i])
					kill(consumers[i], SIGTERM);
			continue;
		}
		if (pid < 0)
			break;
		if (pid == measuring)
			result = EXIT_FAILURE; /* it must not end before the others */
		else
			running--;
		if (pid != measuring && status && !result)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
		for (uint64_t i = 0; i < options->processes; i++)
			if (consumers[i] == pid)
				consumers[i] = 0;
	}
	kill(measuring, SIGTERM);
	waitpid(measuring, NULL, 0);
	return result;
}

int main(int argc, char **argv)
{
	static const struct sigaction action = { .sa_handler = on_signal };
	struct options options;
	enum part part = options_parse(&options, argc, argv);

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	switch (part) {
	case PART_CONSUME:
		return consume(&options);
	case PART_MEASURE:
		return measure(&options);
	default:
		return run(&options);
	}
}
