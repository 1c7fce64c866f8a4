// SPDX-License-Identifier: GPL-2.0
/*
 * A job for the tests of labdrive: testjob WORD...
 *
 * slot=NAME:GOAL   join a work counter, which the next words use
 * add=N            add to it
 * step=N:MS        add 1 every MS milliseconds, N times
 * stop=MS          stop the process by SIGSTOP; a child continues it MS milliseconds later; print
 *                  "stopped SECONDS"
 * sleep=MS
 * spin=MS          use the processor
 * touch=PATH       make a file
 * wait=PATH        until there is such a file
 * orphan=MS        leave a child behind, in the same session, that sleeps so long
 * kill=N           send oneself a signal
 * exit=N           end with this status; without it: 0
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static struct work_slot *slot;

static void sleep_ms(unsigned long ms)
{
	struct timespec left = { .tv_sec = (time_t)(ms / 1000),
				 .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&left, &left))
		;
}

static void spin(unsigned long ms)
{
	clock_t end = clock() + (clock_t)ms * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		;
}

static void join(const char *value)
{
	const char *colon = strchr(value, ':');
	char name[48];

	if (!colon)
		exit(2);
	snprintf(name, sizeof(name), "%.*s", (int)(colon - value), value);
	slot = work_join(name, strtoull(colon + 1, NULL, 10));
}

static void step(const char *value)
{
	unsigned long count, ms;

	if (sscanf(value, "%lu:%lu", &count, &ms) != 2)
		exit(2);
	while (count--) {
		sleep_ms(ms);
		work_add(slot, 1);
	}
}

static void wait_for_file(const char *path)
{
	while (access(path, F_OK))
		sleep_ms(10);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void stop(unsigned long ms)
{
	double before = now();
	pid_t self = getpid();
	pid_t child = fork();

	if (!child) {
		sleep_ms(ms);
		kill(self, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
	printf("stopped %.3f\n", now() - before);
	waitpid(child, NULL, 0);
}

static void leave_child(unsigned long ms)
{
	if (fork())
		return;
	sleep_ms(ms);
	_exit(0);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		unsigned long number;

		if (!value)
			return 2;
		*value++ = '\0';
		number = strtoul(value, NULL, 10);
		if (!strcmp(argv[i], "slot"))
			join(value);
		else if (!strcmp(argv[i], "add"))
			work_add(slot, number);
		else if (!strcmp(argv[i], "step"))
			step(value);
		else if (!strcmp(argv[i], "stop"))
			stop(number);
		else if (!strcmp(argv[i], "sleep"))
			sleep_ms(number);
		else if (!strcmp(argv[i], "spin"))
			spin(number);
		else if (!strcmp(argv[i], "touch"))
			close(creat(value, 0644));
		else if (!strcmp(argv[i], "wait"))
			wait_for_file(value);
		else if (!strcmp(argv[i], "orphan"))
			leave_child(number);
		else if (!strcmp(argv[i], "kill"))
			raise((int)number);
		else if (!strcmp(argv[i], "exit"))
			return (int)number;
		else
			return 2;
	}
	return 0;
}
