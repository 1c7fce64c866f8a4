// SPDX-License-Identifier: GPL-2.0
/*
 * The side that asks: a person at a terminal, or a client. Each question is a byte, due at its own
 * time, and its answer the same byte. What is measured is the time from when it was due.
 */
#include "latency.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "samples.h"
#include "signals.h"
#include "work.h"

#define PATIENCE_NS 1000000000u /* after the last question */

struct asking {
	struct schedule schedule;
	uint64_t *took_ns; /* of each question */
	uint64_t start_ns, sent, answered;
	struct work_slot *slot;
	int fd;
};

static char byte_of(uint64_t question)
{
	return (char)('a' + question % 26);
}

static uint64_t due(const struct asking *asking, uint64_t question)
{
	return asking->start_ns + asking->schedule.due_ns[question];
}

/* Sends all questions that are due, until the terminal or socket is full. */
static void send_due(struct asking *asking)
{
	while (asking->sent < asking->schedule.count && clock_now() >= due(asking, asking->sent)) {
		char byte = byte_of(asking->sent);

		if (write(asking->fd, &byte, 1) != 1) {
			if (errno == EAGAIN || errno == EINTR)
				return;
			err(EXIT_FAILURE, "question");
		}
		asking->sent++;
	}
}

static void take_answers(struct asking *asking)
{
	char bytes[64];
	ssize_t got = read(asking->fd, bytes, sizeof(bytes));
	uint64_t now = clock_now();

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0)
		errx(EXIT_FAILURE, "the answering process is gone");
	for (ssize_t i = 0; i < got; i++) {
		uint64_t question = asking->answered;

		if (question == asking->sent || bytes[i] != byte_of(question))
			errx(EXIT_FAILURE, "wrong answer to question %" PRIu64, question);
		asking->took_ns[question] = now - due(asking, question);
		asking->answered++;
		work_add(asking->slot, 1);
	}
}

/* Waits for an answer, or until something is to be done. */
static void wait_until(int fd, uint64_t until)
{
	struct pollfd wanted = { .fd = fd, .events = POLLIN };
	uint64_t now = clock_now(), left = until > now ? until - now : 0;
	const struct timespec timeout = { .tv_sec = (time_t)(left / 1000000000u),
					  .tv_nsec = (long)(left % 1000000000u) };

	if (ppoll(&wanted, 1, &timeout, NULL) < 0 && errno != EINTR)
		err(EXIT_FAILURE, "poll");
}

/* Questions without an answer have taken as long as we have waited. */
static void ask_all(struct asking *asking)
{
	const uint64_t last = asking->schedule.count - 1;
	const uint64_t end = due(asking, last) + PATIENCE_NS;
	uint64_t now;

	while (!signalled && asking->answered <= last && (now = clock_now()) < end) {
		uint64_t next = asking->sent > last ? end : due(asking, asking->sent);

		/* there was no room for it: once more in a while */
		if (next < now)
			next = now + 10000000u;
		wait_until(asking->fd, next < end ? next : end);
		send_due(asking);
		take_answers(asking);
	}
	now = clock_now();
	for (uint64_t question = asking->answered; question <= last; question++)
		if (now > due(asking, question))
			asking->took_ns[question] = now - due(asking, question);
}

static void report(struct asking *asking, const struct options *options)
{
	const uint64_t first = asking->schedule.first;
	const uint64_t count = asking->schedule.count - first;
	uint64_t missing = asking->schedule.count - asking->answered;

	printf("{\"program\": \"latency\", \"part\": \"%s\", \"latency\": ", options->name);
	samples_print(stdout, asking->took_ns + first, count, missing < count ? missing : count);
	puts("}");
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_FAILURE, "cannot write the result");
}

int ask(const struct options *options, bool terminal)
{
	struct asking asking = { 0 };

	schedule_make(&asking.schedule, options);
	asking.took_ns = calloc(asking.schedule.count, sizeof(*asking.took_ns));
	if (!asking.took_ns)
		err(EXIT_FAILURE, "no memory");
	asking.slot = work_join(options->name, asking.schedule.count);
	be_on_time();
	asking.fd = terminal ? meet_as_terminal(options->at) : meet_as_client(options->at);
	if (fcntl(asking.fd, F_SETFL, O_RDWR | O_NONBLOCK))
		err(EXIT_FAILURE, "not to wait");
	asking.start_ns = clock_now();
	ask_all(&asking);
	if (signalled)
		return 4;
	report(&asking, options);
	return EXIT_SUCCESS;
}
