// SPDX-License-Identifier: GPL-2.0
/*
 * The scanners and the monitor of Hartman & Narasimhan, "Virtual Memory-Induced Priority
 * Inversion in Multi-Tasked Systems", section 3.3.
 */
#include "scanners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	(void)number;
	signalled = 1;
}

static pid_t start(const struct options *options, int (*part)(const struct options *))
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid < 0) {
		fprintf(stderr, "scanners: fork: %s\n", strerror(errno));
		exit(EXIT_FAILURE);
	}
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	exit(part(options));
}

/*
 * Launches the scanners, waits for them, and then ends the monitor. (The paper's monitor launched
 * them itself; apart from it they can be jobs of their own.)
 */
static int run(struct options *options)
{
	pid_t watching = start(options, monitor);
	pid_t scanners[100];
	uint64_t next = clock_now() + options->first_ns;
	int result = EXIT_SUCCESS;
	uint64_t count = 0;
	char name[32];

	for (; count < options->scanners && !signalled; count++) {
		while (clock_sleep_until(next) && !signalled)
			;
		if (signalled)
			break;
		snprintf(name, sizeof(name), "scanner%u", (unsigned int)count);
		options->name = name;
		scanners[count] = start(options, scan);
		next += options->delay_ns;
	}
	for (uint64_t i = 0; i < count; i++) {
		int status;

		while (waitpid(scanners[i], &status, 0) < 0 && errno == EINTR)
			for (uint64_t other = i; other < count; other++)
				kill(scanners[other], SIGTERM);
		if (status && !result)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
	}
	kill(watching, SIGTERM);
	waitpid(watching, NULL, 0);
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
	case PART_SCAN:
		return scan(&options);
	case PART_MONITOR:
		return monitor(&options);
	default:
		return run(&options);
	}
}
