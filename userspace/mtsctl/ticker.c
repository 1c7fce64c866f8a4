// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "ticker.h"

#define SECOND 1000000000ull

static volatile sig_atomic_t ended;

static void on_end(int number)
{
	(void)number;
	ended = 1;
}

static u64 clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static struct timespec timespec_of(u64 ns)
{
	return (struct timespec){ .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

/* Signals are blocked outside ticker_wait(), so that none is lost between a check and a wait. */
static void catch_signals(struct ticker *ticker)
{
	static const struct sigaction action = { .sa_handler = on_end };
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGWINCH);
	sigprocmask(SIG_BLOCK, &ours, &ticker->waiting);
	sigdelset(&ticker->waiting, SIGINT);
	sigdelset(&ticker->waiting, SIGTERM);
	sigdelset(&ticker->waiting, SIGWINCH);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int ticker_start(struct ticker *ticker, u64 interval)
{
	struct itimerspec when;

	*ticker = (struct ticker){ .interval = interval, .deadline = clock_now() };
	ticker->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (ticker->timer < 0)
		return -errno;
	when.it_value = timespec_of(ticker->deadline + interval);
	when.it_interval = timespec_of(interval);
	if (timerfd_settime(ticker->timer, TFD_TIMER_ABSTIME, &when, NULL)) {
		int err = errno;

		close(ticker->timer);
		return -err;
	}
	catch_signals(ticker);
	return 0;
}

void ticker_stop(struct ticker *ticker)
{
	close(ticker->timer);
}

enum tick ticker_wait(struct ticker *ticker, int input)
{
	struct pollfd fds[] = {
		{ .fd = ticker->timer, .events = POLLIN },
		{ .fd = input, .events = POLLIN },
	};
	u64 ticks;

	while (!ended) {
		if (ppoll(fds, 2, NULL, &ticker->waiting) < 0)
			return ended ? TICK_END : TICK_SIGNAL;
		if (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL))
			return TICK_END;
		if (fds[1].revents)
			return TICK_INPUT;
		if (read(ticker->timer, &ticks, sizeof(ticks)) != sizeof(ticks))
			continue;
		/* Count the delay from the first missed deadline. */
		ticker->late = mts_sub_floor(clock_now(), ticker->deadline + ticker->interval);
		ticker->deadline += ticks * ticker->interval;
		return TICK;
	}
	return TICK_END;
}

struct output_end ticker_end(const struct ticker *ticker)
{
	return (struct output_end){ .waiting = &ticker->waiting, .ended = &ended };
}
