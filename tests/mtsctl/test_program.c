// SPDX-License-Identifier: GPL-2.0
/* A program that is asked, and does not end. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "program.h"

#define SECOND 1000000000ull

static bool is_stuck; /* the kernel waits for a file system: it does not end when it is killed */

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	if (!is_stuck)
		return wait4(pid, status, options, NULL);
	CHECK(options & WNOHANG, "it would wait for ever");
	return 0;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void check_end(char *const argv[], bool stuck, int wanted)
{
	struct program_answer answer;
	double began = seconds(), took;
	int ret;

	is_stuck = stuck;
	ret = program_ask(argv, SECOND, &answer);
	took = seconds() - began;
	CHECK(ret == wanted && !answer.output, "%s: %d", argv[0], ret);
	CHECK(took < 20, "%s: %f s", argv[0], took);
}

int main(void)
{
	char *const hangs[] = { "sleep", "1000", NULL }, *const floods[] = { "yes", NULL };

	check_end(hangs, false, -ETIMEDOUT);
	check_end(floods, false, -EFBIG);
	/* Fault: it was waited for without a limit. */
	check_end(hangs, true, -EBUSY);
	check_end(floods, true, -EBUSY);
	return failures != 0;
}
