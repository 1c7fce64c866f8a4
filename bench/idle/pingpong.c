// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes send each other a byte through two pipes, in turns: every message is a system
 * call on each side and a context switch. What `perf bench sched pipe` does, without perf: that
 * is 9 MiB, and with its libraries and their interpreters 40 MiB of a guest's memory.
 *
 * Each side also takes part in the laboratory's count of work. Prints one line of JSON:
 *
 *     {"messages": N, "ns": time of all of them}
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "work.h"

#define MAX_MESSAGES 1000000000u
#define WARM_UP 64u /* messages before the measured ones: pages and caches are filled */
#define BATCH 64u /* messages between two looks at the shared counter */

static const char usage[] =
	"usage: pingpong [-h] MESSAGES\n"
	"\n"
	"Sends so many bytes between two processes through pipes, half each way.\n"
	"MESSAGES: with K or M (1000), even.\n";

static __attribute__((noreturn)) void fail(const char *what)
{
	fprintf(stderr, "pingpong: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void get(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		fail("read");
}

static void put(int fd)
{
	if (write(fd, "", 1) != 1)
		fail("write");
}

static void serve(uint64_t messages, int in, int out)
{
	for (uint64_t i = 0; i < messages / 2; i++) {
		put(out);
		get(in);
	}
}

static __attribute__((noreturn)) void answer(uint64_t messages, int in, int out)
{
	for (uint64_t i = 0; i < messages / 2; i++) {
		get(in);
		put(out);
	}
	_exit(EXIT_SUCCESS);
}

static uint64_t parse(int argc, char **argv)
{
	static const struct args_option none[] = { { 0 } };
	uint64_t messages;

	args_options("pingpong", usage, none, argc, argv);
	if (optind + 1 != argc)
		args_refuse("exactly one number of messages is needed");
	messages = args_number("MESSAGES", argv[optind], 1000);
	if (!messages || messages % 2 || messages > MAX_MESSAGES)
		args_refuse("%" PRIu64 " messages: not an even number from 2 to %u", messages,
			    MAX_MESSAGES);
	return messages;
}

int main(int argc, char **argv)
{
	uint64_t messages = parse(argc, argv);
	struct work_slot *slot = work_join("pingpong", messages);
	int there[2], back[2];
	uint64_t start;
	int status;
	pid_t child;

	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		fail("pipe");
	child = fork();
	if (child < 0)
		fail("fork");
	if (!child)
		answer(WARM_UP + messages, there[0], back[1]);
	serve(WARM_UP, back[0], there[1]);
	start = clock_now();
	for (uint64_t sent = 0; sent < messages;) {
		uint64_t left = messages - sent;
		uint64_t batch = left < BATCH ? left : BATCH;

		serve(batch, back[0], there[1]);
		sent += batch;
		work_add(slot, batch);
	}
	printf("{\"messages\": %" PRIu64 ", \"ns\": %" PRIu64 "}\n", messages, clock_now() - start);
	if (waitpid(child, &status, 0) != child)
		fail("waitpid");
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
