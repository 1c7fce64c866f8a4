/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ticks on absolute deadlines, so that delays do not add up. From ticker_start() on,
 * SIGINT and SIGTERM end the wait, not the program.
 */
#ifndef MTSCTL_TICKER_H
#define MTSCTL_TICKER_H

#include <signal.h>

#include "output.h"
#include "policy/pure.h"

enum tick {
	TICK, /* the interval is over */
	TICK_INPUT, /* there is something to read */
	TICK_SIGNAL, /* a signal that does not end the program: SIGWINCH */
	TICK_END, /* SIGINT or SIGTERM, or the input is gone */
};

struct ticker {
	int timer;
	u64 interval; /* ns */
	u64 deadline; /* CLOCK_MONOTONIC: of the last tick */
	u64 late; /* ns from its deadline to the last tick */
	sigset_t waiting; /* signals that are blocked while waiting, and only then */
};

/* Return: 0 or -errno. */
int ticker_start(struct ticker *ticker, u64 interval);
void ticker_stop(struct ticker *ticker);

/* Waits. `input` is a descriptor, or -1. Missed ticks are left out. */
enum tick ticker_wait(struct ticker *ticker, int input);

/* For output.h: the same signals end a wait for standard output. Valid as long as the ticker. */
struct output_end ticker_end(const struct ticker *ticker);

#endif /* MTSCTL_TICKER_H */
