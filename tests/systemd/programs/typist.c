// SPDX-License-Identifier: GPL-2.0
/*
 * typist USER SECONDS FILE [COMMAND...]: a user at a terminal. It logs in as USER on a terminal of
 * its own (login(1), so that there is a session), types each COMMAND, and then, each half a second
 * for SECONDS or until SIGTERM, a line that the shell answers by itself. It logs out, and prints
 *
 *     answers=N p50_ms=MS p99_ms=MS most_ms=MS
 *
 * An answer's time is from the line's end being typed to its output. FILE gets all that the
 * terminal shows.
 *
 * exit status: 0; 1: no login, or no answer within a minute; 2: usage
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINES_MAX 10000
#define PERIOD_MS 500
#define LIMIT_MS 60000 /* for an answer: then the shell hangs */
#define LOGIN_MS 120000
#define PROMPT "$ " /* of a user who is not root */

static FILE *shown;
static pid_t login;
static int terminal;
static char tail[4096]; /* of what it has shown since the last line was typed */
static size_t tail_length;
static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static void type(const char *text)
{
	tail_length = 0;
	if (write(terminal, text, strlen(text)) < 0)
		perror("typist");
}

/* Read what the terminal shows until TEXT is in it. */
static bool wait_for(const char *text, double until_ms)
{
	while (true) {
		struct pollfd poll_fd = { terminal, POLLIN, 0 };
		double left = until_ms - now_ms();
		char data[1024];
		ssize_t got;

		if (text && memmem(tail, tail_length, text, strlen(text)))
			return true;
		if (left <= 0)
			return false;
		if (poll(&poll_fd, 1, left + 1) <= 0)
			continue;
		got = read(terminal, data, sizeof(data));
		if (got <= 0) {
			/* login(1) hangs the terminal up and opens it anew. */
			if (errno != EIO || waitpid(login, NULL, WNOHANG))
				return false;
			usleep(1000);
			continue;
		}
		fwrite(data, got, 1, shown);
		fflush(shown);
		if (tail_length + got > sizeof(tail)) {
			memmove(tail, tail + sizeof(tail) / 2, tail_length - sizeof(tail) / 2);
			tail_length -= sizeof(tail) / 2;
		}
		memcpy(tail + tail_length, data, got);
		tail_length += got;
	}
}

/* What is typed is shown, too: the answer is what only the shell can write. */
static bool ask(int number, double limit_ms)
{
	char line[64], answer[64];

	snprintf(line, sizeof(line), "echo answer-$((%d+1))\n", number);
	snprintf(answer, sizeof(answer), "answer-%d\r\n", number + 1);
	type(line);
	return wait_for(answer, now_ms() + limit_ms);
}

static int by_size(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
	static double times[LINES_MAX];
	double begin, next, seconds;
	int count = 0, i;

	seconds = argc < 4 ? 0 : atof(argv[2]);
	shown = seconds > 0 ? fopen(argv[3], "w") : NULL;
	if (!shown) {
		fputs("usage: typist USER SECONDS FILE [COMMAND...]\n", stderr);
		return 2;
	}
	signal(SIGTERM, stop);
	login = forkpty(&terminal, NULL, NULL, NULL);
	if (!login) {
		signal(SIGTERM, SIG_DFL);
		execlp("login", "login", "-f", argv[1], (char *)NULL);
		_exit(127);
	}
	if (login < 0 || !wait_for(PROMPT, now_ms() + LOGIN_MS) || !ask(0, LIMIT_MS)) {
		fputs("typist: no login\n", stderr);
		return 1;
	}
	for (i = 4; i < argc; i++) {
		type(argv[i]);
		type("\n");
	}
	if (!ask(0, LIMIT_MS)) {
		fputs("typist: no answer after the commands\n", stderr);
		return 1;
	}
	begin = now_ms();
	next = begin;
	while (!stopped && now_ms() - begin < seconds * 1e3 && count < LINES_MAX) {
		double asked = now_ms();

		if (!ask(count + 1, LIMIT_MS)) {
			fprintf(stderr, "typist: no answer to line %d in a minute\n", count + 1);
			return 1;
		}
		times[count++] = now_ms() - asked;
		next += PERIOD_MS;
		if (next < now_ms())
			next = now_ms();
		wait_for(NULL, next);
	}
	type("exit\n");
	wait_for(NULL, now_ms() + 1000);
	kill(login, SIGHUP);
	waitpid(login, NULL, 0);
	qsort(times, count, sizeof(*times), by_size);
	printf("answers=%d p50_ms=%.1f p99_ms=%.1f most_ms=%.1f\n", count, times[count / 2],
	       times[count * 99 / 100], times[count - 1]);
	return 0;
}
