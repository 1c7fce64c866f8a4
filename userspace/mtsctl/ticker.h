/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ticks on absolute deadlines, so that delays do not add up, and an orderly end:
 * from ticker_start() on, SIGINT and SIGTERM end the waiting, not the program.
 */
#ifndef MTSCTL_TICKER_H
#define MTSCTL_TICKER_H

#include <signal.h>

#include "output.h"
#include "policy/pure.h"

enum tick {
	TICK, /* the interval is over */
	TICK_INPUT, /* there is something to read */
	TICK_SIGNAL, /* a signal came that does not end the program: SIGWINCH */
	TICK_END, /* SIGINT or SIGTERM, or the input is gone */
};

struct ticker {
	int timer;
	u64 interval; /* ns */
	u64 deadline; /* CLOCK_MONOTONIC: of the last tick */
	u64 late; /* ns after the deadline that the last tick came */
	sigset_t waiting; /* signals that are blocked while waiting, and only then */
};

/* Return: 0 or -errno. */
int ticker_start(struct ticker *ticker, u64 interval);
void ticker_stop(struct ticker *ticker);

/* Waits. `input` is a descriptor, or -1. Ticks that were missed are not made up for. */
enum tick ticker_wait(struct ticker *ticker, int input);

/* What waits for standard output may be ended by the same signals. It goes with the ticker. */
struct output_end ticker_end(const struct ticker *ticker);

#endif /* MTSCTL_TICKER_H */
